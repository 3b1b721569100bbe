"""Pictures of the table with what can be taken in them, as arrays: what sight is learned from."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.weights_file import write_whole
from llm_planner.skills.sight.drawing import Drawn
from llm_planner.skills.sight.spec import SightSpec
from llm_planner.skills.sight.table_view import COLUMNS, ROWS

_PARTS = ("pictures", "there", "shown", "grasps")


@dataclass(frozen=True)
class Album:
    """`pictures` (n, ROWS, COLUMNS, 3), bytes. `there` (w, 3) is everything in them: the picture's row, kind and
    colour as the spec counts them; `shown` (m, 3) likewise what can be taken, and `grasps` (m, 6) how: x, y, closing
    direction, z, width, opening [m, rad]."""

    pictures: NDArray[np.uint8]
    there: NDArray[np.int64]
    shown: NDArray[np.int64]
    grasps: Array

    def __len__(self) -> int:
        return len(self.pictures)


def collected_album(drawn: Iterable[Drawn], spec: SightSpec) -> Album:
    """Of pictures as they are drawn; raises InputError for words that the spec has not."""
    pictures, there, shown, grasps = [], [], [], []
    for row, one in enumerate(drawn):
        pictures.append(one.picture)
        there += [(row, *spec.words(kind, color)) for kind, color in one.words]
        shown += [(row, *spec.words(thing.kind, thing.color)) for thing in one.things]
        grasps += [thing.grasp for thing in one.things]
    return Album(
        np.array(pictures, np.uint8).reshape(-1, ROWS, COLUMNS, 3),
        np.array(there, np.int64).reshape(-1, 3),
        np.array(shown, np.int64).reshape(-1, 3),
        np.array(grasps, np.float32).reshape(-1, 6),
    )


def joined(albums: Sequence[Album]) -> Album:
    """One after the other; raises InputError where nothing in them can be taken."""
    if not sum(len(album.shown) for album in albums):
        raise InputError("there are no pictures to learn from, or nothing in them can be taken")
    starts = np.cumsum([0, *map(len, albums)])
    there, shown = (
        np.concatenate(
            [np.add(getattr(album, part), (start, 0, 0)) for album, start in zip(albums, starts[:-1], strict=True)]
        )
        for part in ("there", "shown")
    )
    pictures, grasps = (np.concatenate([getattr(album, part) for album in albums]) for part in ("pictures", "grasps"))
    return Album(pictures, there, shown, grasps)


def write_album(path: Path, album: Album) -> None:
    """Whole or not at all."""
    content = io.BytesIO()
    np.savez_compressed(content, **{part: getattr(album, part) for part in _PARTS})
    write_whole(path, content.getvalue())


def read_album(path: Path) -> Album:
    """Raises InputError for a file that cannot be read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Album(*(file[part] for part in _PARTS))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: no pictures that can be read ({error}); delete it, they are drawn again") from error
