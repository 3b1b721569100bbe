"""The worlds in which skills are learned and tried: what is on the table, and what is asked for, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.simulation.objects import COLORS, ObjectSpec, named
from llm_planner.skills.contract import Argument
from llm_planner.world.places import DIRECTIONS, REGIONS, WORKSPACE

Rng = np.random.Generator
Call = tuple[str, Mapping[str, Argument]]


@dataclass(frozen=True)
class Case:
    """`objects` on the table, what is done `before` with scripted skills, and the `arguments` of the skill itself."""

    objects: tuple[ObjectSpec, ...]
    arguments: Mapping[str, Argument]
    before: tuple[Call, ...] = ()


SIZES = (0.8, 1.2)  # of what stands on the table, against its kind's usual size


def draw_case(world: str, seed: int) -> Case:
    """Of the training world called `world`; raises InputError that lists the worlds."""
    if world not in CASES:
        raise InputError(f"there is no training world {world!r}; there are: {', '.join(CASES)}")
    return CASES[world](np.random.default_rng((seed, 1)))


def _things(rng: Rng, *wanted: str, others: int = 5) -> tuple[ObjectSpec, ...]:
    """The kinds wanted first, then up to so many other things, all of different colours and sizes."""
    kinds = [*wanted, *rng.choice(["block", "bowl", "mug", "vase", "plate"], size=rng.integers(0, others + 1),
                                  p=[0.45, 0.3, 0.1, 0.1, 0.05])]  # fmt: skip
    colors = rng.permutation(list(COLORS))
    return named([(str(color), str(kind)) for color, kind in zip(colors, kinds, strict=False)])


def _grasped(rng: Rng) -> str:
    return str(rng.choice(["block", "bowl", "mug", "vase", "plate"], p=[0.55, 0.2, 0.1, 0.1, 0.05]))


def _pick(rng: Rng) -> Case:
    things = _things(rng, _grasped(rng))
    return Case(things, {"object": things[0].name})


def _place(
    arguments: Callable[[Rng, tuple[ObjectSpec, ...]], Mapping[str, Argument]], *kinds: str
) -> Callable[[Rng], Case]:
    def draw(rng: Rng) -> Case:
        held = "block" if "bowl" in kinds else _grasped(rng)
        things = _things(rng, held, *kinds, others=4)
        return Case(things, arguments(rng, things), (("pick", {"object": things[0].name}),))

    return draw


def _point(rng: Rng) -> tuple[float, float, float]:
    x = rng.uniform(WORKSPACE.x_min + 0.05, WORKSPACE.x_max - 0.05)
    return float(x), float(rng.uniform(WORKSPACE.y_min + 0.05, WORKSPACE.y_max - 0.05)), 0.0


def _somewhere(rng: Rng, things: tuple[ObjectSpec, ...]) -> Mapping[str, Argument]:
    return {"place": str(rng.choice(list(REGIONS))) if rng.random() < 0.7 else _point(rng)}


def _beside(rng: Rng, things: tuple[ObjectSpec, ...]) -> Mapping[str, Argument]:
    side = "any" if rng.random() < 0.5 else str(rng.choice(list(DIRECTIONS)))
    return {"object": things[1].name, "direction": side, "distance": float(rng.uniform(0.03, 0.08))}


def _offset(rng: Rng, things: tuple[ObjectSpec, ...]) -> Mapping[str, Argument]:
    return {"direction": str(rng.choice(list(DIRECTIONS))), "distance": float(rng.uniform(0.03, 0.2))}


def _second(rng: Rng, things: tuple[ObjectSpec, ...]) -> Mapping[str, Argument]:
    return {"object": things[1].name}


CASES: dict[str, Callable[[Rng], Case]] = {
    "pick": _pick,
    "place_at": _place(_somewhere),
    "place_beside": _place(_beside, "block"),
    "place_offset": _place(_offset),
    "place_in": _place(_second, "bowl"),
    "place_on": _place(_second, "block"),
}
