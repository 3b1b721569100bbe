"""The product of the automata of all constraints, over letters as bit masks, built as it is walked."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.temporal.alphabet import Alphabet
from llm_planner.temporal.automaton import automaton
from llm_planner.temporal.formula import Formula

DEAD = -1
_Part = tuple[int, int]  # an automaton's state, and its last letter as a mask


class Obligations:
    """States are numbers, of which `initial` is the one after the letters `read`.

    A letter that an automaton has just read is no change to it and is not read again. `stops` has a mask for each
    formula: what it sees in the last letter of a call only, () where all see everything.
    """

    def __init__(
        self,
        formulas: Sequence[Formula],
        alphabet: Alphabet,
        order: Sequence[str],
        read: Sequence[int],
        stops: Sequence[int] = (),
    ) -> None:
        self.automata = tuple(automaton(formula, alphabet) for formula in formulas)
        self._order = tuple(order)
        self._masks = tuple(sum(1 << order.index(name) for name in f.propositions) for f in formulas)
        self._numbers: dict[tuple[_Part, ...], int] = {}
        self._parts: list[tuple[_Part, ...]] = []
        self._read: dict[tuple[int, int, int], int] = {}  # (automaton, state, mask) -> state
        self._steps: dict[tuple[int, tuple[int, ...]], int] = {}
        self._accepting: list[bool] = []
        self._barred: dict[tuple[int, int, int], int] = {}
        self._passing = self._masks
        before = tuple((item.initial, -1) for item in self.automata)
        self.initial = self._along(before, tuple(read))
        self._passing = tuple(
            mask & ~stop for mask, stop in zip(self._masks, stops or (0,) * len(formulas), strict=True)
        )

    def along(self, state: int, letters: tuple[int, ...]) -> int:
        """The state after the letters, DEAD as soon as some constraint can no longer be kept."""
        key = (state, letters)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self._along(self._parts[state], letters)
        return found

    def barred(self, state: int, letter: int, among: int) -> int:
        """Those propositions `among` the given ones that kill some automaton if they alone change in the next letter,
        which does not kill it itself."""
        key = (state, letter, among)
        if key not in self._barred:
            self._barred[key] = self._fatal(state, letter, among)
        return self._barred[key]

    def _fatal(self, state: int, letter: int, among: int) -> int:
        fatal = 0
        for index, part in enumerate(self._parts[state]):
            own = among & self._masks[index]
            if own and self._part(index, part, (letter,)) is not None:
                bits = [1 << k for k in range(own.bit_length()) if own >> k & 1]
                fatal |= sum(bit for bit in bits if self._part(index, part, (letter ^ bit,)) is None)
        return fatal

    def accepts(self, state: int) -> bool:
        """Whether the plan may end here."""
        return self._accepting[state]

    def states_of(self, state: int) -> tuple[int, ...]:
        """The states of the automata."""
        return tuple(q for q, _ in self._parts[state])

    def _along(self, parts: tuple[_Part, ...], letters: tuple[int, ...]) -> int:
        after = []
        for k, part in enumerate(parts):
            moved = self._part(k, part, letters)
            if moved is None:
                return DEAD
            after.append(moved)
        return self._number(tuple(after))

    def _part(self, index: int, part: _Part, letters: tuple[int, ...]) -> _Part | None:
        state, last = part
        live, passing, end = self.automata[index].live, self._passing[index], len(letters) - 1
        for k, letter in enumerate(letters):
            own = letter & (self._masks[index] if k == end else passing)
            if own == last:
                continue
            state, last = self._step(index, state, own), own
            if state not in live:
                return None
        return state, last

    def _step(self, index: int, state: int, own: int) -> int:
        key = (index, state, own)
        found = self._read.get(key)
        if found is None:
            letter = frozenset(name for k, name in enumerate(self._order) if own >> k & 1)
            found = self._read[key] = self.automata[index].step(state, letter)
        return found

    def _number(self, parts: tuple[_Part, ...]) -> int:
        if parts not in self._numbers:
            self._numbers[parts] = len(self._parts)
            self._parts.append(parts)
            self._accepting.append(all(q in a.accepting for a, (q, _) in zip(self.automata, parts, strict=True)))
        return self._numbers[parts]
