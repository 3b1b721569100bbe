from __future__ import annotations

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.skills.rewards.sampling import basis


def test_controls_go_straight_from_knot_to_knot_and_hold_the_last() -> None:
    knots = np.array([[0.0], [2.0], [1.0], [5.0]])
    times = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0])
    assert basis(times, 4, 3.0) @ knots == pytest.approx(np.array([[0], [0], [1], [2], [1], [5], [5]]))


def test_what_is_no_spline_is_refused() -> None:
    with pytest.raises(InputError, match="two knots or more and a horizon above 0 s, not 1 and 1 s"):
        basis(np.zeros(1), 1, 1.0)
    with pytest.raises(InputError, match="not 3 and 0 s"):
        basis(np.zeros(1), 3, 0.0)
