"""Vocabulary of commands: names of propositions, rooms, people, objects, kinds and colours, with their synonyms.

Also splits text into words and compares words that may be misspelt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from llm_planner.scene.scene import Scene

COLORS = ("blue", "red", "green", "orange", "yellow", "purple", "pink", "cyan", "brown", "gray", "white", "black",
          "silver", "gold", "teal", "beige", "violet", "maroon", "turquoise", "navy", "lime", "mauve", "magenta",
          "crimson", "scarlet", "olive", "tan", "indigo", "ivory", "khaki", "lilac", "bronze", "copper",
          "amber")  # fmt: skip
COLOR_WORDS = {
    "gray": ("gray", "grey"),
    "purple": ("purple", "violet"),
    "cyan": ("cyan", "turquoise", "light blue"),
    "orange": ("orange",),
}
COLOR_NAMES = {
    **{color: color for color in COLORS},
    **{word: color for color, words in COLOR_WORDS.items() for word in words},
}
KIND_WORDS = {
    "block": ("block", "cube", "brick", "box"),
    "bowl": ("bowl", "dish", "basin"),
    "mug": ("mug", "cup", "coffee mug"),
    "cup": ("cup", "mug"),
    "plate": ("plate", "dish", "saucer"),
    "vase": ("vase", "flower vase"),
    "dock": ("dock", "charger"),
}
PEOPLE_WORDS = ("people", "persons", "humans", "person", "human", "everybody", "everyone", "anybody", "anyone")
PERSON_WORDS = ("person", "human", "man", "woman", "guy", "fella", "fellow", "bloke", "chap", "lady", "gentleman")
CONTAINERS = ("bowl", "box", "basket", "bin", "tray", "bucket", "crate", "pot", "pan", "drawer", "jar", "tub", "sink")
SURFACES = ("plate", "tray", "mat", "shelf", "book", "napkin", "coaster", "board", "pad", "lid", "towel", "stand")
REGION_WORDS = {
    "top left corner": (
        "top left corner", "upper left corner", "far left corner", "back left corner", "top left", "left far corner",
        "upper left hand corner", "corner at the top left", "upper left", "far left hand corner",
    ),
    "top right corner": (
        "top right corner", "upper right corner", "far right corner", "back right corner", "top right",
        "right far corner", "upper right hand corner", "corner at the top right", "upper right",
        "far right hand corner",
    ),
    "bottom left corner": (
        "bottom left corner", "lower left corner", "near left corner", "front left corner", "bottom left",
        "left near corner", "lower left hand corner", "corner at the bottom left", "lower left",
    ),
    "bottom right corner": (
        "bottom right corner", "lower right corner", "near right corner", "front right corner", "bottom right",
        "right near corner", "lower right hand corner", "corner at the bottom right", "lower right",
    ),
    "left side": (
        "left side", "left edge", "left hand side", "left side of the table", "left", "left edge of the table",
        "left part of the table", "left of the table", "left half",
    ),
    "right side": (
        "right side", "right edge", "right hand side", "right side of the table", "right", "right edge of the table",
        "right part of the table", "right of the table",
    ),
    "top side": (
        "top side", "top edge", "far side", "back of the table", "upper side", "top", "far edge",
        "top side of the table", "far end of the table", "upper edge", "top of the table", "back edge", "back",
    ),
    "bottom side": (
        "bottom side", "bottom edge", "near side", "front of the table", "lower side", "bottom", "near edge",
        "bottom side of the table", "near end of the table", "lower edge", "front edge", "front",
    ),
    "middle": (
        "middle", "center", "centre", "middle of the table", "center of the table", "centre of the table",
        "table center", "middle of the workspace",
    ),
}  # fmt: skip

_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]", re.UNICODE)


@dataclass(frozen=True)
class Word:
    """Lower-case word of a command with its `start` and `end` in characters."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """Split text into words: "Move it 5cm" gives move, it, 5, cm."""
    return [Word(match[0].lower().replace("’", "'"), *match.span()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=65536)
def similarity(word: str, name: str) -> float:
    """Return how well a typed word matches a word of a name, in [0, 1]; plurals match fully, typing errors less."""
    if word == name or (word.endswith("s") and word.rstrip("s") == name):
        return 1.0
    if len(word) < 4 or len(name) < 4 or abs(len(word) - len(name)) > 2:
        return 0.0
    ratio = SequenceMatcher(None, word, name).ratio()
    return ratio if ratio >= 0.75 else 0.0


PEOPLE = frozenset(["person", "human", "man", "woman", "people"])
ROOM_WORDS = {
    "lab": ("lab", "laboratory"),
    "storage": ("storage", "store", "storeroom"),
    "canteen": ("canteen", "cafeteria"),
}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LABEL = 2  # longest suffix, in characters, that tells rooms of one family apart
_ENDINGS = ("ing", "ed", "es", "s", "d", "e")


@dataclass(frozen=True)
class Phrase:
    """Name as people type it: the accepted words for each of its `parts`; `loose` names may be inflected.

    `entry` is "prop", "room", "person", "object", "kind" or "color"; `key` is the canonical name.
    """

    entry: str
    key: str
    parts: tuple[tuple[str, ...], ...]
    loose: bool = False


_OF_CLAUSES = frozenset((
    "is", "are", "be", "been", "being", "has", "have", "had", "the", "a", "an", "not", "never", "always", "ever",
    "shall", "must", "may", "can", "will", "should", "to", "stays", "stay", "remains", "remain", "becomes", "become",
    "does", "do", "eventually", "again", "finally", "still", "also", "no", "longer", "then",
))  # fmt: skip


@lru_cache(maxsize=4096)
def stems(word: str) -> frozenset[str]:
    """Return the word and its possible stems: those of granted, granting and grants include "grant"."""
    found = {word}
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            found |= {stem, stem[:-1]} if len(stem) > 3 and stem[-1] == stem[-2] else {stem}
    return frozenset(found)


def proposition_phrases(names: Sequence[str]) -> tuple[Phrase, ...]:
    """Return phrases for bare propositions: `door_open` is "the door is open", `prop_1` is "prop 1"."""
    return tuple(
        Phrase("prop", name, tuple((word.text,) for word in split_words(_CAMEL.sub(" ", name).replace("_", " "))), True)
        for name in names
    )


def told(said: str, names: Sequence[Phrase]) -> list[str]:
    """Find the propositions that a clause states: "a message is sent" is `msg_sent`, "at danger" is `at_danger`.

    Either all words of the name occur in the clause, or all words of the clause occur in the name. Words may differ in
    their endings or be abbreviated. The propositions with the most words in common win.
    """
    words = [word.text for word in split_words(said) if word.text not in _OF_CLAUSES]
    shared: dict[str, int] = {}
    for phrase in names:
        parts = [part for (part, *_) in phrase.parts if part not in _OF_CLAUSES]
        known = [word for word in words if any(_stands_for(part, word) for part in parts)]
        whole = all(any(_stands_for(part, word) for word in words) for part in parts)
        if known and (whole or len(known) == len(words)):
            shared[phrase.key] = len(known)
    return [name for name, count in shared.items() if count == max(shared.values())]


def _stands_for(part: str, word: str) -> bool:
    """Return whether a part of a name is this word or an abbreviation of it: `msg` is "message"."""
    if stems(part) & stems(word):
        return True
    letters = iter(word)
    return 2 <= len(part) < len(word) and part[0] == word[0] and all(letter in letters for letter in part)


def families(rooms: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Group rooms whose names differ only in a final number or letter: aisle 1 and aisle 2 are aisles."""
    numbered = [
        (name.rsplit(" ", 1)[0], name) for name in rooms if " " in name and len(name.rsplit(" ", 1)[1]) <= _LABEL
    ]
    found = {family: tuple(name for stem, name in numbered if stem == family) for family, _ in numbered}
    return {family: names for family, names in found.items() if len(names) > 1}


