"""Scripts that pick an object, put the held object down (on, in or beside another, at a place or offset), or stack.

Each script continues from the current state and omits the steps that are done already. A script that puts an object
down and starts after the release only retreats from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace

from llm_planner.robots.motion import MotionReference
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.names import the
from llm_planner.scene.places import direction_vector
from llm_planner.scene.predicates import TABLE_KIND, at, beside, contents, displaced, in_, is_vessel, on
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.arm import SQUEEZE, Arm, Script, hanging
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode
from llm_planner.skills.grasps import LIFT_LEAST, choose_grasp, thickness
from llm_planner.skills.hand_geometry import Aim, wrap
from llm_planner.skills.level_hand import clearance_behind, leaving, level_cruise, lowering
from llm_planner.skills.motion import Leg
from llm_planner.skills.placement import RELEASE, Held, Release, held_in, inside, on_top
from llm_planner.skills.side_grasps import Grasp
from llm_planner.skills.spots import spot_at, spot_beside, spot_in, spot_offset, spot_on

MOVED = 0.006  # [m] motion of the object during the approach, beyond which the grasp is out of date
ATTEMPTS = 2
OVER = 0.004  # [m] fingertips above the object's top; below that they must be open and on its axis
SPREAD, SPREAD_SLOPE = 0.006, 0.5  # [m] opening beyond the object's width there, reduced by this slope with height
TOUCHING = 0.003  # [m] by which the measured width may fall below that of an object between the fingers
THERE, THERE_TURNED = 0.006, 0.06  # [m], [rad] distance from the grasp within which the hand only has to close


def pick(arm: Arm, arguments: Arguments) -> Script:
    """Grasp `object` and lift it above everything else on the table."""
    name = str(arguments["object"])
    if arm.scene.held == name:
        height = arm.cruise_height(hanging(arm, name), ignore=name)
        if arm.grip.z < height - arm.settings.arrived:
            yield from _lift(arm, name, height)
    else:
        grasp = yield from _take(arm, name)
        yield from _lift(arm, name, arm.grip.z + LIFT_LEAST, grasp)


def _take(arm: Arm, name: str) -> Generator[MotionReference, None, Grasp]:
    for attempt in range(ATTEMPTS):
        grasp = choose_grasp(arm.scene, arm.find(name), arm.begins)
        arm.aim = _aim(arm, name, grasp)
        yield from _go_around(arm, name, grasp)
        yield from arm.fingers("close", max(0.0, grasp.width - SQUEEZE))
        yield from arm.await_held(name)
        if arm.scene.held == name:
            return grasp
        yield from arm.fingers("open", grasp.opening)
        if attempt < ATTEMPTS - 1:
            yield from arm.retreat()
    raise SkillError(SkillErrorCode.NO_GRASP, f"{arm.gripper.holder} closed without taking hold of {the(name)}")


def _aim(arm: Arm, name: str, grasp: Grasp) -> Aim:
    height = grasp.grip.z
    hanging_then = max(arm.gripper.tip, height - bottom(arm.find(name)))
    numbers = {
        "opening": grasp.opening,
        "width": grasp.width,
        "cruise": arm.cruise_height() - height,
        "lift": arm.cruise_height(hanging_then, ignore=name) - height,
    }
    return Aim(grasp.grip, numbers)


def _go_around(arm: Arm, name: str, grasp: Grasp) -> Script:
    if not _is_around(arm, grasp):
        arm.width = grasp.opening
    position = arm.find(name).position
    yield from arm.move("approach", _grasp_path(arm, name, grasp))
    if math.dist(arm.find(name).position, position) > MOVED:
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} moved while the hand was on its way; try again")


def _is_around(arm: Arm, grasp: Grasp) -> bool:
    """Return whether the hand is at the grasp, so that the fingers only have to close."""
    hand, goal = arm.grip, grasp.grip
    near = math.dist((hand.x, hand.y, hand.z), (goal.x, goal.y, goal.z)) <= THERE
    return near and abs(wrap(hand.yaw - goal.yaw)) <= THERE_TURNED and _spread(arm, grasp) >= -TOUCHING


def _spread(arm: Arm, grasp: Grasp) -> float:
    """Return the opening of the fingers beyond the object's width [m]."""
    return arm.observation.gripper_width - grasp.width


