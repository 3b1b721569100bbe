from dataclasses import dataclass
from typing import Any

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.controlled_robots import adapts

PANDA = arm_model("panda")


@dataclass
class NodeWith:
    """Something that has been told these parameters."""

    adaptation: Any = "on"
    simulator: bool = True

    def setting(self, name: str) -> Any:
        return getattr(self, name)


@pytest.mark.parametrize(("word", "meant"), [("on", True), (True, True), ("off", False), (False, False)])
def test_adaptation_is_on_or_off(word: Any, meant: bool) -> None:
    assert adapts(NodeWith(word), PANDA) is meant


def test_an_arm_whose_servos_are_not_known_is_not_adapted_to() -> None:
    assert not adapts(NodeWith("on"), arm_model("ur5e"))


def test_a_real_panda_is_not_adapted_to() -> None:
    assert not adapts(NodeWith("on", simulator=False), PANDA)
