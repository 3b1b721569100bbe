"""Runs skills in-process, as fast as the machine can: skill, controller and world in one loop, with no ROS.

Between plans and a world that is stepped in this process: each robot's safety filter, as its node has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import BaseController, MpcController
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import HOLD, base_guard, panda_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.programs.values import Argument
from llm_planner.robots.carried import Carried, Grip
from llm_planner.robots.motion import Array, JointState, JointTrajectory, MotionReference, Observation
from llm_planner.robots.robots import PANDA_LIMITS
from llm_planner.scene.scene import Scene
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import OriginTracker, Skill, SkillError, SkillErrorCode, SkillResult, SkillRun

ENDED = 1e-6  # [s] that is no time left


class Guarded(Protocol):
    """Moves the robot of a world as far as it is safe."""

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None: ...
    def carry(self, carried: Carried | None) -> None: ...


class GuardedArm:
    """A plan is followed as it is where it is proved."""

    def __init__(self) -> None:
        self._guard = Guard(SafetyFilter(panda_body(), PANDA_LIMITS))

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None:
        """Step `world` for `duration` [s]."""
        now = world.time
        self._guard.measured(world.joint_state())
        world.follow(
            self._guard.hear(trajectory, now, keep) or self._guard.steps(now, duration, keep),
            duration,
        )

    def carry(self, carried: Carried | None) -> None:
        """What the hand holds keeps out of zones as well."""
        self._guard.judged_by(SafetyFilter(panda_body(carried), PANDA_LIMITS))


class GuardedBase:
    """The velocities of a plan are followed as they are while they are safe."""

    def __init__(self) -> None:
        self._guard = base_guard()

    def follow(
        self, world: EpisodeWorld, trajectory: JointTrajectory, duration: float, keep: MotionConstraints
    ) -> None:
        """Step `world` for `duration` [s], a command every `HOLD`."""
        end = world.time + duration
        while (left := end - world.time) > ENDED:
            now, hold = world.time, min(HOLD, left)
            self._guard.hear(formulation.sample(trajectory, now + hold).qvel, now)
            velocity = self._guard.step(world.joint_state(), now, keep)
            as_wanted = not self._guard.filtered.changed
            world.follow(trajectory if as_wanted else _driving(velocity, trajectory, now, hold), hold)

    def carry(self, carried: Carried | None) -> None:
        """What it carries lies on it, and makes it no wider."""


def _driving(velocity: Array, instead_of: JointTrajectory, now: float, hold: float) -> JointTrajectory:
    """One `velocity` (3,) for `hold` [s], then rest; positions mean nothing to a base."""
    still = np.zeros_like(velocity)
    return JointTrajectory(
        now,
        hold,
        np.array([still, still, still]),
        np.array([velocity, velocity, still]),
        np.array([still, -velocity / hold]),
        instead_of.gripper_width,
    )


GUARDED: dict[str, type[Guarded]] = {"arm": GuardedArm, "mobile": GuardedBase}

InForce = Callable[[float, float], MotionConstraints]  # at a time [s], of a robot that moves at a speed [m/s]


class Controller(Protocol):
    """What the loop needs of a controller, of an arm or of a base."""

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints
    ) -> JointTrajectory: ...


class EpisodeWorld(Protocol):
    """What the loop needs of a world."""

    @property
    def time(self) -> float: ...
    def observation(self) -> Observation: ...
    def joint_state(self) -> JointState: ...
    def follow(self, trajectory: JointTrajectory, duration: float) -> None: ...


@dataclass(frozen=True)
class EpisodeSettings:
    """How often things happen in simulated time [s]; `control_period` divides `skill_period`."""

    skill_period: float = 0.1
    control_period: float = 0.1
    settle_time: float = 0.1  # after a skill, with no reference: the arm comes to rest and things stop moving


def make_controller(robot_kind: str) -> MpcController | BaseController:
    """A new controller for an "arm" or a "mobile" robot."""
    return BaseController() if robot_kind == "mobile" else MpcController()


class Episode:
    """One world with its controller, in which skills run one after the other."""

    def __init__(
        self, world: EpisodeWorld, controller: Controller | None = None, settings: EpisodeSettings | None = None
    ) -> None:
        self.world = world
        kind = world.observation().scene.robot_kind
        self.controller = controller or make_controller(kind)
        self.settings = settings or EpisodeSettings()
        self._robot, self._grip = GUARDED[kind](), Grip()
        self._planner = self.controller if kind == "arm" and isinstance(self.controller, MpcController) else None
        self._origins = OriginTracker()
        self._kept = FREE

    def observe(self, zones: tuple[Zone, ...] = ()) -> Observation:
        """The world's observation, with where held things came from and the `zones` to keep out of."""
        observation = self.world.observation()
        return replace(observation, origins=self._origins.update(observation.scene), zones=zones)

    def run(
        self,
        skill: Skill,
        arguments: Mapping[str, Argument],
        cancelled: Callable[[Observation], bool] = lambda observation: False,
        zones: tuple[Zone, ...] = (),
        in_force: InForce = lambda now, speed: FREE,
    ) -> SkillResult:
        """Runs `skill` to its end; `cancelled` is asked every skill period and ends it with CANCELED.

        `zones` are what its way keeps out of, `in_force` what the controller keeps at each moment, whatever the way.
        """

        try:
            run = skill.start(arguments, self.observe(zones))
        except SkillError as refusal:
            return SkillResult(refusal.code, str(refusal))
        result = None
        while result is None:
            observation = self.observe(zones)
            if cancelled(observation):
                result = SkillResult(SkillErrorCode.CANCELED, f"{skill.name} was stopped")
                break
            result = self.advance(run, observation, in_force(observation.time, observation.scene.speed))
        self.settle()
        return result

    def advance(self, run: SkillRun, observation: Observation, keep: MotionConstraints = FREE) -> SkillResult | None:
        """One skill period of `run`, which sees `observation`; its result when it has ended, and then nothing moved."""
        self._look_at_hand(observation.scene)
        self._kept = keep
        outcome = run.step(replace(observation, speed_limit=keep.speed))
        if isinstance(outcome, SkillResult):
            return outcome
        for _ in range(round(self.settings.skill_period / self.settings.control_period)):
            trajectory = self.controller.step(self.world.joint_state(), outcome, self.world.time, keep)
            self._robot.follow(self.world, trajectory, self.settings.control_period, keep)
        return None

    def _look_at_hand(self, scene: Scene) -> None:
        """What is held keeps out of zones like the robot: the controller plans so, the safety filter sees to it."""
        if self._grip.see(scene):
            self._robot.carry(self._grip.carried)
            if self._planner is not None:
                self._planner.carry(self._grip.carried)

    def settle(self) -> None:
        """Brakes to rest and waits `settle_time` [s]."""
        trajectory = self.controller.step(self.world.joint_state(), None, self.world.time, FREE)
        rest = trajectory.start_time + trajectory.dt * len(trajectory.qacc) - self.world.time
        self._robot.follow(self.world, trajectory, max(self.settings.settle_time, rest), self._kept)
