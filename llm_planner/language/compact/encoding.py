"""Turns a command and a scene into the network's input, and says which choices a grammar symbol leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.language.compact.entries import Entries
from llm_planner.language.compact.grammar import POINTERS, PRODUCTIONS, SYMBOLS, Pointer, Step, legal_productions
from llm_planner.language.compact.words import Word, ngrams, similarity, split_words

WORD, QUANTITY_WORD, OBJECT, KIND, COLOR = range(5)
SEGMENTS = {"word": WORD, "quantity": QUANTITY_WORD, "object": OBJECT, "kind": KIND, "color": COLOR}
MAX_LOOPS = 3

PRODUCTION_INDEX = {name: index for index, name in enumerate(PRODUCTIONS)}
SYMBOL_INDEX = {name: index for index, name in enumerate(SYMBOLS)}


@dataclass(frozen=True)
class Encoded:
    """One input of S positions: the words of the command, then the entries of the scene.

    `grams` are S tuples of n-gram buckets; `segment` (S,) says what each position is; `position` (S,) numbers the
    words from 1 (0 for entries); `match` (S, S) is how well a word fits an entry, in [0, 1].
    """

    grams: tuple[tuple[int, ...], ...]
    segment: NDArray[np.int64]
    position: NDArray[np.int64]
    match: NDArray[np.float32]

    @property
    def length(self) -> int:
        return len(self.grams)

    def locate(self, pointer: Pointer) -> int:
        """The position that a pointer stands for."""
        if pointer.kind in ("word", "quantity"):
            return pointer.index
        return int(np.flatnonzero(self.segment == SEGMENTS[pointer.kind])[pointer.index])

    def pointer_at(self, position: int, symbol: str) -> Pointer:
        """The pointer that choosing `position` for `symbol` means; inverse of `locate`."""
        segment = int(self.segment[position])
        if segment in (WORD, QUANTITY_WORD):
            return Pointer("quantity" if symbol == "AMOUNT" else "word", position)
        kind = next(name for name, value in SEGMENTS.items() if value == segment)
        return Pointer(kind, int((self.segment[:position] == segment).sum()))

    def legal(self, symbol: str, loops: int) -> NDArray[np.bool_]:
        """Mask over the productions and then the S positions: what may stand for `symbol`."""
        mask = np.zeros(len(PRODUCTIONS) + self.length, dtype=bool)
        mask[[PRODUCTION_INDEX[name] for name in legal_productions(symbol, loops)]] = True
        for pointer_kind in POINTERS.get(symbol, ()):
            mask[len(PRODUCTIONS) :] |= self.segment == SEGMENTS[pointer_kind]
        return mask

    def choice(self, step: Step) -> int:
        """A step's index in the mask of `legal`."""
        return PRODUCTION_INDEX[step] if isinstance(step, str) else len(PRODUCTIONS) + self.locate(step)


def encode(words: tuple[Word, ...], entries: Entries) -> Encoded:
    """The input for these words and this scene."""
    flat = entries.flat()
    parts = [tuple(word.text for word in split_words(text)) for _, _, text in flat]
    grams = [ngrams(word.text) for word in words]
    grams += [tuple(gram for part in entry for gram in ngrams(part)) or ngrams(" ") for entry in parts]
    size = len(grams)
    segment = [QUANTITY_WORD if word.metres else WORD for word in words] + [SEGMENTS[cls] for cls, _, _ in flat]
    match = np.zeros((size, size), dtype=np.float32)
    for row, word in enumerate(words):
        for column, entry in enumerate(parts, start=len(words)):
            fit = max((similarity(word.text, part) for part in entry), default=0.0)
            match[row, column] = match[column, row] = fit
    position = [*range(1, len(words) + 1), *([0] * len(flat))]
    return Encoded(tuple(grams), np.array(segment), np.array(position), match)
