"""The words of the moment: what things and places are called, and what may be answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Vocabulary:
    """What a recogniser may expect to hear besides the phrases of corrections; all of it as it is said.

    `answers` are those to the question that is open ("yes", "no", the words of its options); while none is open, there
    are none, and a "yes" in talk is no answer. `skills` are what the robot can do, for recognisers that take a hint.
    """

    objects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class Thing(Protocol):
    """A thing of a scene, or one that is to be put in it."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def color(self) -> str: ...


def vocabulary_of(
    things: Iterable[Thing], places: Iterable[str] = (), answers: Iterable[str] = (), skills: Iterable[str] = ()
) -> Vocabulary:
    """What is said of these things: their names, kinds ("the block") and colors ("the red one")."""
    here = tuple(things)
    names = {item.name for item in here}
    return Vocabulary(
        objects=tuple(sorted(names)),
        kinds=tuple(sorted({item.kind for item in here} - names)),
        colors=tuple(sorted({item.color for item in here} - {""})),
        places=tuple(sorted(places)),
        answers=tuple(answers),
        skills=tuple(sorted(skills)),
    )
