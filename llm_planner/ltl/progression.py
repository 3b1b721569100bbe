"""Progression (Bacchus and Kabanza 1998): what remains of a formula after each letter.

The remainder is a Boolean function of obligations about the rest of the trace, stored as a binary decision diagram
(Bryant 1986). Diagrams are canonical: functions are numbers, equal functions have the same number, and there are
finitely many. Progressing by an unknown letter gives a diagram that decides propositions first and ends in the next
states. `Effort` limits the work by counting steps instead of time, so that every machine gives the same answer.
"""

from __future__ import annotations

from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Formula, Window

MAX_STEPS = 150_000  # of a few microseconds each, under half a second on one core


class Effort:
    """Budget of steps for one question, shared by everything that works on it."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._all = self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Use up steps. Raises InputError if the budget is exhausted."""
        self._left -= steps
        if self._left < 0:
            raise InputError(
                f"the formulas are too large to decide (more than {self._all} steps); give their parts as several "
                "formulas, ask about fewer at once, or say which propositions exclude each other"
            )

    def renew(self) -> None:
        """Reset the budget for the next question."""
        self._left = self._all


FALSE, TRUE = 0, 1
LEAF = 1 << 60  # variable of both constants, after all others
MAX_NODES = 400_000


class Diagrams:
    """Table of binary decision diagrams; `variables[n]`, `lows[n]` and `highs[n]` describe function n.

    Variables are numbered from 0, and smaller ones are decided first. Joining functions spends `effort`.
    """

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.variables = [LEAF, LEAF]
        self.lows = [FALSE, TRUE]
        self.highs = [FALSE, TRUE]
        self._known: dict[tuple[int, int, int], int] = {}
        self._conj: dict[tuple[int, int], int] = {}
        self._disj: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.variables)

    def node(self, variable: int, low: int, high: int) -> int:
        """Return the function "if `variable` then `high` else `low`"; both may depend on later variables only."""
        if low == high:
            return low
        key = (variable, low, high)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self.variables)
            if number > MAX_NODES:
                raise InputError(
                    f"the formula is too large to decide (more than {MAX_NODES} cases); give its parts as several "
                    "formulas, or say which propositions exclude each other"
                )
            self.variables.append(variable)
            self.lows.append(low)
            self.highs.append(high)
        return number

    def conj(self, a: int, b: int) -> int:
        return self._join(self._conj, FALSE, a, b)

    def disj(self, a: int, b: int) -> int:
        return self._join(self._disj, TRUE, a, b)

    def _join(self, memory: dict[tuple[int, int], int], zero: int, a: int, b: int) -> int:
        """Compute the conjunction (`zero` FALSE) or the disjunction (`zero` TRUE)."""
        if a > b:
            a, b = b, a
        if a == b or b <= TRUE:
            return a if a == b else zero
        if a <= TRUE:
            return zero if a == zero else b
        key = (a, b)
        found = memory.get(key)
        if found is not None:
            return found
        self.effort.spend()
        variable = min(self.variables[a], self.variables[b])
        a_low, a_high = (self.lows[a], self.highs[a]) if self.variables[a] == variable else (a, a)
        b_low, b_high = (self.lows[b], self.highs[b]) if self.variables[b] == variable else (b, b)
        low = self._join(memory, zero, a_low, b_low)  # recursion depth: one call per variable
        found = memory[key] = self.node(variable, low, self._join(memory, zero, a_high, b_high))
        return found


_TRUE_AT_THE_END = ("N", "G", "W", "R")

MAX_PROPOSITIONS = 200  # with MAX_OBLIGATIONS, bounds the recursion depth over a diagram
MAX_OBLIGATIONS = 500


class Obligation(NamedTuple):
    """`formula` (negated unless `positive`) from the next letter on; `waiting` marks the operand of X or N."""

    formula: Formula
    positive: bool
    waiting: bool = False
    window: Window | None = None  # [s] clock time, if the formula has a window

    @property
    def met_at_the_end(self) -> bool:
        """Whether the obligation is met if no further letter comes."""
        return (self.formula.operator in _TRUE_AT_THE_END) == self.positive and self.formula.operator != ""


class Progression:
    """States of one formula, computed on demand at the expense of `effort`. Windows need `TimedProgression`."""

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
        """Return whether a diagram depends on no proposition."""
        return self.diagrams.variables[node] >= len(self.names)

    def accepts(self, state: int) -> bool:
        """Return whether the trace may end in this state."""
        while state > TRUE:
            met = self._obligation(state).met_at_the_end
            state = self.diagrams.highs[state] if met else self.diagrams.lows[state]
        return state == TRUE

    def successors(self, state: int) -> int:
        """Return the diagram over propositions that ends in the states after one more letter."""
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
        """Return the state that demands `f` from the next letter on."""
        if f.operator in ("true", "false"):
            return TRUE if (f.operator == "true") == positive else FALSE
        if f.operator == "!":
            return self._ahead(f.operands[0], not positive)
        if f.operator in ("&", "|"):
            return self._join((f.operator == "&") == positive, [self._ahead(g, positive) for g in f.operands])
        return self._owe(Obligation(f, positive))

    def _read(self, f: Formula, positive: bool) -> int:
        """Return the diagram of `f` from this letter on, over its propositions and the remaining obligations."""
        key = (f, positive)
        if key not in self._now:
            self._now[key] = self._expand(f, positive)
        return self._now[key]

    def _expand(self, f: Formula, positive: bool) -> int:
        """Apply the operator's fixed-point law, or that of its dual if negated."""
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
                one, other = f.operands
                both = self._join(True, [self._read(one, True), self._read(other, positive)])
                neither = self._join(True, [self._read(one, False), self._read(other, not positive)])
                return self._join(False, [both, neither])
            case "X" | "N":
                return self._owe(Obligation(f, positive, waiting=True))
            case "F" | "G":
                sides = [self._read(f.operands[0], positive), self._owe(Obligation(f, positive))]
                return self._join((f.operator == "G") == positive, sides)
            case _:  # g or (f and later) for U and W, g and (f or later) for R and M
                first, second = (self._read(g, positive) for g in f.operands)
                every = (f.operator in ("U", "W")) == positive
                waits = self._join(every, [first, self._owe(Obligation(f, positive))])
                return self._join(not every, [second, waits])

    def _literal(self, name: str, positive: bool) -> int:
        return self.diagrams.node(self._variables[name], int(not positive), int(positive))

    def _join(self, every: bool, nodes: list[int]) -> int:
        joined = TRUE if every else FALSE
        for node in nodes:
            joined = self.diagrams.conj(joined, node) if every else self.diagrams.disj(joined, node)
        return joined
