"""Turns words and what they may name into a network's input, and says which choices a grammar symbol leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.language.compact.grammar import Grammar, Pointer, Step
from llm_planner.language.compact.words import ngrams, similarity


class Token(Protocol):
    """A word of the input and the class, of those in `Grammar.words`, that it belongs to."""

    @property
    def text(self) -> str: ...

    @property
    def segment(self) -> str: ...


@dataclass(frozen=True)
class Encoded:
    """One input of S positions: the words of the command, then the entries that it may name.

    `grams` are S tuples of n-gram buckets; `segment` (S,) says what each position is; `position` (S,) numbers the
    words from 1 (0 for entries); `match` (S, S) is how well a word fits an entry, in [0, 1].
    """

    grammar: Grammar
    grams: tuple[tuple[int, ...], ...]
    segment: NDArray[np.int64]
    position: NDArray[np.int64]
    match: NDArray[np.float32]

    @property
    def length(self) -> int:
        return len(self.grams)

    def locate(self, pointer: Pointer) -> int:
        """The position that a pointer stands for."""
        if pointer.kind in self.grammar.words:
            return pointer.index
        return int(np.flatnonzero(self.segment == self.grammar.segments[pointer.kind])[pointer.index])

    def pointer_at(self, position: int) -> Pointer:
        """The pointer that choosing `position` means; inverse of `locate`."""
        segment = int(self.segment[position])
        kind = next(name for name, value in self.grammar.segments.items() if value == segment)
        return Pointer(
            kind, position if kind in self.grammar.words else int((self.segment[:position] == segment).sum())
        )

    def legal(self, symbol: str, loops: int) -> NDArray[np.bool_]:
        """Mask over the productions and then the S positions: what may stand for `symbol`."""
        grammar, wide = self.grammar, len(self.grammar.productions)
        mask = np.zeros(wide + self.length, dtype=bool)
        mask[grammar.legal_choices(symbol, loops)] = True
        mask[self._barred] = False
        for pointer_kind in grammar.pointers.get(symbol, ()):
            mask[wide:] |= self.segment == grammar.segments[pointer_kind]
        return mask

    @cached_property
    def _barred(self) -> list[int]:
        """Productions that need something to point at where there is nothing."""
        here = set(self.segment.tolist())
        empty = {
            symbol
            for symbol, rules in self.grammar.rules.items()
            if not rules and not here & {self.grammar.segments[kind] for kind in self.grammar.pointers[symbol]}
        }
        return [self.grammar.production_index[name] for name in self.grammar.needing(frozenset(empty))]

    def choice(self, step: Step) -> int:
        """A step's index in the mask of `legal`."""
        if isinstance(step, str):
            return self.grammar.production_index[step]
        return len(self.grammar.productions) + self.locate(step)

    def step_at(self, choice: int) -> Step:
        """The step of that index; inverse of `choice`."""
        wide = len(self.grammar.productions)
        return self.grammar.productions[choice] if choice < wide else self.pointer_at(choice - wide)


@dataclass(frozen=True)
class Sample:
    """What a network learns from: an input, and the derivation of what it means."""

    item: Encoded
    steps: tuple[Step, ...]


def encode(words: Sequence[Token], entries: Sequence[tuple[str, tuple[str, ...]]], grammar: Grammar) -> Encoded:
    """The input for these words and these entries, each (class, its words) and sorted by class."""
    parts = [part for _, part in entries]
    grams = [ngrams(word.text) for word in words]
    grams += [tuple(gram for part in entry for gram in ngrams(part)) or ngrams(" ") for entry in parts]
    size = len(grams)
    segment = [grammar.segments[name] for name in (*(word.segment for word in words), *(name for name, _ in entries))]
    match = np.zeros((size, size), dtype=np.float32)
    for row, word in enumerate(words):
        for column, entry in enumerate(parts, start=len(words)):
            fit = max((similarity(word.text, part) for part in entry), default=0.0)
            match[row, column] = match[column, row] = fit
    position = [*range(1, len(words) + 1), *([0] * len(entries))]
    return Encoded(grammar, tuple(grams), np.array(segment), np.array(position), match)
