"""Predicted paths of skills, for rehearsal, monitors and search.

A `skill.py` imports one of the planners below as its `plan`, or defines its own: a function from a `SkillCall` to a
`MotionPath`, or to None if the motion cannot be predicted. An arm rises, swings over at its travel height and descends.
A hand above its goal may descend directly (`Arm.descent`), which only cuts a corner of the predicted path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.scene.driven_base import within_reach
from llm_planner.scene.free_space import distance
from llm_planner.scene.geometry import bottom, half_extents, top
from llm_planner.scene.predicates import DRAWER
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import check_line, cruise_height, way_over
from llm_planner.skills.contract import Arguments, SkillError
from llm_planner.skills.floor_paths import Floor, floor_of
from llm_planner.skills.grasps import LIFT_LEAST, choose_grasp, handle_of
from llm_planner.skills.hand_geometry import HandPose, gripper_of, into_reach, rest_pose
from llm_planner.skills.level_hand import coming, leaving, level_cruise
from llm_planner.skills.mobile_arm import driving_route
from llm_planner.skills.scripts.basic import hover
from llm_planner.skills.side_grasps import Grasp
from llm_planner.skills.sliding import RUN_UP, pushing_grips

RETREAT = 0.08  # [m] rise of the hand after a release
PUSHING = 0.02  # [m] between the waypoints of a push
REST: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Waypoint:
    """Position of the gripper or the mobile base on a path.

    Attributes:
        position: Position in the base frame of an arm, or in the map [m].
        done: Share of the call's effects that have happened, from 0 to 1.
        carries: Offset from `position` to the centre of the held object [m].
        holds: Name of the held object, if nothing is held before the call.
        straight: Whether the path to here is a straight line; otherwise a hand swings about the base.
        base: T_map_base of a base that has driven the arm; None where it stands as before the call.
    """

    position: Vector3
    done: float = 0.0
    carries: Vector3 = REST
    holds: str = ""
    straight: bool = False
    base: Pose | None = None


@dataclass(frozen=True)
class MotionPath:
    """Corners of a motion and its length [m]; there are no corners if the robot's position is unknown."""

    points: tuple[Waypoint, ...]
    metres: float


@dataclass(frozen=True)
class SkillCall:
    """Skill call whose motion is predicted.

    Attributes:
        arguments: Arguments by parameter name; directions from the robot's viewpoint.
        before: Scene at the start.
        after: Scene that the skill's effects promise.
        zones: Regions that the robot keeps out of.
        every_point: Whether the path of a mobile robot avoids objects; otherwise only its rooms are correct.
    """

    arguments: Arguments
    before: Scene
    after: Scene
    zones: tuple[Zone, ...] = ()
    every_point: bool = True

    @property
    def shape(self) -> ArmShape:
        """Reach and rest position of the arm that the scene shows."""
        return arm_shape(self.before.arm)

    @property
    def objects(self) -> list[str]:
        """Names of the objects among the arguments, without the held one."""
        named = self.arguments.values()
        return [name for name in self.before.names if name in named and name != self.before.held]


Planner = Callable[[SkillCall], MotionPath | None]


def drive(call: SkillCall) -> MotionPath:
    """Plan a mobile robot's path through doors, around objects and zones.

    Raises:
        InputError: No doors lead to the goal.
        SkillError: NO_FREE_SPACE if zones block all paths.
    """
    before, after = call.before, call.after
    if before.robot is None or before.building is None or after.robot is None:
        return MotionPath((), 0.0)
    (x, y, z), (gx, gy, _) = before.robot.position, after.robot.position
    floor = floor_of(before.building, before, call.zones) if call.every_point else Floor(before.building, ())
    corners = floor.way((x, y), (gx, gy))
    points = [Waypoint((*corner, z), straight=True) for corner in corners]
    # The length ignores obstacles: the search for the shortest plan has a tight bound on the shortest route.
    return MotionPath((*points, replace(points[-1], done=1.0)), distance(before.building, (x, y), (gx, gy)))


