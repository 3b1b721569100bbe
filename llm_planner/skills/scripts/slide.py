"""Sliding a thing over the table, closed loop: get behind it, push straight, look, and again until it lies there.

Each movement follows from where hand and thing are alone: behind it the hand pushes on, elsewhere it backs off, rises
and gets behind it; what has slid aside is met on another line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.descent import in_funnel, is_clear
from llm_planner.skills.gripper_shape import TIP, Grip, comfortable_yaw, grip_of, hand_slices, nearer_half_turn, wrap
from llm_planner.skills.motion import Leg
from llm_planner.skills.reach import into_reach
from llm_planner.skills.sliding import RUN_UP, Stroke, extent, pushing_grips, pushing_height, stroke_to
from llm_planner.world.geometry import top
from llm_planner.world.places import Point2
from llm_planner.world.scene import SceneObject

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
