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


SLOWEST = 0.005  # [m/s] of a path


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
    speed_limit: float = inf  # of the controller, at this moment [m/s]; 0 is to stand still
    higher: float = 0.0

    @property
    def path_speed(self) -> float:
        """How fast a path may be planned [m/s]. Under a lower limit it would have no end: the controller keeps that,
        and the hand or the base stands, or creeps, behind its path."""
        return max(self.speed_limit, SLOWEST)

    @property
    def freedom(self) -> float:
        """The share of time in which the robot may be expected to move: 0 where it is to stand still, else up to 1."""
        return min(1.0, self.speed_limit / SLOWEST)


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
