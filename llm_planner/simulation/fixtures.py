"""What stands on the table for good, while the world is stepped: where it is, and what has been done to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.stains import left_at, stain_points, touched
from llm_planner.world.geometry import rotation_matrix
from llm_planner.world.predicates import BUTTON, STAIN
from llm_planner.world.scene import Pose, Vector3

if TYPE_CHECKING:
    import mujoco

LIT_AT = 0.6  # share of its way that a cap has to be pressed
LOOK = 10  # physics steps from one look at what touches furniture to the next


class Fixture:
    """One piece of furniture in a model. Its state is as in `SceneObject`.

    `done` is what MuJoCo's data do not hold: which points of a stain are left, whether a lamp is lit.
    """

    def __init__(self, model: mujoco.MjModel, item: ObjectSpec) -> None:
        self._item, self._kind = item, item.shape
        self._mocap = int(model.body(item.name).mocapid[0])
        self._slide = int(model.joint(item.name).qposadr[0]) if self._kind.sliding else -1
        self.done: NDArray[np.bool_] = np.zeros(1, dtype=bool)

    def place(self, data: mujoco.MjData, pose: Pose, state: float) -> None:
        """Puts the middle of its box there, in that state."""
        x, y, z, w = pose.orientation
        base = _beside(pose, self._kind.middle_at(-state))
        data.mocap_pos[self._mocap], data.mocap_quat[self._mocap] = base.position, (w, x, y, z)
        if self._kind.opens:
            data.qpos[self._slide] = state
        is_stain = self._item.kind == STAIN
        self.done = left_at(self._kind.size, state) if is_stain else np.array([state >= 1.0])

    def state(self, data: mujoco.MjData) -> float:
        """See `SceneObject`."""
        return float(data.qpos[self._slide]) if self._kind.opens else float(self.done.mean())

    def pose(self, data: mujoco.MjData) -> Pose:
        """Of the middle of its box."""
        return _beside(self._base(data), self._kind.middle_at(self.state(data)))

    def size(self, data: mujoco.MjData) -> Vector3:
        """The extents of its box [m]."""
        return self._kind.size_at(self.state(data))

    def see(self, model: mujoco.MjModel, data: mujoco.MjData, wiping: NDArray[np.intp]) -> None:
        """What has been done to it since the last look; the geoms `wiping` take away what they pass."""
        if self._item.kind == BUTTON and self._kind.sliding:
            self.done = self.done | (data.qpos[self._slide] >= LIT_AT * self._kind.sliding.travel)
        elif self._item.kind == STAIN and self.done.any():
            self.done = self.done & ~touched(self._points(data), model, data, wiping)

    def _base(self, data: mujoco.MjData) -> Pose:
        (x, y, z), (qw, qx, qy, qz) = data.mocap_pos[self._mocap].tolist(), data.mocap_quat[self._mocap].tolist()
        return Pose((x, y, z), (qx, qy, qz, qw))

    def _points(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Of a stain, on the table top (n, 3) [m]."""
        base = self._base(data)
        flat = stain_points(self._kind.size) @ np.array(rotation_matrix(base.orientation))[:2, :2].T
        return np.column_stack([flat + base.position[:2], np.zeros(len(flat))])


def _beside(pose: Pose, offset: Vector3) -> Pose:
    """The same orientation, `offset` [m] away in its own frame."""
    x, y, z = (sum(a * b for a, b in zip(row, offset, strict=True)) for row in rotation_matrix(pose.orientation))
    px, py, pz = pose.position
    return Pose((px + x, py + y, pz + z), pose.orientation)
