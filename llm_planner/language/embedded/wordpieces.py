"""Split text into word pieces as BERT's uncased vocabulary does (Wu et al., arXiv:1609.08144)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNKNOWN, FIRST, BETWEEN = "[UNK]", "[CLS]", "[SEP]"
LONGEST = 100  # characters of a word; a longer one is unknown
_PART = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """The number of a piece in the vocabulary, and the characters of the text that it covers."""

    number: int
    begin: int
    end: int


@dataclass(frozen=True)
class WordPieces:
    """Greedy longest-match splitting with a vocabulary of pieces and their numbers."""

    numbers: Mapping[str, int]

    @classmethod
    def of(cls, pieces: Sequence[str]) -> WordPieces:
        """Make one of the pieces in the order of their numbers."""
        return cls({piece: number for number, piece in enumerate(pieces)})

    def split(self, text: str) -> list[Piece]:
        """Return the pieces of the text, in its order."""
        found: list[Piece] = []
        for part in _PART.finditer(text):
            for word, begin in _letters(part[0], part.start()):
                found += self._word(word, begin, part.end())
        return found

    def _word(self, word: str, begin: int, stop: int) -> list[Piece]:
        found: list[Piece] = []
        at = 0
        while at < len(word) <= LONGEST:
            end = next(
                (end for end in range(len(word), at, -1) if ("##" if at else "") + word[at:end] in self.numbers), at
            )
            if end == at:
                break
            number = self.numbers[("##" if at else "") + word[at:end]]
            found.append(Piece(number, begin + at, min(begin + end, stop)))
            at = end
        return found if at == len(word) else [Piece(self.numbers[UNKNOWN], begin, min(begin + len(word), stop))]


def _letters(part: str, begin: int) -> list[tuple[str, int]]:
    """The part in lower case without accents; ideographs and underscores stand by themselves, as in BERT."""
    if part.isascii() and "_" not in part:
        return [(part.lower(), begin)]
    found: list[tuple[str, int]] = []
    for place, letter in enumerate(part, begin):
        plain = "".join(
            one for one in unicodedata.normalize("NFD", letter.lower()) if unicodedata.category(one) != "Mn"
        )
        alone = letter == "_" or "\u3400" <= letter <= "\u9fff"
        if alone or not found or found[-1][0][-1:] == "_" or "\u3400" <= found[-1][0][-1:] <= "\u9fff":
            found.append((plain, place))
        else:
            found[-1] = (found[-1][0] + plain, found[-1][1])
    return [(word, place) for word, place in found if word]
