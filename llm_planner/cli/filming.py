"""Pictures of a run: what the world was like ten times a second, drawn when the run is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_planner.control.reference import JointState, JointTrajectory
    from llm_planner.simulation.camera import Image, SceneRenderer
    from llm_planner.simulation.world import World
    from llm_planner.skills.contract import Observation
    from llm_planner.world.scene import Scene

FRAMES_PER_SECOND = 10.0


@dataclass(frozen=True)
class Frame:
    """One moment: arm joints [rad], distance between the fingertips [m] and the scene."""

    qpos: tuple[float, ...]
    gripper_width: float
    scene: Scene


class Film:
    """A world that remembers how it looked; otherwise it does what the world does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.frames: list[Frame] = []
        self._next_frame = 0.0

    @property
    def time(self) -> float:
        return self.world.time

    def observation(self) -> Observation:
        return self.world.observation()

    def joint_state(self) -> JointState:
        return self.world.joint_state()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the world, and remember a frame when one is due."""
        self.world.follow(trajectory, duration)
        if self.world.time >= self._next_frame:
            self.frames.append(self.frame())
            self._next_frame = self.world.time + 1 / FRAMES_PER_SECOND - 1e-6

    def frame(self) -> Frame:
        """How the world looks now."""
        observation = self.world.observation()
        return Frame(observation.qpos, observation.gripper_width, observation.scene)


def write_film(film: Film, video: Path | None, picture: Path | None) -> None:
    """Draw and write what is asked for; raises SimulationError where nothing can be drawn."""
    if video is None and picture is None:
        return
    from llm_planner.simulation.camera import SceneRenderer
    from llm_planner.simulation.recording import write_picture, write_video

    with SceneRenderer(film.world.objects) as renderer:
        if video is not None:
            write_video(video, _drawn(renderer, [*film.frames, film.frame()]), FRAMES_PER_SECOND)
        if picture is not None:
            write_picture(picture, next(_drawn(renderer, [film.frame()])))


def _drawn(renderer: SceneRenderer, frames: list[Frame]) -> Iterator[Image]:
    for frame in frames:
        yield renderer.render(frame.qpos, frame.gripper_width, frame.scene)
