"""English phrases of propositions, and of formulas about one moment.

A `Phrase` has a subject and verbs in every form that a sentence needs. The module words what holds, what does not and
what comes to hold. `verbalization` builds the sentences over time from these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_planner.ltl.formula import PROPOSITION, Formula, neg
from llm_planner.scene.names import the
from llm_planner.scene.propositions import ROBOT


@dataclass(frozen=True)
class Verb:
    """Verb forms with the rest of the clause; `rest_negated` replaces `rest` after a negation if it differs."""

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
    """Subject, state ("is in the office") and the event that starts it ("enters the office")."""

    subject: str
    state: Verb
    event: Verb


def _be(rest: str) -> Verb:
    return Verb("be", "is", "been", rest)


def _in(what: str, where: str) -> Phrase:
    """Phrase `in`. Robots and people are in a room; objects lie there, unless they are carried through."""
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


_SAID: dict[tuple[str, int], Callable[..., Phrase]] = {  # (predicate, number of arguments)
    ("in", 2): _in, ("near", 2): _near, ("holding", 1): _holding, ("did", 2): _did, ("on", 2): _is("on"),
    ("at", 2): _is("at"), ("beside", 2): _is("beside"), ("over", 2): _is("over"), ("clear", 1): _is("clear"),
    ("moved", 1): _is("moved"),
}  # fmt: skip
_MEASURED = {  # (signal, comparison): (words before the number, unit and words after it)
    ("distance", ">"): ("more than", "m from"), ("distance", "<"): ("less than", "m from"),
    ("speed", ">"): ("faster than", "m/s"), ("speed", "<"): ("slower than", "m/s"),
    ("height", ">"): ("higher than", "m"), ("height", "<"): ("lower than", "m"),
}  # fmt: skip


def phrase_of(name: str) -> Phrase:
    """Return the phrase of a scene proposition; any other name becomes "a is true"."""
    match = PROPOSITION.fullmatch(name)
    listed = match["arguments"] if match else None
    arguments = listed.split(", ") if listed else []
    if match and match["comparison"] and (match["name"], match["comparison"]) in _MEASURED and arguments:
        words, unit = _MEASURED[match["name"], match["comparison"]]
        rest = " ".join([words, match["bound"], unit, *map(the, arguments[1:])])
        return Phrase(the(arguments[0]), _be(rest), _be(rest))
    said = _SAID.get((match["name"], len(arguments))) if match and not match["comparison"] else None
    return said(*arguments) if said else Phrase(name, _be("true"), _be("true"))


TEMPORAL = ("X", "N", "F", "G", "U", "W", "R", "M")


def is_literal(f: Formula) -> bool:
    return bool(f.name) or (f.operator == "!" and bool(f.operands[0].name))


def is_momentary(f: Formula) -> bool:
    """Return whether the formula has no temporal operator."""
    return f.operator not in TEMPORAL and all(is_momentary(g) for g in f.operands)


def atom_of(f: Formula) -> Phrase:
    """Return the phrase of a literal."""
    return phrase_of(f.name or f.operands[0].name)


def subject(f: Formula, before: str = "") -> str:
    """Return the subject of a literal: "it" if the previous clause had the same one."""
    name = atom_of(f).subject
    return "it" if name == before else name


def momentary(f: Formula, before: str = "") -> str:
    """Word a formula about one moment: "the robot is in the office and the box is not clear"."""
    if is_literal(f):
        verb = atom_of(f).state
        return f"{subject(f, before)} {verb.affirmed if f.name else verb.negated}"
    match f.operator:
        case "true":
            return "anything is so"
        case "false":
            return "something impossible is so"
        case "!":
            return _negated(f.operands[0])
        case "&" | "|":
            word = "and" if f.operator == "&" else "or"
            return listed([_bracketed(g) for g in f.operands], word)
        case "->":
            return f"{_bracketed(neg(f.operands[0]))} or {_bracketed(f.operands[1])}"
        case _:
            return f"{_bracketed(f.operands[0])} exactly if {_bracketed(f.operands[1])}"


def _negated(f: Formula) -> str:
    if f.operator == "|":
        return listed([_bracketed(neg(g)) for g in f.operands], "and")
    return f"it is not so that {_bracketed(f)}"


def _bracketed(f: Formula) -> str:
    return momentary(f) if is_literal(f) else f"({momentary(f)})"


def happening(f: Formula, before: str = "") -> str:
    """Word that a moment comes: "the robot enters the office"."""
    if not f.name:
        return momentary(f, before)
    return f"{subject(f, before)} {phrase_of(f.name).event.affirmed}"


def having_been(f: Formula, before: str = "") -> str:
    """Word that a moment has come: "the robot has been in the office"."""
    if not f.name:
        return momentary(f, before)
    return f"{subject(f, before)} {phrase_of(f.name).state.perfect}"


def not_yet(f: Formula, before: str = "") -> str:
    """Word the negation of a proposition for a while: "the robot does not enter the office"."""
    return f"{subject(f, before)} {atom_of(f).event.negated}"


def shared(fs: Sequence[Formula], form: Callable[[Verb], str], word: str) -> str:
    """Join one verb form of several propositions where it agrees: "the robot never enters the lab or the hall"."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for f in fs:
        item = atom_of(f)
        said = form(item.event)
        rest = item.event.rest_negated or item.event.rest
        start = said.removesuffix(rest) if said.endswith(rest) else said
        verbs.setdefault((item.subject, start), []).append(rest if said.endswith(rest) else "")
    return listed([f"{name} {start}{listed(rests, word)}" for (name, start), rests in verbs.items()], "and")


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Join words: "a, b and c"."""
    parts = list(dict.fromkeys(parts))
    return f" {word} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
