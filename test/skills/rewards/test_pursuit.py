"""When a motion has nothing more to gain."""

from __future__ import annotations

from llm_planner.skills.rewards.planner import PATIENCE, Pursuit


def test_it_goes_on_while_plans_promise_something_and_keep_it() -> None:
    pursuit = Pursuit(0.0, idle=3)
    assert all(pursuit.goes_on(0.1 * k, 10.0 - 0.1 * k, 5.0) for k in range(45))


def test_plans_that_promise_nothing_end_it_after_so_many_steps_in_a_row() -> None:
    pursuit = Pursuit(0.0, idle=3)
    promised = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert [pursuit.goes_on(0.1, 1.0, 1.0 - gain) for gain in promised] == [True, True, True, True, True, False]


def test_promises_that_nothing_comes_of_end_it_when_patience_is_at_an_end() -> None:
    pursuit = Pursuit(0.0, idle=3)
    assert pursuit.goes_on(0.0, 1.0, 0.0)
    assert pursuit.goes_on(PATIENCE - 0.1, 1.0, 0.0)
    assert not pursuit.goes_on(PATIENCE + 0.1, 1.0, 0.0)