def scene_phrases(scene: Scene) -> tuple[Phrase, ...]:
    """Return phrases for the rooms, people and objects of a scene, and for their kinds and colours."""
    found: list[Phrase] = []
    for room in scene.building.names if scene.building else ():
        parts = tuple(ROOM_WORDS.get(word.text, (word.text,)) for word in split_words(room))
        found.append(Phrase("room", room, parts))
        if len(parts) > 1 and parts[-1] == ("room",):
            found.append(Phrase("room", room, parts[:-1]))
    found += [Phrase("kind", name, _single(name)) for name in families(scene.building.names if scene.building else ())]
    for item in scene.objects:
        entry = "person" if item.kind in PEOPLE else "object"
        found.append(Phrase(entry, item.name, _parts(item.name, item.kind, item.color)))
    things = [item for item in scene.objects if item.kind not in PEOPLE]
    for kind in dict.fromkeys(item.kind for item in things):
        found += [Phrase("kind", kind, _single(word)) for word in dict.fromkeys((kind, *KIND_WORDS.get(kind, ())))]
        if " " in kind:
            found.append(Phrase("kind", kind, _single(kind.split()[-1])))
    for color in dict.fromkeys(item.color for item in things if item.color):
        found += [Phrase("color", color, _single(word)) for word in dict.fromkeys((color, *COLOR_WORDS.get(color, ())))]
    return tuple(found)


def _single(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple((word.text,) for word in split_words(text))


def _parts(name: str, kind: str, color: str) -> tuple[tuple[str, ...], ...]:
    """Return the accepted words for each word of a name, with synonyms of its kind and colour."""
    parts: list[tuple[str, ...]] = []
    for word in split_words(name):
        others = (KIND_WORDS.get(kind, ()) if word.text == kind else ()) + (
            COLOR_WORDS.get(color, ()) if word.text == color else ()
        )
        parts.append(tuple(dict.fromkeys((word.text, *(other for other in others if " " not in other)))))
    return tuple(parts)
