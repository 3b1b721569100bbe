"""Formulas read back in plain English, for a person who has never seen one.

Common shapes come out as people say them: "the robot never enters the server room", "the robot does not enter the lab
before it has been in the office". Every other formula comes out right, if clumsy, part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llm_planner.temporal.clauses import (
    PhraseOf,
    atom_of,
    happening,
    having_been,
    is_literal,
    is_momentary,
    momentary,
    not_yet,
    shared,
)
from llm_planner.temporal.duals import dual
from llm_planner.temporal.formula import FALSE, TRUE, Formula, neg
from llm_planner.temporal.phrases import default_phrase
from llm_planner.temporal.shapes import Visit, count_in, once_before, order_in, visits_in


def read_back(formula: Formula, phrase: PhraseOf = default_phrase) -> str:
    """One sentence, without a capital and a full stop; `phrase` says propositions."""
    return _Reader(phrase).sentence(formula)


class _Reader:
    """`sentence` says what must be so from the start, `part` what must be so from a moment within a sentence."""

    def __init__(self, phrase: PhraseOf) -> None:
        self._phrase = phrase

    def sentence(self, f: Formula) -> str:
        if f in (TRUE, FALSE):
            return "anything may happen" if f is TRUE else "nothing can satisfy this"
        if is_momentary(f):
            return f"at the start, {self.now(f)}"
        return self.over_time(f, self.sentence, since="now")

    def part(self, f: Formula) -> str:
        if is_momentary(f):
            return self.now(f)
        text = self.over_time(f, self.part)
        if f.operator == "G" and is_momentary(f.operands[0]):
            return f"{text} from then on"
        return f"({text})" if f.operator in ("&", "|", "->", "<->", "!") else text

    def now(self, f: Formula, before: str = "") -> str:
        return momentary(f, self._phrase, before)

    def over_time(self, f: Formula, say: Callable[[Formula], str], since: str = "then") -> str:
        """`say` is how the operands of an operator without time are said; windows count `since` now or then."""
        if (count := count_in(f)) is not None:
            return f"{happening(count.formula, self._phrase)} {count.words} {_times(count.times)}"
        match f.operator:
            case "&":
                return self._all(f.operands, say)
            case "|":
                return f"either {' or '.join(self._grouped(g, say) for g in f.operands)}"
            case "->":
                return f"if {self._grouped(f.operands[0], say)}, then {self._grouped(f.operands[1], say)}"
            case "<->":
                return f"{self._grouped(f.operands[0], say)} exactly if {self._grouped(f.operands[1], say)}"
            case "!":
                return self._not(f.operands[0], say, since)
            case "X":
                return f"at the next change, which must come, {self.part(f.operands[0])}"
            case "N":
                return f"at the next change, if there is one, {self.part(f.operands[0])}"
            case "F":
                return self._eventually(f, since)
            case "G":
                return self._always(f, since)
            case "U" | "W":
                return self._until(f, since)
            case _:
                return self._release(f)

    def _grouped(self, f: Formula, say: Callable[[Formula], str]) -> str:
        text = say(f)
        return f"({text})" if f.operator in ("&", "|", "->", "<->") and not text.startswith("(") else text

    def _not(self, f: Formula, say: Callable[[Formula], str], since: str) -> str:
        """A negated operator over time as its dual where it has one."""
        if (opposite := dual(f)) is not None:
            return say(opposite)
        return f"this must not be so: ({self.over_time(f, say, since)})"

    def _all(self, parts: tuple[Formula, ...], say: Callable[[Formula], str]) -> str:
        if (order := order_in(parts)) is not None:
            once = ", each only once before the next" if order.once else ""
            visits = [Visit(visit, later=False) for visit in order.visits]
            return f"{self._in_turn(visits)}, none of them before its turn{once}"
        alike: dict[str, list[Formula]] = {"": []}
        for f in parts:
            alike.setdefault(_alike(f), []).append(f)
        said, single = [], alike.pop("")
        for kind, fs in alike.items():
            if len(fs) > 1:
                said.append(self._together(kind, fs))
            else:
                single += fs
        said += [self._grouped(f, say) for f in parts if f in single]
        return "; and ".join(said)

    def _together(self, kind: str, fs: list[Formula]) -> str:
        """What several conjuncts of one kind say, in one clause."""
        if kind == "never":
            return shared([f.operands[0] for f in fs], self._phrase, lambda verb: verb.never, "or")
        if kind == "ever":
            atoms = [f.operands[0] for f in fs]
            return f"{shared(atoms, self._phrase, lambda verb: verb.affirmed, 'and')} at some point, in any order"
        atoms = [f.operands[0].operands[0] for f in fs]
        return f"{shared(atoms, self._phrase, lambda verb: verb.affirmed, 'and')}, each again and again and at the end"

    def _in_turn(self, visits: Sequence[Visit]) -> str:
        text, before = "", ""
        for visit in visits:
            link = "" if not text else ", then later " if visit.later else ", then "
            text += link + happening(visit.formula, self._phrase, before)
            before = atom_of(visit.formula, self._phrase).subject if is_literal(visit.formula) else ""
        return text

    def _eventually(self, f: Formula, since: str) -> str:
        if len(visits := visits_in(f)) > 1:
            return f"at some point {self._in_turn(visits)}, in this order"
        inside, when = f.operands[0], _when(f, since) or "at some point"
        if _is_plain("F", f) and _is_plain("G", inside) and is_momentary(inside.operands[0]):
            return f"{self.now(inside.operands[0])} in the end"  # the same, where runs end
        if is_momentary(inside):
            return f"{happening(inside, self._phrase)} {when}"
        return f"{when} this becomes so: {self.part(inside)}"

    def _always(self, f: Formula, since: str) -> str:
        inside, when = f.operands[0], _when(f, since)
        if inside.operator in ("->", "<->") and not when:
            return self._whenever(inside)
        if is_momentary(inside):
            return self._never(neg(inside), when) if inside.operator == "!" else self._ever_so(inside, when)
        if inside.operator == "F" and is_momentary(inside.operands[0]) and not when:
            if inside.window is None:
                return f"{self.now(inside.operands[0])} again and again and at the end"
            if inside.window[0] == 0:
                return f"{self.now(inside.operands[0])} at least once in every {inside.window[1]:g} seconds"
        return f"at every moment{when and ' ' + when} this is so: {self.part(inside)}"

    def _never(self, f: Formula, when: str) -> str:
        when = when and f" {when}"
        if f.name:
            item = self._phrase(f.name)
            return f"{item.subject} {item.event.never}{when}"
        first = f.operands[0]
        if f.operator == "&" and first.name and len(f.operands) == 2:
            item = self._phrase(first.name)
            return f"{item.subject} {item.state.never} while {self.now(f.operands[1], item.subject)}{when}"
        return f"at no moment{when} {self.now(f)}"

    def _ever_so(self, f: Formula, when: str) -> str:
        when = when and f" {when}"
        if f.name:
            item = self._phrase(f.name)
            return f"{item.subject} {item.state.always}{when}"
        return f"at every moment{when} {self.now(f)}"

    def _whenever(self, f: Formula) -> str:
        cause, effect = f.operands
        if f.operator == "<->":
            return f"at every moment, {self.part(cause)} exactly if {self.part(effect)}"
        about = atom_of(cause, self._phrase).subject if is_literal(cause) else ""
        if effect.operator == "F" and is_momentary(effect.operands[0]):
            then = f"{happening(effect.operands[0], self._phrase, about)} {_when(effect) or 'then or later'}"
        else:
            then = self.now(effect, about) if is_momentary(effect) else self.part(effect)
        return f"whenever {self.part(cause)}, {then}"

    def _until(self, f: Formula, since: str) -> str:
        held, awaited = f.operands
        when = _when(f, since) or "at some point"
        if (pair := once_before(f)) is not None:
            item, last = pair
            about = atom_of(item, self._phrase).subject
            often = f"{happening(item, self._phrase)} at most once before {having_been(last, self._phrase, about)}"
            return f"{often}, and {happening(last, self._phrase, about)} at some point"
        if _is_plain("G", awaited) and awaited.operands[0] == neg(held) and is_momentary(held):
            comes = f"and that comes {when}" if f.operator == "U" else "if that ever comes"
            return f"as soon as {self.now(awaited.operands[0])}, it stays so for ever, {comes}"
        if not (is_momentary(held) and is_momentary(awaited)):
            ends = f"which comes {when}" if f.operator == "U" else "or for ever"
            return f"until ({self.part(awaited)}), {ends}, this is so: ({self.part(held)})"
        about = atom_of(held, self._phrase).subject if is_literal(held) else ""
        comes = f", and {happening(awaited, self._phrase, about)} {when}" if f.operator == "U" else ""
        if held.operator == "!" and is_literal(held):
            return f"{not_yet(held, self._phrase)} before {having_been(awaited, self._phrase, about)}{comes}"
        return f"{self.now(held)} until {self.now(awaited, about)}{comes or ', or for ever'}"

    def _release(self, f: Formula) -> str:
        awaited, held = f.operands
        comes = "which comes" if f.operator == "M" else "or for ever"
        return f"up to and at the moment when {self.part(awaited)}, {comes}, {self.part(held)}"


def _is_plain(operator: str, f: Formula) -> bool:
    return f.operator == operator and f.window is None


def _when(f: Formula, since: str = "then") -> str:
    """Its window: "within 10 seconds"."""
    if f.window is None:
        return ""
    first, last = f.window
    if first == 0:
        return f"{'during the next' if f.operator == 'G' else 'within'} {last:g} seconds"
    return f"between {first:g} and {last:g} seconds from {since}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _alike(f: Formula) -> str:
    """The kind of conjunct of which several make one clause, "" for all others."""
    if not (_is_plain("F", f) or _is_plain("G", f)):
        return ""
    inside = f.operands[0]
    if f.operator == "F":
        return "ever" if inside.name else ""
    if inside.operator == "!" and is_literal(inside):
        return "never"
    return "again" if _is_plain("F", inside) and inside.operands[0].name else ""
