"""The object that the robot carries, modelled as a solid fixed to the gripper point."""

from __future__ import annotations

import math
from dataclasses import dataclass

from llm_planner.scene.geometry import UNKNOWN_SIZE, compose, inverse
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Shape, check_solid


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
        check_solid("what is carried", self.shape, self.size, self.pose)


def carried_at(robot: Pose, thing: Pose, size: tuple[float, float, float]) -> Carried:
    """Express an object at `thing` as a box of full extents `size` [m] fixed to a gripper at `robot`, same frame."""
    return Carried(Shape.BOX, (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]), compose(inverse(robot), thing))


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
