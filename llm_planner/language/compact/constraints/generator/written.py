"""Ways to say a rule, an errand or a whole command as several people wrote them down, a line each: `SPEC :: words`.

    never(in(R)) :: [keep|stay] out of {R}
    not_before(holding(X), is_in(Y, B)) :: {X} has to wait until {Y} is in {B}
    visit(in(R)) :: go to {~S} , no , sorry , {R}
    task :: {X} in {B} && never(moved(Y)) :: , no touching {Y} && never(moved(Z)) :: , nor {Z}

The words may hold choices in square brackets, as templates do. Slots are drawn anew for every sentence and stand for
words with their article: X, Y, Z a thing, A any of several things, E each of several, B what things are put in or on,
R, S, Q a room, P, O a person, D a length, V a speed, T seconds, N a number; ~ marks what is said but taken back. Lines
after `# rooms`, `# table` or `# both` are for robots in a building, at a table, or either. `task` is work for an arm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.language.compact.constraints.generator import acts
from llm_planner.language.compact.constraints.generator.itineraries import Said
from llm_planner.language.compact.constraints.generator.narrator import Described, Narrator
from llm_planner.language.compact.constraints.generator.phrasing import Phrase, joined, listed, node
from llm_planner.language.compact.constraints.grammar import GOALS, READING
from llm_planner.language.compact.grammar import Node

FOLDER = Path(__file__).parent / "written"
WORLDS = {"rooms": ("rooms",), "table": ("table",), "both": ("rooms", "table")}
_SLOT = re.compile(r"\{(~?\w)\}")
_TOKEN = re.compile(r"\w+|[(),]")
_STATES = {"in": "in_room", "beside": "is_beside"}  # shorter than in the grammar
_JOINTS = {"and": "both", "or": "either"}
TRIES = 5
PEOPLE, THINGS = frozenset("PO"), frozenset("XYZAEB")
_MARKS = {"D": "quantity", "V": "speed", "T": "seconds", "N": "number"}


@dataclass(frozen=True)
class Term:
    """`name` of a pattern, a state or a slot, and what it is about."""

    name: str
    about: tuple[Term, ...] = ()

    @property
    def slots(self) -> frozenset[str]:
        inner = frozenset[str]().union(*(term.slots for term in self.about))
        return inner | {self.name} if len(self.name) == 1 else inner


@dataclass(frozen=True)
class Clause:
    """One way to say what `spec` means; None for a task that the program network reads."""

    spec: Term | None
    words: str


Line = tuple[Clause, ...]
Told = tuple[Node | None, Phrase]


def rule(who: Narrator) -> Said:
    """A rule as somebody would say it in this world, with things of this scene."""
    return _one(who, "rule")


def goal(who: Narrator) -> Said:
    """An errand in the same way."""
    return _one(who, "errand")


def command(who: Narrator) -> list[Told]:
    """All parts of a command, with the words that link them."""
    return told(who, _fitting(who, read_lines()[who.world, "command"]))


def _one(who: Narrator, kind: str) -> Said:
    ((spec, words),) = told(who, _fitting(who, read_lines()[who.world, kind]))
    assert spec is not None
    return spec, words


def _fitting(who: Narrator, lines: Sequence[Line]) -> Line:
    """One that needs nobody where nobody is, and nothing where nothing is."""
    needless = (frozenset[str]() if who.people else PEOPLE) | (frozenset[str]() if who.items else THINGS)
    needless |= frozenset[str]() if who.rooms else frozenset("RSQ")
    while True:
        line = who.pick(lines)
        if not _said_slots(line) & needless:
            return line


def told(who: Narrator, line: Line) -> list[Told]:
    """The derivations and the words of one line."""
    drawn: dict[str, Described] = {}
    for name in _said_names(line):
        drawn[name] = _another(who, name.lstrip("~"), [meant for meant, _ in drawn.values()])
    meant = {name: node for name, (node, _) in drawn.items()}
    slots = {name.replace("~", "no"): phrase for name, (_, phrase) in drawn.items()}
    return [
        (_spec(clause.spec, meant) if clause.spec else None, who.say(clause.words.replace("{~", "{no"), **slots))
        for clause in line
    ]


def _said_names(line: Line) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for clause in line for name in _SLOT.findall(clause.words)))


def _said_slots(line: Line) -> frozenset[str]:
    return frozenset(name.lstrip("~") for name in _said_names(line))


def _another(who: Narrator, slot: str, spoken: Sequence[Node]) -> Described:
    """Something that the line does not speak of yet; only the first may be "it"."""
    for _ in range(TRIES):
        if spoken:
            who.last = who.last_room = None
        meant, words = _draw(who, slot)
        if meant not in spoken:
            break
    return meant, words


def _draw(who: Narrator, slot: str) -> Described:
    if slot in _MARKS:
        mark = who.mark(_MARKS[slot])
        return mark.node, (mark,)
    if slot in "AE":
        return who.several("any" if slot == "A" else "each")
    if slot in "RSQ":
        room = who.room(acts.PLACE, "in_room")
        return room.node.children[0], room.thing
    if slot in PEOPLE:
        person = who.name("person", who.people)
        return person.node, (person,)
    return who.base() if slot == "B" else who.thing()


def _spec(term: Term, meant: dict[str, Node]) -> Node:
    """A pattern over lists or states, as the grammar has it."""
    parts = [_node(about, meant) for about in term.about]
    needs = READING.rules["SPEC"][term.name]
    if needs == ("LIST",):
        return node(term.name, listed(parts))
    if needs == ("LIST", "STATE"):
        return node(term.name, listed(parts[:-1]), parts[-1])
    return node(term.name, parts[0], listed(parts[1:])) if needs == ("STATE", "LIST") else node(term.name, *parts)


def _node(term: Term, meant: dict[str, Node]) -> Node:
    if term.name in meant:
        return meant[term.name]
    parts = [_node(about, meant) for about in term.about]
    if term.name in _JOINTS:
        return joined(_JOINTS[term.name], parts)
    name = "isnt" if term.name == "not" else _STATES.get(term.name, term.name)
    return node(name, *parts)


@lru_cache(maxsize=1)
def read_lines() -> dict[tuple[str, str], tuple[Line, ...]]:
    """All lines by world and kind (rule, errand, command); raises InputError for one that cannot be read."""
    found: dict[tuple[str, str], list[Line]] = {
        (world, kind): [] for world in WORLDS["both"] for kind in ("rule", "errand", "command")
    }
    for path in sorted(FOLDER.glob("*.txt")):
        for worlds, line in lines_of(path):
            for world in worlds:
                found[world, _kind(line)].append(line)
    return {key: tuple(lines) for key, lines in found.items()}


def _kind(line: Line) -> str:
    if len(line) > 1 or line[0].spec is None:
        return "command"
    return "errand" if line[0].spec.name in GOALS else "rule"


def lines_of(path: Path) -> Iterator[tuple[tuple[str, ...], Line]]:
    """The lines of a file with the worlds that they are for; raises InputError for one that cannot be read."""
    worlds: tuple[str, ...] = ()
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if text.startswith("#"):
            worlds = WORLDS.get(text[1:].strip(), worlds)
        elif text.strip():
            try:
                yield worlds, read_line(text)
            except InputError as error:
                raise InputError(f"{path.name}, line {number}: {error}") from error


def read_line(text: str) -> Line:
    """One line; raises InputError where it is not `SPEC :: words`, or its slots do not match."""
    line = tuple(_clause(clause) for clause in text.split("&&"))
    meant = frozenset[str]().union(*(clause.spec.slots for clause in line if clause.spec))
    said = {name for name in _said_names(line) if not name.startswith("~")}
    has_task = any(clause.spec is None for clause in line)  # whose slots no spec tells
    if not meant <= said or not (has_task or said <= meant):
        raise InputError(f"{text!r} is not SPEC :: words with the same slots in both")
    return line


def _clause(text: str) -> Clause:
    spec, _, words = text.partition("::")
    tokens = _TOKEN.findall(spec)
    if tokens == ["task"]:
        return Clause(None, words.strip())
    term, rest = _term(tokens) if tokens else (Term(""), [])
    closed = not rest and tokens.count("(") == tokens.count(")")
    if not closed or term.name not in READING.rules["SPEC"] or not term.about or not words.strip():
        raise InputError(f"{text!r} is not SPEC :: words with the same slots in both")
    return Clause(term, words.strip())


def _term(tokens: list[str]) -> tuple[Term, list[str]]:
    name, rest = tokens[0], tokens[1:]
    about: list[Term] = []
    while rest[:1] and rest[0] in ("(", ",") and (rest[0] == "(") == (not about):
        inner, rest = _term(rest[1:])
        about.append(inner)
    return Term(name, tuple(about)), rest[1:] if about else rest
