"""Writes a specification out as a formula: the patterns as Lang2LTL (arXiv:2302.11649) writes them.

"Not q before p" does not oblige p (`!q W p`), nor in a scene does "slower than v until p", and there "never q after p"
speaks of the moment of p too. A rule within a scope is what it says of the moments there (Dwyer, Avrunin and Corbett).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.temporal.formula import (
    Formula,
    conj,
    disj,
    finally_,
    globally,
    iff,
    implies,
    neg,
    next_,
    strong_release,
    until,
    weak_next,
    weak_until,
)

MOST = 9  # visits that can be counted
_OPERATORS: dict[str, Callable[..., Formula]] = {
    "both": conj, "either": disj, "isnt": neg, "iff": iff, "implies": implies, "next": next_,
    "eventually": finally_, "globally": globally, "until": until, "unless": weak_until,
}  # fmt: skip
_LIMITS = frozenset(["slower", "farther", "lower"])


class States(Protocol):
    """What the leaves of a specification mean here."""

    bare: bool  # propositions without a scene

    def state(self, node: Node) -> Formula: ...

    def rooms(self, node: Node) -> list[Formula]:
        """A state of being in several rooms, one by one."""
        ...

    def started(self, node: Node, before: Node) -> Formula:
        """Like `state`, where it is what must not yet be begun `before` another."""
        ...

    def number(self, pointer: Pointer) -> float:
        """The count, the seconds or the metres that a word gives."""
        ...


def specification(node: Node, states: States) -> Formula:
    """The formula of a SPEC; raises `QuestionError` where it speaks of what is not there."""
    return _Writer(states).spec(node)


@dataclass(frozen=True)
class _Writer:
    states: States

    def spec(self, node: Node) -> Formula:
        writers: dict[str, Callable[..., Formula]] = {
            "visit": lambda places: conj(*(finally_(p) for p in self.listed(places))),
            "sequence": lambda places: _sequence(self.listed(places)),
            "ordered": lambda places: _ordered(self.listed(places)),
            "strictly": lambda places: _strictly(self.listed(places)),
            "patrol": lambda places: self._patrol(self.listed(places)),
            "never": lambda places: conj(*(globally(neg(p)) for p in self.listed(places))),
            "always": lambda places: conj(*(globally(p) for p in self.listed(places))),
            "at_least": lambda count, p: _at_least(self.count(count), self.state(p)),
            "at_most": lambda count, p: neg(_at_least(self.count(count) + 1, self.state(p))),
            "exactly": lambda count, p: _exactly(self.count(count), self.state(p)),
            "at_least_steps": lambda count, p: _steps(self.count(count), self.state(p)),
            "at_most_steps": lambda count, p: neg(_steps(self.count(count) + 1, self.state(p))),
            "exactly_steps": lambda count, p: conj(
                _steps(self.count(count), self.state(p)), neg(_steps(self.count(count) + 1, self.state(p)))
            ),
            "not_before": self._not_before,
            "stay_until": self._stay_until,
            "responds": lambda p, q: globally(implies(self.state(p), finally_(self.state(q)))),
            "at_once": lambda p, q: globally(implies(self.state(p), next_(self.state(q)))),
            "just_then": lambda p, q: globally(iff(self.state(p), next_(self.state(q)))),
            "never_after": self._never_after,
            "whenever": lambda p, q: globally(implies(self.state(p), self.state(q))),
            "within": lambda time, p: finally_(self.state(p), within=self.length(time)),
            "from_now": lambda time, p: globally(self.state(p), within=self.length(time)),
            "finish": lambda p: finally_(globally(self.state(p))),
            "lasting": lambda time, p: finally_(globally(self.state(p), within=self.length(time))),
            "initially": self.state,
            "next": lambda p: next_(self.state(p)),
            "before": lambda end, rule: _before(self.state(end), self.spec(rule)),
            "after": lambda start, rule: weak_until(neg(self.state(start)), conj(self.state(start), self.spec(rule))),
            "between": lambda start, end, rule: _between(self.state(start), self.state(end), self.spec(rule)),
        }
        return writers[str(node.step)](*node.children)

    def state(self, node: Node) -> Formula:
        if node.step in _OPERATORS:
            return _OPERATORS[str(node.step)](*(self.state(child) for child in node.children))
        return self.states.state(node)

    def listed(self, node: Node) -> list[Formula]:
        """The states of a LIST; "every room" is as many states as there are rooms."""
        return [state for item in items(node) for state in self._each(item)]

    def _each(self, node: Node) -> list[Formula]:
        several = node.step in ("in_room", "looked", "waited") and not isinstance(node.children[0].step, Pointer)
        return self.states.rooms(node) if several else [self.state(node)]

    def _patrol(self, places: list[Formula]) -> Formula:
        """Again and again; a plan ends, so in a scene that is twice, in the order that was said."""
        if self.states.bare:
            return conj(*(globally(finally_(p)) for p in places))
        return _sequence([*places, *places]) if len(places) > 1 else _at_least(2, places[0])

    def _not_before(self, later: Node, first: Node) -> Formula:
        before = self.state(first)
        waits = [neg(self._started(item, first)) for item in items(later)]
        return conj(*(weak_until(wait, before) for wait in waits))

    def _stay_until(self, stay: Node, end: Node) -> Formula:
        holds = weak_until if _is_limit(stay) else until
        return holds(self.state(stay), self.state(end))

    def _started(self, node: Node, before: Node) -> Formula:
        if node.step in ("both", "either"):
            parts = [self._started(child, before) for child in node.children]
            return (conj if node.step == "both" else disj)(*parts)
        return self.state(node) if node.step in _OPERATORS else self.states.started(node, before)

    def _never_after(self, first: Node, later: Node) -> Formula:
        cause = self.state(first)
        return conj(*(self._no_more(cause, self._started(item, first)) for item in items(later)))

    def _no_more(self, cause: Formula, late: Formula) -> Formula:
        """From the next moment where the data says so; what has a part in the cause may last, but not come again."""
        never = globally(neg(late))
        if self.states.bare:
            return globally(implies(cause, next_(never)))
        if cause is late:
            return neg(_at_least(2, late))
        lasts = set(cause.propositions) & set(late.propositions)
        return globally(implies(cause, globally(implies(neg(late), never)) if lasts else never))

    def count(self, node: Node) -> int:
        change = {"below": -1, "above": 1}.get(str(node.step), 0)
        if change:
            value = self.count(node.children[0]) + change
        elif isinstance(node.step, Pointer):
            value = round(self.states.number(node.step))
        else:
            value = int(node.step[1:])
        if not 0 <= value <= MOST:
            raise QuestionError(f"I can count visits up to {MOST}, not {value}. How often do you mean?")
        return value

    def length(self, node: Node) -> float:
        assert isinstance(node.step, Pointer)
        return self.states.number(node.step)


def _before(end: Formula, rule: Formula) -> Formula:
    """The rule up to the first moment of `end`, where that comes."""
    return implies(finally_(end), disj(end, _up_to(rule, end)))


def _between(start: Formula, end: Formula, rule: Formula) -> Formula:
    """The rule from each moment of `start` up to the next moment of `end`, where that comes."""
    return globally(implies(conj(start, neg(end), finally_(end)), _up_to(rule, end)))


def _up_to(f: Formula, end: Formula) -> Formula:
    """What `f` says of the moments before `end`, which is not so now."""
    if not f.operands:
        return f
    parts = [_up_to(operand, end) for operand in f.operands]
    inside = neg(end)
    writers: dict[str, Callable[..., Formula]] = {
        "!": neg, "&": conj, "|": disj, "->": implies, "<->": iff,
        "X": lambda p: next_(conj(inside, p)),
        "N": lambda p: weak_next(disj(end, p)),
        "F": lambda p: until(inside, conj(inside, p)),
        "G": lambda p: weak_until(p, end),
        "U": lambda p, q: until(conj(inside, p), conj(inside, q)),
        "W": lambda p, q: weak_until(p, disj(end, q)),
        "R": lambda p, q: weak_until(q, disj(end, conj(p, q))),
        "M": lambda p, q: until(conj(inside, q), conj(inside, p, q)),
    }  # fmt: skip
    if f.window is not None:
        raise QuestionError("I cannot keep a time in seconds only up to another moment. Please say one of the two.")
    return writers[f.operator](*parts)


def items(node: Node) -> list[Node]:
    """Elements of a LIST."""
    return [node.children[0], *(items(node.children[1]) if node.step == "more" else [])]


def _is_limit(node: Node) -> bool:
    """Whether it bounds how the robot moves, and no more."""
    return all(map(_is_limit, node.children)) if node.step == "both" else node.step in _LIMITS


def _sequence(places: list[Formula]) -> Formula:
    formula = finally_(places[-1])
    for place in reversed(places[:-1]):
        formula = finally_(conj(place, formula))
    return formula


def _ordered(places: list[Formula]) -> Formula:
    return conj(*(until(neg(after), before) for before, after in pairwise(places)), finally_(places[-1]))


def _strictly(places: list[Formula]) -> Formula:
    once = [until(neg(a), until(a, until(neg(a), b))) for a, b in pairwise(places)]
    return conj(_ordered(places), *once)


def _at_least(count: int, p: Formula) -> Formula:
    """`p` comes true at least `count` times; staying true counts once."""
    formula = finally_(p)
    for _ in range(count - 1):
        formula = finally_(conj(p, until(p, conj(neg(p), until(neg(p), formula)))))
    return formula if count else disj(formula, neg(formula))


def _steps(count: int, p: Formula) -> Formula:
    """`p` is so at `count` moments at least."""
    formula = p
    for _ in range(count - 1):
        formula = conj(p, next_(finally_(formula)))
    return finally_(formula) if count else disj(p, neg(p))


def _exactly(count: int, p: Formula) -> Formula:
    if count == 0:
        return globally(neg(p))
    reached, no_more = p, disj(neg(p), globally(disj(p, globally(neg(p)))))
    for _ in range(count - 1):
        reached = conj(p, finally_(conj(neg(p), finally_(reached))))
        no_more = disj(neg(p), globally(disj(p, globally(no_more))))
    return strong_release(reached, no_more)
