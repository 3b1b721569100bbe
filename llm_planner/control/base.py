"""The controller of a mobile base: tracks where the base should be, within its limits, and always ends at rest.

A base is a robot of three joints: x, y [m] in the map and yaw [rad]. What it is told is a velocity, so a plan is the
velocity that closes in on the reference, cut to what the limits allow, followed by braking.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import KEEP_WIDTH, Status, TickStatistics
from llm_planner.control.reference import Array, JointState, JointTrajectory, MotionReference
from llm_planner.errors import InputError
from llm_planner.simulation.panda import RobotLimits
from llm_planner.simulation.rooms.base import BASE_LIMITS, MOTOR_LAG, yaw_of


@dataclass(frozen=True)
class BaseSettings:
    """Everything adjustable; times in s."""

    dt: float = 0.02  # of the stages of a plan
    tracking: float = 0.1  # planned ahead towards the reference, before braking: the longest time between two ticks
    gain: float = 2.5  # [1/s] of the velocity that makes up for an error
    speed_share: float = 0.85  # of the base's limits; the rest is for catching up and for braking harder
    acceleration_share: float = 0.5
    braking_share: float = 0.9
    resync: float = 0.3  # [m/s, rad/s] measured this far from the plan, it starts again from the measurement


class BaseController:
    """Tracks motion references whose poses are T_map_base. Owns no thread and reads no clock but for its statistics."""

    def __init__(
        self,
        settings: BaseSettings | None = None,
        robot: RobotLimits = BASE_LIMITS,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.settings = settings or BaseSettings()
        self.statistics = TickStatistics(Status.HOLDING)
        self._robot = robot
        self._clock = clock
        self._plan: JointTrajectory | None = None

    def step(
        self,
        state: JointState,
        reference: MotionReference | None,
        now: float,
        constraints: MotionConstraints = FREE,
    ) -> JointTrajectory:
        """The motion from `now` [s], ending at rest, at the speeds that `constraints` allow.

        With no reference, or a void one, the base brakes to rest. Raises InputError on a state that is not three finite
        positions and velocities.
        """
        began = self._clock()
        if any(np.shape(values) != (3,) or not np.isfinite(values).all() for values in (state.qpos, state.qvel)):
            raise InputError(f"a base has three finite positions and velocities, not {state.qpos} and {state.qvel}")
        start = StartState(state.qpos, self._velocity(state, now), np.zeros(3))
        if reference is None or now > reference.start_time + reference.valid_for:
            status = Status.BRAKING if start.qvel.any() else Status.HOLDING
            width = KEEP_WIDTH if self._plan is None else self._plan.gripper_width
            plan = self._rollout(start, [], now, width)
        else:
            status = Status.TRACKING
            share = reference.speed_scale * constraints.joint_share
            fastest = min(self.settings.speed_share * share * float(self._robot.qvel_max[0]), constraints.speed)
            plan = self._rollout(start, self._wanted(reference, now), now, reference.gripper_width, fastest)
        self._plan = plan
        self.statistics = TickStatistics(status, tick_time=self._clock() - began)
        return plan

    def reset(self) -> None:
        """Forget the plan: the next tick starts from the measured velocity."""
        self._plan = None
        self.statistics = TickStatistics(Status.HOLDING)

    def _velocity(self, state: JointState, now: float) -> Array:
        """What was last commanded, so that commands stay continuous, unless the base moves quite otherwise."""
        if self._plan is None:
            return state.qvel
        planned = fallback.sample(self._plan, now).qvel
        return planned if np.abs(planned - state.qvel).max() <= self.settings.resync else state.qvel

    def _wanted(self, reference: MotionReference, now: float) -> list[tuple[float, float, float, float, float]]:
        """For each stage x, y, yaw of the reference [m, rad] and its velocity [m/s], ahead by the motors' lag."""
        poses, settings = reference.poses, self.settings
        wanted = []
        for k in range(round(settings.tracking / settings.dt)):
            place = (now + (k + 1) * settings.dt + MOTOR_LAG - reference.start_time) / reference.dt
            index = min(max(int(place), 0), len(poses) - 1)
            after = min(index + 1, len(poses) - 1)
            share = min(max(place - index, 0.0), 1.0)
            (ax, ay, _), (bx, by, _) = poses[index].position, poses[after].position
            vx, vy = (bx - ax) / reference.dt, (by - ay) / reference.dt
            # The position wanted now, not that of the lag ahead.
            x, y = ax + share * (bx - ax) - vx * MOTOR_LAG, ay + share * (by - ay) - vy * MOTOR_LAG
            wanted.append((x, y, yaw_of(poses[after]), vx, vy))
        return wanted

    def _rollout(
        self,
        start: StartState,
        wanted: list[tuple[float, float, float, float, float]],
        now: float,
        width: float,
        speed: float = 0.0,
    ) -> JointTrajectory:
        """Towards what is wanted at `speed` [m/s] at most, stage by stage, and then braking to rest."""
        settings, dt = self.settings, self.settings.dt
        x, y, yaw = start.qpos.tolist()
        vx, vy, turn = start.qvel.tolist()
        step = settings.acceleration_share * float(self._robot.qacc_max[0]) * dt
        turn_step = settings.acceleration_share * float(self._robot.qacc_max[2]) * dt
        qacc = []
        for goal_x, goal_y, goal_yaw, ahead_x, ahead_y in wanted:
            wish = (ahead_x + settings.gain * (goal_x - x), ahead_y + settings.gain * (goal_y - y))
            dvx, dvy = _shortened(_sub(_shortened(wish, speed), (vx, vy)), step)
            wish_turn = self._turn(math.remainder(goal_yaw - yaw, math.tau), turn_step / dt)
            dturn = min(max(wish_turn - turn, -turn_step), turn_step)
            x, y, yaw = x + dt * (vx + dvx / 2), y + dt * (vy + dvy / 2), yaw + dt * (turn + dturn / 2)
            vx, vy, turn = vx + dvx, vy + dvy, turn + dturn
            qacc.append((dvx / dt, dvy / dt, dturn / dt))
        qacc += self._braking((vx, vy), turn)
        return fallback.integrate(start, np.array(qacc), now, dt, width)

    def _turn(self, error: float, acceleration: float) -> float:
        """The turning speed that still comes to rest at the wanted yaw [rad/s]."""
        fastest = self.settings.speed_share * float(self._robot.qvel_max[2])
        speed = min(fastest, self.settings.gain * abs(error), 0.8 * math.sqrt(2 * acceleration * abs(error)))
        return math.copysign(speed, error)

    def _braking(self, velocity: tuple[float, float], turn: float) -> list[tuple[float, float, float]]:
        """Accelerations to rest, straight on; at least one stage, so that every plan has an end."""
        dt, share = self.settings.dt, self.settings.braking_share
        limits = share * self._robot.qacc_max
        stages = max(1, math.ceil(max(math.hypot(*velocity) / limits[0], abs(turn) / limits[2]) / dt - 1e-9))
        return [(-velocity[0] / (stages * dt), -velocity[1] / (stages * dt), -turn / (stages * dt))] * stages


def _sub(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a[0] - b[0], a[1] - b[1]


def _shortened(vector: tuple[float, float], length: float) -> tuple[float, float]:
    """The vector, no longer than `length`."""
    present = math.hypot(*vector)
    return vector if present <= length else (vector[0] * length / present, vector[1] * length / present)
