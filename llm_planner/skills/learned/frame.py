"""The frame that a learned skill sees and acts in: at its aim, with x along the direction that counts there.

The robot turns about its base's axis, so seen from there the same things look the same all around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from llm_planner.skills.aim import Aim
from llm_planner.skills.gripper_shape import Grip, wrap
from llm_planner.world.scene import Vector3

Place = tuple[float, float, float, float]  # x, y, z [m] and turn [rad] of a hand in a frame


@dataclass(frozen=True)
class Frame:
    """`origin` [m] and `heading` [rad] in the base frame; `turn` [rad] is the aim's against its azimuth.

    A hand's turn is counted against the direction from the base to the hand, which its wrist does not feel.
    """

    origin: Vector3
    heading: float
    turn: float

    def to_frame(self, point: Vector3) -> Vector3:
        """A point of the base frame [m]."""
        dx, dy = point[0] - self.origin[0], point[1] - self.origin[1]
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx, point[2] - self.origin[2]

    def place_of(self, hand: Grip) -> Place:
        """The hand as this frame has it."""
        turn = wrap(hand.yaw - math.atan2(hand.y, hand.x)) - self.turn
        return (*self.to_frame((hand.x, hand.y, hand.z)), turn)

    def grip_at(self, place: Place) -> Grip:
        """The inverse of `place_of`."""
        x, y, z, turn = place
        c, s = math.cos(self.heading), math.sin(self.heading)
        bx, by = self.origin[0] + c * x - s * y, self.origin[1] + s * x + c * y
        return Grip(bx, by, self.origin[2] + z, turn + self.turn + math.atan2(by, bx))


def frame_of(aim: Aim) -> Frame:
    """At the aim's grip."""
    grip = aim.grip
    azimuth = math.atan2(grip.y, grip.x)
    heading = azimuth if aim.heading is None else aim.heading
    return Frame((grip.x, grip.y, grip.z), heading, wrap(grip.yaw - azimuth))
