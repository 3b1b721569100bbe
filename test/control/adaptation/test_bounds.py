import pytest

from llm_planner.control.adaptation_estimator import AdaptationBounds
from llm_planner.errors import InputError


@pytest.mark.parametrize("name", ["payload", "reach", "viscous", "coulomb", "gain", "shift"])
def test_a_bound_that_allows_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"the bound of the adaptation's {name} must be above 0, not 0"):
        AdaptationBounds(**{name: 0.0})


def test_a_drive_that_may_give_nothing_at_all_is_refused() -> None:
    with pytest.raises(InputError, match=r"a share below 1, not 1\.5"):
        AdaptationBounds(gain=1.5)
