"""Demonstrations on disk: nothing that was finished is lost, whenever the writer is killed."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.dataset import read_recordings, sessions_in, write_session
from llm_planner.learning.recording import DatasetFormat, Recording

FORMAT = DatasetFormat(10, "panda", {"observation.state": ("x", "y"), "action": ("x", "y", "z"), "weight": ("weight",)})
STEPS = 5  # files that a session writes


def recording(seed, task="push the block"):
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1, 9))
    columns = {name: rng.normal(size=(length, len(names))).astype(np.float32) for name, names in FORMAT.names.items()}
    return Recording(task, columns, bool(seed % 2), seed, "demonstrator" if seed % 3 else "correction")


def session(number):
    return [recording(10 * number + each, f"task {(number + each) % 3}") for each in range(3)]


def write(folder, *numbers):
    for number in numbers:
        write_session(folder, FORMAT, session(number), number)


def same(one, other):
    plain = ("task", "success", "seed", "source")
    return [getattr(one, name) for name in plain] == [getattr(other, name) for name in plain] and all(
        np.array_equal(one.columns[name], other.columns[name]) for name in FORMAT.names
    )


def holds(folder, *numbers):
    """Whether `folder` holds exactly these sessions, in this order."""
    format, found = read_recordings(folder)
    expected = [each for number in numbers for each in session(number)]
    return format == FORMAT and len(found) == len(expected) and all(map(same, found, expected))


class KillError(Exception):
    """Stands for a kill between two files."""


def killed_after(steps):
    seen = []

    def after(path):
        seen.append(path)
        if len(seen) == steps:
            raise KillError

    return after


def test_what_is_written_is_read_again(tmp_path):
    write(tmp_path, 0)
    assert holds(tmp_path, 0)


def test_every_session_has_a_file_of_its_own(tmp_path):
    paths = [write_session(tmp_path, FORMAT, session(number), number) for number in (0, 1)]
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        "data/chunk-000/file-000.parquet",
        "data/chunk-000/file-001.parquet",
    ]


def test_sessions_come_in_any_order_and_are_read_in_theirs(tmp_path):
    write(tmp_path, 2, 0, 1)
    assert holds(tmp_path, 0, 1, 2)
    assert sessions_in(tmp_path) == {0, 1, 2}


def test_where_nothing_was_written_there_are_no_sessions(tmp_path):
    assert sessions_in(tmp_path / "nowhere") == frozenset()


def test_statistics_are_those_of_all_numbers(tmp_path):
    write(tmp_path, 1, 0)
    stated = json.loads((tmp_path / "meta/stats.json").read_text())["action"]
    actions = np.concatenate([each.columns["action"] for each in session(1) + session(0)]).astype(float)
    for name in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(stated[name], getattr(actions, name)(axis=0), rtol=1e-12)
    assert stated["count"] == [len(actions)]


@pytest.mark.parametrize("steps", range(1, STEPS + 1))
def test_a_kill_after_any_file_leaves_what_was_finished_and_the_session_may_come_again(tmp_path, steps):
    write(tmp_path, 0)
    with pytest.raises(KillError):
        write_session(tmp_path, FORMAT, session(1), 1, killed_after(steps))
    if steps == STEPS:
        assert holds(tmp_path, 0, 1)
    else:
        assert holds(tmp_path, 0)
        write(tmp_path, 1)
        assert holds(tmp_path, 0, 1)


@pytest.mark.parametrize("steps", range(1, STEPS))
def test_another_session_may_come_where_one_was_killed(tmp_path, steps):
    with pytest.raises(KillError):
        write_session(tmp_path, FORMAT, session(1), 1, killed_after(steps))
    assert sessions_in(tmp_path) == frozenset()
    write(tmp_path, 2, 0)
    assert holds(tmp_path, 0, 2)


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_dataset
from llm_planner.learning.dataset import sessions_in, write_session

folder = Path(sys.argv[1])
for number in range(1000):
    if number not in sessions_in(folder):
        write_session(folder, test_dataset.FORMAT, test_dataset.session(number), number, lambda path: print("file"))
        print("session", flush=True)
"""