def stay(call: SkillCall) -> MotionPath:
    """Keep the hand where it is; for a mobile robot, plan as `drive`."""
    if call.before.building is not None:
        return drive(call)
    carries = _carries(call.before)
    return _of(_finished([Waypoint(_reached(grip, call.shape), carries=carries) for grip in _here(call.before)]))


def go_home(call: SkillCall) -> MotionPath:
    """Move the hand to its rest position."""
    before = call.before
    return _of(_finished(_over_to(before, rest_pose(call.shape), _cruise(before), call.zones, _carries(before))))


def approach(call: SkillCall) -> MotionPath:
    """Tuck the arm and drive its base to where it reaches the object of the call.

    Raises:
        SkillError: UNREACHABLE if the base finds no place or way.
    """
    before, name = call.before, call.objects[0] if call.objects else ""
    if before.base is None or not name or within_reach(before, name):
        return stay(call)
    tucked = go_home(call).points or (Waypoint(call.shape.rest),)
    route = driving_route(before, name, call.zones)
    poses = [replace(tucked[-1], done=0.0, base=pose) for pose in route]
    metres = sum(math.dist(a.position, b.position) for a, b in pairwise(route))
    points = (*(replace(point, done=0.0) for point in tucked), *poses[:-1], replace(poses[-1], done=1.0))
    return MotionPath(points, metres)


def hover_over(call: SkillCall) -> MotionPath:
    """Move the hand above the first object of the call; the path ends at its hover height."""
    before = call.before
    item = before.find(call.objects[0]) if call.objects else None
    if item is None:
        return stay(call)
    return _of(_finished(_over_to(before, hover(item), _cruise(before), call.zones)))


def grasp(call: SkillCall) -> MotionPath:
    """Reach for the object that is held after the call, and lift it."""
    before, held = call.before, call.after.held
    return _of(_reach_for(before, before.find(held), call.zones)) if held and held != before.held else stay(call)


def release(call: SkillCall) -> MotionPath:
    """Carry the held object to where the effects promise it, and release it."""
    held = call.before.held
    if held and not call.after.held and _is_moved(call, held):
        return _of(_put_down(call.before, call.after, call.zones))
    return stay(call)


def transport(call: SkillCall) -> MotionPath:
    """Pick an object, unless it is held already, and put it where the effects promise it."""
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
    """Work at furniture whose state changes: follow a drawer, or press or wipe at the centre of the object."""
    for name in call.objects:
        item, after = call.before.find(name), call.after.find(name)
        if item.state != after.state:
            return _of(_work_at(call.before, item, after, call.zones))
    return stay(call)


def along(call: SkillCall, poses: Sequence[HandPose]) -> MotionPath:
    """Move the hand to the first of `poses` and along them; the effects count as achieved at the last."""
    before, carries = call.before, _carries(call.before)
    over = _over_to(before, poses[0], _cruise(before), call.zones, carries)
    straight = [Waypoint((pose.x, pose.y, pose.z), carries=carries, straight=True) for pose in poses[1:]]
    *first, last = (*over, *straight)
    return _of((*first, last, replace(last, done=1.0)))


def _of(points: tuple[Waypoint, ...]) -> MotionPath:
    return MotionPath(points, sum(math.dist(a.position, b.position) for a, b in pairwise(points)))


def _is_moved(call: SkillCall, name: str) -> bool:
    return name in call.after.names and call.before.find(name).position != call.after.find(name).position


def _here(scene: Scene) -> list[HandPose]:
    return [HandPose(*scene.robot.position, 0.0)] if scene.robot else []


def _carries(scene: Scene) -> Vector3:
    """Return the offset from the fingers to the centre of the held object [m]; zero if the hand is not observed."""
    if not scene.held or scene.robot is None:
        return REST
    (x, y, z), (ox, oy, oz) = scene.robot.position, scene.find(scene.held).position
    return ox - x, oy - y, oz - z


