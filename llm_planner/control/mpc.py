"""Model predictive controllers of the arm and of the mobile base.

Each tick plans from the position of the last plan at the present time. This keeps commands continuous despite noisy
measurements. If the measured joints have left the plan, planning restarts from the measurement. Every plan ends at
rest.

The base has three velocity-controlled joints: x, y [m] in the map and yaw [rad]. Its wheels reach a commanded velocity
with a lag, so from position q and velocity v it coasts to q + lag v. This point follows commands exactly, and the base
follows the point without overshoot. Plans and zone constraints therefore apply to this point.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from llm_planner.control import formulation
from llm_planner.control.controlled_robot import JointReference, Robot, arm, mobile_base
from llm_planner.control.formulation import Horizon, Reference, StartState, Weights
from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.qp_solver import NoSolution, TrackingSolver
from llm_planner.control.tick_solver import ConstrainedSettings, Motion, MpcSettings, TickSolution, TickSolver
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmKinematics, default_arm
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import JointLimits, LimitShare, RobotLimits
from llm_planner.robots.mobile_base import BASE_LIMITS
from llm_planner.robots.motion import Array, JointState, JointTrajectory, MotionReference, sample
from llm_planner.robots.robot_model import RobotModel

KEPT = 1e-3  # [m] of keep-out slack up to which a zone counts as respected
BEYOND = 0.5  # [rad, m] beyond a joint's reach in the given time at which a reference is clipped
BRAKING_STAGE = 0.0125  # [s] each joint brakes to rest in a whole number of these
KEEP_WIDTH = float("nan")  # before the first reference: the fingers stay where they are


class Status(Enum):
    """State of the controller."""

    TRACKING = "tracking"
    HOLDING = "holding"  # at rest, with no valid reference
    BRAKING = "braking"  # coming to rest, with no valid reference
    FALLBACK = "fallback"  # replaying the last feasible plan, because this tick's program had no solution


@dataclass(frozen=True)
class TickStatistics:
    """Statistics of the last tick: durations by the controller's clock [s], and the largest errors and slacks."""

    status: Status
    solve_time: float = 0.0
    tick_time: float = 0.0
    tracking_error: float = 0.0  # between measured and planned joints [rad]
    message: str = ""
    keep_out_slack: float = 0.0  # shortfall of the plan below a zone's bare clearance [m]; above 1 mm a violation
    speed_slack: float = 0.0  # excess of the plan over the speed limit [m/s]
    binding: tuple[str, ...] = ()  # zones with active constraints
    relaxed: bool = False  # a zone, speed or joint state constraint has slack
    rows: int = 0  # zone and speed constraints in the program; 0 if none is needed


