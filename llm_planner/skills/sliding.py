"""Pushes of an object over the table by strokes of closed fingers: their geometry, and the scripts that make them.

A stroke is judged by geometry without forces. `push` moves an object by a distance in a direction, `sweep` into a
region or to a point, around obstacles, in closed loop. Each motion depends only on the poses of hand and object: a hand
behind the object pushes straight ahead, any other hand backs off, rises and gets behind it. If the object slides aside,
the next stroke follows a new line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.names import the
from llm_planner.scene.places import TABLE, Point2, Rectangle, direction_vector
from llm_planner.scene.predicates import TABLE_KIND, at
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.arm_paths import check_line, in_funnel
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode
from llm_planner.skills.floor_paths import nearest_in
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import (
    Aim,
    HandPose,
    check_reach,
    comfortable_yaw,
    gripper_of,
    hand_slices,
    into_reach,
    lies_on_table,
    nearer_half_turn,
    room,
    wrap,
)
from llm_planner.skills.motion import Leg

UNDER_PALM = 0.003  # [m] between the palm and the top of an object that is pushed under it
RUN_UP = 0.02  # [m] between fingers and object at the start
LOW = 0.004  # [m] between the fingertips and the table
NEARER = 0.003  # [m] that the object may approach a neighbour that it starts close to
WAY_STEP = 0.01  # [m] between the places checked on the object's path


@dataclass(frozen=True)
class Stroke:
    """Straight push of `item` along the unit vector `direction` by `distance` [m].

    The hand moves from `start`, `RUN_UP` away from the object, to `end`.
    """

    item: SceneObject
    direction: Point2
    distance: float
    start: HandPose
    end: HandPose

    @property
    def reach(self) -> float:
        """Distance [m] from the object's centre to the hand at the contact with the object's box."""
        return math.dist((self.start.x, self.start.y), self.item.position[:2]) - RUN_UP

    def check(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Raise SkillError (UNREACHABLE, NO_FREE_SPACE) unless hand and object have a free path.

        `margin` [m] is the least gap between the object and others, unless it starts closer.
        """
        name = self.item.name
        check_reach(self.start.x, self.start.y, f"the place behind {the(name)}", arm_shape(scene.arm))
        gap, nearest = room(hand_slices(self.start, 0.0, gripper_of(scene)), scene, {name})
        if gap < 0.001:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"the fingers do not fit behind {the(name)} to push it that way: {the(nearest)} is in the way",
            )
        self.check_way(scene, zones, margin)

    def check_way(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Check the path as `check` does, for a hand that is behind the object already."""
        name, shape = self.item.name, footprint(self.item)
        check_reach(self.end.x, self.end.y, f"the end of the way of {the(name)}", arm_shape(scene.arm))
        steps = max(1, math.ceil(self.distance / WAY_STEP))
        way = [shape.at(self.at(shape.center, k / steps), shape.yaw) for k in range(1, steps + 1)]
        if not lies_on_table(scene, *way[-1].center):
            raise SkillError(
                SkillErrorCode.UNREACHABLE,
                f"{the(name)} would fall off the table: that way it comes to ({way[-1].center[0]:.2f}, "
                f"{way[-1].center[1]:.2f}), and the table ends at x = {TABLE.x_max:g} and y = ±{TABLE.y_max:g}; push "
                "it less far or another way",
            )
        for other in scene.objects:
            # A neighbour that starts closer is allowed as long as the object does not approach it much.
            least = min(margin, separation(shape, footprint(other)) - NEARER)
            if (
                other.name != name
                and other.kind != TABLE_KIND
                and min(separation(body, footprint(other)) for body in way) < least
            ):
                raise SkillError(
                    SkillErrorCode.NO_FREE_SPACE,
                    f"{the(other.name)} stands in the way of {the(name)}; move it away or push another way",
                )
        check_line(self.start, self.end, zones)

    def at(self, point: Point2, share: float) -> Point2:
        """Return `point` moved by that share of the stroke [m]."""
        way = share * self.distance
        return point[0] + way * self.direction[0], point[1] + way * self.direction[1]


def stroke_to(item: SceneObject, goal: Point2, gripper: Gripper) -> Stroke:
    """Return the stroke that pushes `item` to another place `goal` [m]."""
    dx, dy = goal[0] - item.position[0], goal[1] - item.position[1]
    distance = math.hypot(dx, dy)
    direction = dx / distance, dy / distance
    return Stroke(item, direction, distance, *pushing_grips(item, direction, distance, gripper))


def pushing_grips(item: SceneObject, direction: Point2, distance: float, gripper: Gripper) -> tuple[HandPose, HandPose]:
    """Return the closed hand at the start and the end of a push of `item` along the unit vector `direction`.

    `distance` [m] is the travel after contact; the run-up of `RUN_UP` comes in addition.
    """
    (ux, uy), (x, y, _) = direction, item.position
    height, breadth = _contact(item, gripper)
    reach = footprint(item).extent(math.atan2(uy, ux)) + breadth
    start = HandPose(x - ux * (reach + RUN_UP), y - uy * (reach + RUN_UP), height, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, math.atan2(uy, ux)))
    return start, replace(start, x=x + ux * (distance - reach), y=y + uy * (distance - reach))


def pushing_height(item: SceneObject, gripper: Gripper) -> float:
    """Return the height of the grip point [m] while pushing `item`."""
    return _contact(item, gripper)[0]


def _contact(item: SceneObject, gripper: Gripper) -> tuple[float, float]:
    """Return the height of the grip point and the half breadth of the part in contact [m].

    Low, so that the object does not topple; with the palm over its top if the fingers then touch its lower half.
    """
    low, over = bottom(item) + gripper.tip + LOW, top(item) - round(gripper.palm[2] - UNDER_PALM, 6)
    finger = gripper.fingers[0][1]
    if over <= low:
        return low, finger
    if over - gripper.tip <= item.position[2]:
        return over, finger
    return low, gripper.palm[0]


SPEED = 0.25  # share of full speed
STROKES = 20
CLOSE, ENOUGH = 0.006, 0.02  # [m] tolerance at the goal while the hand is behind the object, and otherwise
VAIN, STUCK = 2, 0.002  # consecutive strokes that move the object less than this [m] before the slide ends
ASIDE = 0.012  # [m] lateral offset from the object's centre beyond which the object turns away
TURNED = 0.25  # [rad] tolerance of the yaw of the hand for a push
GRAZING = -0.006  # [m] margin to other objects needed to continue a stroke
CORNER = 0.5  # [rad] deviation from the initial direction that counts as a corner
LEVEL_OFF = 0.01  # [m] tolerance of the pushing height
TOUCHING = 0.004  # [m] least distance of the hand behind the object's centre
BACK = 0.01  # [m] that the hand backs off before it rises, so that the object does not stick to it
NEAR = 0.03  # [m] distance from the object's rim within which the hand backs off

Course = Callable[[SceneObject], Point2]


def slide(arm: Arm, name: str, course: Course) -> Script:
    """Push the object `name` to the goal of `course`, then leave it.

    Ends without an error if the strokes no longer move the object. Raises SkillError if a stroke has no room.

    Args:
        arm: State of the arm.
        name: Name of the object.
        course: Returns the next goal [m, base frame]; called before every motion.
    """
    vain = 0
    for _ in range(STROKES):
        item = arm.find(name)
        goal = course(item)
        left = math.dist(goal, item.position[:2])
        arm.aim = _aim(arm, item, goal)
        if left <= CLOSE:
            break
        stroke = _stroke(item, goal, arm.aim.grip.yaw, arm.gripper)
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
    """Return the aim: the hand at the goal with the heading of the path.

    The heading is that from the initial position, which does not turn while the object slides, except after a corner.
    The yaw is the comfortable one half way.
    """
    began = arm.began.scene.find(item.name)
    way = item if math.dist(began.position[:2], goal) <= ENOUGH or _turns(began, item, goal) else began
    (x, y, _), (gx, gy) = way.position, goal
    heading, height = math.atan2(gy - y, gx - x), pushing_height(item, arm.gripper)
    yaw = comfortable_yaw((x + gx) / 2, (y + gy) / 2, heading, arm.shape.neutral)
    grip = HandPose(*goal, height, yaw)
    left = math.dist(goal, item.position[:2])
    if left > CLOSE:
        start = _stroke(item, goal, grip.yaw, arm.gripper).start
    else:  # too close to define a direction
        start, _ = pushing_grips(item, (math.cos(heading), math.sin(heading)), left, arm.gripper)
    return Aim(grip, {"cruise": arm.cruise_height() - height}, heading, start)


def _turns(began: SceneObject, item: SceneObject, goal: Point2) -> bool:
    """Return whether the direction to the goal now differs from that of the straight path from the start."""
    ahead, whole = (math.atan2(goal[1] - at.position[1], goal[0] - at.position[0]) for at in (item, began))
    return math.dist(item.position[:2], goal) > ENOUGH and abs(wrap(ahead - whole)) > CORNER


def _stroke(item: SceneObject, goal: Point2, yaw: float, gripper: Gripper) -> Stroke:
    """Return the stroke to `goal` with the hand's yaw near `yaw`, as the comfortable half turn may flip on the way."""
    stroke = stroke_to(item, goal, gripper)
    turned = nearer_half_turn(stroke.start.yaw, yaw)
    return replace(stroke, start=replace(stroke.start, yaw=turned), end=replace(stroke.end, yaw=turned))


def is_behind(arm: Arm, stroke: Stroke) -> bool:
    """Return whether the hand is behind the object, so that it only has to push straight ahead."""
    along, across = _seen_from(stroke, arm.grip)
    low = abs(arm.grip.z - stroke.start.z) <= LEVEL_OFF
    straight = abs(across) <= ASIDE and abs(wrap(arm.grip.yaw - stroke.start.yaw, math.pi)) <= TURNED
    return arm.is_closed and low and straight and -stroke.reach - 2 * RUN_UP <= along <= -TOUCHING


def _seen_from(stroke: Stroke, hand: HandPose) -> Point2:
    """Return the hand relative to the object's centre: along the pushing direction and to its left [m]."""
    (ux, uy), (x, y, _) = stroke.direction, stroke.item.position
    return (hand.x - x) * ux + (hand.y - y) * uy, (hand.y - y) * ux - (hand.x - x) * uy


def push_on(arm: Arm, stroke: Stroke) -> Script:
    """Push straight ahead until the object arrives or slides aside."""
    (ux, uy), (x, y, _), hand = stroke.direction, stroke.item.position, arm.grip
    # Fingers closer than the object's box touch it where it is narrower.
    way = stroke.distance - min(stroke.reach, -_seen_from(stroke, hand)[0])
    yaw = nearer_half_turn(stroke.start.yaw, hand.yaw)
    end = HandPose(x + way * ux, y + way * uy, stroke.start.z, yaw)
    replace(stroke, start=hand, end=end).check_way(arm.scene, arm.observation.zones, GRAZING)
    for reference in arm.move("push", [Leg(end, SPEED)], straight=True):
        yield reference
        arm.grip = arm.hand
        if abs(_seen_from(replace(stroke, item=arm.find(stroke.item.name)), arm.grip)[1]) > ASIDE:
            break


def get_behind(arm: Arm, stroke: Stroke) -> Script:
    """Move closed fingers to the start of the stroke; raises SkillError if the stroke has no room."""
    stroke.check(arm.scene, arm.observation.zones)
    if not arm.is_closed:
        yield from arm.fingers("close", 0.0)
    if in_funnel(arm.grip, stroke.start, stroke.start.z) and arm.is_clear([stroke.start], arm.opened(0.0)):
        yield from arm.move("approach", [Leg(stroke.start, arm.settings.descent_speed)])
        return
    back = _back(arm, stroke.item)
    if back != arm.grip:
        yield from arm.move("back", [Leg(back)])
    yield from arm.move("approach", arm.travel(stroke.start, arm.cruise_height()))


def _back(arm: Arm, item: SceneObject) -> HandPose:
    """Return the grip moved away from the object if the hand is close beside it, otherwise the current grip."""
    hand, (x, y, _) = arm.grip, item.position
    away = math.dist((hand.x, hand.y), (x, y))
    angle = math.atan2(hand.y - y, hand.x - x)
    if hand.z - arm.gripper.tip > top(item) or away - footprint(item).extent(angle) > NEAR:
        return hand
    back = replace(hand, x=hand.x + BACK * math.cos(angle), y=hand.y + BACK * math.sin(angle))
    return into_reach(back, arm.shape)


def leave(arm: Arm, name: str) -> Script:
    """Back off from the object and rise, unless the hand is high enough already."""
    arm.grip = arm.hand
    height = arm.cruise_height()
    if arm.grip.z < height - arm.settings.arrived:
        back = _back(arm, arm.find(name))
        yield from arm.move("retreat", [Leg(back), Leg(into_reach(back.raised(height), arm.shape))])


MISSED = 0.02  # [m] greatest error of the distance


def push(arm: Arm, arguments: Arguments) -> Script:
    """Slide `object` over the table by `distance` [m] in `direction` from its position at the start of the skill.

    Raises SkillError (EFFECT_MISSING) if the distance is off by more than `MISSED`.
    """
    name, direction = str(arguments["object"]), str(arguments["direction"])
    distance = float(str(arguments["distance"]))
    (ux, uy), (x, y, _) = direction_vector(direction), arm.began.scene.find(name).position
    goal = x + ux * distance, y + uy * distance
    yield from slide(arm, name, lambda item: goal)
    position = arm.find(name).position
    done = (position[0] - x) * ux + (position[1] - y) * uy
    if abs(done - distance) > MISSED:
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} moved {done * 100:.1f} cm instead of {distance * 100:.1f} cm"
        )


