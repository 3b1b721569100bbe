"""Recordings as the Arrow tables of the LeRobotDataset format, version 3.0: frames, episodes and tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.skills.learning.recording import DatasetFormat, Recording
from llm_planner.skills.policies.conditioning import Array

FILES_IN_A_CHUNK = 1000
STATISTICS = ("min", "max", "mean", "std", "count")


@dataclass(frozen=True)
class Place:
    """Where a session's recordings begin in the data set: its file, its first episode and its first frame."""

    file: int
    episode: int
    frame: int


def arrow() -> tuple[ModuleType, ModuleType]:
    """The modules pyarrow and pyarrow.parquet, which only the extra "learn" brings along."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(
            "demonstrations are kept on disk with pyarrow, which is not installed; pip install 'llm_planner[learn]'"
        ) from error
    return pyarrow, pyarrow.parquet


def as_parquet(table: Any) -> bytes:
    pyarrow, parquet = arrow()
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def read_table(path: Path) -> Any:
    """The table in `path`; raises InputError, naming it, when it cannot be read."""
    pyarrow, parquet = arrow()
    try:
        return parquet.ParquetFile(path).read()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as parquet: {error}; record these demonstrations again") from error


def frames_table(format: DatasetFormat, recordings: Sequence[Recording], tasks: Sequence[str], place: Place) -> Any:
    """Every moment of `recordings`, one a row."""
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
    """One row a recording: where its frames are, what LeRobot has no column for, and statistics of each column."""
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
    """The tasks in the order of their numbers; a note for pandas, with which LeRobot reads it, makes them the index."""
    pyarrow, _ = arrow()
    index = "__index_level_0__"
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


def task_names(table: Any) -> list[str]:
    """The inverse of `tasks_table`."""
    return [str(name) for name in table.column(table.column_names.index("__index_level_0__")).to_pylist()]


def column_values(table: Any, name: str) -> Array:
    """Column `name` of frames as (N, n)."""
    column = table.column(name).combine_chunks()
    values = column.flatten() if hasattr(column, "flatten") and column.type.num_fields else column
    numbers: Array = values.to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(table), -1)
    return numbers


def summed_up(tables: Iterable[Any], format: DatasetFormat) -> dict[str, dict[str, list[float]]]:
    """Statistics of all frames from those of the episodes in `tables`."""
    rows = [row for table in tables for row in table.to_pylist()]
    return {column: _pooled([_of(row, column) for row in rows]) for column in format.names}


def _vectors(values: Array) -> Any:
    """(N, n) as an Arrow array; columns of one number are plain, as LeRobot has them."""
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


def _of(row: Mapping[str, Any], column: str) -> dict[str, NDArray[np.float64]]:
    return {name: np.asarray(row[f"stats/{column}/{name}"], dtype=np.float64) for name in STATISTICS}


def _pooled(parts: Sequence[Mapping[str, NDArray[np.float64]]]) -> dict[str, list[float]]:
    """Mean and deviation of everything from those of the parts, by the law of total variance."""
    stacked = {name: np.stack([part[name] for part in parts]) for name in STATISTICS}
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
