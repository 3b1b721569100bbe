"""Random training cases: the objects on the table and the arguments of the skill, drawn from a seed.

The skills that ship name a training world of `CASES`. The cases of other skills are commands that make sense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.commands import AMOUNTS, SkillCommand
from llm_planner.programs.values import Argument
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.places import DIRECTIONS, REGIONS, WORKSPACE
from llm_planner.scene.predicates import is_container
from llm_planner.simulation.objects import COLORS, ObjectSpec, named, object_kind
from llm_planner.simulation.shapes import SCALE_MAX, SCALE_MIN
from llm_planner.simulation.world import World
from llm_planner.skills.contract import Arguments
from llm_planner.skills.hand_geometry import FLOOR

Rng = np.random.Generator
Call = tuple[str, Arguments]
Things = tuple[ObjectSpec, ...]
DrawArguments = Callable[[Rng, Things], Arguments]


@dataclass(frozen=True)
class Case:
    """Initial state and arguments of one episode.

    Attributes:
        objects: Objects on the table.
        arguments: Arguments of the skill.
        before: Calls of scripted skills to run first.
        slid: Opening of drawers by name [m].
        towers: Stacks of objects by name, each from bottom to top.
    """

    objects: tuple[ObjectSpec, ...]
    arguments: Arguments
    before: tuple[Call, ...] = ()
    slid: Mapping[str, float] = field(default_factory=dict)
    towers: tuple[tuple[str, ...], ...] = ()

    def prepare(self, world: World) -> None:
        """Open the drawers and stack the objects of the case."""
        for name, state in self.slid.items():
            world.slide_part(name, state)
        for tower in self.towers:
            for below, above in pairwise(tower):
                _rest(world, above, below)


def _rest(world: World, above: str, below: str) -> None:
    scene = world.scene()
    item, under = scene.find(above), scene.find(below)
    surface = bottom(under) + FLOOR if is_container(under) else top(under)
    world.shift(above, under.position[:2], height=surface + item.size[2] / 2 + LOOSE)


Draw = Callable[[Rng], Case]
LOOSE = 0.001  # [m] gap between stacked objects


def draw_case(world: str, seed: int) -> Case:
    """Draw a case of a training world from a seed; raise InputError with the valid names if the world is unknown."""
    if world not in CASES:
        raise InputError(f"there is no training world {world!r}; there are: {', '.join(CASES)}")
    return CASES[world](np.random.default_rng((seed, 1)))


def case_of(command: SkillCommand) -> Case:
    """Return the case in which a command is given."""
    before: tuple[Call, ...] = (("pick", {"object": command.held}),) if command.held else ()
    return Case(command.objects, command.arguments, before, command.slid or {})


TOWERS = 0.35  # share of cases with a tower, if there are blocks for it
HIGH = 0.6  # share of cases in which a target block stands on other blocks
KINDS = ("block", "bowl", "mug", "vase", "plate")
AROUND, GRASPED, CONTAINERS = (0.45, 0.3, 0.1, 0.1, 0.05), (0.5, 0.2, 0.1, 0.1, 0.1), ("bowl", "plate")


def _things(rng: Rng, *wanted: str, others: int = 5) -> tuple[ObjectSpec, ...]:
    """Draw objects of the wanted kinds and up to `others` more, of different colours and random sizes."""
    kinds = [*wanted, *rng.choice(KINDS, size=rng.integers(0, others + 1), p=AROUND)]
    pairs = [(str(color), str(kind)) for color, kind in zip(rng.permutation(list(COLORS)), kinds, strict=False)]
    return tuple(_sized(item, rng) for item in named(pairs))


def _sized(item: ObjectSpec, rng: Rng) -> ObjectSpec:
    largest = min(SCALE_MAX, object_kind(item.kind).scale_max)
    return replace(item, scale=float(rng.uniform(SCALE_MIN, largest)))


def _grasped(rng: Rng) -> str:
    return str(rng.choice(KINDS, p=GRASPED))


def _towered(case: Case, rng: Rng, about: ObjectSpec | None = None) -> Case:
    """Add a tower to some cases; the object `about` is on top, or below if it is a container."""
    free = [item.name for item in case.objects if item.kind == "block" and item.name not in _spoken_of(case)]
    if rng.random() > TOWERS or not free:
        return case
    blocks = tuple(free[: int(rng.integers(1, len(free) + 1))])
    if about is not None and about.kind == "block":
        blocks = (*blocks, about.name)
    elif about is not None and about.kind in CONTAINERS:
        blocks = (about.name, blocks[0])
    return replace(case, towers=(blocks,))


def _spoken_of(case: Case) -> tuple[Argument, ...]:
    return (*case.arguments.values(), *(value for _, arguments in case.before for value in arguments.values()))


def _about(*kinds: str, others: int = 5) -> Draw:
    """Draw cases whose only argument is the first object."""

    def draw(rng: Rng) -> Case:
        things = _things(rng, str(rng.choice(kinds)) if kinds else _grasped(rng), others=others)
        case = Case(things, {"object": things[0].name})
        return _towered(case, rng, things[0] if things[0].kind == "block" else None)

    return draw


def _holding(arguments: DrawArguments, second: tuple[str, ...] = (), held: str = "") -> Draw:
    """Draw cases in which the hand already holds an object.

    A `second` object has one of the given kinds; a second block often stands on up to three others.
    """

    def draw(rng: Rng) -> Case:
        wanted = [held or _grasped(rng), *([str(rng.choice(second))] if second else [])]
        below = int(rng.integers(1, 4)) if wanted[1:] == ["block"] and rng.random() < HIGH else 0
        things = _things(rng, *wanted, *["block"] * below, others=4 - below)
        case = Case(things, arguments(rng, things), (("pick", {"object": things[0].name}),))
        if below:
            return replace(case, towers=(tuple(item.name for item in reversed(things[1 : below + 2])),))
        return _towered(case, rng, things[1] if wanted[1:] else None)

    return draw


def _calling(arguments: DrawArguments, *kinds: str) -> Draw:
    """Draw cases with an empty hand and first objects of these kinds; "" is any graspable kind."""

    def draw(rng: Rng) -> Case:
        things = _things(rng, *(kind or _grasped(rng) for kind in kinds), others=4)
        return Case(things, arguments(rng, things))

    return draw


def _drawer(low: float, high: float) -> Draw:
    """Draw cases with a drawer whose opening is within the range [m]."""

    def draw(rng: Rng) -> Case:
        things = _things(rng, "drawer", others=3)
        return Case(things, {"object": things[0].name}, slid={things[0].name: float(rng.uniform(low, high))})

    return draw


def _point(rng: Rng) -> tuple[float, float, float]:
    x = rng.uniform(WORKSPACE.x_min + 0.05, WORKSPACE.x_max - 0.05)
    return float(x), float(rng.uniform(WORKSPACE.y_min + 0.05, WORKSPACE.y_max - 0.05)), 0.0


def _somewhere(rng: Rng, things: Things) -> Arguments:
    return {"place": str(rng.choice(list(REGIONS))) if rng.random() < 0.7 else _point(rng)}


def _beside(rng: Rng, things: Things) -> Arguments:
    side = "any" if rng.random() < 0.5 else str(rng.choice(list(DIRECTIONS)))
    return {"object": things[1].name, "direction": side, "distance": _distance(rng)}


def _away(rng: Rng, things: Things) -> Arguments:
    return {"direction": str(rng.choice(list(DIRECTIONS))), "distance": _distance(rng)}


def _distance(rng: Rng) -> float:
    """Draw a distance [m], half of the time a usual one."""
    return float(rng.choice(AMOUNTS)) if rng.random() < 0.5 else float(rng.uniform(AMOUNTS[0], AMOUNTS[-1]))


def _second(rng: Rng, things: Things) -> Arguments:
    return {"object": things[1].name}


def _pushed(rng: Rng, things: Things) -> Arguments:
    return {"object": things[0].name, **_away(rng, things)}


def _swept(rng: Rng, things: Things) -> Arguments:
    return {"object": things[0].name, **_somewhere(rng, things)}


def _stacked(rng: Rng, things: Things) -> Arguments:
    return {"object": things[0].name, "onto": things[1].name}


CASES: Mapping[str, Draw] = {
    "reach": _about(),
    "pick": _about(),
    "place_at": _holding(_somewhere),
    "place_offset": _holding(_away),
    "place_beside": _holding(_beside, KINDS),
    "place_in": _holding(_second, CONTAINERS, held="block"),
    "place_on": _holding(_second, ("block", "block", "bowl", "plate"), held="block"),
    "push": _calling(_pushed, ""),
    "sweep": _calling(_swept, ""),
    "stack": _calling(_stacked, "", ""),
    "tip": _about("mug", "vase", others=3),
    "open_drawer": _drawer(0.0, 0.03),
    "close_drawer": _drawer(0.04, 0.1),
    "press": _about("button", others=3),
    "wipe": _holding(_second, ("stain",), held="sponge"),
}