INSIDE = 0.01  # [m] least distance of the object's centre from the edge of its region
GOALS, DETOURS = 0.04, 0.06  # [m] grid spacing of goals in a region, and of detours on the table
ROOMY = 0.006  # [m] margin to other objects needed to begin a stroke
Place = str | Point2


def sweep(arm: Arm, arguments: Arguments) -> Script:
    """Slide `object` to `place`; raises SkillError (NO_FREE_SPACE) if no strokes lead there."""
    name, wanted = str(arguments["object"]), arguments["place"]
    place = (wanted[0], wanted[1]) if isinstance(wanted, tuple) else str(wanted)
    yield from slide(arm, name, lambda item: _next(arm, item, place))
    if not at(arm.scene, name, place):
        x, y, _ = arm.find(name).position
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was swept no farther than ({x:.2f}, {y:.2f})")


def _next(arm: Arm, item: SceneObject, place: Place) -> Point2:
    """Return the goal of the next stroke: the place itself, or a point from which a stroke leads there.

    The initial choice is kept, so that millimetres of sideways motion do not change the goal.
    """
    began = arm.began.scene.find(item.name)
    goals = _goals(arm.scene, began.position[:2], place)
    if math.dist(item.position[:2], goals[0]) <= ENOUGH:
        return goals[0]
    with suppress(SkillError):
        first = _chosen(arm, arm.began.scene, began, goals)
        near = math.dist(item.position[:2], first) <= ENOUGH
        if first in goals and (near or _is_free(arm, arm.scene, item, first, GRAZING)):
            return first
    return _chosen(arm, arm.scene, item, goals)


