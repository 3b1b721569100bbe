"""Paths that skills foresee: where the robot will go, for rehearsal, monitors and search.

A `skill.py` names one of the planners below as its `plan`, or writes its own: a function from a `SkillCall` to a
`MotionPath`, or to None where the motion cannot be foreseen. An arm rises, swings over at its travelling height and
comes down. A hand that is above its goal already may come straight down (`Arm.descent`): that only cuts a corner of the
path foreseen here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from llm_planner.programs.values import Argument
from llm_planner.scene.free_space import distance
from llm_planner.scene.geometry import half_extents, top
from llm_planner.scene.predicates import DRAWER
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.arm_paths import check_line, way_to
from llm_planner.skills.contract import SkillError
from llm_planner.skills.floor_paths import Floor, floor_of
from llm_planner.skills.grasps import choose_grasp, handle_of
from llm_planner.skills.hand_geometry import TIP, Grip, into_reach
from llm_planner.skills.scripts.basic import HOME, hover
from llm_planner.skills.sliding import RUN_UP, pushing_grips

SETTINGS = ArmSettings()
LIFT_LEAST = 0.03  # [m] that the hand rises after a grasp
RETREAT = 0.08  # [m] that it rises after it let go
PUSHING = 0.02  # [m] between the points of a push at which it is looked where things lie
REST: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Waypoint:
    """Position of the gripper or the mobile base on a path.

    Attributes:
        position: in the base frame of an arm, or in the map [m].
        done: share of the call's effects that have happened, from 0 to 1.
        carries: from `position` to the middle of the held object [m].
        holds: name of the held object, where nothing is held before the call.
        straight: whether the path to here is a line in space; a hand otherwise swings about its base.
    """

    position: Vector3
    done: float = 0.0
    carries: Vector3 = REST
    holds: str = ""
    straight: bool = False


@dataclass(frozen=True)
class MotionPath:
    """Corners of a motion and its length [m]. No corners: the robot's position is not known."""

    points: tuple[Waypoint, ...]
    metres: float


@dataclass(frozen=True)
class SkillCall:
    """One call of a skill whose motion is to be foreseen.

    Attributes:
        arguments: by parameter name, directions in the robot's words.
        before: the scene when it starts.
        after: the scene as the skill's effects promise it.
        zones: regions that the robot keeps out of.
        every_point: for a mobile robot, whether the path goes around things; otherwise only its rooms are right.
    """

    arguments: Mapping[str, Argument]
    before: Scene
    after: Scene
    zones: tuple[Zone, ...] = ()
    every_point: bool = True

    @property
    def objects(self) -> list[str]:
        """Names of the objects that the arguments name, without the held one."""
        named = self.arguments.values()
        return [name for name in self.before.names if name in named and name != self.before.held]


Planner = Callable[[SkillCall], MotionPath | None]


def drive(call: SkillCall) -> MotionPath:
    """Plan a mobile robot's path: through the doors, around the objects and zones.

    Raises:
        InputError: no doors lead there.
        SkillError: NO_FREE_SPACE where zones leave no path.
    """
    before, after = call.before, call.after
    if before.robot is None or before.building is None or after.robot is None:
        return MotionPath((), 0.0)
    (x, y, z), (gx, gy, _) = before.robot.position, after.robot.position
    floor = floor_of(before.building, before, call.zones) if call.every_point else Floor(before.building, ())
    corners = floor.way((x, y), (gx, gy))
    points = [Waypoint((*corner, z), straight=True) for corner in corners]
    # The length is that of the shortest route: a search for the shortest plan knows a close bound of it.
    return MotionPath((*points, replace(points[-1], done=1.0)), distance(before.building, (x, y), (gx, gy)))


def stay(call: SkillCall) -> MotionPath:
    """Stand still, or hold the hand where it is."""
    if call.before.building is not None:
        return drive(call)
    return _of(_finished(_here(call.before), _carries(call.before)))


def go_home(call: SkillCall) -> MotionPath:
    """Move the hand to its rest position."""
    before = call.before
    return _of(_finished(_over_to(before, HOME, _cruise(before, TIP), call.zones), _carries(before)))


def hover_over(call: SkillCall) -> MotionPath:
    """Move the hand above the object: the rest of the motion is at its height or lower."""
    before = call.before
    item = before.find(call.objects[0]) if call.objects else None
    return (
        stay(call) if item is None else _of(_finished(_over_to(before, hover(item), _cruise(before, TIP), call.zones)))
    )


