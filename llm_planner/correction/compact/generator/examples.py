"""Random corrections and chatter, with what they ask for: the samples that the network of corrections learns from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from numpy.random import Generator

from llm_planner.correction.clauses import normal
from llm_planner.correction.compact.generator.clause import Clause, Piece, section
from llm_planner.correction.compact.generator.derivation import root
from llm_planner.correction.compact.generator.noise import PAUSES, noisy
from llm_planner.correction.compact.generator.slots import World, random_world
from llm_planner.correction.compact.generator.tables import Section, sections
from llm_planner.correction.compact.grammar import REQUESTS
from llm_planner.correction.compact.hearing import AMOUNT_WORD, MOST_WORDS, Heard, classed
from llm_planner.correction.requests import Intent
from llm_planner.language.compact.encoding import Sample, encode
from llm_planner.language.compact.generator.surface import chance, choose
from llm_planner.language.compact.grammar import Step, linearise

NOTHING = 0.27  # share of what is no correction
SEVERAL = (0.85, 0.13, 0.02)  # shares of one, two and three requests in a breath
_ANSWERS = frozenset((Intent.YES, Intent.NO, Intent.OPTION))
_ALONE = _ANSWERS | {Intent.CANCEL, Intent.HOLD, Intent.FORGET}  # not said in one breath with others
_LASTING = frozenset((Intent.SHIFT, Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE, Intent.DISTANCE, Intent.DURATION,
                      Intent.OTHER_THING, Intent.OTHER_TARGET, Intent.FIRST, Intent.LAST, Intent.SKIP))  # fmt: skip
_MENDED = frozenset((Intent.SHIFT, Intent.SPEED, Intent.HEIGHT, Intent.OTHER_TARGET))
_WEIGHTS: Mapping[Intent, float] = {Intent.SHIFT: 3.5, Intent.SPEED: 3.0, Intent.OTHER_THING: 3.0,
                                    Intent.OTHER_TARGET: 3.0, Intent.DISTANCE: 1.6, Intent.ADD: 2.2, Intent.RULE:
                                    3.0, Intent.LIFT: 1.5, Intent.SKIP: 1.7, Intent.FIRST: 2.0, Intent.LAST: 1.3,
                                    Intent.HEIGHT: 1.2, Intent.CLEARANCE: 1.2, Intent.OPTION: 0.4}  # fmt: skip
_JOINTS = ("and", "and", "and", ", and", ", and", ",", ",", ".", ", then", "and also", ". also", ", but", "but",
           "and please", "; and", "then")  # fmt: skip
_AFTERTHOUGHTS = ("no", "no wait", "i mean", "sorry", "no sorry", "or rather", "uh no", "wait no")


@dataclass(frozen=True)
class Example:
    """What was said, word by word, and the derivation of what it asks for."""

    words: tuple[Heard, ...]
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """As it was said."""
        return " ".join(word.said or word.text for word in self.words)


def draw_sample(rng: Generator, kept: bool = False) -> Sample:
    """A random sample; with `kept` each has a wording that training never shows."""
    example = draw_example(rng, kept)
    return Sample(encode(example.words, (), REQUESTS), example.steps)


def draw_example(rng: Generator, kept: bool = False) -> Example:
    """A random example that is neither empty nor too long."""
    while True:
        world = random_world(rng)
        clauses = [] if chance(rng, NOTHING) else _clauses(rng, world, kept)
        pieces = _asked(rng, world, clauses, kept) if clauses else _chatter(rng, world, kept)
        words = _heard(noisy(pieces, rng), world)
        if 0 < len(words) <= MOST_WORDS:
            said = tuple(word for word, _ in words)
            tree = root(clauses, said, [slot for _, slot in words])
            return Example(said, tuple(linearise(tree)))


def _clauses(rng: Generator, world: World, kept: bool) -> list[Clause]:
    """What is asked for in one breath; one of the clauses is of kept wording."""
    count = 1 + int(rng.choice(3, p=SEVERAL))
    new = int(rng.integers(count)) if kept else -1
    clauses: list[Clause] = []
    while len(clauses) < count:
        asked = _section(rng, kept and len(clauses) == new)
        if count > 1 and Intent(asked.name) in _ALONE:
            continue
        clause = Clause(rng, world, Intent(asked.name), dict(asked.choices))
        clause.pieces = clause.say(asked)
        clauses.append(clause)
    return clauses


def _section(rng: Generator, kept: bool) -> Section:
    """An intent by its weight, then one of its sections by the number of its wordings."""
    table, intents, shares = _table(kept)
    mine = table[intents[int(rng.choice(len(intents), p=shares))]]
    lines = [len(one.lines) for one in mine]
    return mine[int(rng.choice(len(mine), p=[count / sum(lines) for count in lines]))]


@lru_cache(maxsize=2)
def _table(kept: bool) -> tuple[Mapping[Intent, Sequence[Section]], tuple[Intent, ...], tuple[float, ...]]:
    table: dict[Intent, list[Section]] = {}
    for one in sections("requests", kept):
        table.setdefault(Intent(one.name), []).append(one)
    weights = [_WEIGHTS.get(intent, 1.0) for intent in table]
    return table, tuple(table), tuple(weight / sum(weights) for weight in weights)


def _asked(rng: Generator, world: World, clauses: list[Clause], kept: bool) -> list[Piece]:
    """The clauses in one sentence, with what people say around them."""
    pieces: list[Piece] = []
    for index, clause in enumerate(clauses):
        joint = choose(rng, _JOINTS).split() if index else []
        pieces += [*map(Piece, joint), *(replace(p, slot=p.slot and f"{p.slot} {index}") for p in _mended(clause))]
    if all(clause.intent in _LASTING for clause in clauses) and chance(rng, 0.16):
        pieces = _lasting(rng, clauses[0], pieces)
    return pieces if len(clauses) == 1 and clauses[0].intent in _ANSWERS else _around(rng, world, pieces)


def _mended(clause: Clause) -> list[Piece]:
    """ "To the left, no, to the right": now and then something else is said first and taken back."""
    if clause.intent not in _MENDED or not chance(clause.rng, 0.04):
        return clause.pieces
    sections_of = _table(False)[0][clause.intent]
    before = Clause(clause.rng, clause.world, clause.intent)
    taken_back = before.say(sections_of[int(clause.rng.integers(len(sections_of)))])
    repair = f", {choose(clause.rng, _AFTERTHOUGHTS)} ,".split()
    return [*_plain(taken_back), *map(Piece, repair), *clause.pieces]


def _lasting(rng: Generator, clause: Clause, pieces: list[Piece]) -> list[Piece]:
    """With how long it is to hold, and of what."""
    scopes = [one for one in sections("texts", None) if one.name == "lasting"]
    scope = scopes[int(rng.choice(len(scopes), p=[0.6, 0.15, 0.15, 0.1]))]
    clause.choices["LASTING"] = scope.choices["SCOPE"]
    said = clause.say(scope)
    if scope.choices["SCOPE"] != "once" and chance(rng, 0.35):
        about = [replace(p, slot=p.slot and "ABOUT lasting") for p in Clause(rng, clause.world).say(section("about"))]
        pieces = [*about, Piece(","), *pieces] if chance(rng, 0.2) else [*pieces, *about]
    return [*said, *pieces] if chance(rng, 0.6) else [*pieces, *said]


def _around(rng: Generator, world: World, pieces: list[Piece]) -> list[Piece]:
    """With politeness, reasons and small talk."""
    clause = Clause(rng, world)
    for share, name, first in ((0.36, "before", True), (0.18, "after", False), (0.1, "reason", chance(rng, 0.4))):
        if chance(rng, share):
            said = clause.say(section(name))
            comma = [Piece(choose(rng, (",", ",", ".", "so") if name == "reason" else (",", "")))]
            pieces = [*said, *comma, *pieces] if first else [*pieces, *(comma if name == "reason" else []), *said]
    if chance(rng, 0.05):
        pieces = [*_plain(_talk(rng, world, False)), Piece(choose(rng, (".", ",", "but", ", now"))), *pieces]
    return [piece for text in pieces for piece in _words(text)]


def _words(piece: Piece) -> list[Piece]:
    return [piece] if piece.is_amount else [Piece(word, piece.slot) for word in piece.text.split()]


def _chatter(rng: Generator, world: World, kept: bool) -> list[Piece]:
    pieces = _talk(rng, world, kept)
    if chance(rng, 0.12):
        pieces = [*pieces, Piece(choose(rng, (",", ".", "and", "but"))), *_talk(rng, world, False)]
    if chance(rng, 0.15):
        pieces = [*Clause(rng, world).say(section("before")), Piece(choose(rng, (",", ""))), *pieces]
    return [word for piece in _plain(pieces) for word in _words(piece)]


def _talk(rng: Generator, world: World, kept: bool) -> list[Piece]:
    kinds = sections("chatter", kept)
    return Clause(rng, world).say(kinds[int(rng.integers(len(kinds)))])


def _plain(pieces: list[Piece]) -> list[Piece]:
    """Words that fill no slot."""
    return [replace(piece, slot="") for piece in pieces]


def _heard(pieces: list[Piece], world: World) -> list[tuple[Heard, str]]:
    """The words as the reader hears them, each with its slot."""
    found: list[tuple[Heard, str]] = []
    for piece in pieces:
        if piece.is_amount:
            found.append((Heard(AMOUNT_WORD, "amount", normal(piece.text)), piece.slot))
        elif piece.text not in PAUSES:
            found += [(classed(word, world.names), piece.slot) for word in _normal(piece.text)]
        elif found and found[-1][0].text != ",":
            found.append((Heard(",", "word", ","), piece.slot))
    return found[:-1] if found and found[-1][0].text == "," else found


@lru_cache(maxsize=16384)
def _normal(word: str) -> tuple[str, ...]:
    return tuple(normal(word).split())
