"""The object that the robot carries, modelled as a solid fixed to the gripper point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.scene.geometry import UNKNOWN_SIZE
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import LARGEST, SIZES, Shape


@dataclass(frozen=True)
class Carried:
    """Solid held by the gripper at `pose`, T_gripper_object; `size` [m] has the meaning that it has for a zone.

    Raises:
        InputError: The size does not fit the shape, or the pose is not a finite position and rotation.
    """

    shape: Shape
    size: tuple[float, ...]
    pose: Pose

    def __post_init__(self) -> None:
        wanted = SIZES[self.shape]
        if len(self.size) != wanted or not all(math.isfinite(half) and 0 < half <= LARGEST for half in self.size):
            raise InputError(
                f"what is carried is a {self.shape.value}, which has {wanted} half sizes between 0 and {LARGEST:g} m, "
                f"not {self.size}"
            )
        norm = math.hypot(*self.pose.orientation)
        if not all(map(math.isfinite, self.pose.position)) or not abs(norm - 1.0) <= 0.01:
            raise InputError(f"the pose of what is carried is not a finite position and rotation: {self.pose}")


def carried_at(robot: Pose, thing: Pose, size: tuple[float, float, float]) -> Carried:
    """Express an object at `thing` as a box of full extents `size` [m] fixed to a gripper at `robot`, same frame."""
    inverse, relative = (np.zeros(3), np.zeros(4)), (np.zeros(3), np.zeros(4))
    mujoco.mju_negPose(*inverse, np.array(robot.position), _w_first(robot))
    mujoco.mju_mulPose(*relative, *inverse, np.array(thing.position), _w_first(thing))
    (x, y, z), (qw, qx, qy, qz) = relative[0].tolist(), relative[1].tolist()
    return Carried(Shape.BOX, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), Pose((x, y, z), (qx, qy, qz, qw)))


def _w_first(pose: Pose) -> NDArray[np.float64]:
    x, y, z, w = pose.orientation
    return np.array([w, x, y, z])


MOVED = 0.003  # [m] shift of the object in the grip that counts as a change
TURNED = 0.02  # distance between quaternions that counts as a change, about half the angle in rad


class Grip:
    """Tracker of the carried object, `carried`, over successive scenes. Not thread-safe.

    The last known object stays in place while the robot's pose is unknown or the scene does not show the held object.
    Without a last known object, a held object that the scene does not show is a box of `UNKNOWN_SIZE` around the hand.
    """

    def __init__(self) -> None:
        self.carried: Carried | None = None

    def see(self, scene: Scene) -> bool:
        """Update from `scene` and return whether the object or its pose in the grip has changed.

        Raises the InputError of `Carried`.
        """
        if scene.held and (scene.robot is None or (scene.held not in scene.names and self.carried is not None)):
            return False
        now = carried_in(scene)
        if not _is_changed(self.carried, now):
            return False
        self.carried = now
        return True


def _is_changed(before: Carried | None, now: Carried | None) -> bool:
    if before is None or now is None:
        return before is not now
    if (before.shape, before.size) != (now.shape, now.size):
        return True
    turned = min(math.dist(before.pose.orientation, [sign * part for part in now.pose.orientation]) for sign in (1, -1))
    return math.dist(before.pose.position, now.pose.position) > MOVED or turned > TURNED


def carried_in(scene: Scene) -> Carried | None:
    """Return the bounding box of the object held in `scene`; None if nothing is held or the robot's pose is unknown.

    A held object that the scene does not show becomes a box of `UNKNOWN_SIZE` around the hand.
    """
    if not scene.held or scene.robot is None:
        return None
    if scene.held not in scene.names:
        return carried_at(scene.robot, scene.robot, UNKNOWN_SIZE)
    thing = scene.find(scene.held)
    return carried_at(scene.robot, Pose(thing.position, thing.orientation), thing.size)
