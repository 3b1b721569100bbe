"""What is said of things, rooms, places on the table and amounts becomes a mark, so that phrases speak of none.

"Put it in the blue bowl, 2 cm to the left" becomes "put it in #0, $1 to the left"; `said` keeps the words, as lifted
translation does (Lang2LTL, arXiv:2302.11649).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from llm_planner.correction.amounts import AMOUNT
from llm_planner.language.compact.constraints.naming import scene_phrases
from llm_planner.language.compact.generator.lexicon import COLOR_WORDS, COLORS, KIND_WORDS, MORE_COLORS, REGIONS
from llm_planner.language.understanding.absent import ELSEWHERE, NOUNS
from llm_planner.world.scene import Scene

THING, ROOM, PLACE, AMOUNT_MARK = "#", "@", "%", "$"
MARK = re.compile(r"[#@%$](\d+)")
COLOR_NAMES = {
    **{color: color for color in (*COLORS, *MORE_COLORS)},
    **{word: color for color, words in COLOR_WORDS.items() for word in words},
}
SIDES = ("left", "right", "far", "near", "back", "front", "leftmost", "rightmost", "nearest", "closest", "farthest",
         "furthest", "nearer", "closer")  # fmt: skip
SIZES = ("big", "bigger", "biggest", "large", "larger", "largest", "small", "smaller", "smallest", "little")
OTHER = "other"
MORE_NOUNS = ("button", "drawer", "stain", "sponge", "dock", "parcel", "laptop", "plant", "toolbox", "kit", "teapot",
              "person", "man", "woman", "jug", "teddy bear", "teddy", "tray", "lamp", "charger", "candle", "napkin",
              "pencil", "notebook", "umbrella")  # fmt: skip
ONES = ("one", "ones", "thing", "things", "object", "objects", "item", "items")
_DETERMINERS = "the|that|this|those|these|a|an|my|your|our|any|all the|all|both the|both|every|each|another"
_POINTING = re.compile(
    r"(?:that|this) can|(?:that|this|the|those|these|any|all|both|every|each|a|an|another) (?:one|ones|thing|things)"
)
_WORD_FOR_SIDE = frozenset(("left", "right", "top", "bottom", "back"))  # alone these are directions


@dataclass(frozen=True)
class Marked:
    """A text with marks, and the words that each stands for, by its number."""

    text: str
    said: tuple[str, ...]

    def words_of(self, mark: str) -> str:
        """What was said where the mark is; "" for no mark."""
        return self.said[int(mark[1:])] if mark else ""

    def unmarked(self, text: str) -> str:
        """The text with the words in place of their marks."""
        return MARK.sub(lambda found: self.said[int(found[1])], text)


def mark(text: str, scene: Scene) -> Marked:
    """The normal text (lower case, single spaces) with its marks."""
    said: list[str] = []

    def marking(kind: str, pattern: re.Pattern[str], text: str) -> str:
        def put(found: re.Match[str]) -> str:
            if kind == THING and _POINTING.fullmatch(found[0]):
                return found[0]
            said.append(found[0])
            return f"{kind}{len(said) - 1}"

        return pattern.sub(put, text)

    for kind, pattern in _patterns(_named(scene)):
        text = marking(kind, pattern, text)
    return Marked(text, tuple(said))


Named = tuple[tuple[str, str], ...]  # the class of a name, and the pattern of the words for it


def _named(scene: Scene) -> Named:
    phrases = scene_phrases(scene)
    return tuple((phrase.entry, " ".join(f"(?:{'|'.join(part)})" for part in phrase.parts)) for phrase in phrases)


@lru_cache(maxsize=64)
def _patterns(named: Named) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of a scene, in the order in which they are looked for; made once for the same names."""
    rooms = [words for entry, words in named if entry == "room"]
    things = [words for entry, words in named if entry in ("object", "person", "kind")]
    found = [(AMOUNT_MARK, AMOUNT), (PLACE, _places())]
    if rooms:
        found.append((ROOM, re.compile(rf"(?<![\w#@%$])(?:the )?(?:{_any(rooms)})(?: room)?(?![\w-])")))
    return (*found, (THING, _things(things)))


def _any(words: Iterable[str]) -> str:
    """Longer words first, so that no name hides another that begins with it."""
    return "|".join(sorted(dict.fromkeys(words), key=len, reverse=True))


@lru_cache(maxsize=1)
def _places() -> re.Pattern[str]:
    words = [one for region in REGIONS.values() for one in region if one not in _WORD_FOR_SIDE and " of " not in one]
    names = _any(word.replace("-", " ") for word in words)
    return re.compile(rf"(?<![\w#@%$])(?:the )?(?:{names})(?: of the table)?(?![\w-])(?! of )")


def _things(named: list[str]) -> re.Pattern[str]:
    """Of what is here with or without an article; of anything else with one, or with a colour; a colour alone only
    where it is set against another."""
    colors = _any(COLOR_NAMES)
    adjective = f"(?:{colors}|{OTHER}|{_any((*SIDES, *SIZES))})"
    nouns = _any((*NOUNS, *ELSEWHERE, *KIND_WORDS, *ONES, *MORE_NOUNS))
    here = rf"(?:{_any(named) or '(?!)'})(?:s|es)?"
    anything = rf"(?:{nouns})(?:s|es)?"
    lead = rf"(?:(?:{_DETERMINERS}) )"
    shade = rf"(?:{colors}|{OTHER})"
    ones = rf"(?:{_any(ONES)})"
    parts = (
        rf"{lead}?(?:{adjective} )*{here}(?: {ones})?", rf"{lead}(?:{adjective} )*{anything}",
        rf"(?:{adjective} )+{ones}", rf"(?:{colors}) {anything}", rf"{lead}{shade}(?! (?:sides?|way|direction)\b)",
        rf"(?:(?<=said )|(?<=meant )|(?<=asked for )|(?<=wanted )|(?<=want )|(?<=need )|(?<=not )|(?<=no )|(?<=no , ))"
        rf"(?:{colors})(?=$| ,)",
        rf"(?:{colors})(?= not\b| instead\b)",
    )  # fmt: skip
    return re.compile(rf"(?<![\w#@%$])(?:{'|'.join(parts)})(?![\w'-])")
