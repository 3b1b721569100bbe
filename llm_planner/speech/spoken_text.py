"""Texts of the robot made short and speakable: whole sentences of words, numbers with their units spoken.

What the robot says holds no alarm word, so a stop word that is heard while it speaks is a person's.
"""

from __future__ import annotations

import re

from llm_planner.speech.recogniser import KEYPHRASES
from llm_planner.text import plain_text

MOST = 180  # [characters] of one answer, about 12 s of speech
UNITS = {
    "m/s": "metres per second", "cm/s": "centimetres per second", "mm/s": "millimetres per second",
    "rad/s": "radians per second", "m": "metres", "cm": "centimetres", "mm": "millimetres", "s": "seconds",
    "ms": "milliseconds", "min": "minutes", "kg": "kilograms", "g": "grams", "N": "newtons", "Hz": "hertz",
    "°": "degrees", "deg": "degrees", "rad": "radians", "%": "percent",
}  # fmt: skip
_QUANTITY = re.compile(r"(\d) ?(" + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)) + r")(?![\w/])")
_OPTIONS = re.compile(r" ?\(([^()]+(?: / [^()]+)+)\)")  # as `corrections.edits.asking` writes them
_ASIDE = re.compile(r" \([^()]*\)")
_SPEAKABLE = re.compile(r"(?:[A-Za-z]+(?:['’-][A-Za-z]+)*|-?\d+(?:[.,]\d+)*)[.,;:!?…]*")
_QUOTES = str.maketrans(dict.fromkeys('“”"‘`*', ""))
_SENTENCE = re.compile(r"(?<=[.;!?…]) +")
_ALARMS = re.compile(r"\b(?:" + "|".join(words.replace(" ", r"\s+") for words in KEYPHRASES) + ")", re.IGNORECASE)


def spoken(text: str) -> str:
    """Return what is said of a text: its first sentences up to `MOST` characters; "" if nothing can be said.

    Asides in brackets are left out, as are sentences with parts that are no words (formulas, calls, file names) or
    with an alarm word. Options "(a / b)" of a question are joined by "or".
    """
    plain = plain_text(text[:2000]).translate(_QUOTES)
    plain = _ASIDE.sub("", _OPTIONS.sub(lambda found: f": {', or '.join(found[1].split(' / '))}?", plain))
    plain = _QUANTITY.sub(lambda found: f"{found[1]} {UNITS[found[2]]}", plain.replace("?:", ":"))
    said = ""
    for sentence in _SENTENCE.split(plain):
        if not _is_speakable(sentence):
            continue
        if said and len(said) + len(sentence) >= MOST:
            break
        said = f"{said} {_cut(sentence)}".strip()
    return said


def _is_speakable(sentence: str) -> bool:
    words = sentence.split()
    return bool(words) and not _ALARMS.search(sentence) and all(map(_SPEAKABLE.fullmatch, words))


def _cut(sentence: str) -> str:
    """Return the sentence, or its clauses and words that fit."""
    if len(sentence) <= MOST:
        return sentence
    begun = sentence[:MOST]
    return begun[: max(begun.rfind(","), begun.rfind(" "))].rstrip(" ,;:")
