"""Propositions as a person says them: subject, verb and the rest, in every form that a sentence needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_planner.temporal.names import PROPOSITION
from llm_planner.world.names import the
from llm_planner.world.propositions import ROBOT


@dataclass(frozen=True)
class Verb:
    """`third` as in "enters", `participle` as in "entered"; the rest of the clause, and the rest after a negation."""

    base: str
    third: str
    participle: str
    rest: str = ""
    rest_negated: str = ""

    @property
    def affirmed(self) -> str:
        return f"{self.third} {self.rest}"

    @property
    def negated(self) -> str:
        rest = self.rest_negated or self.rest
        return f"is not {rest}" if self.base == "be" else f"does not {self.base} {rest}"

    @property
    def always(self) -> str:
        return f"is always {self.rest}" if self.base == "be" else f"always {self.affirmed}"

    @property
    def never(self) -> str:
        rest = self.rest_negated or self.rest
        return f"is never {rest}" if self.base == "be" else f"never {self.third} {rest}"

    @property
    def perfect(self) -> str:
        return f"has {self.participle} {self.rest}"


@dataclass(frozen=True)
class Phrase:
    """Who; what is so ("is in the office"); how it comes to be so ("enters the office")."""

    subject: str
    state: Verb
    event: Verb


def _be(rest: str) -> Verb:
    return Verb("be", "is", "been", rest)


def _in(what: str, where: str) -> Phrase:
    """The robot is in a room, and so is a person; a thing lies there, which it does not while it is carried through."""
    name, place = the(what), f"in {the(where)}"
    if what == ROBOT:
        return Phrase(name, _be(place), Verb("enter", "enters", "entered", the(where)))
    state = _be(place) if name == what else Verb("lie", "lies", "lain", place)
    return Phrase(name, state, state)


def _near(what: str, thing: str) -> Phrase:
    return Phrase(the(what), _be(f"near {the(thing)}"), Verb("come", "comes", "come", f"near {the(thing)}"))


def _holding(thing: str) -> Phrase:
    rest, negated = ("something", "anything") if thing == "anything" else (the(thing), "")
    holds = Verb("hold", "holds", "held", rest, negated)
    return Phrase("the robot", holds, holds)


def _did(skill: str, argument: str) -> Phrase:
    rest = f"“{skill.replace('_', ' ')}: {argument}”"
    finishes = Verb("finish", "finishes", "finished", rest)
    return Phrase("the robot", finishes, finishes)


def _is(word: str) -> Callable[..., Phrase]:
    def phrase(what: str, *where: str) -> Phrase:
        state = _be(" ".join([word, *map(the, where)]))
        return Phrase(the(what), state, state)

    return phrase


_SAID: dict[tuple[str, int], Callable[..., Phrase]] = {  # predicate, arguments
    ("in", 2): _in, ("near", 2): _near, ("holding", 1): _holding, ("did", 2): _did, ("on", 2): _is("on"),
    ("at", 2): _is("at"), ("beside", 2): _is("beside"), ("over", 2): _is("over"), ("clear", 1): _is("clear"),
    ("moved", 1): _is("moved"),
}  # fmt: skip
_MEASURED = {  # signal, comparison: what is said before the number, its unit, what is said after it
    ("distance", ">"): ("more than", "m from"), ("distance", "<"): ("less than", "m from"),
    ("speed", ">"): ("faster than", "m/s"), ("speed", "<"): ("slower than", "m/s"),
    ("height", ">"): ("higher than", "m"), ("height", "<"): ("lower than", "m"),
}  # fmt: skip


def default_phrase(name: str) -> Phrase:
    """Of a proposition of a scene, or of any other name: "a is true"."""
    match = PROPOSITION.fullmatch(name)
    listed = match["arguments"] if match else None
    arguments = listed.split(", ") if listed else []
    if match and match["comparison"] and (match["name"], match["comparison"]) in _MEASURED and arguments:
        words, unit = _MEASURED[match["name"], match["comparison"]]
        rest = " ".join([words, match["bound"], unit, *map(the, arguments[1:])])
        return Phrase(the(arguments[0]), _be(rest), _be(rest))
    said = _SAID.get((match["name"], len(arguments))) if match and not match["comparison"] else None
    return said(*arguments) if said else Phrase(name, _be("true"), _be("true"))
