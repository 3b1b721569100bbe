"""Recorders of a robot's motion, and a writer that draws the film afterwards, since drawing would slow the robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import dist
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import SimulationError
from llm_planner.scene.scene import Scene, Vector3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from llm_planner.robots.motion import JointState, JointTrajectory, Observation
    from llm_planner.simulation.offscreen import OffscreenRenderer
    from llm_planner.skills.episode import EpisodeWorld


FPS = 12.5
MOVING = 0.01  # [rad/s, m/s] above which a joint or a base counts as moving
STILLS = 8  # repetitions of the last frame
WAY_HEIGHT, WAY_STEP = 0.03, 0.1  # [m] height and point distance of the line along a mobile robot's path


@dataclass(frozen=True)
class Frame:
    """Recorded moment at `time` [s]: an arm's `qpos` (nq,) [rad] (() for a base), gripper `width` [m], last scene."""

    time: float
    qpos: tuple[float, ...]
    width: float
    scene: Scene


class Recorder:
    """Records a frame every `1 / FPS` s of the robot's time.

    `moved_at` is the time of `clock` at which the robot was first seen moving, None until then.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.frames: list[Frame] = []
        self.scene: Scene | None = None
        self.moved_at: float | None = None
        self._clock = clock

    def on_scene(self, scene: Scene) -> None:
        self.scene = scene
        if scene.building is not None:  # it shows where a mobile robot is
            self._keep(scene.time, (), 0.0, scene.speed)

    def on_joints(self, time: float, qpos: Sequence[float], qvel: Sequence[float], width: float) -> None:
        self._keep(time, tuple(qpos), width, max(map(abs, qvel)))

    def _keep(self, time: float, qpos: tuple[float, ...], width: float, speed: float) -> None:
        if self.moved_at is None and speed > MOVING:
            self.moved_at = self._clock()
        if self.scene is None:
            return
        if not self.frames or time >= self.frames[-1].time + 1.0 / FPS:
            self.frames.append(Frame(time, qpos, width, self.scene))


def write_film(frames: Sequence[Frame], video: Path | None, picture: Path | None) -> None:
    """Draw the frames into a video file and the last one into a picture file, if given.

    Raises:
        SimulationError: There are no frames, or they cannot be rendered.
    """
    from llm_planner.simulation.renderers import make_renderer, write_picture, write_video

    if not frames:
        raise SimulationError("there is nothing to film: the simulator has shown nothing")
    with make_renderer(frames[-1].scene) as renderer:
        if video is not None:
            write_video(video, _pictures(frames, renderer), FPS)
        if picture is not None:
            write_picture(picture, _draw(frames, renderer))


def _pictures(frames: Sequence[Frame], renderer: OffscreenRenderer) -> Iterator[NDArray[np.uint8]]:
    for count in [*range(1, len(frames) + 1), *[len(frames)] * STILLS]:
        yield _draw(frames[:count], renderer)


def _draw(frames: Sequence[Frame], renderer: OffscreenRenderer) -> NDArray[np.uint8]:
    """Draw the last frame, with the path of a mobile robot so far."""
    last = frames[-1]
    return renderer.render(last.qpos, last.width, last.scene, _way(frames))


def _way(frames: Sequence[Frame]) -> list[Vector3]:
    """Return the path of a mobile robot as sparse points slightly above the floor."""
    way: list[Vector3] = []
    for frame in frames:
        if frame.scene.building is not None and frame.scene.robot is not None:
            x, y, _ = frame.scene.robot.position
            if not way or dist(way[-1], (x, y, WAY_HEIGHT)) > WAY_STEP:
                way.append((x, y, WAY_HEIGHT))
    return way


class FilmedWorld:
    """Wrapper of a simulated world that records a frame every `1 / FPS` s of its time."""

    def __init__(self, world: EpisodeWorld, frames: list[Frame] | None = None) -> None:
        """Record `world`, into `frames` if they are given."""
        self.world = world
        self.frames: list[Frame] = [] if frames is None else frames

    @property
    def time(self) -> float:
        return self.world.time

    def observation(self) -> Observation:
        return self.world.observation()

    def joint_state(self) -> JointState:
        return self.world.joint_state()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the world by `duration` [s] along `trajectory`, and record a frame if one is due."""
        self.world.follow(trajectory, duration)
        if not self.frames or self.world.time >= self.frames[-1].time + 1 / FPS - 1e-6:
            self.frames.append(self.frame())

    @property
    def base(self) -> FilmedWorld:
        """Base of an arm that drives, whose motion is recorded too; raises AttributeError for another robot."""
        return FilmedWorld(self.world.base, self.frames)  # type: ignore[attr-defined]

    def frame(self) -> Frame:
        """Return a frame of the present state."""
        seen = self.world.observation()
        return Frame(seen.time, seen.qpos, seen.gripper_width, seen.scene)
