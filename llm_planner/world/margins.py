"""How far a proposition is from changing, where the scene measures it: the signals of robustness."""

from __future__ import annotations

from math import dist, hypot, inf

from llm_planner.errors import InputError
from llm_planner.world.geometry import half_extents
from llm_planner.world.occurring import as_measure
from llm_planner.world.places import Point2, Rectangle
from llm_planner.world.propositions import MOVED_DISTANCE, ROBOT, Moment, Proposition, holds, signal
from llm_planner.world.scene import Scene

_METRES, _SPEED = "m", "m/s"
_UNITS = {"speed": _SPEED, "distance": _METRES, "height": _METRES, "near": _METRES, "over": _METRES, "moved": _METRES}


def unit_of(item: Proposition, scene: Scene) -> str:
    """The unit of its margin; "" where the scene only shows whether it holds."""
    return _METRES if _is_room_of_robot(item, scene) else _UNITS.get(item.predicate, "")


def margin_of(item: Proposition, moment: Moment) -> float:
    """Positive where it holds, negative where it does not, in the unit of `unit_of`.

    Infinite where nothing measures how nearly: a thing is held or it is not, and so it is with what is not here.
    """
    try:
        value = _measured(item, moment)
    except (KeyError, InputError):
        return -inf
    if value is not None:
        return value
    return inf if holds(item, moment) else -inf


def room_distance(area: Rectangle, point: Point2) -> float:
    """From the room to a point of the floor [m], negative inside: how far it is to the nearest wall."""
    x, y = point
    beyond = (max(area.x_min - x, x - area.x_max), max(area.y_min - y, y - area.y_max))
    return hypot(max(0.0, beyond[0]), max(0.0, beyond[1])) if max(beyond) > 0 else max(beyond)


def column_distance(scene: Scene, name: str) -> float:
    """Seen from above, from the robot to the thing's box [m], negative over it; infinite where the robot is not seen.

    Raises KeyError for what is not in the scene.
    """
    (x, y, _), reach = scene.find(name).position, half_extents(scene.find(name))
    if scene.robot is None:
        return inf
    return room_distance(Rectangle(x - reach[0], x + reach[0], y - reach[1], y + reach[1]), scene.robot.position[:2])


def _measured(item: Proposition, moment: Moment) -> float | None:
    scene, measure = moment.scene, as_measure(item, moment.scene)
    if measure.comparison:
        return signal(measure, scene)
    if item.predicate == "over":
        return -column_distance(scene, item.arguments[1])
    if item.predicate == "moved" and scene.held != item.arguments[0]:
        position = scene.find(item.arguments[0]).position
        return dist(position, moment.origins.get(item.arguments[0], position)) - MOVED_DISTANCE
    if _is_room_of_robot(item, scene) and scene.building and scene.robot:
        return -room_distance(scene.building.find(item.arguments[1]).area, scene.robot.position[:2])
    return None


def _is_room_of_robot(item: Proposition, scene: Scene) -> bool:
    rooms = scene.building.names if scene.building else ()
    return item.predicate == "in" and item.arguments[0] == ROBOT and item.arguments[1] in rooms
