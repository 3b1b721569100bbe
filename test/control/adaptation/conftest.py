"""Motions of an arm, and what its servos would have to add if it were not as its model says."""

from collections.abc import Iterator

import numpy as np
import pytest

from llm_planner.control.adaptation import ArmRegressor
from llm_planner.robots.arm_model import arm_model

PANDA = arm_model("panda")

PERIOD = 0.01


class Swinging:
    """An arm whose joints swing, each at a pace of its own; theta says what is unknown of it."""

    def __init__(self, regressor: ArmRegressor) -> None:
        self.regressor, self.layout = regressor, regressor.layout
        self.theta = np.zeros(self.layout.size)
        self._rng = np.random.default_rng(5)

    def samples(
        self, start: float, end: float, noise: float = 0.0
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Y, corrective torque with a `noise` of its own [Nm], and joint speeds at every tick."""
        pace, phase = np.array([1.1, 0.9, 1.3, 1.5, 1.7, 1.2, 2.0]), np.arange(7.0)
        for time in np.arange(start, end, PERIOD):
            angle = pace * time + phase
            qpos = np.array(PANDA.home) + 0.3 * np.sin(angle)
            qvel, qacc = 0.3 * pace * np.cos(angle), -0.3 * pace**2 * np.sin(angle)
            rows = self.regressor.rows(qpos, qvel, qacc, self.theta)
            yield rows, rows @ self.theta + self._rng.normal(0.0, noise, 7), qvel


@pytest.fixture(scope="session")
def regressor() -> ArmRegressor:
    return ArmRegressor(PANDA)


@pytest.fixture
def swinging(regressor: ArmRegressor) -> Swinging:
    return Swinging(regressor)
