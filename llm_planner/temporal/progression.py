"""Progression (Bacchus and Kabanza 1998): what remains to be shown of a formula after each letter.

What remains is a Boolean function of obligations about the rest of the trace, kept as a decision diagram. Diagrams are
canonical, so there are finitely many, and reading a letter without knowing it gives the successors under all letters at
once: a diagram that asks propositions first and ends in the states that follow.
"""

from __future__ import annotations

from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.temporal.diagrams import FALSE, TRUE, Diagrams
from llm_planner.temporal.effort import Effort
from llm_planner.temporal.formula import Formula, Window

_TRUE_AT_THE_END = ("N", "G", "W", "R")

MAX_PROPOSITIONS = 200  # recursion over a diagram is as deep as it has variables: these,
MAX_OBLIGATIONS = 500  # and these


class Obligation(NamedTuple):
    """`formula` (its negation where not `positive`) from the next letter on; `waiting` for it: X and N."""

    formula: Formula
    positive: bool
    waiting: bool = False
    window: Window | None = None  # [s] of the clock, where the formula has one

    @property
    def met_at_the_end(self) -> bool:
        """Whether no further letter satisfies it."""
        return (self.formula.operator in _TRUE_AT_THE_END) == self.positive and self.formula.operator != ""


class Progression:
    """The states of one formula without windows in seconds, found as they are asked for, which takes `effort`."""

    def __init__(self, formula: Formula, effort: Effort) -> None:
        if len(formula.propositions) > MAX_PROPOSITIONS:
            raise InputError(
                f"the formula speaks of {len(formula.propositions)} propositions, and at most {MAX_PROPOSITIONS} are "
                "decided together; give its parts as several formulas"
            )
        self.diagrams = Diagrams(effort)
        self._variables = {name: k for k, name in enumerate(formula.propositions)}
        self.names = formula.propositions
        self._obligations: list[Obligation] = []
        self._numbers: dict[Obligation, int] = {}
        self._now: dict[tuple[Formula, bool], int] = {}
        self._next: dict[int, int] = {FALSE: FALSE, TRUE: TRUE}
        self.initial = self._ahead(formula, True)

    def is_state(self, node: int) -> bool:
        """Whether a diagram asks no proposition any more."""
        return self.diagrams.variables[node] >= len(self.names)

    def accepts(self, state: int) -> bool:
        """Whether the trace may end here."""
        while state > TRUE:
            met = self._obligation(state).met_at_the_end
            state = self.diagrams.highs[state] if met else self.diagrams.lows[state]
        return state == TRUE

    def successors(self, state: int) -> int:
        """The diagram over propositions that ends in the states after one more letter."""
        found = self._next.get(state)
        if found is None:
            obligation, diagrams = self._obligation(state), self.diagrams
            diagrams.effort.spend()
            low, high = self.successors(diagrams.lows[state]), self.successors(diagrams.highs[state])
            found = self._next[state] = diagrams.disj(low, diagrams.conj(self._meet(obligation), high))
        return found

    def _obligation(self, state: int) -> Obligation:
        return self._obligations[self.diagrams.variables[state] - len(self.names)]

    def _owe(self, obligation: Obligation) -> int:
        number = self._numbers.get(obligation)
        if number is None:
            number = self._numbers[obligation] = len(self._obligations)
            if number >= MAX_OBLIGATIONS:
                raise InputError(
                    f"the formula leaves more than {MAX_OBLIGATIONS} obligations open; "
                    "give its parts as several formulas"
                )
            self._obligations.append(obligation)
        return self.diagrams.node(len(self.names) + number, FALSE, TRUE)

    def _meet(self, obligation: Obligation) -> int:
        formula = obligation.formula.operands[0] if obligation.waiting else obligation.formula
        return self._read(formula, obligation.positive)

    def _ahead(self, f: Formula, positive: bool) -> int:
        """`f` from the next letter on, as a state."""
        if f.operator in ("true", "false"):
            return TRUE if (f.operator == "true") == positive else FALSE
        if f.operator == "!":
            return self._ahead(f.operands[0], not positive)
        if f.operator in ("&", "|"):
            return self._join((f.operator == "&") == positive, [self._ahead(g, positive) for g in f.operands])
        return self._owe(Obligation(f, positive))

    def _read(self, f: Formula, positive: bool) -> int:
        """`f` from this letter on: a diagram over this letter's propositions and what it leaves to be shown."""
        key = (f, positive)
        if key not in self._now:
            self._now[key] = self._expand(f, positive)
        return self._now[key]

    def _expand(self, f: Formula, positive: bool) -> int:
        """The fixed-point laws of the operators; a negation turns each into that of its dual."""
        match f.operator:
            case "":
                return self._literal(f.name, positive)
            case "true" | "false":
                return TRUE if (f.operator == "true") == positive else FALSE
            case "!":
                return self._read(f.operands[0], not positive)
            case "&" | "|":
                return self._join((f.operator == "&") == positive, [self._read(g, positive) for g in f.operands])
            case "->":
                sides = [self._read(f.operands[0], not positive), self._read(f.operands[1], positive)]
                return self._join(not positive, sides)
            case "<->":
                return self._equal(f.operands[0], f.operands[1], positive)
            case "X" | "N":
                return self._owe(Obligation(f, positive, waiting=True))
            case "F" | "G":
                sides = [self._read(f.operands[0], positive), self._owe(Obligation(f, positive))]
                return self._join((f.operator == "G") == positive, sides)
            case "U" | "W":
                return self._until(f, positive)
            case _:
                return self._release(f, positive)

    def _literal(self, name: str, positive: bool) -> int:
        return self.diagrams.node(self._variables[name], int(not positive), int(positive))

    def _join(self, every: bool, nodes: list[int]) -> int:
        joined = TRUE if every else FALSE
        for node in nodes:
            joined = self.diagrams.conj(joined, node) if every else self.diagrams.disj(joined, node)
        return joined

    def _equal(self, f: Formula, g: Formula, positive: bool) -> int:
        both = self._join(True, [self._read(f, True), self._read(g, positive)])
        return self._join(False, [both, self._join(True, [self._read(f, False), self._read(g, not positive)])])

    def _until(self, f: Formula, positive: bool) -> int:
        held, awaited = f.operands
        waits = self._join(positive, [self._read(held, positive), self._owe(Obligation(f, positive))])
        return self._join(not positive, [self._read(awaited, positive), waits])

    def _release(self, f: Formula, positive: bool) -> int:
        awaited, held = f.operands
        waits = self._join(not positive, [self._read(awaited, positive), self._owe(Obligation(f, positive))])
        return self._join(positive, [self._read(held, positive), waits])
