"""Put down what the fingers hold: on, in or beside something, at a place, or at an offset."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from llm_planner.skills.arm import Arm, Script, hanging
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.footprints import Footprint, footprint, separation
from llm_planner.skills.gripper_shape import grip_of
from llm_planner.skills.placement import (
    Held,
    Point2,
    Release,
    held_in,
    inside,
    on_table,
    on_top,
    spread,
    square,
)
from llm_planner.skills.reach import reachable
from llm_planner.world.places import direction_vector, region
from llm_planner.world.predicates import at, beside, contents, in_, is_container, on
from llm_planner.world.scene import Scene

NUDGES = (0.0, 0.01, -0.01, 0.02, -0.02)  # [m] off the exact place when that is taken
TIGHT = (0.004,)  # [m] of free table is enough where the place is given exactly


def place_on(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """On top of `object`, or in it where it is a container."""
    target = arm.find(str(arguments["object"]))
    held = _held(arm)
    if is_container(target):
        release = inside(arm.scene, held, target)
    else:
        standing = contents(arm.scene, target.name)
        if standing:
            raise SkillError(
                SkillErrorCode.PRECONDITION_FAILED,
                f"the {standing[0]} already stands on the {target.name}; put it on that, or move that away first",
            )
        release = on_top(arm.scene, held, target)
    yield from _put_down(arm, held, release, lambda scene: on(scene, held.item.name, target.name))


def place_in(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Into the container `object`."""
    held = _held(arm)
    container = arm.find(str(arguments["object"]))
    release = inside(arm.scene, held, container)
    yield from _put_down(arm, held, release, lambda scene: in_(scene, held.item.name, container.name))


def place_beside(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """With `distance` [m] of free table between it and `object`, on the side `direction`."""
    other = str(arguments["object"])
    direction, distance = str(arguments["direction"]), _number(arguments["distance"])
    held = _held(arm)
    name, shape = held.item.name, footprint(arm.find(other))
    for nudge in NUDGES:
        for center, yaw in _beside(held, shape, direction_vector(direction), distance, nudge):
            release = on_table(arm.scene, held, [center], (yaw,), TIGHT)
            if release is not None:
                yield from _put_down(arm, held, release, lambda scene: beside(scene, name, other, direction, distance))
                return
    raise _no_space(arm, held, center, f"{distance:.2f} m to the {direction} of the {other}")


def place_at(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """At `place`: the free spot of a region nearest to its middle, or a point."""
    place = arguments["place"]
    held = _held(arm)
    if isinstance(place, tuple):
        yield from _put_at(arm, held, (place[0], place[1]))
        return
    area = region(str(place))
    release = on_table(arm.scene, held, spread(area.area, area.anchor), ())
    if release is None:
        raise _no_space(arm, held, area.anchor, f"in the {place}")
    yield from _put_down(arm, held, release, lambda scene: at(scene, held.item.name, area.name))


def place_offset(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """`distance` [m] in `direction` from where it was picked up."""
    held = _held(arm)
    origin = arm.observation.origins.get(held.item.name)
    if origin is None:
        raise SkillError(
            SkillErrorCode.PRECONDITION_FAILED,
            f"nobody saw where the {held.item.name} was picked up; put it at a place instead",
        )
    ux, uy = direction_vector(str(arguments["direction"]))
    distance = _number(arguments["distance"])
    yield from _put_at(arm, held, (origin[0] + ux * distance, origin[1] + uy * distance))


def _put_at(arm: Arm, held: Held, point: Point2) -> Script:
    centers = sorted(
        ((point[0] + dx, point[1] + dy) for dx in NUDGES for dy in NUDGES), key=lambda center: math.dist(center, point)
    )
    release = on_table(arm.scene, held, centers, (), TIGHT)
    if release is None:
        raise _no_space(arm, held, point, f"at ({point[0]:.2f}, {point[1]:.2f})")
    yield from _put_down(arm, held, release, lambda scene: at(scene, held.item.name, point))


def _put_down(arm: Arm, held: Held, release: Release, achieved: Callable[[Scene], bool]) -> Script:
    """Carry it there, let go, move away; raises SkillError when it slips on the way or does not stay there."""
    name = held.item.name
    cruise = arm.cruise_height(hanging(arm, name), ignore=name)
    yield from arm.move("carry", arm.travel(release.grip, cruise), stop_early=True)
    arm.require_held(name)
    yield from arm.fingers("release", release.opening)
    clear_of = max(arm.grip.z + 0.08, arm.grip.z - held.below + held.item.size[2] + 0.03)
    yield from arm.move("retreat", [arm.rise(min(clear_of, arm.settings.cruise_max))])
    if arm.scene.held == name:
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"the {name} did not leave the fingers")
    if not achieved(arm.scene):
        x, y, _ = arm.find(name).position
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"the {name} did not stay where it was put; it lies at ({x:.2f}, {y:.2f})"
        )


def _held(arm: Arm) -> Held:
    grip = grip_of(arm.observation.T_base_gripper)
    return held_in(arm.scene, grip, arm.observation.gripper_width)


def _beside(
    held: Held, other: Footprint, direction: Point2, distance: float, nudge: float
) -> Iterator[tuple[Point2, float]]:
    """Centres and object yaws with that gap along `direction`, `nudge` [m] off to the side."""
    ux, uy = direction
    along = math.atan2(uy, ux)
    for first, yaw in zip(held.shape.half, square(along), strict=True):
        reach = distance + first + _extent(other, along)
        yield (other.center[0] + ux * reach - uy * nudge, other.center[1] + uy * reach + ux * nudge), yaw


def _extent(shape: Footprint, direction: float) -> float:
    """How far a footprint reaches from its centre along `direction` [rad]."""
    if shape.round:
        return shape.half[0]
    turn = direction - shape.yaw
    return shape.half[0] * abs(math.cos(turn)) + shape.half[1] * abs(math.sin(turn))


def _no_space(arm: Arm, held: Held, center: Point2, where: str) -> SkillError:
    if not reachable(*center):
        return SkillError(SkillErrorCode.UNREACHABLE, f"the arm cannot reach the place {where} with the hand down")
    body = held.shape_at(center, 0.0)
    others = [item for item in arm.scene.objects if item.name != held.item.name]
    nearest = min(others, key=lambda item: separation(body, footprint(item)), default=None)
    reason = f"; the {nearest.name} is in the way" if nearest is not None else ""
    return SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no room for the {held.item.name} {where}{reason}")


def _number(value: Argument) -> float:
    return float(value)  # type: ignore[arg-type]  # the arguments have been checked against the manifest
