"""`lerobot` itself reads what we write, in an environment of its own (`make setup-lerobot`)."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from llm_planner.learning.dataset import write_session
from llm_planner.learning.recording import DatasetFormat, Recording

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv-lerobot"
READER = Path(__file__).with_name("read_with_lerobot.py")
NAMES = {"observation.state": ("x", "y"), "observation.goal": ("x", "y", "z"), "action": ("x", "y"), "weight": ("w",)}
FORMAT = DatasetFormat(10, "panda", NAMES)

pytestmark = pytest.mark.skipif(
    not (VENV / ".installed").exists(), reason="lerobot has no environment here; see: make setup-lerobot"
)


class KillError(Exception):
    """Stands for a kill between two files."""


def session(number):
    rng = np.random.default_rng(number)
    lengths = rng.integers(1, 8, size=3)
    columns = [
        {name: rng.normal(size=(length, len(names))).astype(np.float32) for name, names in NAMES.items()}
        for length in lengths
    ]
    return [Recording(f"task {(number + i) % 2}", each, i > 0, 10 * number + i) for i, each in enumerate(columns)]


def interrupted(steps):
    """What is called after each file, and kills after `steps` of them."""
    files = []

    def after(path):
        files.append(path)
        if len(files) == steps:
            raise KillError

    return after


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Recordings in the order of writing, and what lerobot reads: written whole, and killed after 1 to 4 files."""
    folders = [tmp_path_factory.mktemp("data") for _ in range(5)]
    for steps, folder in enumerate(folders):
        write_session(folder, FORMAT, session(2), 2)
        write_session(folder, FORMAT, session(0), 0)
        if steps:
            with pytest.raises(KillError):
                write_session(folder, FORMAT, session(1), 1, interrupted(steps))
    out = tmp_path_factory.mktemp("out")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path_factory.mktemp("cache"))}
    command = [str(VENV / "bin" / "python"), str(READER), str(out), *map(str, folders)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return session(2) + session(0), [dict(np.load(out / f"{number}.npz")) for number in range(len(folders))]


def window(values, moment, offsets):
    """The rows of an episode `offsets` from `moment`, those beyond its ends as the nearest there is."""
    return values[np.clip(moment + np.array(offsets), 0, len(values) - 1)]


def test_lerobot_reads_the_windows_that_were_recorded(read):
    recordings, (seen, *_) = read
    frame = 0
    for episode, recording in enumerate(recordings):
        for moment in range(len(recording)):
            states, actions = recording.columns["observation.state"], recording.columns["action"]
            np.testing.assert_array_equal(seen["observation.state"][frame], window(states, moment, [-1, 0]))
            np.testing.assert_array_equal(seen["action"][frame], window(actions, moment, [0, 1, 2, 3]))
            beyond = moment + np.arange(4) >= len(recording)
            np.testing.assert_array_equal(seen["action_is_pad"][frame], beyond)
            np.testing.assert_array_equal(
                seen["observation.goal"][frame], recording.columns["observation.goal"][moment]
            )
            assert seen["weight"][frame] == recording.columns["weight"][moment, 0]
            assert (seen["episode_index"][frame], seen["frame_index"][frame]) == (episode, moment)
            assert seen["timestamp"][frame] == np.float32(moment / FORMAT.fps)
            assert seen["task"][frame] == recording.task
            frame += 1
    assert len(seen["index"]) == frame
    np.testing.assert_array_equal(seen["index"], np.arange(frame))


def test_lerobot_reads_one_episode_by_its_number(read):
    recordings, (seen, *_) = read
    np.testing.assert_array_equal(seen["second episode"][:, 0], recordings[1].columns["action"])


def test_lerobot_has_the_statistics_of_all_frames(read):
    recordings, (seen, *_) = read
    actions = np.concatenate([recording.columns["action"] for recording in recordings]).astype(float)
    np.testing.assert_allclose(seen["mean of action"], actions.mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_lerobot_reads_what_a_killed_writer_had_finished(read, steps):
    _, (whole, *interrupted) = read
    killed = interrupted[steps - 1]
    assert killed["episodes"] == whole["episodes"]
    for name in ("observation.state", "action", "episode_index", "index", "task"):
        np.testing.assert_array_equal(killed[name], whole[name])
