"""A gripper moved along straight lines, for tests of the physics that must not depend on the controller."""

from collections.abc import Callable

import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.simulation.objects import KINDS
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

KNOT = 0.02  # [s]


class Hand:
    """Moves the gripper, pointing down, by smooth joint trajectories, and keeps the width it was told last."""

    def __init__(self, world: World) -> None:
        self.world, self.width = world, 0.08
        self._arm = PANDA.kinematics()
        self._qpos = np.array(PANDA.home)

    def move(self, target: np.ndarray, yaw: float = 0.0, seconds: float = 1.5, width: float | None = None) -> None:
        """Goes straight to `target` (3,) [m] with the fingers closing along the axis at `yaw` + 90 degrees."""
        self.width = self.width if width is None else width
        n = round(seconds / KNOT)
        s = np.linspace(0.0, 1.0, n + 1)
        start, rotation = self._arm.forward(self._qpos)
        turn = _turn(rotation, yaw)
        knots = [self._qpos]
        for share in 10 * s**3 - 15 * s**4 + 6 * s**5:
            goal = start + share * (np.asarray(target) - start)
            knots.append(self._track(knots[-1], goal, _rotate(rotation, share * turn)))
        self._follow(np.array(knots[1:]))

    def wait(self, seconds: float = 0.5, width: float | None = None) -> None:
        self.width = self.width if width is None else width
        self._follow(np.tile(self._qpos, (round(seconds / KNOT) + 1, 1)))

    def grasp(self, name: str, seconds: float = 1.5) -> None:
        """Takes the object by its first grasp and lifts it by 15 cm."""
        item = self.world.scene().find(name)
        grasp = KINDS[item.kind].grasps[0]
        heading = 2 * np.arctan2(item.orientation[2], item.orientation[3])
        c, s = np.cos(heading), np.sin(heading)
        x, y, z = grasp.point
        point = np.array(item.position) + np.array([c * x - s * y, s * x + c * y, z])
        yaw = (heading + grasp.yaw) % np.pi - np.pi / 2  # either finger may be the left one
        above = point + np.array([0.0, 0.0, 0.15])
        self.move(above, yaw, 2.0, width=0.08)
        self.move(point, yaw, seconds)
        self.wait(width=0.0)
        self.move(above, yaw, seconds)

    def _track(self, qpos: np.ndarray, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        for _ in range(4):
            now, frame, jacobian = self._arm.jacobian(qpos)
            tilt = 0.5 * sum(np.cross(frame[:, k], rotation[:, k]) for k in range(3))
            qpos = qpos + jacobian.T @ np.linalg.solve(
                jacobian @ jacobian.T + 1e-6 * np.eye(6), np.concatenate([position - now, tilt])
            )
        return qpos

    def _follow(self, qpos: np.ndarray) -> None:
        qvel = np.gradient(qpos, KNOT, axis=0)
        qvel[0] = qvel[-1] = 0.0
        qacc = np.diff(qvel, axis=0) / KNOT
        trajectory = JointTrajectory(self.world.time, KNOT, qpos, qvel, qacc, self.width)
        self._qpos = qpos[-1]
        for _ in range(2 * len(qacc)):
            self.world.follow(trajectory, KNOT / 2)


def _turn(rotation: np.ndarray, yaw: float) -> float:
    """Angle about z from the hand's present yaw to the wanted one."""
    angle = yaw - np.arctan2(rotation[1, 0], rotation[0, 0])
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def _rotate(rotation: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation


@pytest.fixture
def hand() -> Callable[[World], Hand]:
    """Makes the hand of a world."""
    return Hand
