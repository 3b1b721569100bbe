"""References of earlier runs of skills are refused, and no epoch shuts the skills out for long."""

from __future__ import annotations

import pytest

from llm_planner.control.fallback_supervisor import REMEMBERED, EpochFilter

HUGE = 2**64 - 1


@pytest.fixture
def runs() -> EpochFilter:
    """The run 5 was followed at 10 s, after the run 3."""
    runs = EpochFilter(stale_for=2.5)
    runs.followed(3, 8.0)
    runs.followed(5, 10.0)
    return runs


@pytest.mark.parametrize(("epoch", "now"), [(5, 10.1), (5, 100.0), (6, 10.1), (HUGE, 10.1)])
def test_the_newest_run_and_newer_ones_are_followed(runs, epoch, now):
    assert runs.objection(epoch, now) == ""


@pytest.mark.parametrize(("epoch", "now"), [(3, 10.1), (3, 1000.0), (0, 1000.0), (4, 10.1), (4, 12.5)])
def test_an_earlier_run_is_not(runs, epoch, now):
    assert runs.objection(epoch, now) == f"a reference of the earlier skill run {epoch} came; the run is 5"


def test_a_run_whose_epoch_nobody_exceeds_shuts_the_next_one_out_only_for_as_long_as_references_hold(runs):
    runs.followed(HUGE, 11.0)
    assert runs.objection(7, 13.4) == f"a reference of the earlier skill run 7 came; the run is {HUGE}"
    assert runs.objection(7, 13.6) == ""
    runs.followed(7, 13.6)
    assert "earlier skill run" in runs.objection(HUGE, 1000.0)
    assert "earlier skill run" in runs.objection(5, 1000.0)
    assert runs.objection(8, 13.7) == ""


def test_after_the_clock_leapt_the_time_counts_anew(runs):
    runs.started_over(0.0)
    assert "earlier skill run" in runs.objection(4, 2.4)
    assert runs.objection(4, 2.6) == ""


def test_only_so_many_runs_are_remembered(runs):
    for epoch in range(6, 7 + REMEMBERED):
        runs.followed(epoch, 20.0)
    assert "earlier skill run" in runs.objection(6, 1000.0)
    assert runs.objection(5, 1000.0) == ""
