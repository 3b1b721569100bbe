"""What was said, word by word, each with its class: it may name a thing, a colour or a room, or be an amount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from llm_planner.correction.amounts import AMOUNT
from llm_planner.correction.clauses import normal
from llm_planner.correction.marking import COLOR_NAMES
from llm_planner.correction.slips import english
from llm_planner.language.compact.constraints.naming import scene_phrases
from llm_planner.language.compact.words import similarity
from llm_planner.language.understanding.absent import ELSEWHERE, GENERAL, NOUNS
from llm_planner.world.scene import Scene

MOST_WORDS = 60
AMOUNT_WORD = "#amount"
NO_NAMES = frozenset(("room", "a"))  # words in the names of rooms that tell nothing
_ALIKE = 0.8  # of a name and a slip of the finger


@dataclass(frozen=True)
class Names:
    """The words of what may be spoken of here. Words for things and colours that are not here are known besides."""

    things: frozenset[str] = frozenset()
    colors: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Heard:
    """A word of a correction and its class, of `grammar.WORDS`. `said` is what stood there, also where a slip of the
    finger was put right, or where `text` stands for an amount."""

    text: str
    segment: str = "word"
    said: str = ""


def names_of(scene: Scene) -> Names:
    """The words for everything in the scene."""
    words: dict[str, set[str]] = {"color": set(), "room": set()}
    for phrase in scene_phrases(scene):
        words.setdefault(phrase.entry, set()).update(word for part in phrase.parts for word in part)
    colors = frozenset(words.pop("color"))
    rooms = frozenset(words.pop("room")) - NO_NAMES
    things = frozenset(word for several in words.values() for word in several)
    return Names(things.difference(colors, COLOR_NAMES), colors, rooms)


def heard(words: str, names: Names) -> tuple[Heard, ...]:
    """The words in lower case, contractions written out, an amount one word, a pause a comma."""
    found: list[Heard] = []
    text, at = normal(words), 0
    for amount in AMOUNT.finditer(text):
        found += [classed(word, names) for word in text[at : amount.start()].split()]
        found.append(Heard(AMOUNT_WORD, "amount", amount[0]))
        at = amount.end()
    return (*found, *(classed(word, names) for word in text[at:].split()))


def classed(word: str, names: Names) -> Heard:
    """The word with its class; a slip of the finger in a name is put right."""
    for segment, known in (("room", names.rooms), ("color", names.colors), ("thing", names.things)):
        if name := _name_in(word, known):
            return Heard(name, segment, name)
    if word in COLOR_NAMES:
        return Heard(word, "color", word)
    noun = word if word in NOUNS | ELSEWHERE else word.removesuffix("s")
    return Heard(word, "thing" if noun in (NOUNS | ELSEWHERE) - GENERAL else "word", word)


@lru_cache(maxsize=4096)
def _name_in(word: str, names: frozenset[str]) -> str:
    """The word itself where it is one of the names or their plural, the name that it is nearly, or ""."""
    if word in names or word.removesuffix("s") in names or word.removesuffix("es") in names:
        return word
    if word in english() or word in COLOR_NAMES:
        return ""
    near = [name for name in names if similarity(word, name) >= _ALIKE]
    return near[0] if len(near) == 1 else ""


def said_from(words: Sequence[Heard], first: int, last: int) -> str:
    """What was said from one word to another, both included; a comma is left out at either end."""
    return " ".join(word.said or word.text for word in words[first : last + 1]).strip(" ,")
