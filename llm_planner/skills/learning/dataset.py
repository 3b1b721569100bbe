"""Demonstrations on disk in the LeRobotDataset format, version 3.0, which `lerobot` reads: parquet, no pictures.

    meta/info.json      columns, frame rate, and how much of the rest counts
    meta/stats.json     least, most, mean and deviation of each number
    meta/tasks.parquet  the sentences
    meta/episodes/chunk-000/file-000.parquet   one row a recording, for the first session that was written
    data/chunk-000/file-000.parquet            one row a moment, likewise

Each session has a file of its own, numbered in the order of writing, so that nothing written is ever written again and
sessions may come in any order. A file is whole or absent, and info.json, which is written last, says how many episodes
count: whatever a kill leaves beyond them is ignored by every reader and replaced by the next session.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.skills.learning.arrow_tables import (
    FILES_IN_A_CHUNK,
    Place,
    as_parquet,
    column_values,
    episodes_table,
    frames_table,
    read_table,
    summed_up,
    task_names,
    tasks_table,
)
from llm_planner.skills.learning.recording import DatasetFormat, Recording
from llm_planner.skills.policies.weights_file import write_whole

VERSION = "v3.0"
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_DATA, _EPISODES = f"data/{_FILE}", f"meta/episodes/{_FILE}"
_INFO, _STATS, _TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
_PLAIN = {"timestamp": "float32"} | dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), "int64")


@dataclass(frozen=True)
class _Contents:
    """What counts in a data set: a table of episodes for each file, and the tasks."""

    format: DatasetFormat
    episodes: tuple[Any, ...] = ()
    tasks: tuple[str, ...] = ()

    @property
    def end(self) -> Place:
        """Where the next session goes."""
        if not self.episodes:
            return Place(0, 0, 0)
        last = self.episodes[-1].slice(len(self.episodes[-1]) - 1).to_pylist()[0]
        return Place(len(self.episodes), last["episode_index"] + 1, last["dataset_to_index"])

    @property
    def sessions(self) -> frozenset[int]:
        return frozenset(table.column("session")[0].as_py() for table in self.episodes)


def write_session(
    folder: Path,
    format: DatasetFormat,
    recordings: Sequence[Recording],
    session: int,
    after: Callable[[Path], None] = lambda path: None,
) -> Path:
    """Add the recordings of `session` to the data set in `folder`, made when it is not there; returns their data file.

    They are on the disk when this returns. `after` hears of each file as it is finished. Several processes may write to
    one folder; they wait for each other. Raises InputError for a session that is there already or has no recordings,
    and for a format other than that of the folder.
    """
    if not recordings:
        raise InputError(f"session {session} has no recordings; there is nothing to write to {folder}")
    for recording in recordings:
        format.check(recording)
    with _alone(folder):
        contents = _contents(folder) if (folder / _INFO).exists() else _Contents(format)
        if contents.format != format:
            raise InputError(f"{folder} holds {contents.format}, not {format}; choose another folder")
        if session in contents.sessions:
            raise InputError(f"session {session} is in {folder} already; number it otherwise or remove the folder")
        for path, content in _files(contents, recordings, session).items():
            write_whole(folder / path, content)
            after(folder / path)
    return folder / _path(_DATA, len(contents.episodes))


def read_recordings(folder: Path) -> tuple[DatasetFormat, list[Recording]]:
    """Everything in `folder`, in the order of the sessions' numbers, whichever was written first."""
    contents = _contents(folder)
    files = [
        (table.column("session")[0].as_py(), table.to_pylist(), read_table(folder / _path(_DATA, number)))
        for number, table in enumerate(contents.episodes)
    ]
    return contents.format, [
        recording
        for _, episodes, frames in sorted(files, key=lambda file: file[0])
        for recording in _recordings(contents.format, episodes, frames)
    ]


def sessions_in(folder: Path) -> frozenset[int]:
    """Numbers of the sessions that need not be recorded again; none when there is no data set in `folder`."""
    return _contents(folder).sessions if (folder / _INFO).exists() else frozenset()


