import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import ROOM, LimitWatch

PANDA = arm_model("panda")

DT = 0.002


@pytest.fixture
def watch() -> LimitWatch:
    return LimitWatch(PANDA.limits, DT)


def test_velocity_and_acceleration_are_shares_of_the_limits(watch: LimitWatch):
    watch.rows(2)[:] = np.outer([0.5, 1.0], PANDA.limits.qacc_max * DT)
    assert watch.qacc_ratio == pytest.approx(np.full(7, 0.5))
    assert watch.qvel_ratio == pytest.approx(PANDA.limits.qacc_max * DT / PANDA.limits.qvel_max)
    assert not watch.exceeded
    assert "acceleration 50% of the limit" in str(watch)


def test_one_step_above_a_limit_among_thousands_is_seen(watch: LimitWatch):
    for block in range(10):
        rows = watch.rows(ROOM // 3)
        rows[:] = 0.0
        rows[7, 1] = 1.01 * PANDA.limits.qacc_max[1] * DT if block == 4 else 0.0
    assert watch.exceeded
    assert int(np.argmax(watch.qacc_ratio)) == 1


def test_a_change_between_two_blocks_of_steps_is_seen(watch: LimitWatch):
    watch.rows(3)[:] = 0.0
    watch.rows(3)[:] = 2 * PANDA.limits.qacc_max * DT
    assert watch.qacc_ratio == pytest.approx(np.full(7, 2.0))


def test_more_steps_than_it_keeps_are_watched_too(watch: LimitWatch):
    rows = watch.rows(3 * ROOM)
    rows[:] = 0.0
    rows[-1] = 2 * PANDA.limits.qacc_max * DT
    assert watch.exceeded


def test_over_several_steps_a_touch_is_no_acceleration_of_the_drives():
    watch = LimitWatch(PANDA.limits, DT, window=5)
    touch = 2 * PANDA.limits.qacc_max * DT
    for _ in range(ROOM // 4):
        watch.rows(6)[:] = np.outer([0, 0, 0, 1, 0, 0], touch)
    assert watch.qacc_ratio == pytest.approx(np.full(7, 0.4))
    watch.rows(20)[:] = np.outer(np.arange(20), 1.2 * PANDA.limits.qacc_max * DT)
    assert watch.qacc_ratio == pytest.approx(np.full(7, 1.2))


def test_a_reset_is_no_motion(watch: LimitWatch):
    watch.restart(PANDA.limits.qvel_max * 0.9)
    watch.rows(2)[:] = PANDA.limits.qvel_max * 0.9
    watch.restart(np.zeros(7))
    watch.rows(1)[:] = 0.0
    assert watch.qacc_ratio == pytest.approx(np.zeros(7))
    assert watch.qvel_ratio == pytest.approx(np.full(7, 0.9))
