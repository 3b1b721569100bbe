"""Writes pictures and short videos."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError, SimulationError

Image = NDArray[np.uint8]


def write_video(path: Path, frames: Iterable[Image], fps: float = 25.0) -> None:
    """Writes frames, each (height, width, 3), as H.264 (yuv420p, plays everywhere).

    Raises InputError when there are no frames, or when one is not shaped like the first; SimulationError when the
    file cannot be written.
    """
    _write(path, frames, fps=fps, codec="libx264", pix_fmt_out="yuv420p", output_params=["-crf", "23"])


def write_picture(path: Path, frame: Image) -> None:
    """Writes one frame (height, width, 3) as PNG; raises SimulationError when the file cannot be written."""
    _write(path, [frame], codec="png", pix_fmt_out="rgb24", output_params=["-frames:v", "1", "-update", "1"])


def _write(path: Path, frames: Iterable[Image], **settings: Any) -> None:
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise InputError(f"there is nothing to write to {path}: no frame was recorded")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # so that what is there in the end was written now
        _encode(path, first, rest, settings)
        empty = path.stat().st_size == 0
    except OSError as error:  # the encoder's own has its whole command line after the first line
        raise SimulationError(f"{path} cannot be written: {str(error).partition(chr(10))[0]}") from error
    if empty:
        raise SimulationError(f"{path} cannot be written: the encoder left it empty; is the disk full?")


def _encode(path: Path, first: Image, rest: Iterable[Image], settings: dict[str, Any]) -> None:
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
