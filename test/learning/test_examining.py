"""The examination of a skill in the simulator, with a policy that has learned nothing."""

from __future__ import annotations

from llm_planner.learning.demonstrations import collect, collected
from llm_planner.learning.improving import examine, latency_of, roll_out
from llm_planner.learning.report import read_report
from llm_planner.learning.report_page import MOMENTS, moments
from llm_planner.learning.skill_training import train_skill
from llm_planner.skills.learned.loading import load_sampler


def test_a_skill_is_demonstrated_taught_and_examined(make_task, here):
    task = make_task(episodes=1, timeout=25.0)
    done = []
    collect(task, 1, 0, here, done.append)
    recordings = collected(task, 1, 0)
    assert {one.seed for one in recordings} == {0}
    collect(task, 1, 2, here, done.append)
    assert {one.seed for one in collected(task, 1, 2)} == {2_000_000}
    assert len(collected(task, 1, 0)) == len(recordings)
    assert done == [1, 1]

    task = make_task(timeout=1.0)
    train_skill(task, 0, "flow", recordings, lambda step, loss: None)
    report = examine(task, 1, 0, here, done.append)
    assert done == [1, 1, 1, 1]
    assert report == read_report(task.folder)
    assert report.trained.moments == sum(map(len, recordings))
    assert report.evaluated.plain.seeds == (900_000_000, 900_000_000)
    assert report.evaluated.plain.trials == report.evaluated.perturbed.trials == 1
    assert "900000000" in (task.folder / "report.md").read_text()
    assert (task.folder / "report.png").stat().st_size < 300_000
    assert not roll_out(task, 1, 0, here, done.append)[0].succeeded


def test_latency_is_told_in_milliseconds(make_task, made_up):
    task = make_task()
    train_skill(task, 0, "flow", made_up(task), lambda step, loss: None)
    times = iter(range(10_000))
    latency = latency_of(load_sampler(task.manifest, task.policy), lambda: next(times) * 0.002)
    assert (round(latency.median, 6), round(latency.p99, 6)) == (2.0, 2.0)


def test_the_moments_of_a_trial_begin_with_its_start_and_end_with_its_end():
    assert moments(range(31)) == [0, 10, 20, 30]
    assert moments(range(1)) == [0] * MOMENTS