def _grasp_path(arm: Arm, name: str, grasp: Grasp) -> list[Leg]:
    """Plan straight down if the fingers are open above the object or already around it, otherwise up, over and down."""
    item, goal = arm.find(name), grasp.grip
    if goal.is_level:
        return [] if _is_around(arm, grasp) else arm.travel_level(goal, grasp.back, goal.z - bottom(item), name)
    apex = max(goal.z, top(item) + arm.gripper.tip + OVER)
    over = arm.grip.z - apex
    wide = SPREAD - SPREAD_SLOPE * over if over > 0.0 else -TOUCHING
    fits = _spread(arm, grasp) >= wide
    legs = arm.straight_down(goal, apex, arm.opened(grasp.opening), {name}) if fits else []
    return legs or arm.travel(goal, arm.cruise_height())


def _lift(arm: Arm, name: str, least: float, grasp: Grasp | None = None) -> Script:
    hand, before = arm.grip.z, arm.find(name).position[2]
    height = max(arm.cruise_height(hanging(arm, name), ignore=name), least)
    if grasp is not None and grasp.grip.is_level:
        height = level_cruise(arm.scene, hanging(arm, name), name, arm.observation.higher)
        yield from arm.move("lift", leaving(arm.grip, grasp.back, height, grasp.lift))
    else:
        yield from arm.move("lift", [arm.rise(height)])
    arm.require_held(name)
    if arm.find(name).position[2] < before + min(0.02, 0.5 * (arm.grip.z - hand)):
        raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} stayed behind when the hand rose")


NEAR = 0.1  # [m] horizontal distance from the fingers to the centre of an object just released
OPEN_ENOUGH = 0.003  # [m] below the full release opening, at which the object counts as released
LEFT = 0.06  # [m] grip point above a released object after the retreat


def place_on(arm: Arm, arguments: Arguments) -> Script:
    """Put the held object on top of `object`, into it if it is a vessel, or on a free spot of a table."""
    target = arm.find(str(arguments["object"]))

    def spot(held: Held) -> Release:
        if target.kind == TABLE_KIND:
            return spot_on(arm.scene, held, target, _place_path(arm, held))
        return _onto(arm.scene, held, target)

    yield from _placed(arm, spot, lambda s, name: on(s, name, target.name))


def place_in(arm: Arm, arguments: Arguments) -> Script:
    """Put the held object into the container `object`."""
    container = arm.find(str(arguments["object"]))
    yield from _placed(
        arm, lambda held: inside(arm.scene, held, container), lambda scene, name: in_(scene, name, container.name)
    )


def place_beside(arm: Arm, arguments: Arguments) -> Script:
    """Put the held object on the side `direction` of `object`, with `distance` [m] of free table between them.

    For any side, a side with room is chosen.
    """
    other = arm.find(str(arguments["object"]))
    direction, distance = str(arguments["direction"]), float(str(arguments["distance"]))

    def spot(held: Held) -> Release:
        x, y, _ = arm.observation.origins.get(held.item.name, held.item.position)
        return spot_beside(arm.scene, held, other, direction, distance, (x, y), _place_path(arm, held))

    yield from _placed(arm, spot, lambda scene, name: beside(scene, name, other.name, direction, distance))


def place_at(arm: Arm, arguments: Arguments) -> Script:
    """Put the held object at `place`: a point, or the free spot of a region nearest to its middle."""
    place = arguments["place"]

    def spot(held: Held) -> Release:
        if isinstance(place, tuple):
            return spot_at(arm.scene, held, (place[0], place[1]), _place_path(arm, held))
        return spot_in(arm.scene, held, str(place), _place_path(arm, held))

    yield from _placed(arm, spot, lambda scene, name: at(scene, name, place))  # type: ignore[arg-type]  # no number


def place_offset(arm: Arm, arguments: Arguments) -> Script:
    """Put the held object exactly `distance` [m] in `direction` from where it was picked up."""
    origins = arm.began.origins
    direction, distance = str(arguments["direction"]), float(str(arguments["distance"]))

    def spot(held: Held) -> Release:
        origin = origins.get(held.item.name)
        if origin is None:
            raise SkillError(
                SkillErrorCode.PRECONDITION_FAILED,
                f"nobody saw where {the(held.item.name)} was picked up; put it at a place instead",
            )
        ux, uy = direction_vector(direction)
        return spot_offset(arm.scene, held, (origin[0] + ux * distance, origin[1] + uy * distance))

    def lies(scene: Scene, name: str) -> bool:
        return name in origins and displaced(origins[name], scene, name, direction, distance)

    yield from _placed(arm, spot, lies)


