"""How sentences really arrive: without punctuation, with slips of the finger, with a please."""

from __future__ import annotations

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator.phrasing import Phrase, Piece
from llm_planner.language.compact.generator.lexicon import AFTER, BEFORE, FILLERS
from llm_planner.language.compact.generator.noise import slip
from llm_planner.language.compact.generator.surface import chance, choose

_SHORT = {
    "you": "u", "don't": "dont", "isn't": "isnt", "aren't": "arent", "can't": "cant", "mustn't": "mustnt",
    "until": "til", "please": "pls", "you're": "youre", "you've": "youve", "it's": "its", "haven't": "havent",
    "shouldn't": "shouldnt",
    "your": "ur", "because": "cause", "that's": "thats", "hasn't": "hasnt",
}  # fmt: skip
_ENDS = ((0.4, "."), (0.06, "!"), (0.02, "?"), (0.02, "..."))


def noisy(parts: list[Phrase], rng: Generator, polite: float = 0.2) -> list[Phrase]:
    """The parts of a sentence with noise; each keeps at least one piece."""
    bare, mistyped = chance(rng, 0.4), chance(rng, 0.13)
    short, terse = chance(rng, 0.1), chance(rng, 0.05)
    out: list[Phrase] = []
    for part in parts:
        words = [piece for piece in part if not (bare and piece in (",", ".", ";", ":", "-"))]
        if short:
            words = [_SHORT.get(piece, piece) if isinstance(piece, str) else piece for piece in words]
        if terse:
            words = [piece for piece in words if piece not in ("the", "a", "an")]
        if mistyped:
            words = [_slipped(piece, rng) for piece in words]
        if chance(rng, 0.02):
            words.insert(int(rng.integers(0, len(words) + 1)), choose(rng, FILLERS))
        out.append(tuple(words) or part)
    if chance(rng, polite):
        out[0] = (*choose(rng, BEFORE).split(), *out[0])
    if chance(rng, polite / 4):
        out[-1] = (*out[-1], *choose(rng, AFTER).split())
    if not bare:
        out[-1] = (*out[-1], *_end(rng))
    return out


def _end(rng: Generator) -> Phrase:
    draw = rng.random()
    for share, mark in _ENDS:
        draw -= share
        if draw < 0:
            return tuple(mark)
    return ()


def _slipped(piece: Piece, rng: Generator) -> Piece:
    if isinstance(piece, str) and len(piece) > 2 and piece.isalpha() and chance(rng, 0.12):
        return slip(piece, rng)
    return piece
