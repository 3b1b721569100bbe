"""Propositions: the vocabulary of rules as text, and their evaluation on a scene.

    in(robot, ROOM)   in(OBJECT, ROOM or CONTAINER)   on(A, B)   at(OBJECT, REGION)   beside(A, B)   clear(OBJECT)
    open(OBJECT)   closed(OBJECT)   lit(OBJECT)   clean(OBJECT)   toppled(OBJECT)      drawer, button, stain, anything
    holding(OBJECT)   holding(anything)   near(robot, OBJECT)   over(robot, OBJECT)
    moved(OBJECT)                              the robot holds it, or it lies elsewhere than when the plan began
    did(SKILL, ARGUMENT)                       that skill has just succeeded with that first argument
    distance(robot, OBJECT) > 0.3              comparisons of a measured signal with a number [m, m/s];
    speed(robot) < 0.2   height(OBJECT) < 0.1  the signals are distance, speed and height

Regions are those seen by a person behind the robot. A proposition about an object that is not in the scene is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import dist, inf

from llm_planner.errors import InputError
from llm_planner.scene import predicates
from llm_planner.scene.driven_base import fixed_place, within_reach
from llm_planner.scene.geometry import bottom, half_extents
from llm_planner.scene.places import REGIONS
from llm_planner.scene.scene import Scene, Vector3

ROBOT = "robot"
ANYTHING = "anything"
NEAR_ARM = 0.1  # [m] from the fingertips to an object's box
NEAR_BASE = 0.9  # [m] from a mobile base's centre to an object's box
SLOW: Mapping[str, float] = {"arm": 0.1, "mobile": 0.25}  # [m/s] speed limit of "slowly", for a gripper and for a base
MOVED_DISTANCE = 0.03  # [m] from the original position; a held object has always moved


@dataclass(frozen=True)
class Proposition:
    """Proposition `predicate(arguments)`, or `signal(arguments) < bound` if `comparison` is "<" or ">"."""

    predicate: str
    arguments: tuple[str, ...]
    comparison: str = ""
    bound: float = 0.0

    def __str__(self) -> str:
        call = f"{self.predicate}({', '.join(self.arguments)})"
        return f"{call} {self.comparison} {self.bound:g}" if self.comparison else call


@dataclass(frozen=True)
class Moment:
    """State against which a proposition is evaluated.

    Attributes:
        scene: Current scene.
        origins: Position of each object when the plan began, as `driven_base.fixed_places` gives it [m].
        events: Skill calls (name, arguments...) that have just ended.
    """

    scene: Scene
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    events: frozenset[tuple[str, ...]] = frozenset()


def distance_to(scene: Scene, name: str) -> float:
    """Return the distance from the robot to the object's box [m].

    It is horizontal for a mobile robot, and infinite if the robot's pose is not measured.
    """
    if scene.robot is None:
        return inf
    item = scene.find(name)
    axes = (0, 1) if scene.building else (0, 1, 2)
    reach = half_extents(item)
    apart = [max(0.0, abs(scene.robot.position[k] - item.position[k]) - reach[k]) for k in axes]
    return dist(apart, [0.0] * len(apart))


def _near(moment: Moment, name: str) -> bool:
    if moment.scene.find(name).kind == predicates.TABLE_KIND:  # its box says little about the hand above it
        return within_reach(moment.scene, name)
    return distance_to(moment.scene, name) < (NEAR_BASE if moment.scene.building else NEAR_ARM)


def _over(moment: Moment, name: str) -> bool:
    robot, item = moment.scene.robot, moment.scene.find(name)
    if robot is None:
        return False
    reach = half_extents(item)
    return all(abs(robot.position[k] - item.position[k]) <= reach[k] for k in (0, 1))


def _in(moment: Moment, what: str, where: str) -> bool:
    scene = moment.scene
    if scene.building is None or where not in scene.building.names:
        return what != ROBOT and predicates.in_(scene, what, where)
    if what == ROBOT:
        return scene.robot is not None and scene.building.room_at(*scene.robot.position[:2]) == where
    return scene.held != what and scene.building.room_at(*scene.find(what).position[:2]) == where


def _holding(moment: Moment, name: str) -> bool:
    return moment.scene.held != "" if name == ANYTHING else moment.scene.held == name


def _moved(moment: Moment, name: str) -> bool:
    item, scene = moment.scene.find(name), moment.scene
    place = fixed_place(scene, item)
    return scene.held == name or dist(place, moment.origins.get(name, place)) > MOVED_DISTANCE


PREDICATES: dict[str, tuple[int, Callable[..., bool]]] = {  # name: (number of arguments, meaning)
    "in": (2, _in),
    "on": (2, lambda m, a, b: predicates.on(m.scene, a, b)),
    "at": (2, lambda m, a, place: predicates.at(m.scene, a, place)),
    "beside": (2, lambda m, a, b: predicates.beside(m.scene, a, b)),
    "clear": (1, lambda m, a: predicates.clear(m.scene, a)),
    "open": (1, lambda m, a: predicates.open_(m.scene, a)),
    "closed": (1, lambda m, a: predicates.closed(m.scene, a)),
    "lit": (1, lambda m, a: predicates.lit(m.scene, a)),
    "clean": (1, lambda m, a: predicates.clean(m.scene, a)),
    "toppled": (1, lambda m, a: predicates.toppled(m.scene, a)),
    "holding": (1, _holding),
    "moved": (1, _moved),
    "near": (2, lambda m, robot, a: _near(m, a)),
    "over": (2, lambda m, robot, a: _over(m, a)),
    "did": (2, lambda m, *call: any(event[:2] == call for event in m.events)),
}
SIGNALS: dict[str, tuple[int, Callable[..., float]]] = {  # [m] or [m/s]
    "distance": (2, lambda scene, robot, a: distance_to(scene, a)),
    "speed": (1, lambda scene, robot: scene.speed),
    "height": (1, lambda scene, a: bottom(scene.find(a))),
}
OF_THE_ROBOT = frozenset(("near", "over", "distance", "speed"))
_TEXT = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*(?:([<>])\s*(\d+(?:\.\d+)?))?\s*")


def parse_proposition(text: str) -> Proposition:
    """Parse a proposition. Raises InputError that states the problem and the choices."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not a proposition; write predicate(argument, ...) or signal(argument) < number")
    name, listed, comparison, bound = match.groups()
    known: Mapping[str, tuple[int, object]] = SIGNALS if comparison else PREDICATES
    if name not in known:
        raise InputError(f"{text!r} uses the unknown {name!r}; there are: {', '.join([*PREDICATES, *SIGNALS])}")
    arguments = tuple(part.strip() for part in listed.split(",")) if listed.strip() else ()
    if len(arguments) != known[name][0] or not all(arguments):
        raise InputError(
            f"{text!r} gives {name} {len(arguments)} arguments; it takes {known[name][0]}, with a comma between two"
        )
    return Proposition(name, arguments, comparison or "", float(bound or 0.0))


