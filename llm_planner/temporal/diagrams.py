"""Binary decision diagrams (Bryant 1986): Boolean functions as numbers, equal functions as the same number.

Only what progression needs: joining by and, or. Variables are numbered from 0; smaller ones are asked first.
"""

from __future__ import annotations

from llm_planner.errors import InputError
from llm_planner.temporal.effort import Effort

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
