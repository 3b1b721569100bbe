"""One training example: a lifted sentence of one to seven parts, and the derivation of what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator import (
    avoidance,
    carrying,
    combined,
    counts,
    endings,
    exceptions,
    itineraries,
    limits,
    motion,
    orders,
    precedence,
    responses,
    stories,
    written,
)
from llm_planner.language.compact.constraints.generator.chatter import chatted
from llm_planner.language.compact.constraints.generator.itineraries import Said
from llm_planner.language.compact.constraints.generator.narrator import Item, Narrator
from llm_planner.language.compact.constraints.generator.noise import noisy
from llm_planner.language.compact.constraints.generator.phrasing import Name, Phrase, Piece, canonical, node
from llm_planner.language.compact.constraints.generator.temporal_english import formula
from llm_planner.language.compact.constraints.grammar import ENTRIES, MAX_READ, READING
from llm_planner.language.compact.constraints.grammar import GOALS as READ_GOALS
from llm_planner.language.compact.constraints.lifting import PLAIN_NUMBERS, Lifted, Sentence, in_order, lift
from llm_planner.language.compact.constraints.naming import scene_phrases
from llm_planner.language.compact.encoding import Sample, encode
from llm_planner.language.compact.generator.examples import draw_example
from llm_planner.language.compact.generator.lexicon import UNCLEAR
from llm_planner.language.compact.grammar import Node, Pointer, Step, linearise

Pattern = Callable[[Narrator], Said]
Weighted = tuple[tuple[float, Pattern], ...]

BARE: Weighted = (
    (0.11, itineraries.visit), (0.11, itineraries.sequence), (0.12, orders.ordered), (0.13, orders.strictly),
    (0.08, itineraries.patrol), (0.12, counts.counted), (0.07, avoidance.never), (0.07, precedence.not_before),
    (0.05, precedence.stay_until), (0.05, responses.responds), (0.05, responses.at_once), (0.05, responses.just_then),
    (0.05, precedence.never_after), (0.03, responses.whenever), (0.03, limits.always), (0.13, formula),
    (0.02, limits.timed),
)  # fmt: skip
GOALS: Weighted = (
    (0.19, itineraries.visit), (0.18, itineraries.sequence), (0.03, orders.in_that_order),
    (0.02, itineraries.patrol), (0.04, counts.counted), (0.09, endings.finish), (0.08, endings.one_before_another),
    (0.25, lambda who: itineraries.visit_one(who, who.errand())), (0.03, limits.timed), (0.03, exceptions.everywhere),
    (0.09, endings.fetch), (0.05, itineraries.inspections), (0.05, endings.there_and_back), (0.06, motion.set_down),
    (0.8, written.goal), (0.05, combined.brought_together), (0.02, combined.either_of), (0.04, combined.elided_order),
)  # fmt: skip
PEOPLES_GOALS: Weighted = (*GOALS, (0.03, endings.handed_round))
ROOM_RULES: Weighted = (
    (0.29, avoidance.never), (0.23, precedence.not_before), (0.05, responses.whenever), (0.08, precedence.never_after),
    (0.08, responses.responds), (0.03, responses.at_once), (0.06, limits.distance), (0.03, limits.speed),
    (0.05, counts.counted), (0.03, precedence.stay_until), (0.01, limits.always), (0.02, limits.timed),
    (0.03, exceptions.nowhere_else), (0.03, carrying.empty_handed), (0.12, carrying.carrying),
    (0.04, carrying.only_with), (0.04, carrying.slowly), (0.01, combined.first_in),
    (0.2, motion.until), (0.06, motion.after), (0.05, motion.at_first), (0.09, motion.as_long_as),
    (0.03, exceptions.nothing_else), (0.02, exceptions.only), (1.4, written.rule),
)  # fmt: skip
TABLE_RULES: Weighted = (
    (0.32, avoidance.never), (0.23, precedence.not_before), (0.09, limits.distance), (0.03, limits.speed),
    (0.04, limits.height), (0.04, responses.whenever), (0.05, precedence.never_after), (0.01, limits.always),
    (0.06, responses.responds), (0.11, exceptions.nothing_else), (0.05, exceptions.only), (0.06, carrying.carrying),
    (0.03, carrying.slowly), (0.03, counts.counted), (0.02, endings.finish), (0.01, limits.timed),
    (0.2, motion.until), (0.06, motion.after), (0.05, motion.at_first), (0.09, motion.as_long_as),
    (0.03, combined.first_in), (1.4, written.rule),
)  # fmt: skip

_STORIES: tuple[Callable[[Narrator], Sequence[motion.Told]], ...] = (
    stories.delivery, stories.delivery, stories.tour, motion.errand_until,
    motion.wait_first, motion.wait_there,
)  # fmt: skip

COMMANDS = 0.35  # share of whole commands that people wrote

_AND_RULE = (  # the usual links, most of the time, then the others
    "[[, and|, but|and|but|, but|but|, and|and|.|,]|[, and|, but|and|but|.|,|;|.|,]|[, and|, but|and|but|.|;|,"
    "|. also|. and|, also|. but|, and please|. remember ,|. furthermore ,|. moreover ,|. in addition ,"
    "|. additionally ,|. besides ,|, plus|, as well as|. what is more ,|. keep in mind :|. important :|. oh and"
    "|. and never forget :|, and make sure|. make sure|and please|, please also|. on the way ,|. meanwhile ,"
    "|. all the while ,|!|. and|. but|, and also|, all while|, while|, so|. so|. in doing so ,|. do this"
    "|and at the same time|. another rule :|. then again ,|, yet|. still ,|. as you do that ,|. during this ,|! and"
    "|? and|. . .|. however ,|. oh , and|while|and also|, though|. while you do it ,|. please|, just"
    "|. at the same time|. note :|. one condition :|]]"
)
_AND_GOAL = (
    "[[,|, and|and|.|. then|, then|and|.]|[,|.|;|, and|. now|:|. then|and|, but|. with that in mind ,|. your task :"
    "|. that said ,|, so|. apart from that ,|. under that condition|, please|. ok ,||. with these rules ,"
    "|. given that ,|. next ,|!|. also|, also|. after that ,|. now please|. i want you to|. go and|. what i want :"
    "|. the job :|. within these limits ,|. that is why you should|while you|while you|, when you]]"
)
_MOSTLY_NEGATIVE = re.compile(
    r"\b(don'?t|never|without|avoid|nothing else|leave|stays?|alone|others|rest|not|only that|just that|that's all"
    r"|that is it)\b"
)


@dataclass(frozen=True)
class Part:
    """Words of a sentence and their meaning: a SPEC, or None for a task that the program network reads."""

    spec: Node | None
    words: Phrase


def pick(who: Narrator, weighted: Weighted) -> Said:
    total = sum(weight for weight, _ in weighted)
    draw = who.rng.random() * total
    for weight, pattern in weighted:
        draw -= weight
        if draw <= 0:
            return pattern(who)
    return weighted[-1][1](who)


def bare(rng: Generator, first: Pattern) -> tuple[str, list[Part]]:
    """Sentences over bare propositions, as Lang2LTL's are."""
    who = Narrator(rng, "bare", places=1.0 if rng.random() < 0.45 else 0.5)
    more = int(rng.choice(3, p=[0.84, 0.12, 0.04]))
    return "bare", _strung(who, [first(who), *(pick(who, BARE) for _ in range(more))])


