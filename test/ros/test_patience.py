"""Waiting for a condition, for so long."""

from __future__ import annotations

from llm_planner.ros.waiting import ConditionWait


class Waiting:
    """A wait of two seconds for `ready`, and what came of it."""

    def __init__(self) -> None:
        self.now, self.ready = 0.0, False
        self.came: list[str] = []
        self.patience = ConditionWait(2.0, lambda: self.now)

    def begin(self, name: str = "", seconds: float = 0.0) -> None:
        on, off = (lambda: self.came.append(f"on{name}")), (lambda: self.came.append(f"off{name}"))
        self.patience.once(lambda: self.ready, on, off, seconds)

    def at(self, now: float) -> list[str]:
        self.now = now
        self.patience.look()
        return self.came


def test_what_holds_already_is_not_waited_for():
    waiting = Waiting()
    waiting.ready = True
    waiting.begin()
    assert waiting.came == ["on"]


def test_it_goes_on_once_when_the_condition_holds():
    waiting = Waiting()
    waiting.begin()
    assert waiting.at(1.0) == []
    waiting.ready = True
    assert waiting.at(1.5) == ["on"]
    assert waiting.at(9.0) == ["on"]


def test_it_gives_up_once_when_the_time_is_over():
    waiting = Waiting()
    waiting.begin()
    assert waiting.at(2.0) == []
    assert waiting.at(2.1) == ["off"]
    assert waiting.at(9.0) == ["off"]


def test_a_new_wait_takes_the_place_of_the_old():
    waiting = Waiting()
    waiting.begin("1")
    waiting.now = 1.0
    waiting.begin("2")
    assert waiting.at(2.5) == []
    assert waiting.at(3.1) == ["off2"]


def test_what_is_forgotten_is_not_waited_for():
    waiting = Waiting()
    waiting.begin()
    waiting.patience.forget()
    assert waiting.at(9.0) == []


def test_some_waits_are_longer():
    waiting = Waiting()
    waiting.begin(seconds=5.0)
    assert waiting.at(4.9) == []
    assert waiting.at(5.1) == ["off"]
