"""A skill's motion in joint space: inverse kinematics once for each new pose of a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.control.inverse_kinematics import IkSolution, InverseKinematics
from llm_planner.control.reference import Array, MotionReference
from llm_planner.errors import InputError
from llm_planner.world.scene import Pose

MAX_POSES = 1000


@dataclass(frozen=True)
class JointReference:
    """Where the joints should be: `qpos` (n, nq) [rad] at `start_time + k * dt` [s]; the end values hold outside.

    `position_error` [m] is the largest distance that inverse kinematics left between a pose and what the arm reaches.
    """

    start_time: float
    dt: float
    qpos: Array
    position_error: float

    def sample(self, times: Array) -> tuple[Array, Array]:
        """Positions and velocities at `times` (m,) [s], each (m, nq), linear between the given positions."""
        last = len(self.qpos) - 1
        if last == 0:
            return np.repeat(self.qpos, len(times), axis=0), np.zeros((len(times), self.qpos.shape[1]))
        place = np.clip((times - self.start_time) / self.dt, 0.0, last)
        index = np.minimum(place.astype(np.int64), last - 1)
        change = self.qpos[index + 1] - self.qpos[index]
        moving = (place > 0.0) & (place < last)
        qpos = self.qpos[index] + (place - index)[:, None] * change
        return qpos, change * (moving / self.dt)[:, None]


class ReferenceTranslator:
    """Turns gripper poses into joint positions, reusing what the previous reference already had.

    A skill streams overlapping pieces of one path, so most poses of a piece were in the last one. Each new pose is
    searched from its neighbour, which keeps the arm in one posture.
    """

    def __init__(self, inverse_kinematics: InverseKinematics) -> None:
        self._ik = inverse_kinematics
        self._known: dict[Pose, IkSolution] = {}
        self._reference: MotionReference | None = None
        self._translated: JointReference | None = None

    def translate(self, reference: MotionReference, start: Array) -> JointReference:
        """The joint positions for `reference`, starting from the arm at `start` (nq,) [rad]."""
        if reference is self._reference and self._translated is not None:
            return self._translated
        check_reference(reference)
        known: dict[Pose, IkSolution] = {}
        qpos = start
        for pose in reference.poses:
            solution = known.get(pose) or self._known.get(pose) or self._ik.solve(pose, qpos)
            known[pose] = solution
            qpos = solution.qpos
        self._known = known
        self._reference = reference
        self._translated = JointReference(
            reference.start_time,
            reference.dt,
            np.array([known[pose].qpos for pose in reference.poses]),
            max(solution.position_error for solution in known.values()),
        )
        return self._translated

    def forget(self) -> None:
        """Drop everything known; the next reference is searched afresh from where the arm is."""
        self._known, self._reference, self._translated = {}, None, None


def check_reference(reference: MotionReference) -> None:
    """Raises InputError that says what is wrong with a reference; nothing may move on a wrong one."""
    if not 1 <= len(reference.poses) <= MAX_POSES:
        raise InputError(f"a motion reference needs 1 to {MAX_POSES} poses, not {len(reference.poses)}")
    numbers = [number for pose in reference.poses for number in (*pose.position, *pose.orientation)]
    if len(numbers) != 7 * len(reference.poses):
        raise InputError("every pose of a motion reference needs 3 numbers of position and 4 of orientation")
    values = np.array([*numbers, reference.start_time, reference.gripper_width, reference.valid_for], dtype=float)
    if not np.isfinite(values).all():
        raise InputError("a motion reference holds a number that is not finite; send finite poses, times and width")
    norms = np.linalg.norm(values[: len(numbers)].reshape(-1, 7)[:, 3:], axis=1)
    if np.abs(norms - 1.0).max() > 0.01:
        raise InputError(f"orientations must be unit quaternions (x, y, z, w); one has the norm {norms.max():.3g}")
    if not 0.001 <= reference.dt <= 10.0:
        raise InputError(f"a motion reference's dt must lie between 0.001 and 10 s, not {reference.dt}")
    if not 0.0 < reference.speed_scale <= 1.0:
        raise InputError(f"speed_scale must lie in (0, 1], not {reference.speed_scale}")
    if reference.gripper_width < 0.0:
        raise InputError(f"gripper_width must not be negative, not {reference.gripper_width} m")
