from typing import Any

import numpy as np
import pytest

from llm_planner.control.adaptation_estimator import AdaptationBounds, Estimator, Kind
from llm_planner.robots.arm_model import arm_model

PANDA = arm_model("panda")

PERIOD = 0.01


@pytest.fixture
def estimator(swinging: Any) -> Estimator:
    return Estimator(swinging.layout, PANDA.limits.torque_max)


def watch(estimator: Estimator, swinging: Any, start: float, end: float, noise: float = 0.0) -> None:
    for rows, torque, qvel in swinging.samples(start, end, noise):
        estimator.update(rows, torque, qvel, PERIOD)


def rest(estimator: Estimator, rows: np.ndarray, theta: np.ndarray, seconds: float) -> None:
    for _ in range(round(seconds / PERIOD)):
        estimator.update(rows, rows @ theta, np.zeros(7), PERIOD)


def believed(estimator: Estimator) -> list[tuple[Kind, int]]:
    return [(group.kind, group.joint) for group in estimator.belief.groups]


def test_an_arm_as_its_model_says_is_believed_to_be_so_through_noise(estimator: Estimator, swinging: Any) -> None:
    watch(estimator, swinging, 0.0, 20.0, noise=0.05)

    assert believed(estimator) == []
    assert not estimator.belief.theta.any()


def test_a_payload_is_told_with_its_centre_and_nothing_else(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[:4] = 1.5, 0.06, 0.0, -0.03

    watch(estimator, swinging, 0.0, 4.0, noise=0.05)

    assert believed(estimator) == [(Kind.MASS, -1)]
    np.testing.assert_allclose(estimator.belief.theta[:4], [1.5, 0.06, 0.0, -0.03], atol=0.02)


@pytest.mark.parametrize(
    ("kind", "joint", "value"), [(Kind.VISCOUS, 1, 12.0), (Kind.COULOMB, 3, 3.0), (Kind.GAIN, 1, -0.15)]
)
def test_a_single_fault_of_a_joint_is_found_alone(
    estimator: Estimator, swinging: Any, kind: Kind, joint: int, value: float
) -> None:
    swinging.theta[swinging.layout.of(kind).start + joint] = value

    watch(estimator, swinging, 0.0, 8.0, noise=0.05)

    assert believed(estimator) == [(kind, joint)]
    assert estimator.belief.theta[swinging.layout.of(kind)][joint] == pytest.approx(value, rel=0.05)


def test_a_payload_and_friction_are_told_apart(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[0] = 1.5
    swinging.theta[swinging.layout.of(Kind.COULOMB).start + 3] = 3.0

    watch(estimator, swinging, 0.0, 8.0, noise=0.05)

    assert set(believed(estimator)) == {(Kind.MASS, -1), (Kind.COULOMB, 3)}


def test_a_payload_that_appears_or_goes_is_seen_within_a_second_and_a_half(estimator: Estimator, swinging: Any) -> None:
    watch(estimator, swinging, 0.0, 10.0)
    swinging.theta[0] = 1.5
    watch(estimator, swinging, 10.0, 11.5)
    appeared = estimator.belief.theta[0]
    watch(estimator, swinging, 11.5, 20.0)
    swinging.theta[0] = 0.0
    watch(estimator, swinging, 20.0, 21.5)

    assert appeared == pytest.approx(1.5, abs=0.4)
    assert estimator.belief.theta[0] == pytest.approx(0.0, abs=0.3)


def test_friction_stays_known_when_the_payload_changes(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[swinging.layout.of(Kind.COULOMB).start + 3] = 3.0
    watch(estimator, swinging, 0.0, 10.0)
    estimator.doubt_payload()
    swinging.theta[0] = 1.5
    watch(estimator, swinging, 10.0, 11.5)

    assert estimator.belief.theta[swinging.layout.of(Kind.COULOMB)][3] == pytest.approx(3.0, abs=0.3)


def test_fingers_that_move_at_rest_leave_a_payload_known_until_the_arm_moves_again(
    estimator: Estimator, swinging: Any
) -> None:
    swinging.theta[0] = 0.8
    watch(estimator, swinging, 0.0, 8.0)
    (rows, _, _), *_ = swinging.samples(8.0, 8.02)
    rest(estimator, rows, swinging.theta, 0.5)
    estimator.doubt_payload()
    rest(estimator, rows, swinging.theta, 5.0)
    still = estimator.belief.theta[0]
    swinging.theta[0] = 0.0
    watch(estimator, swinging, 8.0, 10.0)

    assert still == pytest.approx(0.8, abs=0.05)
    assert believed(estimator) == []


def test_a_push_freezes_what_is_believed(estimator: Estimator, swinging: Any) -> None:
    watch(estimator, swinging, 0.0, 6.0)
    swinging.theta[swinging.layout.of(Kind.PUSH)] = 0.0, 60.0, 0.0
    watch(estimator, swinging, 6.0, 8.0)

    assert estimator.is_frozen
    assert believed(estimator) == []


def test_a_push_that_lasts_is_told_as_a_push(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[swinging.layout.of(Kind.PUSH)] = 0.0, 60.0, 0.0
    watch(estimator, swinging, 0.0, 8.0)

    assert believed(estimator) == [(Kind.PUSH, -1)]


def test_what_lies_beyond_the_operators_bounds_is_believed_but_not_made_up_for(swinging: Any) -> None:
    estimator = Estimator(swinging.layout, PANDA.limits.torque_max, AdaptationBounds(payload=1.0))
    swinging.theta[0] = 2.0
    watch(estimator, swinging, 0.0, 4.0)

    assert estimator.belief.theta[0] == pytest.approx(2.0, abs=0.05)
    assert estimator.theta_in_bounds[0] == 1.0


def test_a_push_is_never_made_up_for(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[swinging.layout.of(Kind.PUSH)] = 0.0, 60.0, 0.0
    watch(estimator, swinging, 0.0, 8.0)

    assert not estimator.theta_in_bounds.any()


def test_an_arm_at_rest_is_not_learnt_from_while_nothing_is_strange(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[swinging.layout.of(Kind.COULOMB).start + 3] = 3.0
    watch(estimator, swinging, 0.0, 8.0)
    (rows, _, _), *_ = swinging.samples(8.0, 8.02)
    rest(estimator, rows, swinging.theta, 60.0)

    assert believed(estimator) == [(Kind.COULOMB, 3)]


def test_a_reset_forgets(estimator: Estimator, swinging: Any) -> None:
    swinging.theta[0] = 1.5
    watch(estimator, swinging, 0.0, 4.0)
    estimator.reset()

    assert believed(estimator) == []
