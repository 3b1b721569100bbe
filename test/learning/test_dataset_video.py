"""Videos beside the numbers of a data set, as version 3 of LeRobot's format places them."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from llm_planner.errors import InputError
from llm_planner.learning.dataset import read_recordings, read_table, write_session
from llm_planner.learning.dataset_video import add_video
from llm_planner.learning.recording import DatasetFormat, Recording

KEY = "observation.images.overview"
FORMAT = DatasetFormat(10, "panda", {"observation.state": ("x", "y"), "action": ("x", "y")})
LENGTHS = (3, 5)


def pictures(count: int = sum(LENGTHS)) -> list[np.ndarray]:
    """Pictures that grow brighter."""
    return [np.full((48, 64, 3), 25 * number, np.uint8) for number in range(count)]


def written(folder) -> None:
    columns = [{name: np.zeros((length, 2), np.float32) for name in FORMAT.names} for length in LENGTHS]
    write_session(folder, FORMAT, [Recording("wave", each, True, 0) for each in columns], 0)


@pytest.fixture
def folder(tmp_path):
    written(tmp_path)
    add_video(tmp_path, KEY, pictures(), LENGTHS, FORMAT.fps)
    return tmp_path


def test_info_describes_the_video_as_lerobot_does(folder):
    info = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    feature = info["features"][KEY]
    assert (feature["dtype"], feature["shape"], feature["names"]) == (
        "video", [48, 64, 3], ["height", "width", "channels"],
    )  # fmt: skip
    assert feature["info"]["video.fps"] == 10
    path = info["video_path"].format(video_key=KEY, chunk_index=0, file_index=0)
    assert (folder / path).stat().st_size > 0
    assert info["total_frames"] == sum(LENGTHS)


def test_each_episode_says_where_it_is_in_the_video_and_how_bright(folder):
    rows = read_table(folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet").to_pylist()
    spans = [(row[f"videos/{KEY}/from_timestamp"], row[f"videos/{KEY}/to_timestamp"]) for row in rows]
    np.testing.assert_allclose(spans, [(0.0, 0.3), (0.3, 0.8)])
    np.testing.assert_allclose(rows[0][f"stats/{KEY}/mean"], [[[25 / 255]]] * 3)
    np.testing.assert_allclose(rows[1][f"stats/{KEY}/max"], [[[175 / 255]]] * 3)
    assert [row[f"stats/{KEY}/count"] for row in rows] == [[3], [5]]
    assert [row["tasks"] for row in rows] == [["wave"], ["wave"]]


def test_the_numbers_stay_as_they_were(folder):
    """Our own reader takes the data set without the video; it is not for training from pictures."""
    (folder / "meta" / "info.json").write_text(
        json.dumps(
            {
                **(info := json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))),
                "features": {name: one for name, one in info["features"].items() if name != KEY},
            }
        ),
        encoding="utf-8",
    )
    _, recordings = read_recordings(folder)
    assert [len(recording) for recording in recordings] == [*LENGTHS]


@pytest.mark.parametrize("count", [0, 7, 9])
def test_a_picture_too_few_or_too_many_is_refused(tmp_path, count):
    written(tmp_path)
    with pytest.raises((InputError, ValueError)):
        add_video(tmp_path, KEY, pictures(count), LENGTHS, FORMAT.fps)
