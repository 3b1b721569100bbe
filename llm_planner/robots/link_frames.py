"""Transforms between the links of a URDF, for joint positions, as robot_state_publisher computes them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass

from llm_planner.robots.arm_urdf import link_of, placed_by, vector_of
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import IDENTITY, Pose, Vector3


@dataclass(frozen=True)
class LinkFrame:
    """Link `child` at `pose`, T_parent_child, in the link `parent`."""

    parent: str
    child: str
    pose: Pose


@dataclass(frozen=True)
class _Joint:
    at_zero: LinkFrame
    axis: Vector3
    slides: bool

    def at(self, position: float) -> LinkFrame:
        x, y, z = self.axis
        if self.slides:
            moved = Pose((position * x, position * y, position * z), IDENTITY)
        else:
            s, c = math.sin(position / 2), math.cos(position / 2)
            moved = Pose((0.0, 0.0, 0.0), (s * x, s * y, s * z, c))
        return LinkFrame(self.at_zero.parent, self.at_zero.child, compose(self.at_zero.pose, moved))


class LinkFrames:
    """Frames of the links of a URDF: `fixed` ones, and those that joints move."""

    def __init__(self, urdf: str) -> None:
        """Parse the text of a URDF; raises InputError for an invalid origin or axis."""
        joints = ElementTree.fromstring(urdf).findall("joint")
        frames = {
            str(joint.get("name")): LinkFrame(
                link_of(joint, "parent"), link_of(joint, "child"), placed_by(joint.find("origin")).pose()
            )
            for joint in joints
        }
        moving = [joint for joint in joints if joint.get("type") != "fixed"]
        self._joints = {
            str(joint.get("name")): _Joint(
                frames.pop(str(joint.get("name"))), _unit(joint), joint.get("type") == "prismatic"
            )
            for joint in moving
        }
        self.fixed = tuple(frames.values())

    def moving(self, positions: Mapping[str, float]) -> list[LinkFrame]:
        """Return the frames of the links that joints move.

        Args:
            positions: Positions of the joints [rad or m]; further names are ignored, and links whose joint is not
                named are left out.
        """
        return [joint.at(positions[name]) for name, joint in self._joints.items() if name in positions]


def _unit(joint: ElementTree.Element) -> Vector3:
    x, y, z = vector_of(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    return (x / length, y / length, z / length) if length else (1.0, 0.0, 0.0)
