"""Sliding a thing over the table, closed loop: get behind it, push straight, look, and again until it lies there.

Each movement follows from where hand and thing are alone: behind it the hand pushes on, elsewhere it backs off, rises
and gets behind it; what has slid aside is met on another line.

Push: closed fingers behind the object, straight ahead, up again.

Sweep: slide an object over the table into a region or to a point, round what is in the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from llm_planner.programs.values import Argument
from llm_planner.scene.geometry import top
from llm_planner.scene.names import the
from llm_planner.scene.places import WORKSPACE, Point2, Rectangle, direction_vector, region
from llm_planner.scene.predicates import at
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.arm_paths import in_funnel, is_clear
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.floor_paths import nearest_in
from llm_planner.skills.hand_geometry import (
    TIP,
    Aim,
    Grip,
    comfortable_yaw,
    grip_of,
    hand_slices,
    into_reach,
    nearer_half_turn,
    wrap,
)
from llm_planner.skills.motion import Leg
from llm_planner.skills.sliding import RUN_UP, Stroke, extent, pushing_grips, pushing_height, stroke_to

SPEED = 0.25  # of the full speed
STROKES = 20
CLOSE, ENOUGH = 0.006, 0.02  # [m] a hand behind the thing pushes on until it is so close; elsewhere less will do
VAIN, STUCK = 2, 0.002  # strokes in a row after which it is given up, if each moved the thing less than that [m]
ASIDE = 0.012  # [m] off the thing's middle fingers push it straight; farther off it turns away
TURNED = 0.25  # [rad] off the direction of pushing
GRAZING = -0.006  # [m] beside other things, for a stroke that has begun to go on
CORNER = 0.5  # [rad] off the straight way
LOW = 0.01  # [m] off the height of pushing
TOUCHING = 0.004  # [m] at least behind the thing's middle
CLOSED = 0.004  # [m] between fingers that count as closed
BACK = 0.01  # [m] that the hand goes back before it rises, so that the thing does not stick to it
NEAR = 0.03  # [m] from the thing's rim, within which it goes back

Course = Callable[[SceneObject], Point2]


def slide(arm: Arm, name: str, course: Course) -> Script:
    """Pushes the thing `name` on to where `course` says, asked anew after every stroke, until it is there; then leaves.

    Raises SkillError where a stroke has no room.
    """
    vain = 0
    for _ in range(STROKES):
        item = arm.find(name)
        goal = course(item)
        left = math.dist(goal, item.position[:2])
        arm.aim = _aim(arm, item, goal)
        if left <= CLOSE:
            break
        stroke = _stroke(item, goal, arm.aim.grip.yaw)
        behind = is_behind(arm, stroke)
        if left <= ENOUGH and not behind:
            break
        if not behind:
            yield from get_behind(arm, stroke)
            continue
        yield from push_on(arm, stroke)
        vain = vain + 1 if math.dist(arm.find(name).position, item.position) < STUCK else 0
        if vain == VAIN:
            break
    yield from leave(arm, name)


def _aim(arm: Arm, item: SceneObject, goal: Point2) -> Aim:
    """At the goal, along the way there: from where the thing lay in the beginning, for that does not turn as it slides,
    unless it is to go round a corner. The hand is turned as is comfortable half way."""
    began = arm.began.scene.find(item.name)
    way = item if math.dist(began.position[:2], goal) <= ENOUGH or _turns(began, item, goal) else began
    (x, y, _), (gx, gy) = way.position, goal
    heading, height = math.atan2(gy - y, gx - x), pushing_height(item)
    grip = Grip(*goal, height, comfortable_yaw((x + gx) / 2, (y + gy) / 2, heading))
    left = math.dist(goal, item.position[:2])
    if left > CLOSE:
        start = _stroke(item, goal, grip.yaw).start
    else:  # too near for a direction of its own
        start, _ = pushing_grips(item, (math.cos(heading), math.sin(heading)), left)
    return Aim(grip, {"cruise": arm.cruise_height() - height}, heading, start)


def _turns(began: SceneObject, item: SceneObject, goal: Point2) -> bool:
    """Whether the thing goes another way now than straight from where it began."""
    ahead, whole = (math.atan2(goal[1] - at.position[1], goal[0] - at.position[0]) for at in (item, began))
    return math.dist(item.position[:2], goal) > ENOUGH and abs(wrap(ahead - whole)) > CORNER


def _stroke(item: SceneObject, goal: Point2, yaw: float) -> Stroke:
    """The hand turned as nearly as may be to `yaw`: at a right angle to the arm a half turn is soon the nearer one."""
    stroke = stroke_to(item, goal)
    turned = nearer_half_turn(stroke.start.yaw, yaw)
    return replace(stroke, start=replace(stroke.start, yaw=turned), end=replace(stroke.end, yaw=turned))


def is_behind(arm: Arm, stroke: Stroke) -> bool:
    """Whether the hand only has to go straight ahead."""
    along, across = _seen_from(stroke, arm.grip)
    low = abs(arm.grip.z - stroke.start.z) <= LOW
    straight = abs(across) <= ASIDE and abs(wrap(arm.grip.yaw - stroke.start.yaw, math.pi)) <= TURNED
    closed = arm.observation.gripper_width <= CLOSED
    return closed and low and straight and -stroke.reach - 2 * RUN_UP <= along <= -TOUCHING


def _seen_from(stroke: Stroke, hand: Grip) -> Point2:
    """The hand from the middle of the thing: along the direction of pushing and across it, to the left [m]."""
    (ux, uy), (x, y, _) = stroke.direction, stroke.item.position
    return (hand.x - x) * ux + (hand.y - y) * uy, (hand.y - y) * ux - (hand.x - x) * uy


def push_on(arm: Arm, stroke: Stroke) -> Script:
    """Straight ahead, until the thing is there or slides aside."""
    (ux, uy), (x, y, _), hand = stroke.direction, stroke.item.position, arm.grip
    # Fingers that are nearer than its box allows touch it where it is not as wide.
    way = stroke.distance - min(stroke.reach, -_seen_from(stroke, hand)[0])
    yaw = nearer_half_turn(stroke.start.yaw, hand.yaw)
    end = Grip(x + way * ux, y + way * uy, stroke.start.z, yaw)
    replace(stroke, start=hand, end=end).check_way(arm.scene, arm.observation.zones, GRAZING)
    for reference in arm.move("push", [Leg(end, SPEED)], straight=True):
        yield reference
        arm.grip = grip_of(arm.observation.T_base_gripper)
        if abs(_seen_from(replace(stroke, item=arm.find(stroke.item.name)), arm.grip)[1]) > ASIDE:
            break


def get_behind(arm: Arm, stroke: Stroke) -> Script:
    """To where the stroke begins, with closed fingers; raises SkillError where it has no room."""
    stroke.check(arm.scene, arm.observation.zones)
    if arm.observation.gripper_width > CLOSED:
        yield from arm.fingers("close", 0.0)
    if in_funnel(arm.grip, stroke.start, stroke.start.z):
        way = [arm.grip, stroke.start]
        if is_clear(way, lambda at: hand_slices(at, 0.0), arm.scene, (), arm.observation.zones):
            yield from arm.move("approach", [Leg(stroke.start, arm.settings.descent_speed)])
            return
    back = _back(arm, stroke.item)
    if back != arm.grip:
        yield from arm.move("back", [Leg(back)])
    yield from arm.move("approach", arm.travel(stroke.start, arm.cruise_height()))


def _back(arm: Arm, item: SceneObject) -> Grip:
    """A little away from the thing, where the hand is beside it and near; else where the hand is."""
    hand, (x, y, _) = arm.grip, item.position
    away = math.dist((hand.x, hand.y), (x, y))
    angle = math.atan2(hand.y - y, hand.x - x)
    if hand.z - TIP > top(item) or away - extent(item, angle) > NEAR:
        return hand
    return into_reach(replace(hand, x=hand.x + BACK * math.cos(angle), y=hand.y + BACK * math.sin(angle)))


def leave(arm: Arm, name: str) -> Script:
    """A little back from the thing and straight up, as far as that is still to be done."""
    arm.grip = grip_of(arm.observation.T_base_gripper)
    height = arm.cruise_height()
    if arm.grip.z < height - arm.settings.arrived:
        back = _back(arm, arm.find(name))
        yield from arm.move("retreat", [Leg(back), Leg(into_reach(back.raised(height)))])


MISSED = 0.02  # [m]


def push(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Slides `object` over the table by `distance` [m] in `direction` from where it lay on its own."""
    name, direction = str(arguments["object"]), str(arguments["direction"])
    distance = float(arguments["distance"])  # type: ignore[arg-type]  # checked against the manifest
    (ux, uy), (x, y, _) = direction_vector(direction), arm.began.scene.find(name).position
    goal = x + ux * distance, y + uy * distance
    yield from slide(arm, name, lambda item: goal)
    position = arm.find(name).position
    done = (position[0] - x) * ux + (position[1] - y) * uy
    if abs(done - distance) > MISSED:
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} moved {done * 100:.1f} cm instead of {distance * 100:.1f} cm"
        )


