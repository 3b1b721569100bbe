"""How sentences really arrive: without punctuation, with slips of the finger, with a please."""

from __future__ import annotations

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator.phrasing import Phrase, Piece
from llm_planner.language.compact.generator.lexicon import AFTER, BEFORE, FILLERS
from llm_planner.language.compact.generator.noise import slip
from llm_planner.language.compact.generator.surface import chance, choose


def noisy(parts: list[Phrase], rng: Generator, polite: float = 0.2) -> list[Phrase]:
    """The parts of a sentence with noise; each keeps at least one piece."""
    bare, mistyped = chance(rng, 0.45), chance(rng, 0.1)
    out: list[Phrase] = []
    for part in parts:
        words = [piece for piece in part if not (bare and piece in (",", ".", ";", ":", "-"))]
        if mistyped:
            words = [_slipped(piece, rng) for piece in words]
        if chance(rng, 0.02):
            words.insert(int(rng.integers(0, len(words) + 1)), choose(rng, FILLERS))
        out.append(tuple(words) or part)
    if chance(rng, polite):
        out[0] = (*choose(rng, BEFORE).split(), *out[0])
    if chance(rng, polite / 4):
        out[-1] = (*out[-1], *choose(rng, AFTER).split())
    return out


def _slipped(piece: Piece, rng: Generator) -> Piece:
    if isinstance(piece, str) and len(piece) > 2 and piece.isalpha() and chance(rng, 0.12):
        return slip(piece, rng)
    return piece
