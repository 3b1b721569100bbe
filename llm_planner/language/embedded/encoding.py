"""Input of the embedded model: the task, a line about the scene, and the words.

`WordPieces` splits text like BERT's uncased tokenizer (Wu et al., arXiv:1609.08144). The model was trained
with one table and takes "left table" for its left side, so `TableNames` has it read a table as a tray of a colour that
nothing else has; its result names the table again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from llm_planner.errors import QuestionError
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ALL_COLORS

MOST_NAMES = 6  # of listed objects, and of rooms
LIKE = 4  # first letters in which a word must agree with a name


class Task(str, Enum):
    """Kind of text that the words are read as."""

    COMMAND = "command"
    RULE = "rule"
    CORRECTION = "correction"


@dataclass(frozen=True)
class Situation:
    """Scene as the model receives it: names of `things` and `rooms`, the object `held` and the current `step`.

    With bare `propositions` there is no scene.
    """

    things: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    held: str = ""
    step: str = ""
    propositions: tuple[str, ...] = ()

    def line(self, words: str) -> str:
        """Describe the scene in one line: table or building, and the names that the words may refer to.

        Other names are left out, because the model copies names from the words.
        """
        if self.propositions:
            return f"letters: {', '.join(self.propositions[:MOST_NAMES])}"
        parts = [
            "building" if self.rooms else "table",
            _spoken("rooms", self.rooms, words),
            _spoken("things", self.things, words),
            f"held: {self.held}" if self.held else "",
            f"now: {self.step}" if self.step else "",
        ]
        return "; ".join(filter(None, parts))


def _spoken(title: str, names: tuple[str, ...], words: str) -> str:
    """List the names that share the beginning of a word with `words`."""
    said = {word[:LIKE] for word in re.findall(r"\w+", words)}
    found = [name for name in names if any(part[:LIKE] in said for part in re.findall(r"\w+", name))]
    return f"{title}: {', '.join(found[:MOST_NAMES])}" if found else ""


def situation_of(scene: Scene, step: str = "") -> Situation:
    """Create the situation of a scene; `step` is the current skill call."""
    rooms = tuple(scene.building.names) if scene.building else ()
    return Situation(tuple(map(plain, scene.names)), tuple(map(plain, rooms)), plain(scene.held), plain(step))


def plain(text: str) -> str:
    """Normalise words for the model: lower case, no double quotes, single spaces."""
    return re.sub(r"\s+", " ", text.replace('"', " ").replace("’", "'")).strip().lower()


UNKNOWN, FIRST, BETWEEN = "[UNK]", "[CLS]", "[SEP]"
LONGEST = 100  # characters of a word; longer ones are unknown
_PART = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """Number of a word piece in the vocabulary, and the characters of the text that it covers."""

    number: int
    begin: int
    end: int


@dataclass(frozen=True)
class WordPieces:
    """Greedy longest-match tokenizer with a vocabulary of pieces and their numbers."""

    numbers: Mapping[str, int]

    @classmethod
    def of(cls, pieces: Sequence[str]) -> WordPieces:
        """Create a tokenizer from the pieces in the order of their numbers."""
        return cls({piece: number for number, piece in enumerate(pieces)})

    def split(self, text: str) -> list[Piece]:
        """Return the pieces of the text in order."""
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
    """Lower-case a part and strip accents; ideographs and underscores become words of their own, as in BERT."""
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


Meaning = TypeVar("Meaning")


@dataclass(frozen=True)
class TableNames:
    """Trays by the names of the tables of a scene; empty for a scene with one table, which is no object of it."""

    trays: Mapping[str, str]

    @classmethod
    def of(cls, scene: Scene) -> TableNames:
        """Choose a tray for each table of the scene."""
        tables = [item.name for item in scene.objects if item.kind == TABLE_KIND]
        said = " ".join(scene.names).split()
        colors = [color for color in reversed(ALL_COLORS) if color not in said]
        return cls({name: f"{color} tray" for name, color in zip(tables, colors, strict=False)})

    def spoken(self, words: str) -> str:
        """Return the words with trays; raise QuestionError if they speak of a table without its name."""
        for table, tray in self.trays.items():
            words = re.sub(rf"\b{re.escape(table)}\b", tray, words, flags=re.IGNORECASE)
        if self.trays and re.search(r"\btables?\b", words, re.IGNORECASE):
            raise QuestionError(f"Which table do you mean? I see: {', '.join(self.trays)}.")
        return words

    def shown(self, scene: Scene) -> Scene:
        """Return the scene with the names of the trays."""
        items = (replace(item, name=self.trays.get(item.name, item.name)) for item in scene.objects)
        return replace(scene, objects=tuple(items)) if self.trays else scene

    def read(self, words: str, scene: Scene, reader: Callable[[str, Scene], Meaning]) -> Meaning:
        """Return what `reader` makes of the words and the scene with trays; its questions name the tables."""
        try:
            return reader(self.spoken(words), self.shown(scene))
        except QuestionError as question:
            raise QuestionError(self.restored(str(question))) from question

    def restored(self, text: str) -> str:
        """Return a program, formula or question with the names of the tables."""
        for table, tray in self.trays.items():
            text = text.replace(tray, table)
        return text