def _onto(scene: Scene, held: Held, target: SceneObject) -> Release:
    if is_vessel(target):
        return inside(scene, held, target)
    standing = [name for name in contents(scene, target.name) if not in_(scene, name, target.name)]
    if standing:
        raise SkillError(
            SkillErrorCode.PRECONDITION_FAILED,
            f"{the(standing[0])} already stands on {the(target.name)}; put it on that, or move that away first",
        )
    return on_top(scene, held, target)


def _placed(arm: Arm, spot: Callable[[Held], Release], lies: Callable[[Scene, str], bool]) -> Script:
    """Put the held object down at its `spot`, then check with `lies`; only retreat if it lies there already."""
    hand = arm.grip.x, arm.grip.y
    near = [item for item in arm.scene.objects if math.dist(item.position[:2], hand) < NEAR]
    left = [item for item in near if not arm.scene.held and lies(arm.scene, item.name)]
    if left:
        yield from leave(arm, min(left, key=lambda item: math.dist(item.position[:2], hand)))
        return
    held = replace(held_in(arm.scene, arm.hand, arm.observation.gripper_width), begins=arm.begins)
    yield from _put_down(arm, held, spot(held), lambda scene: lies(scene, held.item.name))


def leave(arm: Arm, item: SceneObject) -> Script:
    """Release an object that lies in place and rise above it, unless that is done already."""
    opening = min(thickness(item, arm.gripper) + RELEASE, arm.gripper.widest)
    if arm.observation.gripper_width < opening - OPEN_ENOUGH:
        yield from arm.fingers("release", opening)
    height = min(top(item) + LEFT, arm.shape.heights.cruise_max)
    if arm.grip.is_level:
        yield from arm.move("retreat", arm.withdraw(clearance_behind(item, arm.shape), height))
    elif arm.grip.z < height - arm.settings.arrived:
        yield from arm.move("retreat", [arm.rise(height)])


def _place_path(arm: Arm, held: Held) -> Callable[[Release], list[Leg]]:
    """Return a planner of paths to a release, which raises SkillError (NO_FREE_SPACE) if rules block all paths."""
    name = held.item.name
    cruise = arm.cruise_height(hanging(arm, name), ignore=name)

    def way(release: Release) -> list[Leg]:
        goal = release.grip
        if goal.is_level:
            height = level_cruise(arm.scene, held.below, name, arm.observation.higher)
            return lowering(arm.grip, goal, height, arm.scene, arm.observation.zones)
        return arm.straight_down(goal, goal.z, held.parts, {name}) or arm.travel(goal, cruise)

    return way


def _put_down(arm: Arm, held: Held, release: Release, achieved: Callable[[Scene], bool]) -> Script:
    """Carry the object to the release, open the fingers and rise; raise SkillError if it slips or does not stay."""
    name, down = held.item.name, release.grip.z
    clear_of = min(max(down + 0.08, down - held.below + held.item.size[2] + 0.03), arm.shape.heights.cruise_max)
    cruise = arm.cruise_height(hanging(arm, name), ignore=name)
    numbers = {"opening": release.opening, "cruise": cruise - down, "retreat": clear_of - down}
    arm.aim = Aim(release.grip, numbers, room=release.room)
    yield from arm.move("carry", _place_path(arm, held)(release), stop_early=True)
    arm.require_held(name)
    yield from arm.fingers("release", release.opening)
    back = clearance_behind(held.item, arm.shape)
    yield from arm.move("retreat", arm.withdraw(back, clear_of) if arm.grip.is_level else [arm.rise(clear_of)])
    if arm.scene.held == name:
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} did not leave {arm.gripper.holder}")
    if not achieved(arm.scene):
        x, y, _ = arm.find(name).position
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} did not stay where it was put; it lies at ({x:.2f}, {y:.2f})"
        )


def stack(arm: Arm, arguments: Arguments) -> Script:
    """Put `object` on top of `onto`, or into it if it is a vessel; pick it up first unless it is held."""
    name, onto = str(arguments["object"]), str(arguments["onto"])
    item = arm.find(name)
    if on(arm.scene, name, arm.find(onto).name):
        yield from leave(arm, item)
        return
    if arm.scene.held != name:
        try:
            yield from pick(arm, {"object": name})
        except SkillError as error:  # it moved during the approach, for example because it still fell
            if error.code is not SkillErrorCode.OBJECT_LOST:
                raise
            yield from arm.retreat()
            yield from pick(arm, {"object": name})
    yield from place_on(arm, {"object": onto})
