"""Validation of the controller's inputs: implausible states, a lost state stream, and expired references.

Callers pass the wall time, because the robot's own clock cannot show that it has stopped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array, JointState, MotionReference
from llm_planner.scene.scene import Pose

FASTER_THAN_WALL = 10.0  # largest real-time factor of a simulator
MAGNITUDE_MAX = 1e4  # [rad, m, rad/s, m/s] for numbers of a state, beyond any robot
MAX_POSES = 1000  # of a reference


@dataclass(frozen=True)
class Expected:
    """Expected properties of a robot's states.

    `velocity` (nq,) [rad/s, m/s] is the largest of each joint. `turning` lists joints whose position is modulo a turn.
    """

    velocity: Array
    turning: tuple[int, ...] = ()
    silence: float = 1.0  # [s of wall time] without a newer state after which the stream counts as lost
    leap: float = 0.5  # [s] that the robot's clock may run ahead of the wall clock
    jump: float = 0.1  # [rad, m] tolerance beyond the distance that the joints can move


@dataclass(frozen=True)
class ValidationResult:
    """Reason to doubt a state, "" for none, and whether the state can still serve as the robot's position."""

    reason: str
    usable: bool = False


NO_DOUBT = ValidationResult("", usable=True)


class InputValidator:
    """Validator that compares each state with the previous one."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._last: JointState | None = None
        self._heard = -math.inf  # wall time of the last state that was newer than the one before

    def look(self, state: JointState, wall: float) -> ValidationResult:
        """Check that `state`, received at wall time `wall` [s], is valid and consistent with the previous state."""
        unreadable = self._unreadable(state)
        if unreadable:
            return ValidationResult(unreadable)
        last, heard = self._last, self._heard
        self._last = state
        if last is None or state.time != last.time:
            self._heard = wall
        if last is None:
            return NO_DOUBT
        leapt = self._clock_leapt(state.time - last.time, wall - heard)
        jumped = "" if leapt else self._joints_jumped(last, state)
        return ValidationResult(leapt or jumped, usable=not jumped)

    def silence(self, wall: float) -> float:
        """Return the wall time since the last newer state [s]; infinite before the first state."""
        return wall - self._heard

    def silent(self, wall: float) -> str:
        """Describe the loss of the state stream at `wall` [s]; "" if it is not lost, or before the first state."""
        if not self._expected.silence < self.silence(wall) < math.inf:
            return ""
        return f"the robot's states have stopped: nothing newer for {self._expected.silence:g} s"

    def _unreadable(self, state: JointState) -> str:
        nq = len(self._expected.velocity)
        for name, values in (("positions", state.qpos), ("velocities", state.qvel)):
            if np.shape(values) != (nq,):
                return f"the robot's state has {np.size(values)} {name} instead of {nq}"
            if not np.isfinite(values).all():
                return f"the {name} in the robot's state are not all finite: {np.array2string(values, precision=3)}"
            if np.abs(values).max() > MAGNITUDE_MAX:
                told = np.array2string(values, precision=3)
                return f"the {name} in the robot's state lie beyond {MAGNITUDE_MAX:g}: {told}"
        if not math.isfinite(state.time):
            return f"the time of the robot's state is {state.time}"
        return ""

    def _clock_leapt(self, elapsed: float, wall_elapsed: float) -> str:
        if elapsed < 0:
            return f"the robot's clock went back by {-elapsed:.3g} s"
        if elapsed > self._expected.leap + FASTER_THAN_WALL * wall_elapsed:
            return f"the robot's clock leapt ahead by {elapsed:.3g} s"
        return ""

    def _joints_jumped(self, last: JointState, state: JointState) -> str:
        expected = self._expected
        moved = state.qpos - last.qpos
        for joint in expected.turning:
            moved[joint] = math.remainder(moved[joint], math.tau)
        reach = expected.jump + 1.5 * expected.velocity * (state.time - last.time)
        worst = int(np.argmax(np.abs(moved) - reach))
        if abs(moved[worst]) > reach[worst]:
            elapsed = 1e3 * (state.time - last.time)
            return f"joint {worst + 1} of the robot jumped by {abs(moved[worst]):.2f} in {elapsed:.0f} ms"
        worst = int(np.argmax(np.abs(state.qvel) / expected.velocity))
        if abs(state.qvel[worst]) > 3.0 * expected.velocity[worst]:
            fastest = expected.velocity[worst]
            return (
                f"joint {worst + 1} of the robot claims the speed {state.qvel[worst]:.2f}; its limit is {fastest:.2f}"
            )
        return ""


AHEAD = 0.5  # [s] largest lead of a reference's first pose over the present time
LONGEST_VALID = 2.0  # [s]
STALE_FOR = AHEAD + LONGEST_VALID  # [s] after which every reference has expired, whatever its stamp


def reference_objection(reference: MotionReference, now: float, since: float) -> str:
    """Explain why `reference` is rejected at `now` [s]; "" if it is accepted.

    `since` [s] is the start of the robot's clock.
    """
    if not (math.isfinite(reference.start_time) and reference.start_time <= now + AHEAD):
        return f"a reference begins {reference.start_time - now:.2f} s from now; {AHEAD:g} s is the most"
    if reference.start_time < since - AHEAD:
        return "a reference is from before the robot was started"
    if not 0 < reference.valid_for <= LONGEST_VALID:
        return f"a reference claims to hold for {reference.valid_for:g} s; {LONGEST_VALID:g} s is the most"
    if now > reference.start_time + reference.valid_for:
        return f"a reference came {now - reference.start_time - reference.valid_for:.2f} s after its end"
    try:
        check_reference(reference)
    except InputError as error:
        return str(error)
    return ""


def check_reference(reference: MotionReference) -> None:
    """Raise InputError if a field or a pose of `reference` is invalid."""
    if not 1 <= len(reference.poses) <= MAX_POSES:
        raise InputError(f"a motion reference needs 1 to {MAX_POSES} poses, not {len(reference.poses)}")
    for name in ("start_time", "dt", "gripper_width", "valid_for", "speed_scale"):
        if not math.isfinite(getattr(reference, name)):
            raise InputError(f"the motion reference's {name} is not a finite number: {getattr(reference, name)}")
    if not 0.001 <= reference.dt <= 10.0:
        raise InputError(f"a motion reference's dt must lie between 0.001 and 10 s, not {reference.dt}")
    if not 0.0 < reference.speed_scale <= 1.0:
        raise InputError(f"speed_scale must lie in (0, 1], not {reference.speed_scale}")
    if reference.gripper_width < 0.0:
        raise InputError(f"gripper_width must not be negative, not {reference.gripper_width} m")
    for pose in reference.poses:
        check_pose(pose)


def check_pose(pose: Pose) -> None:
    """Raise InputError if `pose` has a wrong size, a number that is not finite, or a quaternion that is not a unit."""
    if len(pose.position) != 3 or len(pose.orientation) != 4:
        raise InputError("every pose of a motion reference needs 3 numbers of position and 4 of orientation")
    if not all(map(math.isfinite, (*pose.position, *pose.orientation))):
        raise InputError(f"a pose of the motion reference holds a number that is not finite: {pose}")
    norm = math.hypot(*pose.orientation)
    if abs(norm - 1.0) > 0.01:
        raise InputError(f"orientations must be unit quaternions (x, y, z, w); one has the norm {norm:.3g}")
