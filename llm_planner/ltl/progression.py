"""Progression (Bacchus and Kabanza 1998): what remains to be shown of a formula after each letter.

What remains is a Boolean function of obligations about the rest of the trace, kept as a decision diagram. Diagrams are
canonical, so there are finitely many, and reading a letter without knowing it gives the successors under all letters at
once: a diagram that asks propositions first and ends in the states that follow.

Binary decision diagrams (Bryant 1986): Boolean functions as numbers, equal functions as the same number.

Only what progression needs: joining by and, or. Variables are numbered from 0; smaller ones are asked first.

How much work one question about formulas may take: counted, not timed, so that every machine gives one answer.
"""

from __future__ import annotations

from typing import NamedTuple

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Formula, Window

MAX_STEPS = 150_000  # of a few microseconds each: under half a second of one core


class Effort:
    """The steps that a question has left; everything that works on it spends from the same."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._all = self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Raises InputError where none are left."""
        self._left -= steps
        if self._left < 0:
            raise InputError(
                f"the formulas are too large to decide (more than {self._all} steps); give their parts as several "
                "formulas, ask about fewer at once, or say which propositions exclude each other"
            )

    def renew(self) -> None:
        """The next question begins."""
        self._left = self._all


FALSE, TRUE = 0, 1
LEAF = 1 << 60  # the variable of both constants, after every other
MAX_NODES = 400_000


class Diagrams:
    """A growing table of functions; `variables[n]`, `lows[n]`, `highs[n]` describe the function numbered n.

    Joining functions takes `effort`.
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
        """If `variable` then `high` else `low`, where both ask later variables only."""
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
        """And (`zero` FALSE) or or (`zero` TRUE)."""
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
        low = self._join(memory, zero, a_low, b_low)  # one call deeper for each variable
        found = memory[key] = self.node(variable, low, self._join(memory, zero, a_high, b_high))
        return found


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
