"""How sentences really arrive: without punctuation or articles, with slips of the finger, misheard words and an um."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path

from training.worlds import FOLDER

PAUSES = frozenset(",.;:!?")
BEGIN, END = "\x01", "\x02"  # marks around words that a result copies, each followed by the number of the copy
_ARTICLES = frozenset(("the", "a", "an"))
_FILLERS = ("um", "uh", "er", "like", "you know", "well", "hmm", "just", "uhm", "erm")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@lru_cache(maxsize=1)
def misheard(path: Path = FOLDER / "misheard.list") -> dict[str, list[str]]:
    """Words and what speech recognition makes of them."""
    lines = (line.split(":") for line in path.read_text(encoding="utf-8").splitlines() if ":" in line)
    return {word.strip(): [one.strip() for one in others.split(",")] for word, others in lines}


def noisy(words: list[str], rng: random.Random) -> list[str]:
    """The words with noise; marks stay where they are."""
    spoken = rng.random() < 0.3
    if spoken or rng.random() < 0.2:
        words = [word for word in words if word not in PAUSES]
    if spoken and rng.random() < 0.3:
        words = [_misheard(word, rng) if rng.random() < 0.25 else word for word in words]
    if rng.random() < 0.08:
        words = [word for word in words if word not in _ARTICLES]
    if not spoken and rng.random() < 0.12:
        words = [_slip(word, rng) if rng.random() < 0.12 else word for word in words]
    if rng.random() < 0.06:
        at = rng.randrange(len(words) + 1)
        while 0 < at < len(words) and _depth(words, at):
            at -= 1
        words = [*words[:at], *rng.choice(_FILLERS).split(), *words[at:]]
    if rng.random() < 0.02:
        at = rng.randrange(len(words))
        if words[at].isalpha() and not _depth(words, at):
            words = [*words[:at], words[at], *words[at:]]
    return words


def _depth(words: list[str], at: int) -> int:
    return sum(word[0] == BEGIN for word in words[:at]) - sum(word[0] == END for word in words[:at])


def _misheard(word: str, rng: random.Random) -> str:
    return rng.choice(misheard().get(word, [word]))


def _slip(word: str, rng: random.Random) -> str:
    """One wrong, missing, doubled or swapped letter of a longer word."""
    if len(word) < 4 or not (word.isalpha() and word.isascii() and word.islower()):
        return word
    at = rng.randrange(1, len(word))
    draw = rng.randrange(4)
    if draw == 0:
        return word[:at] + word[at + 1 :]
    if draw == 1:
        return word[:at] + word[at] + word[at:]
    if draw == 2:
        return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
    row = next(keys for keys in _KEYS if word[at] in keys)
    return word[:at] + row[max(0, min(len(row) - 1, row.index(word[at]) + rng.choice((-1, 1))))] + word[at + 1 :]


def joined(words: list[str]) -> tuple[str, dict[str, str]]:
    """The text, and by the number of its mark what each copy is."""
    text = ""
    begun: dict[str, int] = {}
    copies: dict[str, str] = {}
    for word in words:
        if word[0] == BEGIN:
            begun[word[1:]] = -1
        elif word[0] == END:
            copies[word[1:]] = text[begun[word[1:]] :] if begun[word[1:]] >= 0 else ""
        else:
            glued = word in PAUSES or (word.startswith("'") and len(word) > 1)
            text += ("" if glued or not text else " ") + word
            for mark, place in begun.items():
                if place < 0 and mark not in copies:
                    begun[mark] = len(text) - len(word)
    return text, {mark: copy.strip(" ,.;:!?") for mark, copy in copies.items()}
