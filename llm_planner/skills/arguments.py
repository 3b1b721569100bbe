"""The arguments of a skill call, checked once more where the robot is about to move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import REQUIRED, Parameter
from llm_planner.rewards.program import check_reward
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.manifest import Manifest
from llm_planner.world.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.world.scene import Scene


def check_arguments(manifest: Manifest, given: Mapping[str, Any], scene: Scene) -> dict[str, Argument]:
    """`given` with defaults filled in; raises SkillError (INVALID_ARGUMENT) naming the parameter and the choices."""
    names = [parameter.name for parameter in manifest.parameters]
    for name in given:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise _invalid(manifest, f"has no parameter {name!r}; its parameters: {listed}")
    return {parameter.name: _value(manifest, parameter, given, scene) for parameter in manifest.parameters}


def _value(manifest: Manifest, parameter: Parameter, given: Mapping[str, Any], scene: Scene) -> Argument:
    value = given.get(parameter.name, parameter.default)
    if value is REQUIRED:
        raise _invalid(manifest, f"needs the {parameter.type} {parameter.name!r}")
    if parameter.type == "number":
        return _number(manifest, parameter, value)
    if parameter.type == "point" or (parameter.type == "place" and not isinstance(value, str)):
        return _point(manifest, parameter, value)
    if parameter.type == "rewards":
        return _rewards(manifest, parameter, value, scene)
    rooms = scene.building.names if scene.building else ()
    words = {"object": scene.names, "direction": DIRECTIONS, "side": SIDES, "destination": (*rooms, *scene.names)}
    choices = words.get(parameter.type, REGIONS)
    if value not in choices:
        listed = ", ".join(choices) or "nothing"
        raise _invalid(manifest, f"cannot take {value!r} as {parameter.name}; choose one of: {listed}")
    return str(value)


def _number(manifest: Manifest, parameter: Parameter, value: Any) -> float:
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        bounds = f"from {low:g} to {high:g} {parameter.unit}".rstrip()
        raise _invalid(manifest, f"needs a number {bounds} for {parameter.name}, not {value!r}")
    return float(value)


def _point(manifest: Manifest, parameter: Parameter, value: Any) -> Argument:
    numbers = value if isinstance(value, (tuple, list)) else ()
    if len(numbers) != 3 or not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
        raise _invalid(manifest, f"needs a point of three finite numbers [m] for {parameter.name}, not {value!r}")
    return float(numbers[0]), float(numbers[1]), float(numbers[2])


def _rewards(manifest: Manifest, parameter: Parameter, value: Any, scene: Scene) -> str:
    try:
        check_reward(str(value), scene)
    except ProgramError as error:
        raise _invalid(manifest, f"cannot take these {parameter.name}: {error}") from error
    return str(value)


def _invalid(manifest: Manifest, problem: str) -> SkillError:
    return SkillError(SkillErrorCode.INVALID_ARGUMENT, f"{manifest.name} {problem}")
