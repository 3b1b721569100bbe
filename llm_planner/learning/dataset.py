"""Demonstrations on disk as a LeRobotDataset, version 3.0, in parquet without images.

    meta/info.json      columns, frame rate and the number of valid episodes
    meta/stats.json     minimum, maximum, mean and standard deviation of each number
    meta/tasks.parquet  task sentences
    meta/episodes/chunk-000/file-000.parquet   one row per recording of the first session
    data/chunk-000/file-000.parquet            one row per frame of the first session

Each session has its own file, numbered in the order of writing, so that files are never rewritten and sessions may
arrive in any order. Files are written atomically, info.json last. Readers ignore episodes beyond the number in
info.json, which a killed process may leave behind; the next session replaces them.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.recording import DatasetFormat, Recording
from llm_planner.skills.learned.velocity_field import Array
from llm_planner.skills.learned.weights_file import write_atomically

FILES_IN_A_CHUNK = 1000
_TASK_INDEX = "__index_level_0__"
STATISTICS = ("min", "max", "mean", "std", "count")


@dataclass(frozen=True)
class Place:
    """Start of a session in the dataset: its file, first episode and first frame."""

    file: int
    episode: int
    frame: int


def arrow() -> tuple[ModuleType, ModuleType]:
    """Import pyarrow and pyarrow.parquet; raise InputError if the extra "learn" is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(
            "demonstrations are kept on disk with pyarrow, which is not installed; pip install 'llm_planner[learn]'"
        ) from error
    return pyarrow, pyarrow.parquet


def as_parquet(table: Any) -> bytes:
    """Serialise an Arrow table as parquet."""
    pyarrow, parquet = arrow()
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def read_table(path: Path) -> Any:
    """Read a parquet file; raise InputError with the path if it cannot be read."""
    pyarrow, parquet = arrow()
    try:
        return parquet.ParquetFile(path).read()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as parquet: {error}; record these demonstrations again") from error


def frames_table(format: DatasetFormat, recordings: Sequence[Recording], tasks: Sequence[str], place: Place) -> Any:
    """Convert recordings to a table with one row per frame; `tasks` are all task sentences of the dataset."""
    pyarrow, _ = arrow()
    columns = {name: _vectors(np.concatenate([each.columns[name] for each in recordings])) for name in format.names}
    moments = np.concatenate([np.arange(len(each)) for each in recordings])
    lengths = [len(each) for each in recordings]
    columns["timestamp"] = pyarrow.array((moments / format.fps).astype(np.float32))
    columns["frame_index"] = pyarrow.array(moments)
    columns["episode_index"] = pyarrow.array(np.repeat(place.episode + np.arange(len(recordings)), lengths))
    columns["index"] = pyarrow.array(place.frame + np.arange(len(moments)))
    columns["task_index"] = pyarrow.array(np.repeat([tasks.index(each.task) for each in recordings], lengths))
    return pyarrow.table(columns)


def episodes_table(recordings: Sequence[Recording], session: int, place: Place) -> Any:
    """Convert recordings to a table with one row each: frame range, metadata and statistics of each column."""
    pyarrow, _ = arrow()
    ends = place.frame + np.cumsum([len(each) for each in recordings])
    chunk, file = divmod(place.file, FILES_IN_A_CHUNK)
    rows = [
        {
            "episode_index": place.episode + position,
            "tasks": [each.task],
            "length": len(each),
            "dataset_from_index": int(end) - len(each),
            "dataset_to_index": int(end),
            "data/chunk_index": chunk,
            "data/file_index": file,
            "meta/episodes/chunk_index": chunk,
            "meta/episodes/file_index": file,
            "session": session,
            "seed": each.seed,
            "source": each.source,
            "success": each.success,
            **_statistics(each.columns),
        }
        for position, (each, end) in enumerate(zip(recordings, ends, strict=True))
    ]
    return pyarrow.Table.from_pylist(rows)


def tasks_table(tasks: Sequence[str]) -> Any:
    """Convert the task sentences to a table; its metadata makes them the pandas index, as LeRobot expects."""
    pyarrow, _ = arrow()
    index = _TASK_INDEX
    note = {
        "index_columns": [index],
        "column_indexes": [],
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"},
            {"name": None, "field_name": index, "pandas_type": "unicode", "numpy_type": "object"},
        ],
    }
    table = pyarrow.table({"task_index": pyarrow.array(np.arange(len(tasks))), index: pyarrow.array(list(tasks))})
    return table.replace_schema_metadata({"pandas": json.dumps(note)})


