"""The contract every skill keeps, scripted or learned.

A skill is started with checked arguments and then asked, at a fixed rate, for the next piece of end-effector motion.
It never commands joints: its `MotionReference` goes to the controller, which owns every limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf
from typing import Protocol

from llm_planner.control.reference import MotionReference
from llm_planner.control.zones import Zone
from llm_planner.world.scene import Pose, Scene, Vector3

Argument = str | float | Vector3  # an object name, a word of an enumeration, a number, or a point in the base frame [m]


class SkillErrorCode(IntEnum):
    """Why a skill ended; the same numbers as the constants of `ExecuteSkill.action`."""

    SUCCEEDED = 0
    CANCELED = 1
    INVALID_ARGUMENT = 2
    PRECONDITION_FAILED = 3
    UNREACHABLE = 4
    NO_GRASP = 5  # the fingers closed on nothing, or nothing fits between them
    OBJECT_LOST = 6  # it slipped, or left the scene
    NO_FREE_SPACE = 7
    TIMEOUT = 8
    CONTROLLER_FAULT = 9
    EFFECT_MISSING = 10  # the motion ended but the scene does not show the effect


@dataclass(frozen=True)
class Observation:
    """What a skill sees each cycle. `T_base_gripper` is the point between the fingertips, z out of the hand.

    `zones` are what its way has to keep out of besides what stands in it: what the rules of a plan forbid. `higher` [m]
    than usual is how it is to travel.
    """

    time: float  # [s]
    scene: Scene
    qpos: tuple[float, ...]  # arm joints [rad]
    T_base_gripper: Pose
    gripper_width: float  # distance between the fingertips [m]
    origins: Mapping[str, Vector3] = field(default_factory=dict)  # where each object last lay on its own [m]
    zones: tuple[Zone, ...] = ()
    speed_limit: float = inf  # of the controller, at this moment [m/s]
    higher: float = 0.0


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