def _finished(points: Sequence[Waypoint]) -> tuple[Waypoint, ...]:
    return (*points, replace(points[-1], done=1.0)) if points else ()


def _reached(grip: HandPose, shape: ArmShape) -> Vector3:
    near = into_reach(grip, shape)
    return near.x, near.y, near.z


def _cruise(scene: Scene, hanging: float = 0.0, ignore: str = "") -> float:
    """Return the height of the grip point at which a load that hangs `hanging` below it clears all objects [m]."""
    return cruise_height(scene, max(hanging, gripper_of(scene).tip), ignore)


def _over_to(
    scene: Scene, goal: HandPose, cruise: float, zones: tuple[Zone, ...], carries: Vector3 = REST
) -> list[Waypoint]:
    """Plan up, over and down to `goal`, around the zones."""
    shape, here = arm_shape(scene.arm), _here(scene)
    over = way_over(scene, here[0], goal, cruise, zones) if here else (goal.raised(max(cruise, goal.z)),)
    return [Waypoint(_reached(grip, shape), carries=carries) for grip in (*here, *over, goal)]


def _reach_for(before: Scene, item: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    try:
        grasp = choose_grasp(before, item)
    except SkillError:  # the skill reports this itself, or the obstacle is gone by then
        grasp = Grasp(HandPose(*item.position, 0.0), 0.0, 0.0)
    grip, (x, y, z) = grasp.grip, item.position
    if grip.is_level:
        return _reach_aside(before, item, grasp, zones)
    way = _over_to(before, grip, _cruise(before), zones)
    carries = x - grip.x, y - grip.y, z - grip.z
    hanging = half_extents(item)[2] - carries[2]
    height = max(_cruise(before, hanging, item.name), grip.z + LIFT_LEAST)
    taken = Waypoint((grip.x, grip.y, grip.z), done=1.0, carries=carries)
    return (*way, taken, replace(taken, position=_reached(grip.raised(height), arm_shape(before.arm))))


def _reach_aside(before: Scene, item: SceneObject, grasp: Grasp, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    """Plan the way of a level hand to an object and back with it."""
    grip = grasp.grip
    carries = item.position[0] - grip.x, item.position[1] - grip.y, item.position[2] - grip.z
    height = level_cruise(before, grip.z - bottom(item), item.name)
    here = _here(before)
    start = here[0] if here else rest_pose(arm_shape(before.arm))
    legs = coming(start, grip, grasp.back, height, before, zones)
    way = [Waypoint((at.x, at.y, at.z)) for at in (*here, *(leg.to for leg in legs))]
    back = [leg.to for leg in leaving(grip, grasp.back, height, grasp.lift)]
    taken = [Waypoint((at.x, at.y, at.z), done=1.0, carries=carries) for at in (grip, *back)]
    return (*way, *taken)


def _put_down(before: Scene, promised: Scene, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    item, carries = before.find(before.held), _carries(before)
    x, y, z = promised.find(before.held).position
    goal = HandPose(x - carries[0], y - carries[1], z - carries[2], 0.0)
    hanging = half_extents(item)[2] - carries[2]
    way = _over_to(before, goal, _cruise(before, hanging, item.name), zones, carries)
    shape = arm_shape(before.arm)
    risen = goal.raised(min(goal.z + RETREAT, shape.heights.cruise_max))
    return (*way, *(Waypoint(_reached(grip, shape), done=1.0) for grip in (goal, risen)))


def _take_and_put_down(before: Scene, promised: Scene, name: str, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    """Join a pick and a place, with the object in the gripper in between."""
    taking = _reach_for(before, before.find(name), zones)
    lifted, carries = taking[-1].position, taking[-1].carries
    x, y, z = (at + off for at, off in zip(lifted, carries, strict=True))
    items = tuple(replace(item, position=(x, y, z)) if item.name == name else item for item in before.objects)
    putting = _put_down(replace(before, objects=items, held=name, robot=Pose(lifted)), promised, zones)
    held = [replace(point, done=0.0, holds=name) for point in (*taking[-2:], *putting[:-2])]
    return (*taking[:-2], *held, *putting[-2:])


def _work_at(before: Scene, item: SceneObject, after: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    """Plan to a handle, along with its drawer, and up; for other furniture, to its centre and up."""
    carries = _carries(before)
    hanging = gripper_of(before).tip
    if before.held:
        hanging = max(hanging, half_extents(before.find(before.held))[2] - carries[2])
    x, y, _ = item.position
    start = end = HandPose(x, y, top(item) + hanging, 0.0)
    if item.kind == DRAWER:
        start, end = handle_of(item, item.state).grip, handle_of(item, after.state).grip
        check_line(start, end, zones)
    way, shape = _over_to(before, start, _cruise(before, hanging), zones, carries), arm_shape(before.arm)
    done = Waypoint(_reached(end, shape), done=1.0, carries=carries, straight=True)
    return (*way, done, replace(done, position=_reached(end.raised(end.z + RETREAT), shape)))


def _push(before: Scene, item: SceneObject, after: SceneObject, zones: tuple[Zone, ...]) -> tuple[Waypoint, ...]:
    (x, y, _), (gx, gy, _) = item.position, after.position
    distance = math.hypot(gx - x, gy - y)
    behind, end = pushing_grips(item, ((gx - x) / distance, (gy - y) / distance), distance, gripper_of(before))
    check_line(behind, end, zones)
    way, shape = _over_to(before, behind, _cruise(before), zones), arm_shape(before.arm)
    count = math.ceil(distance / PUSHING)
    touching = RUN_UP / (distance + RUN_UP)
    shares = [touching + (1 - touching) * k / count for k in range(count + 1)]
    dx, dy = end.x - behind.x, end.y - behind.y
    grips = [replace(behind, x=behind.x + share * dx, y=behind.y + share * dy) for share in shares]
    along = [Waypoint(_reached(grip, shape), k / count, straight=True) for k, grip in enumerate(grips)]
    return (*way, *along, replace(along[-1], position=_reached(end.raised(_cruise(before)), shape)))


def densify(way: MotionPath, spacing: float) -> MotionPath:
    """Add points so that they are at most `spacing` [m] apart."""
    points = list(way.points[:1])
    for a, b in pairwise(way.points):
        count = max(1, math.ceil(length_between(a, b) / spacing))
        points += [replace(a, position=point_between(a, b, k / count)) for k in range(1, count)]
        points.append(b)
    return MotionPath(tuple(points), way.metres)


def length_between(a: Waypoint, b: Waypoint) -> float:
    """Return an upper bound of the length of the path between two corners [m]."""
    if b.straight:
        return math.dist(a.position, b.position)
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    near, far = sorted((math.hypot(ax, ay), math.hypot(bx, by)))
    turn = abs(math.remainder(math.atan2(by, bx) - math.atan2(ay, ax), math.tau))
    return math.hypot(far * turn, far - near, bz - az)


def point_between(a: Waypoint, b: Waypoint, share: float) -> Vector3:
    """Interpolate between two corners: along a line if `b` is straight, otherwise swinging about the arm's base."""
    (ax, ay, az), (bx, by, bz) = a.position, b.position
    z = az + share * (bz - az)
    if b.straight:
        return ax + share * (bx - ax), ay + share * (by - ay), z
    radius = math.hypot(ax, ay) + share * (math.hypot(bx, by) - math.hypot(ax, ay))
    begin = math.atan2(ay, ax)
    turn = begin + share * math.remainder(math.atan2(by, bx) - begin, math.tau)
    return radius * math.cos(turn), radius * math.sin(turn), z
