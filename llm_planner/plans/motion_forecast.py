"""Where a skill call will take the robot: corners of the way of a hand or of a mobile base, as the shipped skills move.

Which motion a skill makes is read off what it promises: it goes to what is in the gripper afterwards, or to where what
was held will lie; what it names and puts on another thing, it takes there; what it moves otherwise without holding it,
it pushes straight, and it works at furniture whose state it changes. Of what it knocks over or only reaches for, the
way above the thing is known. A hand that is above its goal already may come straight down (`skills.descent`): that only
cuts the corner of the way up, over and down that is foreseen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.free_space import distance
from llm_planner.scene.geometry import half_extents, top
from llm_planner.scene.predicates import DRAWER, SUPPORTS
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
    """The robot at `position` [m]. `done`: the share of what the call promises that has happened, from 0 to 1.
    `carries`: from there to the middle of what is held [m]; `holds`: its name, where nothing is held before the call.
    `straight`: the way here is a line in space, where a hand otherwise swings about its base."""

    position: Vector3
    done: float = 0.0
    carries: Vector3 = REST
    holds: str = ""
    straight: bool = False


@dataclass(frozen=True)
class Way:
    """The corners of a motion, none where nobody knows where the robot is, and its length [m]."""

    points: tuple[Waypoint, ...]
    metres: float


def base_way(before: Scene, promised: Scene, every_point: bool = True, zones: tuple[Zone, ...] = ()) -> Way:
    """Of a mobile robot, with a point on either side of each door, around the things and the `zones` there.

    Raises InputError when no doors lead there, SkillError (NO_FREE_SPACE) where zones leave no way.

    Without `every_point` only the rooms are right: what stands in them is not driven around. The length is that of the
    shortest route: a search for the shortest plan knows a close bound of it.
    """
    if before.robot is None or before.building is None or promised.robot is None:
        return Way((), 0.0)
    (x, y, z), (gx, gy, _) = before.robot.position, promised.robot.position
    floor = floor_of(before.building, before, zones) if every_point else Floor(before.building, ())
    corners = floor.way((x, y), (gx, gy))
    points = [Waypoint((*corner, z), straight=True) for corner in corners]
    return Way((*points, replace(points[-1], done=1.0)), distance(before.building, (x, y), (gx, gy)))


def arm_way(
    skill: Signature,
    values: Mapping[str, Argument],
    before: Scene,
    promised: Scene,
    zones: tuple[Zone, ...] = (),
) -> Way:
    """Of the point between an arm's fingertips; from above the first place where nobody knows where it starts.

    It keeps out of `zones`; raises SkillError (NO_FREE_SPACE) where it cannot.
    """
    points = _arm_waypoints(skill, values, before, promised, zones)
    return Way(points, sum(math.dist(a.position, b.position) for a, b in pairwise(points)))


def _arm_waypoints(
    skill: Signature, values: Mapping[str, Argument], before: Scene, promised: Scene, zones: tuple[Zone, ...]
) -> tuple[Waypoint, ...]:
    if promised.held and promised.held != before.held:
        return _reach_for(before, before.find(promised.held), zones)
    if before.held and not promised.held and _moved_by(before, promised, before.held):
        return _put_down(before, promised, zones)
    named = [name for name in before.names if name in values.values() and name != before.held]
    for name in named:
        if _stays_above(skill):
            return _finished(_over_to(before, hover(before.find(name)), _cruise(before, TIP), zones))
        if before.find(name).state != promised.find(name).state:
            return _work_at(before, before.find(name), promised.find(name), zones)
        if _moved_by(before, promised, name):
            if _takes(skill):
                return _take_and_put_down(before, promised, name, zones)
            return _push(before, before.find(name), promised.find(name), zones)
    here = _here(before)
    if skill.name == "go_home":
        return _finished(_over_to(before, HOME, _cruise(before, TIP), zones), _carries(before))
    return _finished(here, _carries(before))


def _takes(skill: Signature) -> bool:
    """Of a skill that moves what nothing holds before and after: whether it holds it on the way."""
    return any(effect.predicate in SUPPORTS for effect in skill.effects)


def _stays_above(skill: Signature) -> bool:
    return any(effect.predicate in ("above", "toppled") for effect in skill.effects)


def _moved_by(before: Scene, promised: Scene, name: str) -> bool:
    return name in promised.names and before.find(name).position != promised.find(name).position


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


def densify(way: Way, spacing: float) -> Way:
    """The same way with points at most `spacing` [m] apart."""
    points = list(way.points[:1])
    for a, b in pairwise(way.points):
        count = max(1, math.ceil(length_between(a, b) / spacing))
        points += [replace(a, position=point_between(a, b, k / count)) for k in range(1, count)]
        points.append(b)
    return Way(tuple(points), way.metres)


def length_between(a: Waypoint, b: Waypoint) -> float:
    """Of the way between two corners, or a little more [m]."""
    if b.straight:
        return math.dist(a.position, b.position)
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    near, far = sorted((math.hypot(ax, ay), math.hypot(bx, by)))
    turn = abs(math.remainder(math.atan2(by, bx) - math.atan2(ay, ax), math.tau))
    return math.hypot(far * turn, far - near, bz - az)


def point_between(a: Waypoint, b: Waypoint, share: float) -> Vector3:
    """The point after that share of the way: on a line if it is straight, else swung about the arm's base."""
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    z = az + share * (bz - az)
    if b.straight:
        return ax + share * (bx - ax), ay + share * (by - ay), z
    radius = math.hypot(ax, ay) + share * (math.hypot(bx, by) - math.hypot(ax, ay))
    begin = math.atan2(ay, ax)
    turn = begin + share * math.remainder(math.atan2(by, bx) - begin, math.tau)
    return radius * math.cos(turn), radius * math.sin(turn), z
