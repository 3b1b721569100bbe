"""What skills see of the world beside its scene: the picture of a camera, taken when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import MotionReference
from llm_planner.errors import SimulationError
from llm_planner.skills.arm import Arm
from llm_planner.skills.contract import Observation, SkillErrorCode
from llm_planner.skills.errors import SkillError

Picture = NDArray[np.uint8]  # (height, width, 3), red green blue
Camera = Callable[[Observation], Picture]  # the newest picture; of no size where there is none, or none yet
NO_PICTURE: Picture = np.zeros((0, 0, 3), np.uint8)
PATIENCE = 10.0  # [s] until a camera that gives no picture counts as none; opening OpenGL takes some


def blind(observation: Observation) -> Picture:
    """The camera of a robot that has none."""
    return NO_PICTURE


def seen(arm: Arm, camera: Camera, name: str) -> Generator[MotionReference, None, Picture]:
    """The next picture, for which the hand holds still; `name` is the skill that wants it.

    Raises SkillError (PRECONDITION_FAILED) where there is no camera, none of its pictures arrive, or none can be drawn.
    """
    began = arm.observation.time
    while True:
        try:
            picture = camera(arm.observation)
        except SimulationError as error:
            raise _none(name, str(error)) from error
        if picture.size:
            return picture
        if camera is blind:
            raise _none(name, "there is no camera")
        if arm.observation.time - began > PATIENCE:
            raise _none(name, f"no picture came in {PATIENCE:g} s")
        yield arm.hold()


def _none(name: str, reason: str) -> SkillError:
    return SkillError(SkillErrorCode.PRECONDITION_FAILED, f"{name} needs the camera's picture: {reason}")
