"""How commands really arrive: politeness, fillers, self-repair, no punctuation, slips of the finger."""

from __future__ import annotations

from numpy.random import Generator

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, choose

_KEYS = {
    "q": "wa", "w": "qes", "e": "wrd", "r": "etf", "t": "ryg", "y": "tuh", "u": "yij", "i": "uok", "o": "ipl",
    "p": "ol",
    "a": "qsz", "s": "awdx", "d": "sefc", "f": "drgv", "g": "fthb", "h": "gyjn", "j": "hukm", "k": "jil", "l": "kop",
    "z": "asx", "x": "zsdc", "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip


def spoken(phrase: Phrase, rng: Generator, polite: bool = True) -> Phrase:
    """The phrase with what people say around and inside it; marks stay where they are."""
    parts = list(phrase)
    if chance(rng, 0.1):
        parts = [Fragment(_without_articles(p.text) if not p.mark else p.text, p.mark) for p in parts]
        parts = [p for p in parts if p.text] or list(phrase)
    if polite and chance(rng, 0.05):
        parts.insert(0, Fragment(choose(rng, lexicon.PREAMBLE)))
    if polite and chance(rng, 0.42):
        parts.insert(0, Fragment(_opening(rng)))
    if polite and chance(rng, 0.2):
        parts.append(Fragment(choose(rng, lexicon.AFTER)))
    if chance(rng, 0.08):
        parts.insert(int(rng.integers(1, len(parts) + 1)), Fragment(choose(rng, lexicon.FILLERS)))
    if chance(rng, 0.16):
        rate = 0.5 / max(1, len(parts)) + 0.05
        parts = [Fragment(_with_slips(p.text, rng, rate), p.mark) for p in parts]
    return tuple(parts)


def _without_articles(text: str) -> str:
    """As telegrams and hurried people write."""
    return " ".join(word for word in text.split() if word not in ("the", "a", "an", "my", "this", "that", "of"))


def _opening(rng: Generator) -> str:
    first = choose(rng, lexicon.BEFORE)
    return f"{first} {choose(rng, lexicon.BEFORE)}" if chance(rng, 0.25) else first


def repaired(wrong: Phrase, right: Phrase, rng: Generator) -> Phrase:
    """ "the red block, no, the blue block": what was said first, a repair, and what is meant."""
    return (*(Fragment(part.text) for part in wrong), Fragment(choose(rng, lexicon.REPAIRS)), *right)


def _with_slips(text: str, rng: Generator, rate: float) -> str:
    return " ".join(slip(w, rng) if len(w) > 2 and w.isalpha() and chance(rng, rate) else w for w in text.split(" "))


def slip(word: str, rng: Generator) -> str:
    """One wrong, missing, doubled or swapped letter."""
    at = int(rng.integers(1, len(word)))
    kind = int(rng.integers(4))
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2:
        return word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
    near = _KEYS.get(word[at].lower(), word[at])
    return word[:at] + choose(rng, tuple(near)) + word[at + 1 :]