INSIDE = 0.01  # [m] of the middle of what is swept into a region from its edge
GOALS, DETOURS = 0.04, 0.06  # [m] between the points of a region, and of the table, that are tried
ROOMY = 0.006  # [m] beside other things, for a stroke to begin
Place = str | Point2


def sweep(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` at `place`; raises SkillError (NO_FREE_SPACE) where no strokes lead there."""
    name, place = str(arguments["object"]), _place(arguments["place"])
    yield from slide(arm, name, lambda item: _next(arm, item, place))
    if not at(arm.scene, name, place):
        x, y, _ = arm.find(name).position
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was swept no farther than ({x:.2f}, {y:.2f})")


def _place(value: Argument) -> Place:
    return (value[0], value[1]) if isinstance(value, tuple) else str(value)


def _next(arm: Arm, item: SceneObject, place: Place) -> Point2:
    """Where the next stroke takes the thing: to its place, or somewhere from where there is a way to that.

    What was chosen in the beginning stays so: a thing that slides aside by millimetres is not taken elsewhere for it.
    """
    began = arm.began.scene.find(item.name)
    goals = _goals(began.position[:2], place)
    if math.dist(item.position[:2], goals[0]) <= ENOUGH:
        return goals[0]
    with suppress(SkillError):
        first = _chosen(arm, arm.began.scene, began, goals)
        near = math.dist(item.position[:2], first) <= ENOUGH
        if first in goals and (near or _is_free(arm, arm.scene, item, first, GRAZING)):
            return first
    return _chosen(arm, arm.scene, item, goals)


def _chosen(arm: Arm, scene: Scene, item: SceneObject, goals: list[Point2]) -> Point2:
    """Where to take the thing that is there; raises SkillError (NO_FREE_SPACE)."""
    for goal in goals:
        if _is_free(arm, scene, item, goal, ROOMY):
            return goal
    for via in _detours(item.position[:2], goals[0]):
        there = replace(item, position=(*via, item.position[2]))
        if _is_free(arm, scene, item, via, ROOMY) and _is_free(arm, scene, there, goals[0], ROOMY):
            return via
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no free way to sweep {the(item.name)} there")


def _detours(here: Point2, goal: Point2) -> list[Point2]:
    """Points to go round by, the shortest way first."""
    points = [point for point in _spread(WORKSPACE, DETOURS) if math.dist(here, point) >= DETOURS / 2]
    return sorted(points, key=lambda point: math.dist(here, point) + math.dist(point, goal))


def _goals(here: Point2, place: Place) -> list[Point2]:
    """The point, or those of a region, the nearest to `here` first."""
    if not isinstance(place, str):
        return [place]
    area = region(place).area
    inside = Rectangle(area.x_min + INSIDE, area.x_max - INSIDE, area.y_min + INSIDE, area.y_max - INSIDE)
    return sorted([nearest_in(inside, here), *_spread(inside, GOALS)], key=lambda point: math.dist(point, here))


def _spread(area: Rectangle, apart: float) -> list[Point2]:
    nx, ny = math.ceil((area.x_max - area.x_min) / apart), math.ceil((area.y_max - area.y_min) / apart)
    xs = [area.x_min + i * (area.x_max - area.x_min) / nx for i in range(nx + 1)]
    return [(x, area.y_min + j * (area.y_max - area.y_min) / ny) for x in xs for j in range(ny + 1)]


def _is_free(arm: Arm, scene: Scene, item: SceneObject, goal: Point2, margin: float) -> bool:
    """Whether one stroke may take the thing there, `margin` [m] beside others; a hand that is behind it has room."""
    if math.dist(item.position[:2], goal) <= CLOSE:
        return True
    stroke, zones = stroke_to(item, goal), arm.observation.zones
    try:
        if margin < 0.0 and is_behind(arm, stroke):
            stroke.check_way(scene, zones, margin)
        else:
            stroke.check(scene, zones, margin)
    except SkillError:
        return False
    return True