def check_proposition(item: Proposition, scene: Scene) -> None:
    """Check that every argument names something in the scene. Raises InputError that lists the choices."""
    rooms = scene.building.names if scene.building else ()
    known = {ROBOT, ANYTHING, *scene.names, *rooms}
    if item.predicate == "at":
        known |= set(REGIONS)
    if item.predicate in OF_THE_ROBOT and item.arguments[0] != ROBOT:
        raise InputError(
            f"{str(item)!r} speaks of {item.arguments[0]!r}, but {item.predicate} is known of the {ROBOT} only: write "
            f"{item.predicate}({', '.join((ROBOT, *item.arguments[1:]))}), or say it of where things are put"
        )
    names = item.arguments[1:] if item.predicate == "did" else item.arguments
    if ANYTHING in names and item.predicate != "holding":
        raise InputError(f"{str(item)!r}: {ANYTHING} can only be held; write holding({ANYTHING}), or name one thing")
    for name in names:
        if name not in known:
            choices = ", ".join([*scene.names, *rooms]) or "nothing"
            raise InputError(f"{str(item)!r} names {name!r}, which is not here; there are: {choices}")


def holds(item: Proposition, moment: Moment) -> bool:
    """Return whether the proposition holds at the moment."""
    try:
        if item.comparison:
            return signal(item, moment.scene) > 0
        return PREDICATES[item.predicate][1](moment, *item.arguments)
    except KeyError:
        return False


def signal(item: Proposition, scene: Scene) -> float:
    """Return the margin of a comparison, positive where it holds [m or m/s]. Raises KeyError for an unknown object."""
    value = SIGNALS[item.predicate][1](scene, *item.arguments)
    return value - item.bound if item.comparison == ">" else item.bound - value
