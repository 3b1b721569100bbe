"""Skills of an arm that shares its table: a skill that finds no way on its own side reserves the strip and tries again.

A skill runs on the arm's own side first. If it finds no free space there, it waits for the strips between this arm and
its neighbours, and begins again once it has them. It leaves a strip before it ends, unless the hand holds something.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Protocol

from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.arm_paths import way_to
from llm_planner.skills.contract import Arguments, Skill, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.motion import Leg

PATIENCE = 60.0  # [s] that a skill waits for a strip
WAIT = "wait for"  # begins the phase of a skill that waits for another robot
_BLOCKED = (SkillErrorCode.NO_FREE_SPACE, SkillErrorCode.UNREACHABLE)


class Strips(Protocol):
    """Reservations of an arm: `strips` by name with the neighbour, those that it has, and the zones in force."""

    @property
    def strips(self) -> Mapping[str, str]: ...
    @property
    def held(self) -> frozenset[str]: ...
    @property
    def zones(self) -> tuple[Zone, ...]: ...
    def want(self, strips: Collection[str]) -> None: ...


class ReservedSkill:
    """Wraps `skill` such that it reserves strips when it needs them."""

    def __init__(self, skill: Skill, strips: Strips, patience: float = PATIENCE) -> None:
        self.name = skill.name
        self._skill, self._strips, self._patience = skill, strips, patience

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun:
        """Start the skill, or wait for the strips that it needs; see `Skill`."""
        return ReservedRun(self._skill, self._strips, arguments, observation, self._patience)


class ReservedRun:
    """One execution; strips that the arm has already are kept until its end."""

    def __init__(
        self,
        skill: Skill,
        strips: Strips,
        arguments: Arguments,
        observation: Observation,
        patience: float,
    ) -> None:
        self._skill, self._strips, self._arguments, self._patience = skill, strips, arguments, patience
        self._run: SkillRun | None = None
        self._arm = Arm(observation, ArmSettings())
        self._result: SkillResult | None = None
        self._leaving: Script | None = None
        self._since = observation.time  # of the wait for a strip [s]
        strips.want(strips.held)
        self._begin(self._keeping_out(observation))

    @property
    def phase(self) -> str:
        return self._run.phase if self._run else self._arm.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        observation = self._keeping_out(observation)
        self._arm.observation = observation
        if self._leaving is not None:
            return self._leave()
        if self._run is None:
            if self._strips.held == frozenset(self._strips.strips):
                try:
                    self._begin(observation)
                except SkillError:  # it was blocked late, such as after it had let go
                    return self._end(self._blocked)
            elif observation.time - self._since > self._patience:
                return self._end(SkillResult(SkillErrorCode.NO_FREE_SPACE, self._told()))
            else:
                return self._arm.hold()
        assert self._run is not None
        outcome = self._run.step(observation)
        if not isinstance(outcome, SkillResult):
            return outcome
        return self._arm.hold() if self._waits(outcome, observation) else self._end(outcome)

    def _keeping_out(self, observation: Observation) -> Observation:
        return replace(observation, zones=(*observation.zones, *self._strips.zones))

    def _begin(self, observation: Observation) -> None:
        """Start the skill; raises SkillError if it cannot begin although the arm has all strips."""
        try:
            self._run = self._skill.start(self._arguments, observation)
        except SkillError as error:
            if not self._waits(SkillResult(error.code, str(error)), observation):
                raise

    def _waits(self, result: SkillResult, observation: Observation) -> bool:
        """Ask for all strips if the skill ended for lack of space and another try may help."""
        if result.code not in _BLOCKED or self._strips.held == frozenset(self._strips.strips):
            return False
        self._strips.want(self._strips.strips)
        self._run, self._since, self._blocked = None, observation.time, result
        self._arm = Arm(observation, ArmSettings())
        self._arm.phase = f"{WAIT} the strip"
        return True

    def _told(self) -> str:
        strips, held = self._strips.strips, self._strips.held
        others = " and ".join(neighbour for strip, neighbour in strips.items() if strip not in held)
        return (
            f"{self._skill.name} needs the strip towards {others}, and did not get it within {self._patience:g} s: the "
            f"other arm works there, holds something there, or does not run; let it go home first"
        )

    def _end(self, result: SkillResult) -> MotionReference | SkillResult:
        """Return the result, after the empty hand has left the strips."""
        self._strips.want(())
        scene = self._arm.observation.scene
        if not self._strips.held or scene.held or result.code is SkillErrorCode.SKILL_FAULT:
            return result
        self._result, self._run = result, None
        self._arm = Arm(self._arm.observation, ArmSettings())
        self._leaving = self._home()
        return self._leave()

    def _leave(self) -> MotionReference | SkillResult:
        assert self._leaving is not None
        assert self._result is not None
        if not self._strips.held:
            return self._result
        try:
            return next(self._leaving)
        except (StopIteration, SkillError):
            return self._result

    def _home(self) -> Script:
        arm = self._arm
        corners = way_to(arm.grip, rest_pose(arm.shape), arm.cruise_height(), arm.shape, arm.observation.zones)
        yield from arm.move("leave the strip", [Leg(corner) for corner in corners])
