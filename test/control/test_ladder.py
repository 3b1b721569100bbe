"""When something fails the robot goes down the ladder, and stays at its end until a new run of a skill begins."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.fallback_supervisor import FallbackLevel, FallbackSupervisor
from llm_planner.control.formulation import Bounds, Horizon, TrackingProblem, Weights
from llm_planner.control.input_validation import Expected, InputValidator
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController, Status, TickStatistics
from llm_planner.control.qp_solver import NoSolution, TrackingSolver
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.skills.hand_geometry import HandPose

PANDA = arm_model("panda")

PERIOD = 0.01
FAR = HandPose(0.5, -0.35, 0.1, -0.6).pose()


@dataclass
class Robot:
    """Follows each plan exactly, under a ladder; its states can be spoilt on their way."""

    ladder: FallbackSupervisor
    now: float = 1.0
    qpos: np.ndarray = field(default_factory=lambda: np.array(PANDA.home))
    qvel: np.ndarray = field(default_factory=lambda: np.zeros(7))

    def tick(self, told: JointState | None = None, constraints: MotionConstraints = FREE) -> JointTrajectory:
        measured = told or JointState(self.now, self.qpos, self.qvel)
        plan = self.ladder.step(measured, self.now, self.now, constraints)
        self.follow(plan, PERIOD)
        return plan

    def follow(self, plan: JointTrajectory, seconds: float) -> None:
        self.now = round(self.now + seconds, 9)
        there = formulation.sample(plan, self.now)
        self.qpos, self.qvel = there.qpos, there.qvel

    def reference(self, epoch: int = 1) -> MotionReference:
        return MotionReference(self.now, 0.05, (FAR,), 0.04, epoch=epoch)

    def move(self, ticks: int, epoch: int = 1) -> None:
        """Let a skill run, that sends a reference each tick."""
        for _ in range(ticks):
            self.ladder.follow(self.reference(epoch))
            self.tick()

    @property
    def speed(self) -> float:
        return float(np.abs(self.qvel).max())

    @property
    def level(self) -> FallbackLevel:
        return self.ladder.status.level


def ladder(controller: object) -> FallbackSupervisor:
    return FallbackSupervisor(controller, InputValidator(Expected(PANDA.limits.qvel_max)))


@pytest.fixture
def robot(arm: ArmKinematics) -> Robot:
    """At home, and seen there."""
    at_home = Robot(ladder(MpcController(kinematics=arm)))
    at_home.tick()
    return at_home


@pytest.fixture
def moving(robot: Robot) -> Robot:
    robot.move(30)
    assert robot.speed > 0.5
    assert robot.level is FallbackLevel.TRACKING
    return robot


def comes_to_rest(robot: Robot, told) -> bool:
    """With every state spoilt by `told`, within half a second and without leaving the limits."""
    for _ in range(50):
        before = robot.qvel
        robot.tick(told(robot))
        assert np.all(np.abs(robot.qvel - before) / PERIOD <= PANDA.limits.qacc_max)
    return robot.speed == 0.0


def nan(robot: Robot) -> JointState:
    return JointState(robot.now, np.full(7, math.nan), robot.qvel)


def test_states_that_are_no_numbers_bring_the_robot_to_rest(moving):
    moving.tick(nan(moving))
    assert moving.level is FallbackLevel.BRAKING
    assert comes_to_rest(moving, nan)
    assert moving.level is FallbackLevel.STOPPED
    assert moving.ladder.status.reason.startswith("the positions in the robot's state are not all finite")
    assert moving.ladder.status.has_failed


def test_what_stopped_the_robot_holds_it_until_a_new_run_of_a_skill(moving):
    moving.tick(nan(moving))
    for _ in range(60):
        refusal = moving.ladder.follow(moving.reference())
        moving.tick()
    assert refusal.startswith("the robot is held: the positions in the robot's state")
    assert (moving.speed, moving.level) == (0.0, FallbackLevel.STOPPED)
    moving.move(30, epoch=2)
    assert moving.speed > 0.5
    assert (moving.level, moving.ladder.status.reason, moving.ladder.status.epoch) == (FallbackLevel.TRACKING, "", 2)


def test_one_reference_with_the_largest_epoch_does_not_lock_the_skills_out(moving):
    assert moving.ladder.follow(moving.reference(epoch=2**64 - 1)) == ""
    assert "earlier skill run 1 came" in moving.ladder.follow(moving.reference(epoch=1))
    for _ in range(260):
        moving.tick()
    assert moving.speed == 0.0
    moving.move(1, epoch=2)
    assert (moving.level, moving.ladder.status.epoch) == (FallbackLevel.TRACKING, 2)
    assert "earlier skill run 1 came" in moving.ladder.follow(moving.reference(epoch=1))


def test_a_reset_releases_the_robot_but_not_old_references(moving):
    moving.tick(nan(moving))
    comes_to_rest(moving, nan)
    moving.ladder.reset()
    moving.tick()
    assert moving.level is FallbackLevel.RESTING
    assert "earlier skill run 0" in moving.ladder.follow(moving.reference(epoch=0))
    assert moving.ladder.follow(moving.reference(epoch=1)) == ""


def test_a_first_state_that_cannot_be_read_moves_nothing(arm):
    fresh = Robot(ladder(MpcController(kinematics=arm)))
    with pytest.raises(InputError, match=r"not all finite: .*; the controller waits for a first state"):
        fresh.tick(nan(fresh))
    assert "before any state" in fresh.ladder.follow(fresh.reference())


def test_a_leap_of_the_clock_stops_the_robot_and_voids_its_reference(moving):
    leapt = JointState(moving.now + 5.0, moving.qpos, moving.qvel)
    moving.ladder.step(leapt, leapt.time, moving.now)
    assert re.match(r"the robot's clock leapt ahead by 5\.\d+ s", moving.ladder.status.reason)
    assert moving.ladder.follow(moving.reference(epoch=2)) == "a reference is from before the robot was started"


def test_joints_that_seem_to_jump_stop_the_robot_on_its_way(moving):
    def glitch(robot: Robot) -> JointState:
        return JointState(robot.now, robot.qpos + 0.5 * (robot.now < 1.34), robot.qvel)

    assert comes_to_rest(moving, glitch)
    assert re.search(r"joint \d of the robot jumped by 0\.5", moving.ladder.status.reason)
    assert moving.level is FallbackLevel.STOPPED


def test_a_robot_that_is_elsewhere_is_held_there(moving):
    elsewhere = moving.qpos + 0.5
    for _ in range(3):
        plan = moving.ladder.step(JointState(moving.now, elsewhere, np.zeros(7)), moving.now, moving.now)
        moving.now += PERIOD
    assert plan.qpos[0] == pytest.approx(elsewhere)
    assert moving.level is FallbackLevel.STOPPED


def test_when_the_states_stop_the_last_plan_is_followed_to_its_end_and_no_further(moving):
    plan = moving.tick()
    heard = moving.now - PERIOD
    assert moving.ladder.watch(wall=heard + 0.9) is None
    assert moving.level is FallbackLevel.TRACKING
    assert moving.ladder.watch(wall=heard + 1.01) is plan
    assert moving.ladder.status.reason == "the robot's states have stopped: nothing newer for 1 s"
    assert moving.ladder.watch(wall=heard + 3.0) is None
    assert moving.level is FallbackLevel.STOPPED
    assert moving.ladder.status.has_failed
    moving.follow(plan, 3.0)
    moving.tick()
    assert (moving.level, moving.speed) == (FallbackLevel.STOPPED, 0.0)
    assert "the robot is held" in moving.ladder.follow(moving.reference())


def test_no_more_reference_or_an_old_one_is_rest_and_no_failure(moving):
    moving.ladder.rest()
    for _ in range(50):
        moving.tick()
    assert (moving.level, moving.speed) == (FallbackLevel.RESTING, 0.0)
    moving.move(30)
    for _ in range(150):
        moving.tick()
    assert (moving.level, moving.speed) == (FallbackLevel.RESTING, 0.0)
    assert not moving.ladder.status.has_failed


@dataclass
class ScriptedController:
    """Tells what its ticks came to; each plan brakes within 0.3 s."""

    outcomes: list[TickStatistics]
    statistics: TickStatistics = field(default_factory=lambda: TickStatistics(Status.HOLDING))
    braking: float = 0.0

    def step(
        self, state: JointState, reference: MotionReference | None, now: float, constraints: MotionConstraints = FREE
    ) -> JointTrajectory:
        if reference is None:
            self.braking += PERIOD
            self.statistics = TickStatistics(Status.BRAKING if self.braking < 0.3 else Status.HOLDING)
        else:
            self.statistics = self.outcomes.pop(0)
        return formulation.hold(state.qpos, now, 0.1, 0.04)

    def reset(self) -> None:
        self.braking = 0.0


TRACKING = TickStatistics(Status.TRACKING)
FAILED = TickStatistics(Status.FALLBACK, message="no answer")
NEAR = TickStatistics(Status.TRACKING, relaxed=True, keep_out_slack=0.003, binding=("the vase", "the mug"))
FAST = TickStatistics(Status.TRACKING, relaxed=True, keep_out_slack=0.003, speed_slack=0.02)
WITHIN_THE_MARGIN = TickStatistics(Status.TRACKING, relaxed=True, keep_out_slack=0.0005, binding=("the vase",))


def rungs(outcomes: list[TickStatistics], ticks: int) -> list[FallbackLevel]:
    robot = Robot(ladder(ScriptedController(outcomes)))
    robot.tick()
    seen = []
    for _ in range(ticks):
        robot.ladder.follow(robot.reference())
        robot.tick()
        seen.append(robot.level)
    return seen


def test_a_tick_without_a_plan_goes_on_with_the_last_one():
    assert rungs([TRACKING, FAILED, FAILED, TRACKING], 4) == [
        FallbackLevel.TRACKING, FallbackLevel.REPLAYING, FallbackLevel.REPLAYING, FallbackLevel.TRACKING,
    ]  # fmt: skip


def test_after_a_tenth_of_a_second_without_one_it_brakes_and_holds():
    seen = rungs([TRACKING, *[FAILED] * 30], 70)
    assert seen[:11] == [FallbackLevel.TRACKING, *[FallbackLevel.REPLAYING] * 10]
    assert seen[12] is FallbackLevel.BRAKING
    assert seen[-1] is FallbackLevel.STOPPED
    assert sorted(set(seen), key=seen.index) == [
        FallbackLevel.TRACKING,
        FallbackLevel.REPLAYING,
        FallbackLevel.BRAKING,
        FallbackLevel.STOPPED,
    ]


def test_a_motion_that_is_found_while_braking_is_followed():
    seen = rungs([TRACKING, *[FAILED] * 14, TRACKING, FAILED], 17)
    assert seen[12:] == [
        FallbackLevel.BRAKING,
        FallbackLevel.BRAKING,
        FallbackLevel.BRAKING,
        FallbackLevel.TRACKING,
        FallbackLevel.REPLAYING,
    ]


class Failing:
    """A solver that has no answer once it is told so."""

    def __init__(self) -> None:
        self.works, self._inner = True, TrackingSolver(TrackingProblem(Horizon(), Weights()))

    def solve(self, bounds: Bounds) -> np.ndarray:
        if not self.works:
            raise NoSolution("given up")
        return self._inner.solve(bounds)


def test_a_robot_without_a_solver_comes_to_rest_within_its_limits(arm):
    solver = Failing()
    robot = Robot(ladder(MpcController(kinematics=arm, solver=solver)))
    robot.tick()
    robot.move(30)
    assert robot.speed > 0.5
    solver.works = False
    for _ in range(100):
        before = robot.qvel
        robot.move(1)
        assert np.all(np.abs(robot.qvel - before) / PERIOD <= PANDA.limits.qacc_max)
    assert (robot.level, robot.speed) == (FallbackLevel.STOPPED, 0.0)
    assert robot.ladder.status.reason == "no motion was found for 0.1 s: given up"


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (NEAR, "no motion keeps everything: this one comes too close to the vase and the mug"),
        (FAST, "no motion keeps everything: this one comes too close to a zone and is faster than the limit"),
        (WITHIN_THE_MARGIN, ""),
    ],
)
def test_a_plan_that_cannot_keep_everything_is_told(outcome, reason):
    robot = Robot(ladder(ScriptedController([outcome])))
    robot.tick()
    robot.move(1)
    assert robot.level is (FallbackLevel.RELAXED if reason else FallbackLevel.TRACKING)
    assert robot.ladder.status.reason == reason
    assert not robot.ladder.status.has_failed


def test_the_constraints_reach_the_controller_on_every_way_down():
    heard = []

    class Listening(ScriptedController):
        def step(self, state, reference, now, constraints=FREE):
            heard.append(constraints)
            return super().step(state, reference, now, constraints)

    slow = MotionConstraints(speed=0.1, version=3)
    robot = Robot(ladder(Listening([FAILED])))
    robot.tick(constraints=slow)
    robot.ladder.follow(robot.reference())
    robot.tick(constraints=slow)
    robot.tick(nan(robot), constraints=slow)
    assert heard == [slow] * 3