def _files(contents: _Contents, recordings: Sequence[Recording], session: int) -> dict[str, bytes]:
    """What is to be written, in this order: info.json makes the rest count."""
    place, format = contents.end, contents.format
    tasks = tuple(dict.fromkeys((*contents.tasks, *(each.task for each in recordings))))
    episodes = episodes_table(recordings, session, place)
    after = _Contents(format, (*contents.episodes, episodes), tasks)
    return {
        _path(_DATA, place.file): as_parquet(frames_table(format, recordings, tasks, place)),
        _path(_EPISODES, place.file): as_parquet(episodes),
        _TASKS: as_parquet(tasks_table(tasks)),
        _STATS: _json(summed_up(after.episodes, format)),
        _INFO: _json(_info(after)),
    }


def _info(contents: _Contents) -> dict[str, Any]:
    """What lerobot wants to know; see its `LeRobotDatasetMetadata`."""
    end, format = contents.end, contents.format
    vectors = {
        name: {"dtype": "float32", "shape": [len(names)], "names": list(names)} for name, names in format.names.items()
    }
    return {
        "codebase_version": VERSION,
        "robot_type": format.robot_type,
        "total_episodes": end.episode,
        "total_frames": end.frame,
        "total_tasks": len(contents.tasks),
        "chunks_size": FILES_IN_A_CHUNK,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": int(format.fps) if float(format.fps).is_integer() else format.fps,
        "splits": {"train": f"0:{end.episode}"},
        "data_path": _DATA,
        "video_path": None,
        "features": vectors | {name: {"dtype": kind, "shape": [1], "names": None} for name, kind in _PLAIN.items()},
    }


def _contents(folder: Path) -> _Contents:
    """Raises InputError when there is no data set in `folder`, or it is not one of ours, or damaged."""
    try:
        info = json.loads((folder / _INFO).read_text(encoding="utf-8"))
        version, episodes, tasks = info["codebase_version"], info["total_episodes"], info["total_tasks"]
        columns = {name: tuple(each["names"]) for name, each in info["features"].items() if name not in _PLAIN}
        format = DatasetFormat(info["fps"], info["robot_type"], columns)
    except FileNotFoundError as error:
        raise InputError(
            f"there are no demonstrations in {folder}; record some with: llm-planner demonstrate"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / _INFO}: does not describe a data set: {error}") from error
    if version != VERSION:
        raise InputError(f"{folder} is in version {version} of LeRobot's format; {VERSION} is read")
    names = task_names(read_table(folder / _TASKS))[:tasks]
    return _Contents(format, tuple(_episodes(folder, episodes)), tuple(names))


def _episodes(folder: Path, count: int) -> Iterator[Any]:
    """The tables of the first `count` episodes."""
    number, left = 0, count
    while left > 0:
        table = read_table(folder / _path(_EPISODES, number))
        if not {"session", "seed", "source", "success"} <= set(table.column_names):
            raise InputError(
                f"{folder} was not recorded by llm-planner: its episodes have no session, seed and success"
            )
        yield table
        number, left = number + 1, left - len(table)


def _recordings(format: DatasetFormat, episodes: Sequence[dict[str, Any]], frames: Any) -> Iterator[Recording]:
    values = {name: column_values(frames, name) for name in format.names}
    begin = episodes[0]["dataset_from_index"]
    for row in episodes:
        moments = slice(row["dataset_from_index"] - begin, row["dataset_to_index"] - begin)
        columns = {name: numbers[moments] for name, numbers in values.items()}
        yield Recording(row["tasks"][0], columns, row["success"], row["seed"], row["source"])


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer at a time; the lock goes with its process. What a killed one left half-written is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in (*folder.glob("meta/**/.*.*.[0-9]*"), *folder.glob("data/**/.*.parquet.[0-9]*")):
            path.unlink()
        yield


def _path(template: str, number: int) -> str:
    chunk, file = divmod(number, FILES_IN_A_CHUNK)
    return template.format(chunk_index=chunk, file_index=file)


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
