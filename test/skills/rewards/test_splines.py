from __future__ import annotations

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.skills.rewards.sampling import INTERPOLATIONS, Interpolation, basis


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_a_spline_goes_through_its_knots_and_holds_the_last(interpolation: Interpolation) -> None:
    knots = np.array([[0.0], [2.0], [1.0], [5.0]])
    times = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 9.0])
    assert basis(times, 4, 3.0, interpolation) @ knots == pytest.approx(np.array([[0], [0], [2], [1], [5], [5]]))


def test_between_knots_it_holds_goes_straight_or_is_smooth() -> None:
    knots = np.array([0.0, 1.0, 2.0, 3.0])
    half = np.array([1.5])
    assert basis(half, 4, 3.0, "hold") @ knots == pytest.approx([1.0])
    assert basis(half, 4, 3.0, "linear") @ knots == pytest.approx([1.5])
    around = np.array([2.0 - 1e-4, 2.0, 2.0 + 1e-4])
    before, here, after = basis(around, 4, 3.0, "cubic") @ np.array([0.0, 2.0, 1.0, 0.0])
    assert after - here == pytest.approx(here - before, abs=1e-6)


def test_what_is_no_spline_is_refused() -> None:
    with pytest.raises(InputError, match="there is no interpolation 'quintic'; choose one of: hold, linear, cubic"):
        basis(np.zeros(1), 3, 1.0, "quintic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two knots or more and a horizon above 0 s, not 1 and 1 s"):
        basis(np.zeros(1), 1, 1.0, "linear")
    with pytest.raises(InputError, match="not 3 and 0 s"):
        basis(np.zeros(1), 3, 0.0, "linear")
