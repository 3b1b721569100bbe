"""Quantities that a correction changes: one row gives their words, the sizes of a change, their bounds and wordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llm_planner.language.correction_requests import Intent, Sense, Size

Sizes = Mapping[Size, float]


@dataclass(frozen=True)
class Way:
    """One of the two ways in which a quantity changes.

    Attributes:
        words: Words in a sentence that ask for it, with those of other languages after the bar.
        request: Wording of a request, with a place for its size or amount.
        lesson: Wording of a lesson.
        sizes: Change without a number: a factor, or [m] for `height` and `clearance`.
        reflexes: Utterances that are read without a model.
    """

    words: str
    request: str
    lesson: str
    sizes: Sizes
    reflexes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """Quantity with its ways `more` and `less`; one of all motion also has a unit, a default value and bounds."""

    more: Way
    less: Way
    unit: str = ""
    normal: float = 0.0
    minimum: float = 0.0
    maximum: float = 0.0

    def way(self, sense: Sense) -> Way:
        """Return the way of a change; more, unless it is less."""
        return self.less if sense is Sense.LESS else self.more


def _sizes(bit: float, plain: float, much: float) -> Sizes:
    return {Size.BIT: bit, Size.PLAIN: plain, Size.MUCH: much}


_FARTHER, _LESS_FAR = _sizes(1.25, 1.5, 2.0), _sizes(0.8, 2 / 3, 0.5)
_HIGHER, _WIDER = _sizes(0.025, 0.05, 0.1), _sizes(0.01, 0.02, 0.04)

MOTION_QUANTITIES: Mapping[str, Quantity] = {
    "speed": Quantity(
        Way("faster fast quicker quickly quick hurry | schneller schnell vite rapido rápido veloce",
            "go {}faster", "faster", _sizes(4 / 3, 2.0, 4.0), ("faster", "speed up")),
        Way("slower slow slowly gently | langsamer langsam lentement lento despacio piano",
            "go {}slower", "slower", _sizes(0.75, 0.5, 0.25), ("slower", "slow down")),
        "of the full speed", 1.0, 0.05, 1.0,
    ),
    "clearance": Quantity(
        Way("more further farther wider | mehr weiter", "leave {}more room", "with more room", _WIDER),
        Way("less nearer closer | weniger näher", "leave {}less room", "with less room", _WIDER),
        "m", 0.0, 0.0, 0.15,
    ),
    "height": Quantity(
        Way("higher | höher haut", "carry it {}higher", "higher", _HIGHER, ("higher",)),
        Way("lower | tiefer niedriger bas", "carry it {}lower", "lower", _HIGHER, ("lower",)),
        "m", 0.0, 0.0, 0.2,
    ),
}  # fmt: skip
STEP_QUANTITIES: Mapping[str, Quantity] = {  # parameters of steps, which have the bounds of their skill
    "distance": Quantity(
        Way("more further farther wider | weiter", "push it {}further", "farther", _FARTHER),
        Way("less nearer closer | näher", "push it {}less far", "less far", _LESS_FAR),
    ),
    "seconds": Quantity(
        Way("longer | länger", "wait {}longer", "longer", _FARTHER),
        Way("shorter | kürzer", "wait {}shorter", "shorter", _LESS_FAR),
    ),
}
QUANTITIES = {**MOTION_QUANTITIES, **STEP_QUANTITIES}


def quantity_of(intent: Intent) -> str:
    """Return the name of the quantity that a request of this intent changes; "" for none."""
    name = "seconds" if intent is Intent.DURATION else intent.value
    return name if name in QUANTITIES else ""
