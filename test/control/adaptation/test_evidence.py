import numpy as np
import pytest

from llm_planner.control.adaptation_estimator import Evidence

NOISE = np.array([0.1, 0.1])
THETA = np.array([2.0, -1.0, 0.5])


def gathered(theta: np.ndarray, ticks: int, memory: float = 1e9, seed: int = 0) -> Evidence:
    """What `ticks` random motions show of two joints with three unknowns."""
    evidence, rng = Evidence(3, memory), np.random.default_rng(seed)
    for _ in range(ticks):
        rows = rng.normal(size=(2, 3))
        evidence.add(rows, rows @ theta, NOISE, theta, 0.2)
    return evidence


def test_the_truth_leaves_nothing_unexplained_and_nothing_else_does() -> None:
    evidence = gathered(THETA, 50)

    assert evidence.unexplained(THETA) == pytest.approx(0.0, abs=1e-6)
    assert evidence.unexplained(THETA + 0.1) > 1.0
    np.testing.assert_allclose(np.linalg.solve(evidence.information, evidence.pull), THETA)


def test_measurements_close_together_count_as_one() -> None:
    evidence = Evidence(1, 1e9)
    for _ in range(20):
        evidence.add(np.eye(1), np.ones(1), np.ones(1), np.ones(1), 0.01)

    assert evidence.count == pytest.approx(1.0)


def test_the_past_fades_with_its_memory() -> None:
    before = gathered(THETA, 10, memory=4.0)
    count = before.count
    before.add(np.zeros((2, 3)), np.zeros(2), NOISE, THETA, 0.2)

    assert before.count == pytest.approx(count * np.exp(-0.2 / 4.0) + 2.0)


def test_an_outlier_counts_less() -> None:
    evidence = Evidence(1, 1e9)
    evidence.add(np.eye(1), np.array([200.0]), np.ones(1), np.zeros(1), 0.2)

    assert evidence.count == pytest.approx(0.1)


def test_what_is_forgotten_may_have_been_anything_while_the_rest_is_still_known() -> None:
    evidence = gathered(THETA, 50)

    evidence.forget(np.array([1]))

    assert not evidence.information[1].any()
    assert evidence.pull[1] == 0.0
    kept = np.ix_([0, 2], [0, 2])
    np.testing.assert_allclose(
        np.linalg.solve(evidence.information[kept], evidence.pull[[0, 2]]), [2.0, 0.5], rtol=1e-5
    )
    evidence.include(gathered(np.array([2.0, 3.0, 0.5]), 20, seed=1))
    np.testing.assert_allclose(np.linalg.solve(evidence.information, evidence.pull), [2.0, 3.0, 0.5], rtol=1e-5)
