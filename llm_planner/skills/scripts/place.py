"""Put down what the fingers hold: on, in or beside something, at a place, or at an offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llm_planner.skills.arm import Arm, Script, hanging
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import grip_of
from llm_planner.skills.motion import Leg
from llm_planner.skills.placement import Held, Release, held_in, inside, on_top
from llm_planner.skills.spots import spot_at, spot_beside, spot_in, spot_offset
from llm_planner.world.names import the
from llm_planner.world.places import direction_vector
from llm_planner.world.predicates import at, beside, contents, displaced, in_, is_container, on
from llm_planner.world.scene import Scene


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
                f"{the(standing[0])} already stands on {the(target.name)}; put it on that, or move that away first",
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
    """With `distance` [m] of free table between it and `object`, on the side `direction`, or on any that has room."""
    other = str(arguments["object"])
    direction, distance = str(arguments["direction"]), _number(arguments["distance"])
    held = _held(arm)
    name = held.item.name
    x, y, _ = arm.observation.origins.get(name, held.item.position)
    release = spot_beside(arm.scene, held, arm.find(other), direction, distance, (x, y), _way(arm, held))
    yield from _put_down(arm, held, release, lambda scene: beside(scene, name, other, direction, distance))


def place_at(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """At `place`: the free spot of a region nearest to its middle, or a point."""
    place = arguments["place"]
    held = _held(arm)
    if isinstance(place, tuple):
        point = place[0], place[1]
        release = spot_at(arm.scene, held, point, _way(arm, held))
        yield from _put_down(arm, held, release, lambda scene: at(scene, held.item.name, point))
        return
    name = str(place)
    release = spot_in(arm.scene, held, name, _way(arm, held))
    yield from _put_down(arm, held, release, lambda scene: at(scene, held.item.name, name))


def place_offset(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Exactly `distance` [m] in `direction` from where it was picked up."""
    held = _held(arm)
    origin = arm.observation.origins.get(held.item.name)
    if origin is None:
        raise SkillError(
            SkillErrorCode.PRECONDITION_FAILED,
            f"nobody saw where {the(held.item.name)} was picked up; put it at a place instead",
        )
    name, direction, distance = held.item.name, str(arguments["direction"]), _number(arguments["distance"])
    ux, uy = direction_vector(direction)
    release = spot_offset(arm.scene, held, (origin[0] + ux * distance, origin[1] + uy * distance))
    yield from _put_down(arm, held, release, lambda scene: displaced(origin, scene, name, direction, distance))


def _way(arm: Arm, held: Held) -> Callable[[Release], list[Leg]]:
    """How what is held is carried to a place; raises SkillError (NO_FREE_SPACE) where rules leave no way."""
    cruise = arm.cruise_height(hanging(arm, held.item.name), ignore=held.item.name)
    return lambda release: arm.travel(release.grip, cruise)


def _put_down(arm: Arm, held: Held, release: Release, achieved: Callable[[Scene], bool]) -> Script:
    """Carry it there, let go, move away; raises SkillError when it slips on the way or does not stay there."""
    name = held.item.name
    yield from arm.move("carry", _way(arm, held)(release), stop_early=True)
    arm.require_held(name)
    yield from arm.fingers("release", release.opening)
    clear_of = max(arm.grip.z + 0.08, arm.grip.z - held.below + held.item.size[2] + 0.03)
    yield from arm.move("retreat", [arm.rise(min(clear_of, arm.settings.cruise_max))])
    if arm.scene.held == name:
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} did not leave the fingers")
    if not achieved(arm.scene):
        x, y, _ = arm.find(name).position
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} did not stay where it was put; it lies at ({x:.2f}, {y:.2f})"
        )


def _held(arm: Arm) -> Held:
    grip = grip_of(arm.observation.T_base_gripper)
    return held_in(arm.scene, grip, arm.observation.gripper_width)


def _number(value: Argument) -> float:
    return float(value)  # type: ignore[arg-type]  # the arguments have been checked against the manifest
