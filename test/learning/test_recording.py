"""What a recording and the format of a data set may be."""

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.recording import DatasetFormat, Recording

FORMAT = DatasetFormat(10, "panda", {"observation.state": ("x", "y"), "action": ("x", "y", "z")})


def recording(task="push the block", success=True, seed=7, source="demonstrator", **columns):
    usual = {"observation.state": np.zeros((4, 2), np.float32), "action": np.ones((4, 3), np.float32)}
    changed = {name.replace("_", "."): values for name, values in columns.items()}
    return Recording(task, usual | changed, success, seed, source)


def test_a_recording_is_as_long_as_its_columns():
    assert len(recording()) == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"task": " "}, "task of a recording is empty; say in a sentence"),
        ({"source": "dream"}, r"'dream'; the sources are: demonstrator, correction, policy"),
        ({"action": np.ones((4, 3))}, r"'action' must be \(T, n\) float32, not \(4, 3\) float64"),
        ({"action": np.ones(4, np.float32)}, r"'action' must be \(T, n\) float32, not \(4,\)"),
        ({"action": np.ones((0, 3), np.float32)}, r"'action' must be \(T, n\) float32, not \(0, 3\)"),
        ({"action": np.ones((5, 3), np.float32)}, "'action' has 5 moments where the others have 4"),
        ({"action": np.full((4, 3), np.nan, np.float32)}, "'action' of the recording with seed 7 .* not finite"),
    ],
)
def test_what_is_no_recording_is_refused(changed, message):
    with pytest.raises(InputError, match=message):
        recording(**changed)


def test_a_recording_has_columns():
    with pytest.raises(InputError, match="at least one column, such as 'action'"):
        Recording("push", {}, True, 0)


@pytest.mark.parametrize(
    ("fps", "names", "message"),
    [
        (0, {"action": ("x",)}, "fps of a data set must be above 0, not 0"),
        (float("nan"), {"action": ("x",)}, "above 0, not nan"),
        (10, {}, "at least one column"),
        (10, {"index": ("x",)}, "may not be called 'index'"),
        (10, {"action/x": ("x",)}, "may not be called 'action/x'"),
        (10, {"action": ()}, r"'action' need names of their own, not \[\]"),
        (10, {"action": ("x", "x")}, r"'action' need names of their own, not \['x', 'x'\]"),
    ],
)
def test_what_is_no_format_is_refused(fps, names, message):
    with pytest.raises(InputError, match=message):
        DatasetFormat(fps, "panda", names)


def test_a_format_fits_its_recordings():
    FORMAT.check(recording())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"weight": np.ones((4, 1), np.float32)}, "'weight' is missing or unknown; .* observation.state, action"),
        ({"action": np.ones((4, 2), np.float32)}, "'action' has 2 numbers where the format names 3"),
    ],
)
def test_a_format_refuses_other_columns(columns, message):
    with pytest.raises(InputError, match=message):
        FORMAT.check(recording(**columns))