class MpcController:
    """Model predictive controller that tracks motion references; it runs no thread."""

    def __init__(
        self,
        settings: MpcSettings | None = None,
        robot: Robot | None = None,
        kinematics: ArmKinematics | None = None,
        clock: Callable[[], float] = time.perf_counter,
        solver: TrackingSolver | None = None,
    ) -> None:
        """Create a controller of `robot`, or of the default arm, whose `kinematics` may be shared."""
        self.settings = settings or MpcSettings()
        self._robot = robot or arm(default_arm(), kinematics)
        self.limits = self.settings.share.tracking(self._robot.limits)
        self.statistics = TickStatistics(Status.HOLDING)
        self._stopping = self.settings.share.stopping(self._robot.limits)
        self._programs = TickSolver(
            self.settings, self._robot.sliding, lambda: RobotModel(self._robot.spec), solver, clock=clock
        )
        self._translator = self._robot.translator(self.limits)
        self._clock = clock
        self._plan: JointTrajectory | None = None
        self._status = Status.HOLDING
        self._last, self._period = -math.inf, self.settings.horizon.dt
        self._knots: Array = self._period * np.arange(1.0, self.settings.horizon.stages + 1)

    def step(
        self,
        state: JointState,
        reference: MotionReference | None,
        now: float,
        constraints: MotionConstraints = FREE,
    ) -> JointTrajectory:
        """Plan the joint trajectory to follow from `now`, ending at rest.

        Without a valid reference the robot brakes to rest and holds. If the plan cannot satisfy `constraints` at every
        stage, it violates them as little as possible and `statistics` reports the slack.

        Args:
            state: Measured joints.
            reference: Motion to track, or None.
            now: Robot time at which the command takes effect [s], possibly a little after `state.time`.
            constraints: Zones, speed limit and weights in force.

        Raises:
            InputError: The state or the reference has a wrong size or a number that is not finite. The robot then
                follows its last trajectory to the end.
        """
        began = self._clock()
        self._check_state(state)
        start, tracking_error = self._start(state, now)
        # The next tick is expected to come as long after this one as this one came after the last.
        self._period, self._last = min(max(1e-3, round(now - self._last, 3)), self.settings.horizon.dt), now
        if reference is None or now > reference.start_time + reference.valid_for:
            plan, statistics = self._stop(start, now, constraints)
        else:
            plan, statistics = self._track(start, reference, now, constraints)
        self._plan, self._status = plan, statistics.status
        self.statistics = replace(statistics, tick_time=self._clock() - began, tracking_error=tracking_error)
        return self._commanded(plan)

    def _commanded(self, plan: JointTrajectory) -> JointTrajectory:
        return plan

    def could_keep(self, state: JointState, now: float, constraints: MotionConstraints) -> bool:
        """Return whether a plan from `state` can keep out of the zones, by one dry run of the program."""
        self._check_state(state)
        start = StartState(state.qpos, state.qvel, np.zeros_like(state.qvel))
        rest = formulation.hold(state.qpos, now, self.settings.horizon.dt, self._width)
        try:
            kept = self._programs.solve(
                start, self._reference(rest, now), self.limits, constraints, lambda: self._at_knots(rest, now)
            )
        except NoSolution:
            return False
        return kept.keep_out_slack <= KEPT

    def carry(self, carried: Carried | None) -> None:
        """Set the carried object, or None; it keeps out of zones like the robot."""
        self._programs.carry(carried)

    def prepare(self) -> None:
        """Build in advance what the first constraint needs, which takes some hundredths of a second."""
        self._programs.prepare()

    def reset(self) -> None:
        """Forget the plan, so that the next tick starts from the measured joints."""
        self._plan, self._last = None, -math.inf
        self._status = Status.HOLDING
        self._translator.forget()

    def _check_state(self, state: JointState) -> None:
        nq = self.limits.nq
        for name, values in (("qpos", state.qpos), ("qvel", state.qvel)):
            if np.shape(values) != (nq,):
                raise InputError(f"the joint state's {name} must have the shape ({nq},), not {np.shape(values)}")
            if not np.isfinite(values).all():
                raise InputError(f"the joint state's {name} holds a number that is not finite: {values}")

    def _start(self, state: JointState, now: float) -> tuple[StartState, float]:
        if self._plan is not None:
            error = float(np.abs(state.qpos - formulation.sample(self._plan, state.time).qpos).max())
            if error <= self.settings.resync_position:
                return formulation.sample(self._plan, now), error
        self.reset()
        velocity = np.clip(state.qvel, -self._robot.limits.qvel_max, self._robot.limits.qvel_max)
        return StartState(state.qpos, velocity, np.zeros_like(velocity)), 0.0

    @property
    def _width(self) -> float:
        return KEEP_WIDTH if self._plan is None else self._plan.gripper_width

    def _stop(
        self, start: StartState, now: float, constraints: MotionConstraints
    ) -> tuple[JointTrajectory, TickStatistics]:
        if self._plan is not None and self._status is Status.BRAKING and now < formulation.end_time(self._plan):
            return self._plan, TickStatistics(Status.BRAKING)
        if not start.qvel.any():
            plan = formulation.hold(start.qpos, now, self.settings.horizon.dt, self._width)
            return plan, TickStatistics(Status.HOLDING)
        return self._come_to_rest(start, now, constraints)

    def _come_to_rest(
        self, start: StartState, now: float, constraints: MotionConstraints
    ) -> tuple[JointTrajectory, TickStatistics]:
        """Brake as hard as the limits allow, or as close to that as zones and the speed limit permit."""
        brake, statistics = self._brake(start, now), TickStatistics(Status.BRAKING)
        if not constraints.zones and constraints.speed == math.inf:
            return brake, statistics
        wish = self._reference(brake, now)
        try:
            kept = self._programs.solve(start, wish, self._stopping, constraints, lambda: self._at_knots(brake, now))
        except NoSolution as reason:
            return brake, replace(statistics, message=str(reason))
        if not kept.rows:
            return brake, statistics
        return self._programs.problem.trajectory(start, kept.x, now, self._width), _told(statistics, kept)

    def _track(
        self, start: StartState, reference: MotionReference, now: float, constraints: MotionConstraints
    ) -> tuple[JointTrajectory, TickStatistics]:
        joints = self._translator.translate(reference, start.qpos)
        share = reference.speed_scale * constraints.joint_share
        if share * self._robot.speed < constraints.speed:
            constraints = replace(constraints, speed=share * self._robot.speed)
        limits = self._slowed(share, constraints.speed)
        began = self._clock()
        try:
            wish = self._reachable(self._reference(joints, now + self._robot.lag), start)
            kept = self._programs.solve(
                start, wish, limits, constraints, lambda: self._at_knots(self._plan or self._brake(start, now), now)
            )
        except NoSolution as reason:
            return self._replay(start, now), TickStatistics(Status.FALLBACK, self._clock() - began, message=str(reason))
        plan = self._programs.problem.trajectory(start, kept.x, now, reference.gripper_width)
        return plan, _told(TickStatistics(Status.TRACKING), kept)

    def _reference(self, motion: JointReference | JointTrajectory, now: float) -> Reference:
        times = now + self._programs.problem.times(self._period)
        sampled = motion.sample(times) if isinstance(motion, JointReference) else sample(motion, times)
        return Reference(self._period, *sampled)

    def _reachable(self, wish: Reference, start: StartState) -> Reference:
        """Shorten steps of the reference that no plan can reach, so that they do not outweigh constraints."""
        far = wish.qpos - start.qpos
        within = BEYOND + self._programs.problem.times(wish.period)[:, None] * self.limits.velocity
        excess = np.abs(far / within).max(axis=1, keepdims=True)
        return wish if excess.max() <= 1.0 else replace(wish, qpos=start.qpos + far / np.maximum(excess, 1.0))

    def _slowed(self, share: float, speed: float) -> JointLimits:
        """Scale the velocity limits by `share`, and bound sliding joints by `speed` [m/s]."""
        limits = self.limits.slower(share)
        if speed == math.inf or not self._robot.sliding.any():
            return limits
        return replace(
            limits, velocity=np.where(self._robot.sliding, np.minimum(limits.velocity, speed), limits.velocity)
        )

    def _at_knots(self, plan: JointTrajectory, now: float) -> Motion:
        return Motion(*sample(plan, now + self._knots))

    def _replay(self, start: StartState, now: float) -> JointTrajectory:
        if self._plan is not None and now < formulation.end_time(self._plan):
            return self._plan
        return self._brake(start, now)

    def _brake(self, start: StartState, now: float) -> JointTrajectory:
        return formulation.brake(start, self._stopping, now, BRAKING_STAGE, self._width)


