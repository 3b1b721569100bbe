"""Words on their way to becoming a command: fragments of text, some of which a derivation points at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator


@dataclass(frozen=True)
class Fragment:
    """A piece of text; `mark` is a number that a pointer of the derivation refers to, or 0."""

    text: str
    mark: int = 0


Phrase = tuple[Fragment, ...]

_SLOT = re.compile(r"\{(\w+)\}")


def fill(template: str, **slots: Phrase | str) -> Phrase:
    """A phrase from "put {a} in {b}", with phrases or strings for its slots."""
    parts: list[Fragment] = []
    for index, piece in enumerate(_SLOT.split(template)):
        if index % 2 == 0:
            parts.extend([Fragment(piece.strip())] if piece.strip() else [])
        else:
            value = slots[piece]
            parts.extend([Fragment(value)] if isinstance(value, str) else value)
    return tuple(parts)


def choose(rng: Generator, options: Sequence[str]) -> str:
    """One of `options`, uniformly."""
    return options[int(rng.integers(len(options)))]


def chance(rng: Generator, probability: float) -> bool:
    return bool(rng.random() < probability)
