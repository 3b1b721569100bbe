import numpy as np
import pytest

from llm_planner.control.keep_out import LONGEST, speed_rows

RNG = np.random.default_rng(0)
LIMIT = 0.4


def corners(rows_gradient: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The corners of a box given by rows on a velocity (3, 3) and half widths (3,)."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1)
    return np.linalg.solve(rows_gradient, signs * most[:, None]).T


def facets(velocity: np.ndarray, wish: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and half widths on the velocity itself."""
    rows = speed_rows(np.tile(np.eye(3), (len(velocity), 1, 1)), velocity, wish, LIMIT)
    return rows.gradient, rows.most


def test_every_corner_of_the_box_keeps_the_speed() -> None:
    gradients, most = facets(RNG.normal(size=(50, 3)) * 0.3, RNG.normal(size=(50, 3)))
    for gradient, half in zip(gradients, most, strict=True):
        assert np.linalg.norm(corners(gradient, half), axis=1) == pytest.approx(np.full(8, LIMIT))


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.6, -0.64, 0.48)])
def test_a_motion_at_the_limit_may_go_on_almost_as_fast(direction: tuple[float, float, float]) -> None:
    gradient, most = facets(LIMIT * np.array([direction]), np.zeros((1, 3)))
    assert gradient[0, 0] == pytest.approx(np.array(direction))
    assert most[0, 0] == pytest.approx(LONGEST * LIMIT)


def test_a_robot_at_rest_may_start_in_any_direction_but_best_where_it_wants_to_go() -> None:
    gradient, most = facets(np.zeros((1, 3)), np.array([[0.0, 2.0, 0.0]]))
    assert gradient[0, 0] == pytest.approx([0.0, 1.0, 0.0])
    assert most[0] == pytest.approx(np.full(3, LIMIT / 3**0.5))


def test_with_no_direction_at_all_there_still_is_a_box() -> None:
    gradient, most = facets(np.zeros((1, 3)), np.zeros((1, 3)))
    assert np.linalg.norm(corners(gradient[0], most[0]), axis=1) == pytest.approx(np.full(8, LIMIT))


def test_the_rows_are_on_the_joints() -> None:
    jacobian, velocity = RNG.normal(size=(4, 7, 3)), RNG.normal(size=(4, 3))
    rows = speed_rows(jacobian, velocity, velocity, LIMIT)
    on_velocity, _ = facets(velocity, velocity)
    qvel = RNG.normal(size=7)
    for k in range(4):
        assert rows.gradient[k] @ qvel == pytest.approx(on_velocity[k] @ (qvel @ jacobian[k]))
