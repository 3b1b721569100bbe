"""A moment in words: what is so, is not so, comes to be so. Sentences over time are made of these in `words`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llm_planner.temporal.formula import Formula, neg
from llm_planner.temporal.phrases import Phrase, Verb

PhraseOf = Callable[[str], Phrase]
TEMPORAL = ("X", "N", "F", "G", "U", "W", "R", "M")


def is_literal(f: Formula) -> bool:
    return bool(f.name) or (f.operator == "!" and bool(f.operands[0].name))


def is_momentary(f: Formula) -> bool:
    """Whether it speaks of one moment only."""
    return f.operator not in TEMPORAL and all(is_momentary(g) for g in f.operands)


def atom_of(f: Formula, phrase: PhraseOf) -> Phrase:
    """The phrase of a literal."""
    return phrase(f.name or f.operands[0].name)


def subject(f: Formula, phrase: PhraseOf, before: str = "") -> str:
    """Who a literal is about: "it" where the clause before was about the same."""
    name = atom_of(f, phrase).subject
    return "it" if name == before else name


def momentary(f: Formula, phrase: PhraseOf, before: str = "") -> str:
    """ "the robot is in the office and the box is not clear"; about a formula of one moment."""
    if is_literal(f):
        verb = atom_of(f, phrase).state
        return f"{subject(f, phrase, before)} {verb.affirmed if f.name else verb.negated}"
    match f.operator:
        case "true":
            return "anything is so"
        case "false":
            return "something impossible is so"
        case "!":
            return _negated(f.operands[0], phrase)
        case "&" | "|":
            word = "and" if f.operator == "&" else "or"
            return listed([_bracketed(g, phrase) for g in f.operands], word)
        case "->":
            return f"{_bracketed(neg(f.operands[0]), phrase)} or {_bracketed(f.operands[1], phrase)}"
        case _:
            return f"{_bracketed(f.operands[0], phrase)} exactly if {_bracketed(f.operands[1], phrase)}"


def _negated(f: Formula, phrase: PhraseOf) -> str:
    if f.operator == "|":
        return listed([_bracketed(neg(g), phrase) for g in f.operands], "and")
    return f"it is not so that {_bracketed(f, phrase)}"


def _bracketed(f: Formula, phrase: PhraseOf) -> str:
    return momentary(f, phrase) if is_literal(f) else f"({momentary(f, phrase)})"


def happening(f: Formula, phrase: PhraseOf, before: str = "") -> str:
    """ "the robot enters the office": that a moment comes."""
    if not f.name:
        return momentary(f, phrase, before)
    return f"{subject(f, phrase, before)} {phrase(f.name).event.affirmed}"


def having_been(f: Formula, phrase: PhraseOf, before: str = "") -> str:
    """ "the robot has been in the office": that a moment has come."""
    if not f.name:
        return momentary(f, phrase, before)
    return f"{subject(f, phrase, before)} {phrase(f.name).state.perfect}"


def not_yet(f: Formula, phrase: PhraseOf, before: str = "") -> str:
    """ "the robot does not enter the office": the negation of a proposition, for a while."""
    return f"{subject(f, phrase, before)} {atom_of(f, phrase).event.negated}"


def shared(fs: Sequence[Formula], phrase: PhraseOf, form: Callable[[Verb], str], word: str) -> str:
    """ "the robot never enters the lab or the hall": one form of several propositions, joined where they are alike."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for f in fs:
        item = atom_of(f, phrase)
        said = form(item.event)
        rest = item.event.rest_negated or item.event.rest
        start = said.removesuffix(rest) if said.endswith(rest) else said
        verbs.setdefault((item.subject, start), []).append(rest if said.endswith(rest) else "")
    return listed([f"{name} {start}{listed(rests, word)}" for (name, start), rests in verbs.items()], "and")


def listed(parts: Sequence[str], word: str = "and") -> str:
    """ "a, b and c"."""
    parts = list(dict.fromkeys(parts))
    return f" {word} ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
