"""Videos of a LeRobotDataset, version 3.0: one file for all episodes of a data set that was written without."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.learning.dataset import arrow, as_parquet, read_table
from llm_planner.skills.learned.weights_file import write_atomically

VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_EPISODES = "meta/episodes/chunk-000/file-000.parquet"
SPARSE = 4  # pixels from one that counts in the statistics to the next
Picture = NDArray[np.uint8]


@dataclass
class _Colours:
    """Statistics of the colours of an episode, in [0, 1]: one number a channel."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    pixels: int = 0
    count: int = 0

    def add(self, picture: Picture) -> None:
        flat = picture[::SPARSE, ::SPARSE].reshape(-1, 3) / 255.0
        self.low, self.high = np.minimum(self.low, flat.min(axis=0)), np.maximum(self.high, flat.max(axis=0))
        self.total, self.squares = self.total + flat.sum(axis=0), self.squares + (flat**2).sum(axis=0)
        self.pixels, self.count = self.pixels + len(flat), self.count + 1

    def summary(self) -> dict[str, Any]:
        mean = self.total / self.pixels
        std = np.sqrt(np.maximum(self.squares / self.pixels - mean**2, 0.0))
        named = {"min": self.low, "max": self.high, "mean": mean, "std": std}
        return {name: [[[float(one)]] for one in values] for name, values in named.items()} | {"count": [self.count]}


def _no_colours() -> _Colours:
    return _Colours(np.ones(3), np.zeros(3), np.zeros(3), np.zeros(3))


def add_video(folder: Path, key: str, pictures: Iterable[Picture], lengths: Sequence[int], fps: float) -> Path:
    """Add a video to a data set of one session, which `write_session` has written.

    Args:
        folder: Folder of the data set.
        key: Name of the column, e.g. "observation.images.overview".
        pictures: A picture (height, width, 3) for each frame of all episodes, in order.
        lengths: Number of frames of each episode.
        fps: Frames per second of the data set.

    Returns:
        Path of the video file.

    Raises:
        InputError: There are no pictures, or they differ in shape.
        SimulationError: The video cannot be written.
    """
    from llm_planner.simulation.renderers import write_video

    path = folder / VIDEO.format(video_key=key, chunk_index=0, file_index=0)
    colours, whole, shape = [_no_colours() for _ in lengths], _no_colours(), list[int]()
    episodes = np.repeat(np.arange(len(lengths)), lengths)

    def counted() -> Iterator[Picture]:
        for picture, episode in zip(pictures, episodes, strict=True):
            shape[:] = picture.shape
            colours[episode].add(picture)
            whole.add(picture)
            yield picture

    write_video(path, counted(), fps)
    _note_episodes(folder, key, [one.summary() for one in colours], lengths, fps)
    _change(folder / "meta/stats.json", lambda stats: stats | {key: whole.summary()})
    _change(folder / "meta/info.json", lambda info: _with_video(info, key, shape, fps))
    return path


def _note_episodes(
    folder: Path, key: str, colours: Sequence[Mapping[str, Any]], lengths: Sequence[int], fps: float
) -> None:
    """Say in the table of episodes where each is in the video."""
    pyarrow, _ = arrow()
    rows = read_table(folder / _EPISODES).to_pylist()
    ends = np.cumsum(lengths) / fps
    for row, summary, length, end in zip(rows, colours, lengths, ends, strict=True):
        row |= {
            f"videos/{key}/chunk_index": 0,
            f"videos/{key}/file_index": 0,
            f"videos/{key}/from_timestamp": float(end - length / fps),
            f"videos/{key}/to_timestamp": float(end),
            **{f"stats/{key}/{name}": value for name, value in summary.items()},
        }
    write_atomically(folder / _EPISODES, as_parquet(pyarrow.Table.from_pylist(rows)))


def _with_video(info: dict[str, Any], key: str, shape: Sequence[int], fps: float) -> dict[str, Any]:
    height, width, channels = shape
    told = {
        "video.fps": fps, "video.height": height, "video.width": width, "video.channels": channels,
        "video.codec": "h264", "video.pix_fmt": "yuv420p", "video.is_depth_map": False, "has_audio": False,
    }  # fmt: skip
    feature = {"dtype": "video", "shape": list(shape), "names": ["height", "width", "channels"], "info": told}
    return info | {"video_path": VIDEO, "features": info["features"] | {key: feature}}


def _change(path: Path, change: Any) -> None:
    content = change(json.loads(path.read_text(encoding="utf-8")))
    write_atomically(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
