from typing import Any

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.controlled_robots import adapts
from test.ros.fake_node import FakeNode

PANDA = arm_model("panda")


def node(adaptation: Any, simulator: bool = True) -> FakeNode:
    return FakeNode({"adaptation": adaptation, "simulator": simulator})


@pytest.mark.parametrize(("word", "meant"), [("on", True), (True, True), ("off", False), (False, False)])
def test_adaptation_is_on_or_off(word: Any, meant: bool) -> None:
    assert adapts(node(word), PANDA) is meant


def test_an_arm_whose_servos_are_not_known_is_not_adapted_to() -> None:
    assert not adapts(node("on"), arm_model("ur5e"))


def test_a_real_panda_is_not_adapted_to() -> None:
    assert not adapts(node("on", simulator=False), PANDA)
