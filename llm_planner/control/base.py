"""The controller of a mobile base: the same programs as the arm's, for three joints that are told velocities.

A base is a robot of three joints: x, y [m] in the map and yaw [rad]. Its wheels come to a commanded velocity with a
lag, so that from a position q and a velocity v it would coast to q + lag v. That point moves exactly as it is told, and
where it has been the base only comes later and never beyond: plans are made for it, zones are kept by it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.constrained import ConstrainedSettings
from llm_planner.control.formulation import Horizon, StartState, Weights
from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.control.limits import LimitShare
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController, MpcSettings, Status, TickStatistics
from llm_planner.control.reference import Array, JointState, JointTrajectory, MotionReference
from llm_planner.control.robots import mobile_base
from llm_planner.errors import InputError
from llm_planner.simulation.panda import RobotLimits
from llm_planner.simulation.rooms.base import BASE_LIMITS

AT_REST = 1e-4  # [m/s, rad/s] braking anew at every tick halves a velocity, and never ends


@dataclass(frozen=True)
class BaseSettings:
    """Everything adjustable; times in s."""

    horizon: Horizon = field(default_factory=lambda: Horizon(0.05, (1, 1, 1, 2, 3, 4, 6, 8, 8)))
    weights: Weights = field(default_factory=lambda: Weights(position=200.0, velocity=0.2))
    speed_share: float = 0.85  # of the base's limits; the rest is for catching up and for braking harder
    acceleration_share: float = 0.7  # of the limit in the plane; each of its two axes has a square root of a half of it
    braking_share: float = 0.9
    resync: float = 0.3  # [m/s, rad/s] measured this far from the plan, it starts again from the measurement
    keep_out: KeepOutSettings = field(default_factory=lambda: KeepOutSettings(margin=0.02, lag=0.02, heed=0.3))


class BaseController(MpcController):
    """Tracks motion references whose poses are T_map_base. Owns no thread and reads no clock but for its statistics."""

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

    def step(
        self,
        state: JointState,
        reference: MotionReference | None,
        now: float,
        constraints: MotionConstraints = FREE,
    ) -> JointTrajectory:
        """The motion from `now` [s], ending at rest: velocities to command, and positions if these were had at once.

        With no reference, or a void one, the base brakes to rest. Raises InputError on a state that is not three finite
        positions and velocities.
        """
        plan = super().step(state, reference, now, constraints)
        return replace(plan, qpos=plan.qpos - self._lead)

    def reset(self) -> None:
        """Forget the plan: the next tick starts from the measured velocity."""
        super().reset()
        self._lead = np.zeros(3)

    def _check_state(self, state: JointState) -> None:
        if any(np.shape(values) != (3,) or not np.isfinite(values).all() for values in (state.qpos, state.qvel)):
            raise InputError(f"a base has three finite positions and velocities, not {state.qpos} and {state.qvel}")

    def _start(self, state: JointState, now: float) -> tuple[StartState, float]:
        """Where the base would coast to, at the velocity last commanded, unless the base moves quite otherwise."""
        self._lead = self._robot.lag * state.qvel
        planned = None if self._plan is None else fallback.sample(self._plan, now)
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
        """To rest straight on; at least one stage, so that every plan has an end."""
        dt = self.settings.horizon.dt
        vx, vy, turn = np.abs(start.qvel).tolist()
        slowest = max(math.hypot(vx, vy) / self._braking[0], turn / self._braking[2])
        return fallback.brake_together(start, max(1, math.ceil(slowest / dt - 1e-9)), now, dt, self._width)