def rooms(rng: Generator) -> tuple[str, list[Part]]:
    """Commands to a robot in a building: errands, rules, or both; now and then many."""
    things = _random_items(rng, int(rng.integers(1, 6)))
    who = Narrator(rng, "rooms", things, rooms=int(rng.integers(4, 12)), people=int(rng.integers(0, 4)))
    if who.chance(COMMANDS):
        return "rooms", _commanded(who, ROOM_RULES)
    goals = [
        pick(who, PEOPLES_GOALS if who.people else GOALS)
        for _ in range(int(rng.choice([0, 1, 2], p=[0.3, 0.56, 0.14])))
    ]
    sizes = [0.24, 0.42, 0.19, 0.1, 0.04, 0.01] if goals else [0.0, 0.72, 0.19, 0.07, 0.02, 0.0]
    rules = [pick(who, ROOM_RULES) for _ in range(int(rng.choice(6, p=sizes)))]
    told = who.pick(_STORIES)(who) if who.chance(0.24) else []
    said = _mixed(who, goals, rules)
    return "rooms", _strung(who, [*told, *said] if who.chance(0.6) else [*said, *told])


def _mixed(who: Narrator, goals: list[Said], rules: list[Said]) -> list[Said]:
    """Errands first, mostly; or last, or among the rules. An ending comes last if it is said with errands."""
    draw = who.rng.random()
    if draw < 0.65:
        return [*goals, *rules]
    if draw < 0.85:
        return [*rules, *goals]
    at = int(who.rng.integers(0, len(rules) + 1))
    return [*rules[:at], *goals, *rules[at:]]


