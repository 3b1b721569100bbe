"""What becomes of messages that cannot be converted."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError
from llm_planner.ros.conversions.message_checks import validated
from test.ros.fake_node import FakeNode


def test_an_invalid_message_is_dropped_and_logged_once():
    node, used = FakeNode(), []
    received = validated(node, int_of, used.append, "a number cannot be used: ")
    for message in ("1", "two", "three", "4"):
        received(message)
    assert (used, node.log) == ([1, 4], ["a number cannot be used: two is no number"])


def test_an_error_of_what_uses_the_message_passes():
    def refuse(number: int) -> None:
        raise InputError(f"{number} is too much")

    with pytest.raises(InputError, match="1 is too much"):
        validated(FakeNode(), int_of, refuse)("1")


def int_of(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{text} is no number")
    return int(text)