def _told(statistics: TickStatistics, kept: TickSolution) -> TickStatistics:
    return replace(
        statistics,
        solve_time=kept.solve_time,
        keep_out_slack=kept.keep_out_slack,
        speed_slack=kept.speed_slack,
        binding=kept.binding,
        relaxed=kept.relaxed,
        rows=kept.rows,
    )


AT_REST = 1e-4  # [m/s, rad/s] required because braking anew at every tick halves the velocity and never ends


@dataclass(frozen=True)
class BaseSettings:
    """Settings of `BaseController`; times in [s]."""

    horizon: Horizon = field(default_factory=lambda: Horizon(0.05, (1, 1, 1, 2, 3, 4, 6, 8, 8)))
    weights: Weights = field(default_factory=lambda: Weights(position=200.0, velocity=0.2))
    speed_share: float = 0.85  # of the base's limits; the rest is reserved for catching up and braking harder
    acceleration_share: float = 0.7  # of the limit in the plane, which is split as sqrt(1/2) on each axis
    braking_share: float = 0.9
    resync: float = 0.3  # [m/s, rad/s] deviation from the plan at which planning restarts from the measurement
    keep_out: KeepOutSettings = field(default_factory=lambda: KeepOutSettings(margin=0.02, lag=0.02, heed=0.3))