def grasp(call: SkillCall) -> MotionPath:
    """Reach for what is in the gripper afterwards, and lift it."""
    before, held = call.before, call.after.held
    return _of(_reach_for(before, before.find(held), call.zones)) if held and held != before.held else stay(call)


def release(call: SkillCall) -> MotionPath:
    """Take the held object to where the effects promise it, and let it go."""
    held = call.before.held
    if held and not call.after.held and _is_moved(call, held):
        return _of(_put_down(call.before, call.after, call.zones))
    return stay(call)


def transport(call: SkillCall) -> MotionPath:
    """Take an object, unless it is held already, and put it where the effects promise it."""
    for name in call.objects:
        if _is_moved(call, name):
            return _of(_take_and_put_down(call.before, call.after, name, call.zones))
    return release(call)


def push_along(call: SkillCall) -> MotionPath:
    """Push an object in a straight line to where the effects promise it."""
    for name in call.objects:
        if _is_moved(call, name):
            return _of(_push(call.before, call.before.find(name), call.after.find(name), call.zones))
    return stay(call)


def operate(call: SkillCall) -> MotionPath:
    """Work at furniture whose state changes: along with a drawer, over the middle of what is pressed or wiped."""
    for name in call.objects:
        item, after = call.before.find(name), call.after.find(name)
        if item.state != after.state:
            return _of(_work_at(call.before, item, after, call.zones))
    return stay(call)


def _of(points: tuple[Waypoint, ...]) -> MotionPath:
    return MotionPath(points, sum(math.dist(a.position, b.position) for a, b in pairwise(points)))


def _is_moved(call: SkillCall, name: str) -> bool:
    return name in call.after.names and call.before.find(name).position != call.after.find(name).position


def _here(scene: Scene) -> list[Grip]:
    return [Grip(*scene.robot.position, 0.0)] if scene.robot else []


def _carries(scene: Scene) -> Vector3:
    """From the fingers to the middle of what they hold [m]; as if by its middle where the hand is not seen."""
    if not scene.held or scene.robot is None:
        return REST
    (x, y, z), (ox, oy, oz) = scene.robot.position, scene.find(scene.held).position
    return ox - x, oy - y, oz - z


def _finished(grips: Sequence[Grip], carries: Vector3 = REST) -> tuple[Waypoint, ...]:
    points = [Waypoint(_reached(grip), carries=carries) for grip in grips]
    return (*points, replace(points[-1], done=1.0)) if points else ()


def _reached(grip: Grip) -> Vector3:
    near = into_reach(grip)
    return near.x, near.y, near.z


def _cruise(scene: Scene, hanging: float, ignore: str = "") -> float:
    """The height at which the hand passes over everything with so much hanging below its fingers [m]."""
    tops = [top(item) + SETTINGS.cruise_room for item in scene.objects if item.name != ignore]
    return min(max([SETTINGS.cruise_min, *tops]) + hanging, SETTINGS.cruise_max)


def _over_to(scene: Scene, goal: Grip, cruise: float, zones: tuple[Zone, ...]) -> list[Grip]:
    """Up, over and down to `goal`, around the zones."""
    if scene.robot is None:
        return [goal.raised(max(cruise, goal.z)), goal]
    (start,) = _here(scene)
    return [start, *way_to(start, goal, cruise, zones), goal]


