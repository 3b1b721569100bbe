"""Runs skills in-process, as fast as the machine can: skill, controller and world in one loop, with no ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from llm_planner.control.base import BaseController
from llm_planner.control.carried import Grip
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.control.reference import JointState, JointTrajectory, MotionReference
from llm_planner.control.zones import Zone
from llm_planner.skills.contract import Argument, Observation, Skill, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.errors import SkillError
from llm_planner.skills.guarded import GUARDED
from llm_planner.skills.origins import OriginTracker
from llm_planner.world.scene import Scene

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
