"""Choice of the renderer for a scene, an overview camera in one process, and writers of images and videos."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError, SimulationError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Building, Scene
from llm_planner.simulation.camera import SceneRenderer, TwoTablesRenderer
from llm_planner.simulation.objects import ObjectSpec, spec_of
from llm_planner.simulation.offscreen import Image, OffscreenRenderer
from llm_planner.simulation.rooms.camera import RoomsRenderer

TABLE_SIZE, BUILDING_SIZE = (640, 480), (800, 600)  # larger for a building, which has more labels
Drawn = tuple[Building | None, tuple[ObjectSpec, ...], str]  # the content, and the arm, that a renderer is made for


def drawn(scene: Scene) -> Drawn:
    """Return the content that a renderer of this scene is made for; another renderer is needed when it changes."""
    if scene.building is None:
        return None, tuple(map(spec_of, scene.objects)), scene.arm
    things = tuple(ObjectSpec(item.name, item.kind, item.color) for item in scene.objects)
    return scene.building, things, scene.arm


def make_renderer(scene: Scene, size: tuple[int, int] | None = None) -> OffscreenRenderer:
    """Create the renderer for a scene, with images of `size` (width, height) [px] or a suitable default.

    Raises SimulationError where no off-screen OpenGL works.
    """
    if scene.base is not None:
        return TwoTablesRenderer(scene, *(size or BUILDING_SIZE))
    building, things, arm = drawn(scene)
    if building is not None:
        return RoomsRenderer(building, things, *(size or BUILDING_SIZE))
    return SceneRenderer(things, *(size or TABLE_SIZE), arm_model(arm))


SIZE = (640, 480)


class SceneCamera:
    """Camera that takes images (480, 640, 3). It opens OpenGL for the first one, and again if the objects change."""

    def __init__(self) -> None:
        self._renderer: OffscreenRenderer | None = None
        self._drawn: Drawn | None = None

    def __call__(self, observation: Observation) -> Image:
        """Render the observed scene with the robot. Raises SimulationError where no off-screen OpenGL works."""
        scene = observation.scene
        if self._renderer is None or drawn(scene) != self._drawn:
            self.close()
            self._renderer, self._drawn = make_renderer(scene, SIZE), drawn(scene)
        return self._renderer.render(observation.qpos, observation.gripper_width, scene)

    def __enter__(self) -> SceneCamera:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Free OpenGL; the next image opens it again."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


Frame = NDArray[np.uint8]


def write_video(path: Path, frames: Iterable[Frame], fps: float = 25.0) -> None:
    """Write frames, each (height, width, 3), as an H.264 video (yuv420p for compatibility).

    Raises:
        InputError: There are no frames, or they differ in shape.
        SimulationError: The file cannot be written.
    """
    _write(path, frames, fps=fps, codec="libx264", pix_fmt_out="yuv420p", output_params=["-crf", "23"])


def write_picture(path: Path, frame: Frame) -> None:
    """Write one frame (height, width, 3) as PNG. Raises SimulationError if the file cannot be written."""
    _write(path, [frame], codec="png", pix_fmt_out="rgb24", output_params=["-frames:v", "1", "-update", "1"])


def _write(path: Path, frames: Iterable[Frame], **settings: Any) -> None:
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise InputError(f"there is nothing to write to {path}: no frame was recorded")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # so that a file left at the end is a new one
        _encode(path, first, rest, settings)
        empty = path.stat().st_size == 0
    except OSError as error:  # an encoder's error has its command line after the first line
        raise SimulationError(f"{path} cannot be written: {str(error).partition(chr(10))[0]}") from error
    if empty:
        raise SimulationError(f"{path} cannot be written: the encoder left it empty; is the disk full?")


def _encode(path: Path, first: Frame, rest: Iterable[Frame], settings: dict[str, Any]) -> None:
    import imageio_ffmpeg

    height, width, _ = first.shape
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), macro_block_size=2, ffmpeg_log_level="quiet", **settings
    )
    writer.send(None)
    try:
        writer.send(np.ascontiguousarray(first))
        for frame in rest:
            if frame.shape != first.shape:
                raise InputError(f"a frame of {path} is {frame.shape}, the first was {first.shape}; keep one size")
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()