class BaseController(MpcController):
    """Controller that tracks motion references whose poses are T_map_base.

    Its trajectories hold the velocities to command, and the positions that they would give without lag.
    """

    def __init__(
        self,
        settings: BaseSettings | None = None,
        robot: RobotLimits = BASE_LIMITS,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.base = settings or BaseSettings()
        mpc = MpcSettings(
            horizon=self.base.horizon,
            weights=self.base.weights,
            share=LimitShare(self.base.speed_share, self.base.acceleration_share, self.base.braking_share),
            constrained=ConstrainedSettings(keep_out=self.base.keep_out, speed_share=1.0),
        )
        self._braking = self.base.braking_share * robot.qacc_max
        in_each_axis = replace(robot, qacc_max=robot.qacc_max * (math.sqrt(0.5), math.sqrt(0.5), 1.0))
        speed = self.base.speed_share * float(robot.qvel_max[0])
        super().__init__(mpc, mobile_base(in_each_axis, speed), clock=clock)
        self._lead: Array = np.zeros(3)

    def _commanded(self, plan: JointTrajectory) -> JointTrajectory:
        return replace(plan, qpos=plan.qpos - self._lead)

    def reset(self) -> None:
        """Forget the plan, so that the next tick starts from the measured velocity."""
        super().reset()
        self._lead = np.zeros(3)

    def _start(self, state: JointState, now: float) -> tuple[StartState, float]:
        """Start at the coasting point with the planned velocity, or with the measured one if they differ too much."""
        self._lead = self._robot.lag * state.qvel
        planned = None if self._plan is None else formulation.sample(self._plan, now)
        if planned is None or np.abs(planned.qvel - state.qvel).max() > self.base.resync:
            planned = StartState(state.qpos, state.qvel, np.zeros(3))
        return replace(planned, qpos=state.qpos + self._lead), 0.0

    def _stop(
        self, start: StartState, now: float, constraints: MotionConstraints
    ) -> tuple[JointTrajectory, TickStatistics]:
        if np.abs(start.qvel).max() > AT_REST:
            return self._come_to_rest(start, now, constraints)
        return self._brake(start, now), TickStatistics(Status.HOLDING)

    def _replay(self, start: StartState, now: float) -> JointTrajectory:
        return self._brake(start, now)

    def _brake(self, start: StartState, now: float) -> JointTrajectory:
        """Brake along a straight line, over at least one stage, so that every plan has an end."""
        dt = self.settings.horizon.dt
        vx, vy, turn = np.abs(start.qvel).tolist()
        slowest = max(math.hypot(vx, vy) / self._braking[0], turn / self._braking[2])
        return formulation.brake_together(start, max(1, math.ceil(slowest / dt - 1e-9)), now, dt, self._width)