def _reach_for(before: Scene, item: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    try:
        grip = choose_grasp(before, item).grip
    except SkillError:  # the skill will say so, or the thing in the way will be gone
        grip = Grip(*item.position, 0.0)
    way = [Waypoint(_reached(g)) for g in _over_to(before, grip, _cruise(before, TIP), zones)]
    x, y, z = item.position
    carries = x - grip.x, y - grip.y, z - grip.z
    hanging = max(TIP, half_extents(item)[2] - carries[2])
    height = max(_cruise(before, hanging, item.name), grip.z + LIFT_LEAST)
    taken = Waypoint((grip.x, grip.y, grip.z), done=1.0, carries=carries)
    return (*way, taken, replace(taken, position=_reached(grip.raised(height))))


def _put_down(before: Scene, promised: Scene, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    item, carries = before.find(before.held), _carries(before)
    x, y, z = promised.find(before.held).position
    goal = Grip(x - carries[0], y - carries[1], z - carries[2], 0.0)
    hanging = max(TIP, half_extents(item)[2] - carries[2])
    grips = _over_to(before, goal, _cruise(before, hanging, item.name), zones)
    way = [Waypoint(_reached(grip), carries=carries) for grip in grips]
    left = min(goal.z + RETREAT, SETTINGS.cruise_max)
    return (*way, Waypoint(_reached(goal), done=1.0), Waypoint(_reached(goal.raised(left)), done=1.0))


def _take_and_put_down(before: Scene, promised: Scene, name: str, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    """Both ways in one, with the thing in the gripper in between."""
    taking = _reach_for(before, before.find(name), zones)
    lifted, carries = taking[-1].position, taking[-1].carries
    x, y, z = (at + off for at, off in zip(lifted, carries, strict=True))
    items = tuple(replace(item, position=(x, y, z)) if item.name == name else item for item in before.objects)
    putting = _put_down(replace(before, objects=items, held=name, robot=Pose(lifted)), promised, zones)
    held = [replace(point, done=0.0, holds=name) for point in (*taking[-2:], *putting[:-2])]
    return (*taking[:-2], *held, *putting[-2:])


def _work_at(before: Scene, item: SceneObject, after: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    """To furniture, along with what slides out of it, and up; over the middle of what is pressed or wiped."""
    carries = _carries(before)
    hanging = max(TIP, half_extents(before.find(before.held))[2] - carries[2]) if before.held else TIP
    x, y, _ = item.position
    start = end = Grip(x, y, top(item) + hanging, 0.0)
    if item.kind == DRAWER:
        start, end = handle_of(item, item.state).grip, handle_of(item, after.state).grip
        check_line(start, end, zones)
    way = [
        Waypoint(_reached(grip), carries=carries) for grip in _over_to(before, start, _cruise(before, hanging), zones)
    ]
    done = Waypoint(_reached(end), done=1.0, carries=carries, straight=True)
    return (*way, done, replace(done, position=_reached(end.raised(end.z + RETREAT))))


def _push(before: Scene, item: SceneObject, after: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    (x, y, _), (gx, gy, _) = item.position, after.position
    distance = math.hypot(gx - x, gy - y)
    behind, end = pushing_grips(item, ((gx - x) / distance, (gy - y) / distance), distance)
    check_line(behind, end, zones)
    way = [Waypoint(_reached(grip)) for grip in _over_to(before, behind, _cruise(before, TIP), zones)]
    count = math.ceil(distance / PUSHING)
    touching = RUN_UP / (distance + RUN_UP)
    shares = [touching + (1 - touching) * k / count for k in range(count + 1)]
    along = [Waypoint(_reached(_between(behind, end, s)), k / count, straight=True) for k, s in enumerate(shares)]
    return (*way, *along, replace(along[-1], position=_reached(end.raised(_cruise(before, TIP)))))


def _between(a: Grip, b: Grip, share: float) -> Grip:
    return replace(a, x=a.x + share * (b.x - a.x), y=a.y + share * (b.y - a.y))


def densify(way: MotionPath, spacing: float) -> MotionPath:
    """Add points so that they are at most `spacing` [m] apart."""
    points = list(way.points[:1])
    for a, b in pairwise(way.points):
        count = max(1, math.ceil(length_between(a, b) / spacing))
        points += [replace(a, position=point_between(a, b, k / count)) for k in range(1, count)]
        points.append(b)
    return MotionPath(tuple(points), way.metres)


def length_between(a: Waypoint, b: Waypoint) -> float:
    """Bound the length of the path between two corners from above [m]."""
    if b.straight:
        return math.dist(a.position, b.position)
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    near, far = sorted((math.hypot(ax, ay), math.hypot(bx, by)))
    turn = abs(math.remainder(math.atan2(by, bx) - math.atan2(ay, ax), math.tau))
    return math.hypot(far * turn, far - near, bz - az)


def point_between(a: Waypoint, b: Waypoint, share: float) -> Vector3:
    """Interpolate between two corners: on a line if it is straight, else swung about the arm's base."""
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    z = az + share * (bz - az)
    if b.straight:
        return ax + share * (bx - ax), ay + share * (by - ay), z
    radius = math.hypot(ax, ay) + share * (math.hypot(bx, by) - math.hypot(ax, ay))
    begin = math.atan2(ay, ax)
    turn = begin + share * math.remainder(math.atan2(by, bx) - begin, math.tau)
    return radius * math.cos(turn), radius * math.sin(turn), z