def _chosen(arm: Arm, scene: Scene, item: SceneObject, goals: list[Point2]) -> Point2:
    """Return the first free goal, otherwise a detour to the first goal; raises SkillError (NO_FREE_SPACE)."""
    for goal in goals:
        if _is_free(arm, scene, item, goal, ROOMY):
            return goal
    here = item.position[:2]
    detours = [point for point in _spread(scene.workspace, DETOURS) if math.dist(here, point) >= DETOURS / 2]
    for via in sorted(detours, key=lambda point: math.dist(here, point) + math.dist(point, goals[0])):
        there = replace(item, position=(*via, item.position[2]))
        if _is_free(arm, scene, item, via, ROOMY) and _is_free(arm, scene, there, goals[0], ROOMY):
            return via
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no free way to sweep {the(item.name)} there")


def _goals(scene: Scene, here: Point2, place: Place) -> list[Point2]:
    """Return the point, or grid points of the region, the nearest to `here` first."""
    if not isinstance(place, str):
        return [place]
    area = scene.region(place).area
    inside = Rectangle(area.x_min + INSIDE, area.x_max - INSIDE, area.y_min + INSIDE, area.y_max - INSIDE)
    return sorted([nearest_in(inside, here), *_spread(inside, GOALS)], key=lambda point: math.dist(point, here))


def _spread(area: Rectangle, apart: float) -> list[Point2]:
    nx, ny = math.ceil((area.x_max - area.x_min) / apart), math.ceil((area.y_max - area.y_min) / apart)
    xs = [area.x_min + i * (area.x_max - area.x_min) / nx for i in range(nx + 1)]
    return [(x, area.y_min + j * (area.y_max - area.y_min) / ny) for x in xs for j in range(ny + 1)]


def _is_free(arm: Arm, scene: Scene, item: SceneObject, goal: Point2, margin: float) -> bool:
    """Return whether one stroke can push the object to `goal` with `margin` [m] to other objects.

    With a negative margin, a hand that is behind the object already needs no room at the start.
    """
    if math.dist(item.position[:2], goal) <= CLOSE:
        return True
    stroke, zones = stroke_to(item, goal, arm.gripper), arm.observation.zones
    try:
        if margin < 0.0 and is_behind(arm, stroke):
            stroke.check_way(scene, zones, margin)
        else:
            stroke.check(scene, zones, margin)
    except SkillError:
        return False
    return True