def table(rng: Generator) -> tuple[str, list[Part]]:
    """A task for an arm at a table, as the program network reads it, with rules before or after it, or none."""
    while True:
        example = draw_example(rng)
        root = example.steps[0]
        refuses = root == "constraint" or (root in ("unclear", "cannot") and rng.random() < 0.5)
        if not refuses and not (_MOSTLY_NEGATIVE.search(example.text) and "except" not in example.steps):
            break
    sentence = lift(example.text, scene_phrases(example.scene), "table")
    keys: dict[str, dict[str, int]] = {}

    def number(entry: str, key: str) -> int:
        group = keys.setdefault(entry, {})
        return group.setdefault(key, len(group) + 1)

    named = {
        f"#{name}{i + 1}": Name(name, number(name, key))
        for name, group in sentence.named.items()
        for i, key in enumerate(group)
    }
    plurals = {text + "s": Name(name.entry, name.number, True) for text, name in named.items()}
    who = Narrator(rng, "table", tuple(
        Item(number("object", o.name), number("kind", o.kind), number("color", o.color) if o.color else 0)
        for o in example.scene.objects
    ))  # fmt: skip
    words: list[Piece] = []
    for word in sentence.words:
        if word.segment == "word":
            words.append(named.get(word.text) or plurals.get(word.text) or word.text)
        else:
            words.append(who.mark(word.segment))
    said = [name for name in named.values() if name.entry == "object"]
    who.used += said
    if 1 <= len(said) <= 2:  # what is named first is what is moved
        who.last = said[0].node, ()
    if who.chance(COMMANDS):
        return "table", _commanded(who, TABLE_RULES)
    count = int(rng.choice(5, p=[0.26, 0.48, 0.17, 0.07, 0.02]))
    ruled = [pick(who, TABLE_RULES) for _ in range(count)]
    task: Said | tuple[None, Phrase] = (None, tuple(words))
    if who.chance(0.1):
        return "table", _strung(who, [motion.wait(who), task] if who.chance(0.5) else motion.errand_until(who))
    if ruled and who.chance(0.3):
        return "table", _strung(who, ruled)
    at = 0 if who.chance(0.7) else int(rng.integers(0, count + 1))
    return "table", _strung(who, [*ruled[:at], task, *ruled[at:]])


def unclear(rng: Generator) -> tuple[str, list[Part]]:
    world = ("bare", "rooms")[int(rng.integers(2))]
    return world, [Part(node("unclear"), tuple(str(rng.choice(UNCLEAR)).split()))]


def _commanded(who: Narrator, rules: Weighted) -> list[Part]:
    """A command as somebody wrote it, now and then with another rule."""
    parts = [Part(spec and canonical(spec), words) for spec, words in written.command(who)]
    return _strung(who, [pick(who, rules)] if who.chance(0.2) else [], parts)


def _strung(who: Narrator, said: Iterable[tuple[Node | None, Phrase]], before: Sequence[Part] = ()) -> list[Part]:
    parts = list(before)
    goal_before = False
    for spec, words in said:
        if spec is not None and who.world != "bare":
            spec = canonical(spec)
        goal = spec is None or spec.step in READ_GOALS
        if spec is not None and who.world != "bare" and who.chance(0.09):
            words = chatted(who.rng, words)
        if parts:
            words = (*who.say(_AND_GOAL if goal and not goal_before else _AND_RULE), *words)
        parts.append(Part(spec, words))
        goal_before = goal
    return parts


def _random_items(rng: Generator, count: int) -> tuple[Item, ...]:
    items = []
    for index in range(count):
        kind = int(rng.integers(1, index + 2))
        items.append(Item(index + 1, kind, int(rng.integers(1, 4)) if rng.random() < 0.6 else 0))
    return tuple(items)


