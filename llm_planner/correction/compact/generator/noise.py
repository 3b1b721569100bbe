"""How corrections really arrive: without punctuation, with slips of the finger, without articles, with an um."""

from __future__ import annotations

from dataclasses import replace

from numpy.random import Generator

from llm_planner.correction.compact.generator.clause import Piece
from llm_planner.language.compact.generator.noise import slip
from llm_planner.language.compact.generator.surface import chance, choose

PAUSES = frozenset(",.;:!?")
_ARTICLES = frozenset(("the", "a", "an", "that", "my"))
_FILLERS = ("um", "uh", "er", "like", "you know", "well", "hmm", "just", "maybe", "please", "uhm", "i mean")


def noisy(pieces: list[Piece], rng: Generator) -> list[Piece]:
    """The pieces with noise; no slot loses all its words."""
    if chance(rng, 0.35):
        pieces = [piece for piece in pieces if piece.text not in PAUSES]
    if chance(rng, 0.1):
        pieces = _terse(pieces)
    if chance(rng, 0.14):
        pieces = [_slipped(piece, rng) for piece in pieces]
    if chance(rng, 0.05) and pieces:
        at = int(rng.integers(0, len(pieces) + 1))
        inside = 0 < at < len(pieces) and pieces[at].slot == pieces[at - 1].slot
        filler = [Piece(word, pieces[at].slot if inside else "") for word in choose(rng, _FILLERS).split()]
        pieces = [*pieces[:at], *filler, *pieces[at:]]
    return pieces


def _terse(pieces: list[Piece]) -> list[Piece]:
    left = [piece for piece in pieces if piece.text not in _ARTICLES]
    return left if {piece.slot for piece in left} == {piece.slot for piece in pieces} else pieces


def _slipped(piece: Piece, rng: Generator) -> Piece:
    if not piece.is_amount and len(piece.text) > 3 and piece.text.isalpha() and chance(rng, 0.15):
        return replace(piece, text=slip(piece.text, rng))
    return piece
