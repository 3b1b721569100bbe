"""A controller and a robot that follows it exactly."""

from collections.abc import Callable

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.inverse_kinematics import IkSettings, InverseKinematics
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.control.tick_solver import MpcSettings
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference

PANDA = arm_model("panda")

PERIOD = 0.01  # [s] of the controller


class SteppedClock:
    """Every reading is a millisecond after the one before."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class ExactRobot:
    """Follows each plan exactly for one period, and keeps what it went through."""

    def __init__(self, controller: MpcController) -> None:
        self.controller = controller
        self.now = 0.0
        self.qpos, self.qvel = np.array(PANDA.home), np.zeros(7)
        self.plans: list[JointTrajectory] = []
        self.velocities: list[np.ndarray] = []
        self.accelerations: list[np.ndarray] = []

    @property
    def state(self) -> JointState:
        return JointState(self.now, self.qpos, self.qvel)

    def tick(self, reference: MotionReference | None, constraints: MotionConstraints = FREE) -> JointTrajectory:
        plan = self.controller.step(self.state, reference, self.now, constraints)
        before = self.qvel
        self.now = round(self.now + PERIOD, 9)
        state = formulation.sample(plan, self.now)
        self.qpos, self.qvel = state.qpos, state.qvel
        self.plans.append(plan)
        self.velocities.append(np.abs(self.qvel) / PANDA.limits.qvel_max)
        self.accelerations.append(np.abs(self.qvel - before) / PERIOD / PANDA.limits.qacc_max)
        return plan

    def run(self, reference: Callable[[float], MotionReference | None], seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.tick(reference(self.now))


@pytest.fixture(scope="session")
def arm() -> ArmKinematics:
    return PANDA.kinematics()


@pytest.fixture(scope="session")
def inverse_kinematics(arm: ArmKinematics) -> InverseKinematics:
    return InverseKinematics(arm, LimitShare().tracking(PANDA.limits), IkSettings.of(PANDA))


@pytest.fixture
def robot(arm: ArmKinematics) -> ExactRobot:
    return ExactRobot(MpcController(MpcSettings(), kinematics=arm, clock=SteppedClock()))
