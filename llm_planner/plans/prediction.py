"""Prediction of the scene after a skill: its effects applied to the known scene. A forecast, never evidence.

A push also moves the objects in the way of the pushed object or of the hand behind it. It is simulated in small steps
without forces: an object that is touched moves along while it is in the way, and pushes others in turn. An object that
lies on or under another overlaps with it seen from above, so it moves along too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import ceil, hypot, inf

from llm_planner.errors import LlmPlannerError
from llm_planner.plans.plan import Goal
from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.mobile_base import GRIP_REACH
from llm_planner.scene import furniture, predicates
from llm_planner.scene.atoms import HELD, HERE, Atom
from llm_planner.scene.driven_base import driven_to, on_area, within_reach
from llm_planner.scene.free_space import clearance, free_spot
from llm_planner.scene.furniture import docking_pose
from llm_planner.scene.geometry import bottom, distance_in_plane, half_extents, top
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, Point2, direction_vector
from llm_planner.scene.propositions import MOVED_DISTANCE
from llm_planner.scene.scene import Building, Pose, Quaternion, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.simulation.objects import in_state
from llm_planner.skills.arm_paths import keeps_out
from llm_planner.skills.contract import SkillError
from llm_planner.skills.floor_paths import Floor, floor_of, way_behind, without
from llm_planner.skills.footprints import footprint
from llm_planner.skills.hand_geometry import HandPose, Slice, gripper_of, hand_slices, rest_pose, wall_gap
from llm_planner.skills.mobile_arm import parking
from llm_planner.skills.sliding import RUN_UP, pushing_grips

SURE, DOUBTFUL = 0.005, 0.02  # [m] gap below which an object will, or may, be shoved
LEAST = MOVED_DISTANCE + 0.01  # [m] least predicted shift: once touched, an object may slide on or topple
STEP = 0.01  # [m] longest step of the hand


def pushed(scene: Scene, name: str, goal: Vector3, room: float = SURE) -> Scene:
    """Predict the scene after a push of the object `name` to `goal`, with everything that it shoves moved along.

    Args:
        goal: Position of the object after the push [m].
        room: Gap to the object, the hand or a shoved object below which another object is shoved [m].
    """
    item = scene.find(name)
    dx, dy = goal[0] - item.position[0], goal[1] - item.position[1]
    distance = hypot(dx, dy)
    if not distance:
        return scene
    direction = dx / distance, dy / distance
    shifts = _Sweep(scene, item, direction, distance, room).shifts()
    lying = [_shifted(other, direction, shifts.get(other.name, 0.0)) for other in scene.objects]
    return replace(scene, objects=tuple(replace(item, position=goal) if it.name == name else it for it in lying))


def pushed_by(goal: Goal) -> str:
    """Return the name of the object that a step with this effect pushes, "" for none."""
    return str(goal.values[goal.atom.arguments[0]]) if is_push(goal.atom) else ""


def is_push(effect: Atom) -> bool:
    """Return whether the effect is that of a push: a move of an object that is not held."""
    return effect.predicate == "moved" and not effect.negated and effect.arguments[0] != HELD


def shoved(before: Scene, after: Scene, name: str) -> tuple[str, ...]:
    """Return the objects other than `name` that lie elsewhere after a push of it."""
    return tuple(item.name for item in after.objects if item.name != name and item != before.find(item.name))


def _shifted(item: SceneObject, direction: Point2, shift: float) -> SceneObject:
    (x, y, z), (ux, uy) = item.position, direction
    return replace(item, position=(x + ux * shift, y + uy * shift, z)) if shift else item


class _Sweep:
    """Motion of the hand and the object `item` over `distance` [m] along the unit vector `direction`."""

    def __init__(self, scene: Scene, item: SceneObject, direction: Point2, distance: float, room: float) -> None:
        gripper = gripper_of(scene)
        self._direction, self._length, self._room = direction, distance + RUN_UP, room
        self._hand = hand_slices(pushing_grips(item, direction, distance, gripper)[0], 0.0, gripper)
        self._item = _whole(item)
        self._others = {one.name: one for one in scene.objects if one is not item and one.kind != predicates.TABLE_KIND}

    def shifts(self) -> Mapping[str, float]:
        """Return how far each shoved object moves [m]."""
        shifts: dict[str, float] = {}
        steps = ceil(self._length / STEP)
        step = self._length / steps
        for k in range(1, steps + 1):
            for name in self._met(shifts, k * step, step):
                shifts[name] = shifts.get(name, 0.0) + step
        return {name: max(shift, LEAST) for name, shift in shifts.items()}

    def _met(self, shifts: Mapping[str, float], gone: float, step: float) -> set[str]:
        """Return the objects that move along in the last `step` before the hand has travelled `gone` [m]."""
        lying = {name: _shifted(item, self._direction, shifts.get(name, 0.0)) for name, item in self._others.items()}
        met: set[str] = set()
        front = [self._moved(part, gone) for part in self._hand]
        if gone > RUN_UP:
            front.append(self._moved(self._item, gone - RUN_UP))
        while front:
            new = [
                name
                for name, item in lying.items()
                if name not in met and any(self._meets(part, item, step) for part in front)
            ]
            met.update(new)
            front = [self._moved(_whole(lying[name]), step) for name in new]
        return met

    def _moved(self, part: Slice, way: float) -> Slice:
        (x, y), (ux, uy) = part.shape.center, self._direction
        return replace(part, shape=part.shape.at((x + ux * way, y + uy * way), part.shape.yaw))

    def _meets(self, part: Slice, item: SceneObject, step: float) -> bool:
        """Return whether the part came too close in its last step without moving away from the object."""
        if top(item) <= part.begins:
            return False
        shape = footprint(item)
        gap = wall_gap(part, item, shape)
        return gap < self._room and (gap < 0.0 or gap <= wall_gap(self._moved(part, -step), item, shape))


def _whole(item: SceneObject) -> Slice:
    """Return the object as an obstacle of unlimited depth: it may have come down earlier."""
    return Slice(footprint(item), -inf)


Zones = tuple[Zone, ...]

LIFT = 0.2  # [m] height of a held object above where it lay
ON_ITS_SIDE: Quaternion = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))  # about its x axis (x, y, z, w)
BOWL_FLOOR = 0.01  # [m] thickness of a container's floor


def predict(scene: Scene, goals: tuple[Goal, ...], zones: tuple[Zone, ...] = ()) -> Scene:
    """Apply every effect in turn to `scene`; an effect on an object that is not in the scene changes nothing.

    Where the robot may choose a spot, the prediction prefers one outside of `zones`.
    """
    for goal in goals:
        apply = _EFFECTS.get(goal.atom.predicate)
        places = {goal.values.get(name) for name in ("place", "direction", "region", "destination", HERE)}
        if apply is not None and not goal.atom.negated and goal.objects <= {*scene.names, *places}:
            scene = apply(scene, goal, zones)
            if "held" in goal.atom.arguments:  # the gripper releases what it puts down
                scene = replace(scene, held="")
    return scene


def _object(scene: Scene, goal: Goal, index: int) -> SceneObject:
    return scene.find(str(goal.argument(index)))


def _moved_to(scene: Scene, item: SceneObject, position: Vector3) -> Scene:
    return scene.with_object(replace(item, position=position))


def _held(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    item = _object(scene, goal, 0)
    x, y, z = item.position
    taken = replace(_moved_to(scene, item, (x, y, z + LIFT)), held=item.name)
    if scene.base is not None:  # the hand carries it from there
        return replace(taken, robot=HandPose(x, y, z + LIFT, 0.0).pose())
    return _robot_beside(taken, item, zones)


def _reached(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    """Move the robot to the middle of the room, or as close to the object as it gets; what it holds moves along."""
    where, building = str(goal.argument(0)), scene.building
    if scene.base is not None:
        return _driven(scene, where, zones)
    if building is not None and where in building.names:
        return _robot_at(scene, middle_of(building, scene, where, zones))
    return scene if where == scene.held else _robot_beside(scene, scene.find(where), zones)


def _driven(scene: Scene, name: str, zones: Zones) -> Scene:
    """Drive the base of an arm to where it reaches the object, with the hand and what it holds at rest."""
    if within_reach(scene, name):
        return scene
    try:
        place = parking(scene, name, zones)
    except SkillError:  # the skill reports it
        return scene
    hand = rest_pose(arm_shape(scene.arm)).pose()
    scene = driven_to(scene, place.pose)
    if scene.held and scene.robot is not None:
        item, (x, y, z), (rx, ry, rz) = scene.find(scene.held), scene.robot.position, hand.position
        ox, oy, oz = item.position
        scene = _moved_to(scene, item, (ox + rx - x, oy + ry - y, oz + rz - z))
    return replace(scene, robot=hand)


def _followed(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    """Place the robot on the way to the target at the following distance; how the target moves meanwhile is unknown."""
    item, distance = _object(scene, goal, 0), float(str(goal.argument(1)))
    if scene.building is None or scene.robot is None or not scene.building.room_at(*item.position[:2]):
        return scene
    x, y, _ = scene.robot.position
    floor = floor_of(scene.building, scene, zones)
    try:
        way = without(floor, item).way((x, y), item.position[:2])
    except LlmPlannerError:  # the skill reports it, or the obstacle is gone by then
        return scene
    return _robot_at(scene, way_behind(floor, way, item, distance)[-1])


def _docked(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    pose = docking_pose(_object(scene, goal, 0))
    return replace(_robot_at(scene, pose.position[:2]), robot=pose) if scene.building else scene


def _robot_beside(scene: Scene, item: SceneObject, zones: Zones) -> Scene:
    """Move a mobile robot next to an object; an arm stays in place."""
    if scene.building is None or not scene.building.room_at(*item.position[:2]):
        return scene
    return _robot_at(scene, place_beside(scene.building, scene, item, zones))


def middle_of(building: Building, scene: Scene, room: str, zones: Zones = ()) -> Point2:
    """Return where a mobile robot stands after driving to a room [m]; in a zone only if it must."""
    return _standing(building, scene, zones, room, lambda floor: floor.middle(room))


def place_beside(building: Building, scene: Scene, item: SceneObject, zones: Zones = ()) -> Point2:
    """Return where a mobile robot stands to reach an object in a room [m]; in a zone only if it must."""
    return _standing(building, scene, zones, building.room_at(*item.position[:2]), lambda floor: floor.beside(item))


def _standing(building: Building, scene: Scene, zones: Zones, room: str, spot: Callable[[Floor], Point2]) -> Point2:
    for kept in dict.fromkeys((zones, ())):
        try:
            return spot(floor_of(building, scene, kept))
        except SkillError:  # the skill reports it, or the obstacle is gone by then
            continue
    return building.find(room).area.center


def _robot_at(scene: Scene, point: Point2) -> Scene:
    scene = replace(scene, robot=Pose((*point, 0.0)))
    if not scene.held:
        return scene
    item = scene.find(scene.held)
    return _moved_to(scene, item, (*point, item.position[2]))


def _on(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    item, support = _object(scene, goal, 0), _object(scene, goal, 1)
    if predicates.is_vessel(support):
        return _in(scene, goal, zones)
    if support.kind == predicates.TABLE_KIND:
        return _on_table(scene, item, support, zones)
    x, y = furniture.cabinet(support).center if support.kind == predicates.DRAWER else support.position[:2]
    return _moved_to(scene, item, (x, y, top(support) + half_extents(item)[2]))


def _on_table(scene: Scene, item: SceneObject, table: SceneObject, zones: Zones) -> Scene:
    """Put the object on a free spot of a table, near the middle in front of the arm."""
    reach = half_extents(item)
    x, y = free_spot(
        scene, scene.workspace, scene.workspace.center, max(reach[:2]), (item.name,),
        lambda point: on_area(table, point, max(reach[:2])) and keeps_out(_hand_at(scene, (*point, reach[2])), zones),
    )  # fmt: skip
    return _moved_to(scene, item, (x, y, top(table) + reach[2]))


def _in(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    where = goal.argument(1)
    if scene.building is not None and where in scene.building.names:
        item = _object(scene, goal, 0)
        return _moved_to(scene, item, (*_in_front(scene.building, item), half_extents(item)[2]))
    item, container = _object(scene, goal, 0), _object(scene, goal, 1)
    if container.kind == predicates.DRAWER:
        return _in_tray(scene, item, container)
    x, y, _ = container.position
    pile = [top(scene.find(name)) for name in predicates.contents(scene, container.name) if name != item.name]
    floor = max(pile, default=bottom(container) + BOWL_FLOOR)
    return _moved_to(scene, item, (x, y, floor + half_extents(item)[2]))


def _in_tray(scene: Scene, item: SceneObject, drawer: SceneObject) -> Scene:
    """Put the object on the first free spot of the tray, or in its middle: the skill decides better."""
    half = max(item.size[:2]) / 2
    lying = [scene.find(name) for name in scene.names if name != item.name and predicates.in_(scene, name, drawer.name)]

    def is_free(spot: Point2) -> bool:
        return all(distance_in_plane(spot, other.position) >= half + max(other.size[:2]) / 2 for other in lying)

    middle = furniture.opening(drawer).center
    x, y = next((spot for spot in furniture.spots(drawer, half) if is_free(spot)), middle)
    return _moved_to(scene, item, (x, y, furniture.floor_height(drawer) + half_extents(item)[2]))


def _in_front(building: Building, item: SceneObject) -> Point2:
    """Return where a mobile robot puts down an object: towards the middle of the room, or to one side of it."""
    x, y, _ = item.position
    cx, cy = building.find(building.room_at(x, y)).area.center
    away = distance_in_plane((x, y), (cx, cy))
    ux, uy = ((cx - x) / away, (cy - y) / away) if away > GRIP_REACH else (1.0, 0.0)
    return x + GRIP_REACH * ux, y + GRIP_REACH * uy


def _at(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    item, place = _object(scene, goal, 0), goal.argument(1)
    reach = half_extents(item)
    if isinstance(place, str):
        named = scene.region(place)
        x, y = free_spot(
            scene, named.area, named.anchor, max(reach[:2]), (item.name,),
            lambda point: keeps_out(_hand_at(scene, (*point, reach[2])), zones),
        )  # fmt: skip
    else:
        assert isinstance(place, tuple)
        x, y = place[0], place[1]
    return _moved_to(scene, item, (x, y, reach[2]))


def _beside(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    item, other = _object(scene, goal, 0), _object(scene, goal, 1)
    side, distance = str(goal.argument(2)), float(str(goal.argument(3)))
    origin = goal.origins.get(item.name, item.position)
    spots = [_spot_beside(item, other, name, distance) for name in (DIRECTIONS if side == ANY_SIDE else (side,))]

    def badness(spot: Vector3) -> tuple[bool, bool, float]:
        room = clearance(scene, spot, (item.name, other.name)) >= max(half_extents(item)[:2])
        apart = keeps_out(_hand_at(scene, spot), zones)
        return not (room and apart), not scene.workspace.contains(*spot[:2]), distance_in_plane(spot, origin)

    return _moved_to(scene, item, min(spots, key=badness))


def _hand_at(scene: Scene, spot: Vector3) -> Vector3:
    """Return the position of the gripper when it releases the held object at `spot` [m]."""
    if scene.robot is None or not scene.held:
        return spot
    (x, y, z), (hx, hy, hz) = scene.find(scene.held).position, scene.robot.position
    return spot[0] + hx - x, spot[1] + hy - y, spot[2] + hz - z


def _spot_beside(item: SceneObject, other: SceneObject, side: str, distance: float) -> Vector3:
    ux, uy = direction_vector(side)
    a, b = half_extents(item), half_extents(other)
    away = distance + abs(ux) * (a[0] + b[0]) + abs(uy) * (a[1] + b[1])
    x, y, _ = other.position
    return x + ux * away, y + uy * away, a[2]


def _moved(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    item = _object(scene, goal, 0)
    (ux, uy), distance = direction_vector(str(goal.argument(1))), float(str(goal.argument(2)))
    x, y, _ = goal.origins.get(item.name, item.position)
    there = x + ux * distance, y + uy * distance, half_extents(item)[2]
    return _moved_to(scene, item, there) if goal.atom.arguments[0] == HELD else pushed(scene, item.name, there)


def _in_state(state: float, scene: Scene, goal: Goal, zones: Zones) -> Scene:
    """Set the state of furniture; the contents of a drawer move with its tray."""
    item = _object(scene, goal, 0)
    if item.kind not in predicates.FURNITURE:
        return scene
    changed, lying = in_state(item, state), predicates.contents(scene, item.name)
    (ax, ay), (bx, by) = furniture.tray(item).front, furniture.tray(changed).front
    for other in (scene.find(name) for name in lying if predicates.in_(scene, name, item.name)):
        x, y, z = other.position
        scene = _moved_to(scene, other, (x + bx - ax, y + by - ay, z))
    return scene.with_object(changed)


def _toppled(scene: Scene, goal: Goal, zones: Zones) -> Scene:
    """Lay the object on its side where it stood: the direction of the fall is unknown."""
    item = _object(scene, goal, 0)
    x, y, _ = item.position
    return scene.with_object(replace(item, position=(x, y, item.size[1] / 2), orientation=ON_ITS_SIDE))


_EFFECTS: Mapping[str, Callable[[Scene, Goal, Zones], Scene]] = {
    "held": _held, "empty": lambda scene, goal, zones: replace(scene, held=""), "reached": _reached, "on": _on,
    "in": _in, "at": _at, "beside": _beside, "moved": _moved,
    "open": partial(_in_state, predicates.OPEN_AT), "closed": partial(_in_state, 0.0),
    "lit": partial(_in_state, 1.0), "clean": partial(_in_state, 0.0),
    "toppled": _toppled, "followed": _followed, "docked": _docked,
}  # fmt: skip
