"""Runs skills in-process and as fast as possible: skill, controller and world in one loop, without ROS.

Each plan passes the safety filter of its robot before the world is stepped, as in the ROS node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.controlled_robot import arm
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import BaseController, MpcController
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import HOLD, arm_body, base_guard
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.carried import Carried, Grip
from llm_planner.robots.motion import Array, JointState, JointTrajectory, MotionReference, Observation
from llm_planner.scene.driven_base import zones_seen_anew
from llm_planner.scene.scene import Scene
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import (
    Arguments,
    OriginTracker,
    Skill,
    SkillError,
    SkillErrorCode,
    SkillResult,
    SkillRun,
)
from llm_planner.skills.mobile_arm import STANDS, base_constraints, interlock

ENDED = 1e-6  # [s] remaining time that counts as none


class Guarded(Protocol):
    """Executes trajectories on the robot of a world as far as they are safe."""

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None: ...
    def carry(self, carried: Carried | None) -> None: ...


class GuardedArm:
    """Arm guard: follows a plan unchanged as far as it is proved safe."""

    def __init__(self, arm: ArmModel) -> None:
        self._arm = arm
        self._guard = Guard(SafetyFilter(arm_body(arm), arm.limits))

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None:
        """Step `world` for `duration` [s] along `trajectory`, filtered for safety."""
        now = world.time
        self._guard.measured(world.joint_state())
        world.follow(
            self._guard.hear(trajectory, now, keep) or self._guard.steps(now, duration, keep),
            duration,
        )

    def carry(self, carried: Carried | None) -> None:
        """Include the held object in the body that keeps out of zones."""
        self._guard.judged_by(SafetyFilter(arm_body(self._arm, carried), self._arm.limits))


class GuardedBase:
    """Base guard: passes the velocities of a plan unchanged while they are safe."""

    def __init__(self) -> None:
        self._guard = base_guard()

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None:
        """Step `world` for `duration` [s] with one filtered command every `HOLD` s."""
        end = world.time + duration
        while (left := end - world.time) > ENDED:
            now, hold = world.time, min(HOLD, left)
            self._guard.hear(formulation.sample(trajectory, now + hold).qvel, now)
            velocity = self._guard.step(world.joint_state(), now, keep)
            as_wanted = not self._guard.filtered.changed
            world.follow(trajectory if as_wanted else _driving(velocity, trajectory, now, hold), hold)

    def carry(self, carried: Carried | None) -> None:
        """Do nothing: what the base carries lies on top and does not widen it."""


def _driving(velocity: Array, instead_of: JointTrajectory, now: float, hold: float) -> JointTrajectory:
    """Build a trajectory of one `velocity` (3,) for `hold` [s], then rest; a base ignores positions."""
    still = np.zeros_like(velocity)
    return JointTrajectory(
        now,
        hold,
        np.array([still, still, still]),
        np.array([velocity, velocity, still]),
        np.array([still, -velocity / hold]),
        instead_of.gripper_width,
    )


InForce = Callable[[float, float], MotionConstraints]  # constraints by time [s] and speed of the robot [m/s]


class Controller(Protocol):
    """Interface of an arm or base controller."""

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints
    ) -> JointTrajectory: ...


class EpisodeWorld(Protocol):
    """Interface of a world that can be stepped."""

    @property
    def time(self) -> float: ...
    def observation(self) -> Observation: ...
    def joint_state(self) -> JointState: ...
    def follow(self, trajectory: JointTrajectory, duration: float) -> None: ...


@runtime_checkable
class CarriedArmWorld(Protocol):
    """Interface of the world of an arm whose base drives; `base` drives it, with the interface of a mobile robot."""

    base: EpisodeWorld


class BaseDrive:
    """Controller and guard of the base that carries an arm. It moves only under a tucked arm at rest."""

    def __init__(self, base: EpisodeWorld) -> None:
        self._base, self._controller, self._guard = base, BaseController(), GuardedBase()

    def refuses(self, reference: MotionReference, observation: Observation, arm: JointState) -> str:
        """Return why the robot may not follow `reference` now, "" if it may: only one of arm and base moves."""
        hand, base = observation.T_base_gripper.position, self._base.joint_state().qvel
        return interlock(reference.of_base, observation.scene.arm, hand, arm.qvel, base)

    def follow(self, reference: MotionReference | None, scene: Scene, keep: MotionConstraints, duration: float) -> None:
        """Drive for `duration` [s] under the constraints `keep` [arm's frame] and `base_constraints`."""
        kept = base_constraints(scene, keep)
        trajectory = self._controller.step(self._base.joint_state(), reference, self._base.time, kept)
        self._guard.follow(self._base, trajectory, duration, kept)

    def settle(self, scene: Scene, keep: MotionConstraints) -> bool:
        """Brake the base to rest; return whether it was moving."""
        moved = False
        while np.abs(self._base.joint_state().qvel).max() > STANDS:
            self.follow(None, scene, keep, BRAKING)
            moved = True
        return moved


BRAKING = 0.1  # [s] between two looks at a base that comes to rest


@dataclass(frozen=True)
class EpisodeSettings:
    """Periods in simulated time [s]; `control_period` must divide `skill_period`."""

    skill_period: float = 0.1
    control_period: float = 0.1
    settle_time: float = 0.1  # after a skill, without reference: arm and objects come to rest


def make_controller(scene: Scene) -> MpcController | BaseController:
    """Create a controller for the robot of a scene."""
    return BaseController() if scene.robot_kind == "mobile" else MpcController(robot=arm(arm_model(scene.arm)))


class Episode:
    """One world with its controller, in which skills run in sequence."""

    def __init__(
        self, world: EpisodeWorld, controller: Controller | None = None, settings: EpisodeSettings | None = None
    ) -> None:
        self.world = world
        scene = world.observation().scene
        is_arm = scene.robot_kind == "arm"
        self.controller = controller or make_controller(scene)
        self.settings = settings or EpisodeSettings()
        self._robot: Guarded = GuardedArm(arm_model(scene.arm)) if is_arm else GuardedBase()
        self._drive: BaseDrive | None = None
        if scene.base is not None:
            if not isinstance(world, CarriedArmWorld):
                raise InputError(f"the scene shows an arm on a base, and the world {type(world).__name__} has no base")
            self._drive = BaseDrive(world.base)
        self._grip = Grip()
        self._planner = self.controller if is_arm and isinstance(self.controller, MpcController) else None
        self._origins = OriginTracker()
        self._kept = FREE

    def observe(self, zones: tuple[Zone, ...] = ()) -> Observation:
        """Return the world's observation with object origins and `zones` filled in."""
        observation = self.world.observation()
        return replace(observation, origins=self._origins.update(observation.scene), zones=zones)

    def run(
        self,
        skill: Skill,
        arguments: Arguments,
        cancelled: Callable[[Observation], bool] = lambda observation: False,
        zones: tuple[Zone, ...] = (),
        in_force: InForce = lambda now, speed: FREE,
    ) -> SkillResult:
        """Run `skill` to its end, let the world settle and return the result, also for a skill that refuses to start.

        `cancelled` is called every skill period; True ends the skill with CANCELED. The skill plans around `zones`;
        `in_force` returns the constraints that the controller enforces at each moment.
        """

        try:
            began = self.observe(zones)
            run = skill.start(arguments, began)
        except SkillError as refusal:
            return SkillResult(refusal.code, str(refusal))
        result = None
        while result is None:
            observation = self.observe()
            observation = replace(observation, zones=zones_seen_anew(zones, began.scene, observation.scene))
            if cancelled(observation):
                result = SkillResult(SkillErrorCode.CANCELED, f"{skill.name} was stopped")
                break
            result = self.advance(run, observation, in_force(observation.time, observation.scene.speed))
        self.settle()
        return result

    def advance(self, run: SkillRun, observation: Observation, keep: MotionConstraints = FREE) -> SkillResult | None:
        """Run one skill period of `run`; return its result if it has ended, in which case nothing moves."""
        self._look_at_hand(observation.scene)
        self._kept = keep
        outcome = run.step(replace(observation, speed_limit=keep.speed))
        if isinstance(outcome, SkillResult):
            return outcome
        if self._drive is not None:
            if problem := self._drive.refuses(outcome, observation, self.world.joint_state()):
                return SkillResult(SkillErrorCode.CONTROLLER_FAULT, problem)
            if outcome.of_base:
                self._drive.follow(outcome, observation.scene, keep, self.settings.skill_period)
                return None
        for _ in range(round(self.settings.skill_period / self.settings.control_period)):
            trajectory = self.controller.step(self.world.joint_state(), outcome, self.world.time, keep)
            self._robot.follow(self.world, trajectory, self.settings.control_period, keep)
        return None

    def _look_at_hand(self, scene: Scene) -> None:
        """Apply zones to the held object too, in the controller and in the safety filter."""
        if self._grip.see(scene):
            self._robot.carry(self._grip.carried)
            if self._planner is not None:
                self._planner.carry(self._grip.carried)

    def settle(self) -> None:
        """Brake to rest and wait at least `settle_time` [s]."""
        if self._drive is not None and self._drive.settle(self.observe().scene, self._kept) and self._planner:
            self._planner.reset()  # time has passed without a plan of the arm
        trajectory = self.controller.step(self.world.joint_state(), None, self.world.time, FREE)
        rest = trajectory.start_time + trajectory.dt * len(trajectory.qacc) - self.world.time
        self._robot.follow(self.world, trajectory, max(self.settings.settle_time, rest), self._kept)
