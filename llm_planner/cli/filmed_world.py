"""A simulated world that remembers how it looked, so that it can be drawn when the run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_planner.cli.film import FPS, Frame

if TYPE_CHECKING:
    from llm_planner.control.reference import JointState, JointTrajectory
    from llm_planner.skills.contract import Observation
    from llm_planner.skills.episode import EpisodeWorld


class FilmedWorld:
    """Does what `world` does, and keeps a frame for every `1 / FPS` s of its time."""

    def __init__(self, world: EpisodeWorld) -> None:
        self.world = world
        self.frames: list[Frame] = []

    @property
    def time(self) -> float:
        return self.world.time

    def observation(self) -> Observation:
        return self.world.observation()

    def joint_state(self) -> JointState:
        return self.world.joint_state()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the world, and keep a frame when one is due."""
        self.world.follow(trajectory, duration)
        if not self.frames or self.world.time >= self.frames[-1].time + 1 / FPS - 1e-6:
            self.frames.append(self.frame())

    def frame(self) -> Frame:
        """How the world looks now."""
        seen = self.world.observation()
        return Frame(seen.time, seen.qpos, seen.gripper_width, seen.scene)
