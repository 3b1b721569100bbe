"""The contract every skill keeps, scripted or learned.

A skill is started with checked arguments and then asked, at a fixed rate, for the next piece of end-effector motion.
It never commands joints: its `MotionReference` goes to the controller, which owns every limit.

The error of skills; see `llm_planner.errors` for the tree it hangs in.

Where things lay before they were picked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from llm_planner.errors import LlmPlannerError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Scene, Vector3


class SkillErrorCode(IntEnum):
    """Why a skill ended; the same numbers as the constants of `ExecuteSkill.action`."""

    UNKNOWN = 0  # nothing was filled in: a failure
    SUCCEEDED = 1
    CANCELED = 2
    INVALID_ARGUMENT = 3
    PRECONDITION_FAILED = 4
    UNREACHABLE = 5
    NO_GRASP = 6  # the fingers closed on nothing, or nothing fits between them
    OBJECT_LOST = 7  # it slipped, or left the scene
    NO_FREE_SPACE = 8
    TIMEOUT = 9
    CONTROLLER_FAULT = 10
    EFFECT_MISSING = 11  # the motion ended but the scene does not show the effect
    SKILL_FAULT = 12  # the skill itself raised an exception: never counted as done, whatever the scene shows


@dataclass(frozen=True)
class SkillResult:
    """How a skill ended: `code` and, unless it succeeded, a sentence for a person saying why."""

    code: SkillErrorCode
    message: str = ""

    def with_report(self, report: str) -> SkillResult:
        """As it is, or, where the robot's own state may be why it failed, with what the robot reports of itself."""
        if not report or self.code not in _MAY_BE_THE_ROBOT:
            return self
        return SkillResult(self.code, f"{self.message}; the robot reports: {report}")


_MAY_BE_THE_ROBOT = (
    SkillErrorCode.NO_GRASP,
    SkillErrorCode.OBJECT_LOST,
    SkillErrorCode.TIMEOUT,
    SkillErrorCode.CONTROLLER_FAULT,
    SkillErrorCode.EFFECT_MISSING,
)


class SkillRun(Protocol):
    """One execution of a skill. `phase` is a short word for what it is doing now ("approach", "grasp")."""

    @property
    def phase(self) -> str: ...

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """The motion for the next moments, or how the skill ended. Pure computation; must return within 50 ms."""
        ...


class Skill(Protocol):
    """A named ability; `start` raises `SkillError` when it cannot begin from this observation."""

    @property
    def name(self) -> str: ...

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun: ...


class SkillError(LlmPlannerError):
    """A skill cannot start or has failed: `code` says how, the message why and what to do about it."""

    def __init__(self, code: SkillErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class OriginTracker:
    """Follows the scene and remembers, for each object, where it last was while nothing held it."""

    def __init__(self) -> None:
        self._origins: dict[str, Vector3] = {}

    def update(self, scene: Scene) -> Mapping[str, Vector3]:
        """Positions [m, base frame] by name: now for what lies, before it was picked up for what is held."""
        for item in scene.objects:
            if item.name != scene.held:
                self._origins[item.name] = item.position
        return dict(self._origins)
