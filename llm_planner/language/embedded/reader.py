"""Reader that turns words into terms with the embedded model: its tasks, its input, and equal results merged.

The model was trained with one table and takes "left table" for its left side, so `TableNames` has it read a table as a
tray of a colour that nothing else has; its result names the table again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.forms import WORD, Forms, Term, Value, Words, result_text, terms_of
from llm_planner.language.embedded.network import Network, load_network, source_of
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


WEIGHTS = Path(__file__).parent / "weights"
MOST_WORDS = 80
MOST_PIECES = 160  # word pieces of words and scene
REMEMBERED = 256  # cached readings, since callers ask for the same command several times
_ARTICLES = re.compile(r"^(?:the )?(?:a )?(?:an )?")
_CONTRACTED = re.compile(r"'(?:s|ll|d|re|ve)(?: do)?$")


@dataclass(frozen=True)
class TermReading:
    """Reading as terms with its probability; `spans` are the character ranges that the terms copy."""

    terms: tuple[Term, ...]
    probability: float
    spans: tuple[tuple[int, int], ...] = ()

    def covers(self, begin: int, end: int) -> bool:
        """Return whether a copied span contains the characters from `begin` to `end`."""
        return any(first <= begin and end <= last for first, last in self.spans)

    def __str__(self) -> str:
        return result_text(self.terms)


@dataclass
class EmbeddedReader:
    """Reader of words with a network; `forms` holds the grammar of each task."""

    network: Network
    forms: Mapping[Task, Forms]
    _known: dict[tuple[Task, str, str], tuple[TermReading, ...]] = field(default_factory=dict, repr=False)

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        """Read words as a task; return the readings, the most probable first.

        Raises LanguageModelError if there are no words, or more than `MOST_WORDS`.
        """
        said = plain(words)
        count = len(WORD.findall(said))
        if not 0 < count <= MOST_WORDS:
            raise LanguageModelError(f"{count} words were said; the embedded model reads 1 to {MOST_WORDS}")
        key = (task, situation.line(said), said)
        if key not in self._known:
            while len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[key] = self._read(*key)
        return self._known[key]

    def _read(self, task: Task, line: str, said: str) -> tuple[TermReading, ...]:
        source = source_of(self.network.pieces, f"{task.value}; {line}", said)
        if len(source.pieces) > MOST_PIECES:
            raise LanguageModelError("that is too long for the embedded model; say it in shorter parts")
        words = [match.span() for match in WORD.finditer(said)]
        found: dict[str, TermReading] = {}
        for one in self.network.read(source, self.forms[task]):
            terms = tuple(_changed(term, _CONTRACTED) for term in terms_of(one.symbols, said))  # "anna's" is anna
            key = result_text([_changed(term, _ARTICLES) for term in terms])  # articles distinguish nothing
            places = [symbol[1] for symbol in one.symbols if isinstance(symbol, tuple)]
            spans = [(words[begin][0], words[end][1]) for begin, end in zip(places[::2], places[1::2], strict=True)]
            known = found.get(key) or TermReading(terms, 0.0, tuple(spans))
            found[key] = replace(known, probability=known.probability + one.probability)
        return tuple(sorted(found.values(), key=lambda one: -one.probability))


def _changed(term: Term, removed: re.Pattern[str]) -> Term:
    """Return the term without what its copied words must not have."""

    def changed(value: Value) -> Value:
        return Words(removed.sub("", value.text)) if isinstance(value, Words) else _changed(value, removed)

    return Term(term.name, tuple(map(changed, term.arguments)), tuple((key, changed(one)) for key, one in term.keyed))


@lru_cache(maxsize=1)
def load_reader(folder: Path = WEIGHTS) -> EmbeddedReader:
    """Load the network in `folder`; raise LanguageModelError if it is incomplete."""
    forms = {Task.COMMAND: COMMANDS, Task.RULE: RULES, Task.CORRECTION: REQUESTS}
    return EmbeddedReader(load_network(folder), forms)


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