Sentences = Callable[[Generator], tuple[str, list[Part]]]
Mix = tuple[tuple[float, Sentences], ...]
BARE_MIX: Mix = (
    *((0.99 * weight / sum(w for w, _ in BARE), partial(bare, first=one)) for weight, one in BARE),
    (0.01, unclear),
)
MIX: Mix = (*((0.24 * share, one) for share, one in BARE_MIX), (0.42, rooms), (0.32, table), (0.02, unclear))
TRIES = 30


def drawn(rng: Generator, mix: Mix) -> Sentences:
    """One kind of sentences; `mix` are the shares of all kinds, which sum to one."""
    draw = rng.random()
    for share, sentences in mix:
        draw -= share
        if draw < 0:
            return sentences
    return mix[-1][1]


def draw_sample(rng: Generator, accept: Callable[[Sequence[Part]], bool], mix: Mix) -> Sample:
    """A random sample that is short enough and accepted, of kinds in these shares even where few are accepted."""
    while True:
        sentences = drawn(rng, mix)
        for _ in range(TRIES):
            world, parts = sentences(rng)
            if accept(parts) and (sample := _noisy_sample(rng, world, parts)) is not None:
                return sample


def _noisy_sample(rng: Generator, world: str, parts: list[Part]) -> Sample | None:
    noise = noisy([part.words for part in parts], rng)
    return as_sample(world, [Part(part.spec, words) for part, words in zip(parts, noise, strict=True)])


def as_sample(world: str, parts: list[Part]) -> Sample | None:
    """The network's input and the derivation; None where it is too long or leaves a name unsaid."""
    words: list[Lifted] = []
    numbers: dict[str, dict[int, int]] = {}
    marks: dict[int, int] = {}
    ends: list[int] = []
    for part in parts:
        for piece in part.words:
            if isinstance(piece, str):
                _append(words, piece)
            elif piece.entry in ENTRIES:
                group = numbers.setdefault(piece.entry, {})
                place = group.setdefault(piece.number, len(group) + 1)
                words.append(Lifted(f"#{piece.entry}{place}{'s' if piece.plural else ''}"))
            else:
                marks[piece.number] = len(words)
                words.append(Lifted(f"#{piece.entry}", piece.entry))
        ends.append(len(words) - 1)
    steps: list[Step] = ["reading"] if parts[0].spec is None or parts[0].spec.step != "unclear" else ["unclear"]
    for index, part in enumerate(parts if steps[0] == "reading" else []):
        end = Pointer(words[ends[index]].segment, ends[index])
        steps += ["last_part" if index == len(parts) - 1 else "more_parts"]
        steps += ["task", end] if part.spec is None else ["specify", end]
        meant = linearise(part.spec) if part.spec else []
        if not all(_is_said(step, numbers, marks) for step in meant):
            return None
        steps += map(partial(_placed, numbers=numbers, marks=marks), meant)
    if len(words) > MAX_READ or len(steps) > READING.max_steps:
        return None
    named = in_order({entry: tuple(str(n) for n in group) for entry, group in numbers.items()})
    sentence = Sentence(tuple(words), named, world)
    return Sample(encode(sentence.words, sentence.flat(), READING), tuple(steps))


def _append(words: list[Lifted], piece: str) -> None:
    """A word as lifting gives it: "you 've" is one, and two is a number."""
    if piece.startswith("'") and words and words[-1].segment == "word" and not words[-1].text.startswith("#"):
        words[-1] = Lifted(words[-1].text + piece)
    else:
        words.append(Lifted("#number", "number") if piece in PLAIN_NUMBERS else Lifted(piece))


def _is_said(step: Step, numbers: dict[str, dict[int, int]], marks: dict[int, int]) -> bool:
    """Some wordings leave out a name: what is not said cannot be read."""
    return not isinstance(step, Pointer) or step.index in (
        numbers.get(step.kind, {}) if step.kind in ENTRIES else marks
    )


def _placed(step: Step, numbers: dict[str, dict[int, int]], marks: dict[int, int]) -> Step:
    if not isinstance(step, Pointer):
        return step
    if step.kind in ENTRIES:
        return Pointer(step.kind, numbers[step.kind][step.index] - 1)
    return Pointer(step.kind, marks[step.index])
