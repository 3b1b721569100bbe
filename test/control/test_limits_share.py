from dataclasses import replace

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import JointLimits, LimitShare

PANDA = arm_model("panda")


def limits(**changes: np.ndarray) -> JointLimits:
    one = np.ones(2)
    return replace(JointLimits(-one, one, one, one), **changes)


def test_plans_use_the_share_of_the_robots_limits_that_was_asked_for() -> None:
    share = LimitShare(velocity=0.5, acceleration=0.25, braking=0.8, position_margin=0.1).tracking(PANDA.limits)

    assert share.velocity == pytest.approx(0.5 * PANDA.limits.qvel_max)
    assert share.acceleration == pytest.approx(0.25 * PANDA.limits.qacc_max)
    assert share.lower == pytest.approx(PANDA.limits.qpos_min + 0.1)
    assert share.nq == 7


def test_braking_may_use_more_of_the_acceleration() -> None:
    share = LimitShare()
    assert (share.stopping(PANDA.limits).acceleration > share.tracking(PANDA.limits).acceleration).all()


def test_a_slower_arm_keeps_its_acceleration_so_that_it_can_stop() -> None:
    slow = limits().slower(0.5)
    assert slow.velocity == pytest.approx([0.5, 0.5])
    assert slow.acceleration == pytest.approx([1.0, 1.0])


def test_limits_of_different_lengths_are_rejected() -> None:
    with pytest.raises(InputError, match="one number per joint in each of the four bounds"):
        limits(velocity=np.ones(3))


def test_limits_without_room_are_rejected() -> None:
    with pytest.raises(InputError, match="need lower < upper, velocity > 0 and acceleration > 0"):
        limits(velocity=np.zeros(2))


@pytest.mark.parametrize("name", ["velocity", "acceleration", "braking"])
def test_a_share_above_one_is_rejected(name: str) -> None:
    with pytest.raises(InputError, match=rf"the share of the {name} limit must lie in \(0, 1\], not 1.5"):
        LimitShare(**{name: 1.5})


def test_a_negative_margin_is_rejected() -> None:
    with pytest.raises(InputError, match=r"position_margin must not be negative, not -0\.1"):
        LimitShare(position_margin=-0.1)
