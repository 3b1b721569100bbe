"""Letters that can occur in a scene, and margins of propositions as signals for robustness.

Exclusions are conservative: only propositions that a scene can never show together are exclusive (a block in a mug in a
bowl is in both). They follow from how `scene.propositions` evaluates: the robot and each object are in one room at a
time, and one object is held and rests nowhere. Implications are left out, so a letter in which an object is held and
not moved counts as possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations
from math import dist, hypot, inf

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.predicates import CONTACT_TOLERANCE, PLACE_TOLERANCE, SUPPORTS, is_container
from llm_planner.scene.propositions import (
    ANYTHING,
    MOVED_DISTANCE,
    NEAR_ARM,
    NEAR_BASE,
    ROBOT,
    Moment,
    Proposition,
    holds,
    parse_proposition,
    signal,
)
from llm_planner.scene.scene import Scene

RESTS = ("in", "on", "at", "beside")  # false for an object in the gripper


def alphabet_of(propositions: Iterable[str], scene: Scene) -> Alphabet:
    """Return the letters over `propositions` that can occur in the scene; bare names exclude nothing."""
    names = tuple(sorted(set(propositions)))
    named: dict[str, Proposition] = {}
    for name in names:
        with suppress(InputError):  # a bare name
            named[name] = parse_proposition(name)
    held = tuple(name for name, item in named.items() if item.predicate == "holding" and item.arguments[0] != ANYTHING)
    things = sorted({argument for item in named.values() for argument in item.arguments})
    # The robot is in one room at a time; an object is held or in one room.
    places = [
        tuple(
            name
            for name, item in named.items()
            if item.arguments[0] == thing and (item.predicate == "holding" or _is_in_room(item, scene))
        )
        for thing in things
    ]
    pairs = [
        (a, b) for (a, p), (b, q) in combinations(named.items(), 2) if _excludes(p, q, scene) or _excludes(q, p, scene)
    ]
    groups = [group for group in (held, *places) if len(group) > 1]
    covered = {pair for group in groups for pair in combinations(group, 2)}
    return Alphabet(names, (*groups, *(pair for pair in pairs if pair not in covered)))


def _is_in_room(item: Proposition, scene: Scene) -> bool:
    return item.predicate == "in" and scene.building is not None and item.arguments[1] in scene.building.names


def _excludes(p: Proposition, q: Proposition, scene: Scene) -> bool:
    """Return whether `p` rules out `q`, for some kinds of `p`."""
    if p.predicate == "holding":
        about = q.arguments[:2] if q.predicate == "beside" else q.arguments[:1]
        return q.predicate in RESTS and p.arguments[0] in about
    if p.predicate == "clear":
        return q.predicate in SUPPORTS and q.arguments[1] == p.arguments[0]
    if p.predicate == "at" and q.predicate == "at":
        return p.arguments[0] == q.arguments[0] and _apart(p.arguments[1], q.arguments[1], scene)
    if p.predicate == "on" and q.predicate == "on":
        return p.arguments == q.arguments[::-1] and _stand_apart(p.arguments, scene)
    return _beyond(p, q, scene)


def _stand_apart(names: Sequence[str], scene: Scene) -> bool:
    """Return whether the two objects cannot each be on the other: neither is thin, and not both are containers."""
    if not set(names) <= set(scene.names):
        return False
    things = [scene.find(name) for name in names]
    thick = all(min(item.size) > 2 * CONTACT_TOLERANCE for item in things)
    return thick and not all(map(is_container, things))


def _apart(a: str, b: str, scene: Scene) -> bool:
    """Return whether no object can lie in both regions, within the tolerance of `at`."""
    one, other = scene.region(a).area, scene.region(b).area
    gap_x = max(one.x_min, other.x_min) - min(one.x_max, other.x_max)
    gap_y = max(one.y_min, other.y_min) - min(one.y_max, other.y_max)
    return max(gap_x, gap_y) > 2 * PLACE_TOLERANCE


def _beyond(p: Proposition, q: Proposition, scene: Scene) -> bool:
    """Return whether `p` requires more of a signal than `q` allows; `near` counts as a distance."""
    high, low = as_measure(p, scene), as_measure(q, scene)
    return (
        (high.predicate, high.arguments) == (low.predicate, low.arguments)
        and (high.comparison, low.comparison) == (">", "<")
        and high.bound >= low.bound
    )


def as_measure(item: Proposition, scene: Scene) -> Proposition:
    """Return `near(robot, x)` as its distance comparison, and any other proposition unchanged."""
    if item.predicate != "near":
        return item
    return Proposition("distance", item.arguments, "<", NEAR_BASE if scene.building else NEAR_ARM)


_METRES, _SPEED = "m", "m/s"
_UNITS = {"speed": _SPEED, "distance": _METRES, "height": _METRES, "near": _METRES, "over": _METRES, "moved": _METRES}


def unit_of(item: Proposition, scene: Scene) -> str:
    """Return the unit of the proposition's margin; "" if the scene only shows whether it holds."""
    of_room = _is_in_room(item, scene) and item.arguments[0] == ROBOT
    return _METRES if of_room else _UNITS.get(item.predicate, "")


def margin_of(item: Proposition, moment: Moment) -> float:
    """Return the margin of a proposition in the unit of `unit_of`: positive where it holds, negative otherwise.

    The margin is infinite for propositions without a measured signal, such as `holding`, and minus infinity for objects
    that are not in the scene.
    """
    try:
        value = _measured(item, moment)
    except (KeyError, InputError):
        return -inf
    if value is not None:
        return value
    return inf if holds(item, moment) else -inf


def room_distance(area: Rectangle, point: Point2) -> float:
    """Return the distance from a room to a point on the floor [m]; inside, minus the distance to the nearest wall."""
    x, y = point
    beyond = (max(area.x_min - x, x - area.x_max), max(area.y_min - y, y - area.y_max))
    return hypot(max(0.0, beyond[0]), max(0.0, beyond[1])) if max(beyond) > 0 else max(beyond)


def _measured(item: Proposition, moment: Moment) -> float | None:
    scene, measure = moment.scene, as_measure(item, moment.scene)
    if measure.comparison:
        return signal(measure, scene)
    if item.predicate == "over":
        thing = scene.find(item.arguments[1])
        (x, y, _), reach = thing.position, half_extents(thing)
        column = Rectangle(x - reach[0], x + reach[0], y - reach[1], y + reach[1])
        return -room_distance(column, scene.robot.position[:2]) if scene.robot else -inf
    if item.predicate == "moved" and scene.held != item.arguments[0]:
        position = scene.find(item.arguments[0]).position
        return dist(position, moment.origins.get(item.arguments[0], position)) - MOVED_DISTANCE
    if _is_in_room(item, scene) and item.arguments[0] == ROBOT and scene.building and scene.robot:
        return -room_distance(scene.building.find(item.arguments[1]).area, scene.robot.position[:2])
    return None
