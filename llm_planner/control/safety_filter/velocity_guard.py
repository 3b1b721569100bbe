"""Between wanted velocities and a robot that is told velocities, such as a mobile base."""

from __future__ import annotations

import numpy as np

from llm_planner.control.limits import LimitShare
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array, JointState
from llm_planner.control.safety_filter.robots import base_body
from llm_planner.control.safety_filter.safety_filter import Filtered, FilterSettings, SafetyFilter
from llm_planner.simulation.rooms.base import BASE_LIMITS, MOTOR_LAG

HOLD = 0.02  # [s] at the longest between two commands that count on each other


class VelocityGuard:
    """Makes velocities safe by bounding how they change. Owns no thread and reads no clock."""

    def __init__(self, safety: SafetyFilter, lag: float = 0.0, silence: float = 0.25, timeout: float = 0.0) -> None:
        """`lag` [s] in which the robot does about two thirds of a change; `silence` [s] that ends what is wanted;
        `timeout` [s] for which the robot goes on with the last velocity when no other comes, before it brakes.
        """
        nq = safety.limits.nq
        self.filtered = Filtered(np.zeros(nq))
        self._safety, self._lag, self._silence, self._timeout = safety, lag, silence, timeout
        self._wanted, self._heard = np.zeros(nq), -np.inf
        self._velocity, self._last = np.zeros(nq), -np.inf

    def hear(self, velocity: Array, now: float) -> None:
        """What is wanted (nq,) from `now` [s] on; a number that is not finite wants rest."""
        self._wanted, self._heard = (velocity if np.isfinite(velocity).all() else 0.0 * self._velocity), now

    def forget(self) -> None:
        """The robot was restarted: it stands still, and nothing is wanted of it."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf
        self._velocity, self._last = 0.0 * self._velocity, -np.inf

    def brake(self) -> None:
        """Nothing is wanted any more: the coming steps bring the robot to rest."""
        self._wanted, self._heard = 0.0 * self._wanted, -np.inf

    def rests(self, now: float) -> bool:
        """Whether the robot stands still, and is to."""
        return not self._velocity.any() and (now > self._heard + self._silence or not self._wanted.any())

    def step(self, state: JointState, now: float, constraints: MotionConstraints) -> Array:
        """The velocity to command at `now` [s] (nq,). Raises InputError for a state that is not finite.

        What the robot was told and has not done yet counts as done: it ends up `lag` times its velocity farther on. So
        does what it does until `timeout`, if no other velocity comes.
        """
        self._safety.check(state.qpos, state.qvel)
        wanted = self._wanted if now <= self._heard + self._silence else np.zeros_like(self._wanted)
        elapsed = min(max(now - self._last, 1e-3), HOLD)
        ahead = state.qpos + self._lag * state.qvel
        change = (wanted - self._velocity) / elapsed
        self.filtered = self._safety.filter(
            ahead + self._timeout * self._velocity, self._velocity, change, constraints, HOLD
        )
        faster = self._velocity + elapsed * self.filtered.qacc
        if self._timeout > 0.0 and (np.abs(faster) > np.abs(self._velocity)).any():
            self.filtered = self._safety.filter(
                ahead + self._timeout * faster, self._velocity, change, constraints, HOLD
            )
        kept = not self.filtered.changed
        self._velocity = np.array(wanted) if kept else self._velocity + elapsed * self.filtered.qacc
        self._velocity[np.abs(self._velocity) < 1e-6] = 0.0
        self._last = now
        return np.array(self._velocity)


def base_guard(timeout: float = 0.0) -> VelocityGuard:
    """That of the mobile robot that comes with the package, which brakes `timeout` [s] after the last velocity."""
    share = LimitShare(velocity=1.0, acceleration=1.0, braking=0.8, position_margin=0.0)
    settings = FilterSettings(share=share, top_speed=float(BASE_LIMITS.qvel_max[0]))
    return VelocityGuard(SafetyFilter(base_body(), BASE_LIMITS, settings), MOTOR_LAG, timeout=timeout)
