"""Between plans and a world that is stepped in this process: each robot's safety filter, as its node has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.carried import Carried
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array, JointTrajectory
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import panda_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.control.safety_filter.velocity_guard import HOLD, base_guard
from llm_planner.simulation.panda import PANDA_LIMITS

ENDED = 1e-6  # [s] that is no time left

if TYPE_CHECKING:
    from llm_planner.skills.episode import EpisodeWorld


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
            self._guard.hear(fallback.sample(trajectory, now + hold).qvel, now)
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
