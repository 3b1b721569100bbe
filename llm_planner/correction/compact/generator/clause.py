"""One clause on its way to becoming a sentence: a wording with its slots filled, and which words fill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from numpy.random import Generator

from llm_planner.correction.compact.generator import slots
from llm_planner.correction.compact.generator.slots import World
from llm_planner.correction.compact.generator.tables import Section, sections
from llm_planner.correction.requests import Intent
from llm_planner.language.compact.constraints.generator.phrasing import Name, say
from llm_planner.language.compact.generator.lexicon import COLORS
from llm_planner.language.compact.generator.references import plural_of
from llm_planner.language.compact.generator.surface import chance, choose

_TEXTS = frozenset(("command", "rule", "lift"))
_SPANS = {"thing": "THING", "target": "TARGET", "instead": "INSTEAD", "about": "ABOUT"}
_REPAIRS = ("no", "no wait", "i mean", "sorry", "wait", "no i mean", "or rather", "uh no", "oops", "no sorry",
            "make that", "er no", "no no", "scratch that")  # fmt: skip
_OF_LENGTHS = (Intent.SHIFT, Intent.HEIGHT, Intent.CLEARANCE)  # where "2 cm" stands for "a bit"
_OF_ROOMS = (Intent.FIRST, Intent.LAST, Intent.SKIP)  # a room stands for what is done there


@dataclass(frozen=True)
class Piece:
    """A word, or an amount of several, and the slot that it fills, "" for none."""

    text: str
    slot: str = ""
    is_amount: bool = False


@dataclass
class Clause:
    """What is asked for, with the choices made so far; `pieces` are its words."""

    rng: Generator
    world: World
    intent: Intent | None = None
    choices: dict[str, str] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    _filled: dict[str, list[Piece]] = field(default_factory=dict)

    def say(self, section: Section, slot: str = "") -> list[Piece]:
        """A wording of the section; all its words fill `slot` where one is given."""
        line = choose(self.rng, section.lines)
        words = say(self.rng, line, **{name: (Name(name, 0),) for name in section.slots})
        return [
            replace(piece, slot=slot or piece.slot)
            for word in words
            for piece in (self._fill(word.entry) if isinstance(word, Name) else [Piece(word)])
        ]

    def _fill(self, slot: str) -> list[Piece]:
        """The words in a slot: those of before, where it is there twice."""
        if slot not in self._filled:
            self._filled[slot] = list(self._drawn(slot))
        return self._filled[slot]

    def _drawn(self, slot: str) -> Iterator[Piece]:
        kind, _, of = slot.partition("_")
        if kind in _SPANS:
            yield from self._named(of, _SPANS[kind])
        elif kind in _TEXTS:
            yield from self.say(section(slot), "TEXT")
        elif kind == "told":
            yield from self.say(section(kind))
        elif kind == "amount":
            yield self._amount({"": self.intent, "time": Intent.DURATION}.get(of), "" if of else "SIZE")
        else:
            yield from (Piece(word) if isinstance(word, str) else word for word in _DRAWN[slot](self))

    def _named(self, of: str, key: str) -> Iterator[Piece]:
        """A name; now and then another one that is taken back."""
        if chance(self.rng, 0.04):
            yield from map(Piece, f"{self.name(of)} , {choose(self.rng, _REPAIRS)} ,".split())
        yield from (Piece(word, key) for word in self.name(of).split())

    def name(self, of: str = "") -> str:
        """A thing, or a room, a place or a person, in somebody's words."""
        if of == "room" or (not of and self.intent in _OF_ROOMS and self.world.rooms and chance(self.rng, 0.3)):
            return slots.room(self.rng, self.world)
        if of == "place":
            return slots.place(self.rng)
        if of == "rest":
            return choose(self.rng, slots.REST)
        return slots.person(self.rng, self.world) if of == "person" else slots.thing(self.rng, self.world)

    def _amount(self, intent: Intent | None, slot: str) -> Piece:
        return Piece(slots.amount(self.rng, intent), slot, is_amount=True)

    def choose(self, symbol: str, drawn: tuple[str, str]) -> list[str]:
        """The words of a choice that is made by what is drawn."""
        self.choices[symbol] = drawn[0]
        return drawn[1].split()

    def size(self, before: bool, amounts: bool = True) -> list[str] | list[Piece]:
        """ "a bit", "much", "5 cm" or nothing, unless it has been said how much."""
        if "SIZE" in self.choices:
            return []
        draw = self.rng.random()
        if draw < 0.3:
            return self.choose("SIZE", ("bit", choose(self.rng, slots.BIT)))
        if draw < 0.45:
            return self.choose("SIZE", ("much", choose(self.rng, slots.MUCH_BEFORE if before else slots.MUCH)))
        if draw < 0.53 and before and amounts and self.intent in _OF_LENGTHS:
            self.choices["SIZE"] = "amount"
            return [self._amount(self.intent, "SIZE")]
        return self.choose("SIZE", ("plain", ""))


@lru_cache(maxsize=32)
def section(name: str) -> Section:
    """All authors' wordings of that name among the texts."""
    found = [one for one in sections("texts", None) if one.name == name]
    lines = tuple(line for one in found for line in one.lines)
    return Section(name, {}, lines, frozenset().union(*(one.slots for one in found)))


_DRAWN: Mapping[str, Callable[[Clause], list[str] | list[Piece]]] = {
    "size": lambda clause: clause.size(before=True),
    "much": lambda clause: clause.size(before=False),
    "size_only": lambda clause: clause.size(before=True, amounts=False),
    "direction": lambda clause: clause.choose("DIRECTION", slots.direction(clause.rng)),
    "pushed": lambda clause: clause.choose("DIRECTION", slots.direction(clause.rng, pushed=True)),
    "way": lambda clause: clause.choose("WAY", slots.direction(clause.rng, way=True)),
    "rel": lambda clause: clause.choose("RELATION", slots.relation(clause.rng)),
    "xrel": lambda clause: slots.relation(clause.rng)[1].split(),
    "x": lambda clause: clause.name().split(),
    "y": lambda clause: clause.name().split(),
    "xs": lambda clause: f"the {plural_of(clause.world.things[0][1])}".split(),
    "room": lambda clause: clause.name("room").split(),
    "place": lambda clause: clause.name("place").split(),
    "person": lambda clause: [slots.named_person(clause.rng, clause.world)],
    "color": lambda clause: [choose(clause.rng, COLORS)],
}