def test_a_writer_killed_at_any_moment_loses_no_session_that_it_finished(tmp_path):
    """Each time after another number of lines, which is in the middle of whatever the writer does then."""
    rng = np.random.default_rng(0)
    finished = 0
    for _ in range(5):
        command = [sys.executable, "-u", "-c", WRITER, str(tmp_path), str(__file__).rpartition("/")[0]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            told = [writer.stdout.readline().strip() for _ in range(int(rng.integers(1, 20)))]
            writer.send_signal(signal.SIGKILL)
            told += writer.stdout.read().split()
        finished += told.count("session")
        there = sessions_in(tmp_path)
        assert there == set(range(len(there)))
        assert finished <= len(there) <= finished + 5
        if there:
            assert holds(tmp_path, *sorted(there))
    assert finished > 0


def test_what_a_killed_writer_left_half_written_goes(tmp_path):
    write(tmp_path, 0)
    left = [tmp_path / "data/chunk-000/.file-001.parquet.4711", tmp_path / "meta/.info.json.4711"]
    for path in left:
        path.write_bytes(b"half")
    write(tmp_path, 1)
    assert not any(path.exists() for path in left)
    assert holds(tmp_path, 0, 1)


def test_an_empty_session_is_refused(tmp_path):
    with pytest.raises(InputError, match="session 4 has no recordings; there is nothing to write"):
        write_session(tmp_path, FORMAT, [], 4)


def test_a_session_is_written_once(tmp_path):
    write(tmp_path, 3)
    with pytest.raises(InputError, match=r"session 3 is in .* already; number it otherwise"):
        write(tmp_path, 3)


def test_a_folder_has_one_format(tmp_path):
    write(tmp_path, 0)
    other = DatasetFormat(20, "panda", FORMAT.names)
    with pytest.raises(InputError, match=r"holds DatasetFormat\(fps=10.*, not DatasetFormat\(fps=20.* another folder"):
        write_session(tmp_path, other, session(1), 1)


def test_recordings_fit_the_format(tmp_path):
    narrow = Recording("push", {"action": np.zeros((2, 3), np.float32)}, True, 0)
    with pytest.raises(InputError, match=r"'observation.state' is missing or unknown"):
        write_session(tmp_path, FORMAT, [narrow], 0)


def test_a_folder_without_demonstrations_says_how_to_record_some(tmp_path):
    with pytest.raises(InputError, match=r"no demonstrations in .*; record some with: llm-planner demonstrate"):
        read_recordings(tmp_path)


def test_a_description_that_is_none_is_refused(tmp_path):
    write(tmp_path, 0)
    (tmp_path / "meta/info.json").write_text('{"codebase_version": "v3.0"}')
    with pytest.raises(InputError, match=r"info.json: does not describe a data set: 'total_episodes'"):
        read_recordings(tmp_path)


def test_another_version_is_refused(tmp_path):
    write(tmp_path, 0)
    info = tmp_path / "meta/info.json"
    info.write_text(info.read_text().replace("v3.0", "v2.1"))
    with pytest.raises(InputError, match=r"is in version v2.1 of LeRobot's format; v3.0 is read"):
        read_recordings(tmp_path)


@pytest.mark.parametrize("content", [None, b"PAR1 or something like it"])
def test_a_damaged_file_is_named(tmp_path, content):
    write(tmp_path, 0)
    path = tmp_path / "data/chunk-000/file-000.parquet"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"data/chunk-000/file-000.parquet: cannot be read as parquet: .*record"):
        read_recordings(tmp_path)


def test_a_data_set_of_others_is_refused(tmp_path):
    import pyarrow
    import pyarrow.parquet

    write(tmp_path, 0)
    path = tmp_path / "meta/episodes/chunk-000/file-000.parquet"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).drop_columns(["seed"]), path)
    with pytest.raises(InputError, match="was not recorded by llm-planner: its episodes have no session, seed"):
        read_recordings(tmp_path)


def test_without_pyarrow_the_extra_is_named(tmp_path):
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from llm_planner.learning.dataset import read_table\n"
        "read_table(Path('frames.parquet'))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr
    assert "InputError: demonstrations are kept on disk with pyarrow" in said
    assert "pip install 'llm_planner[learn]'" in said
