"""Trees of programs and specifications whose leaves point into what was said or what is there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pointer:
    """A leaf: number `index` of the words, or of the names of this `kind` (object, kind, color, room, ...)."""

    kind: str
    index: int


Step = str | Pointer


@dataclass(frozen=True)
class Node:
    """A construct with its parts, or a pointer."""

    step: Step
    children: tuple[Node, ...] = ()