def column_values(table: Any, name: str) -> Array:
    """Return column `name` of a frames table as an array (N, n)."""
    column = table.column(name).combine_chunks()
    values = column.flatten() if hasattr(column, "flatten") and column.type.num_fields else column
    numbers: Array = values.to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(table), -1)
    return numbers


def _vectors(values: Array) -> Any:
    """Convert (N, n) to an Arrow array; columns of width 1 are flat, as in LeRobot."""
    pyarrow, _ = arrow()
    flat = pyarrow.array(np.ascontiguousarray(values).reshape(-1))
    return flat if values.shape[1] == 1 else pyarrow.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _statistics(columns: Mapping[str, Array]) -> dict[str, list[float]]:
    statistics = {}
    for name, values in columns.items():
        exact = values.astype(np.float64)
        for statistic in STATISTICS[:-1]:
            statistics[f"stats/{name}/{statistic}"] = getattr(exact, statistic)(axis=0).tolist()
        statistics[f"stats/{name}/count"] = [len(values)]
    return statistics


def _pooled(rows: Sequence[Mapping[str, Any]], column: str) -> dict[str, list[float]]:
    """Pool the statistics of a column over episodes, mean and standard deviation by the law of total variance."""
    stacked = {name: np.array([row[f"stats/{column}/{name}"] for row in rows], np.float64) for name in STATISTICS}
    shares = stacked["count"] / stacked["count"].sum()
    mean = (shares * stacked["mean"]).sum(axis=0)
    variance = (shares * (stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2)).sum(axis=0)
    return {
        "min": stacked["min"].min(axis=0).tolist(),
        "max": stacked["max"].max(axis=0).tolist(),
        "mean": mean.tolist(),
        "std": np.sqrt(variance).tolist(),
        "count": [int(stacked["count"].sum())],
    }


VERSION = "v3.0"
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_DATA, _EPISODES = f"data/{_FILE}", f"meta/episodes/{_FILE}"
_INFO, _STATS, _TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
_PLAIN = {"timestamp": "float32"} | dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), "int64")


@dataclass(frozen=True)
class _Contents:
    """Valid contents of a dataset: an episode table per file, and the task sentences."""

    format: DatasetFormat
    episodes: tuple[Any, ...] = ()
    tasks: tuple[str, ...] = ()

    @property
    def end(self) -> Place:
        """Start of the next session."""
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
    """Add the recordings of a session to a dataset, creating it if necessary.

    The data are on disk when the function returns. Several processes may write to one folder; a lock serialises them.

    Args:
        folder: Folder of the dataset.
        format: Format of the dataset.
        recordings: Recordings of the session.
        session: Number of the session.
        after: Callback with the path of each file as it is finished.

    Returns:
        Path of the session's data file.

    Raises:
        InputError: The session exists or has no recordings, or the dataset has another format.
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
            write_atomically(folder / path, content)
            after(folder / path)
    return folder / _path(_DATA, len(contents.episodes))


def read_recordings(folder: Path) -> tuple[DatasetFormat, list[Recording]]:
    """Read the format and all recordings of a dataset, in the order of session numbers."""
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
    """Return the numbers of the sessions on disk; empty if there is no dataset in `folder`."""
    return _contents(folder).sessions if (folder / _INFO).exists() else frozenset()


def _files(contents: _Contents, recordings: Sequence[Recording], session: int) -> dict[str, bytes]:
    """Return the files to write, in order; info.json comes last and makes the others valid."""
    place, format = contents.end, contents.format
    tasks = tuple(dict.fromkeys((*contents.tasks, *(each.task for each in recordings))))
    episodes = episodes_table(recordings, session, place)
    after = _Contents(format, (*contents.episodes, episodes), tasks)
    rows = [row for table in after.episodes for row in table.to_pylist()]
    return {
        _path(_DATA, place.file): as_parquet(frames_table(format, recordings, tasks, place)),
        _path(_EPISODES, place.file): as_parquet(episodes),
        _TASKS: as_parquet(tasks_table(tasks)),
        _STATS: _json({column: _pooled(rows, column) for column in format.names}),
        _INFO: _json(_info(after)),
    }


def _info(contents: _Contents) -> dict[str, Any]:
    """Return the metadata of `LeRobotDatasetMetadata`."""
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
    """Read the metadata; raise InputError if there is no dataset, or it is foreign or damaged."""
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
    table = read_table(folder / _TASKS)
    names = table.column(table.column_names.index(_TASK_INDEX)).to_pylist()[:tasks]
    return _Contents(format, tuple(_episodes(folder, episodes)), tuple(map(str, names)))


def _episodes(folder: Path, count: int) -> Iterator[Any]:
    """Yield the episode tables that hold the first `count` episodes."""
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
    """Lock the folder for one writer and remove temporary files of killed processes."""
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
