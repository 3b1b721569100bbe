"""Contract of all skills, scripted or learned: protocols, results and errors.

A skill starts with checked arguments. The executor then calls it at a fixed rate for the next piece of end-effector
motion. A skill never commands joints: its `MotionReference` goes to the controller, which enforces all limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from llm_planner.errors import LlmPlannerError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.driven_base import seen_anew
from llm_planner.scene.scene import Scene, Vector3

Arguments = Mapping[str, Argument]  # of a call, by the names of its parameters


class SkillErrorCode(IntEnum):
    """Why a skill ended; the values match the constants of `ExecuteSkill.action`."""

    UNKNOWN = 0  # unset result, treated as a failure
    SUCCEEDED = 1
    CANCELED = 2
    INVALID_ARGUMENT = 3
    PRECONDITION_FAILED = 4
    UNREACHABLE = 5
    NO_GRASP = 6  # the fingers closed on nothing, or nothing fits between them
    OBJECT_LOST = 7  # the object slipped or left the scene
    NO_FREE_SPACE = 8
    TIMEOUT = 9
    CONTROLLER_FAULT = 10
    EFFECT_MISSING = 11  # the motion ended but the scene does not show the effect
    SKILL_FAULT = 12  # the skill raised an unexpected exception; counts as a failure whatever the scene shows


@dataclass(frozen=True)
class SkillResult:
    """How a skill ended: `code` and, on failure, the reason as a sentence for a person."""

    code: SkillErrorCode
    message: str = ""

    def with_report(self, report: str) -> SkillResult:
        """Append the robot's own status `report` if a robot fault may explain the failure."""
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
    """One execution of a skill; `phase` is a short word for its current activity ("approach", "grasp")."""

    @property
    def phase(self) -> str: ...

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """Return the next piece of motion, or the result if the skill has ended.

        Pure computation without I/O; must return within 50 ms.
        """
        ...


class Skill(Protocol):
    """Named ability of the robot; `start` raises `SkillError` if it cannot begin from this observation."""

    @property
    def name(self) -> str: ...

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun: ...


class SkillError(LlmPlannerError):
    """A skill cannot start or has failed; the message gives the reason and, where possible, a remedy."""

    def __init__(self, code: SkillErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class OriginTracker:
    """Remembers for each object where it last lay while it was not held."""

    def __init__(self) -> None:
        self._origins: dict[str, Vector3] = {}
        self._before: Scene | None = None

    def update(self, scene: Scene) -> Mapping[str, Vector3]:
        """Return positions [m, base frame] by object name: current if not held, else from before the pick."""
        self._origins, self._before = dict(seen_anew(self._origins, self._before, scene)), scene
        for item in scene.objects:
            if item.name != scene.held:
                self._origins[item.name] = item.position
        return dict(self._origins)
