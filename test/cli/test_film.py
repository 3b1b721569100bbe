"""Recording what a robot does."""

from __future__ import annotations

import pytest

from llm_planner.cli.film import FPS, Recorder, write_film
from llm_planner.errors import SimulationError
from llm_planner.scene.scene import Scene


def test_a_frame_is_kept_for_every_period_of_the_robots_time():
    recorder = Recorder(lambda: 0.0)
    recorder.on_scene(Scene(0.0, ()))
    for k in range(101):
        recorder.on_joints(0.01 * k, [0.0] * 7, [0.0] * 7, 0.04)
    assert len(recorder.frames) == pytest.approx(FPS * 1.0, abs=1)


def test_nothing_is_kept_before_the_first_scene():
    recorder = Recorder(lambda: 0.0)
    recorder.on_joints(0.0, [0.0] * 7, [0.0] * 7, 0.04)
    assert recorder.frames == []


def test_the_first_motion_is_noted_by_the_clock():
    times = iter([5.0, 6.0])
    recorder = Recorder(lambda: next(times))
    recorder.on_joints(0.0, [0.0] * 7, [0.0] * 7, 0.04)
    assert recorder.moved_at is None
    recorder.on_joints(0.01, [0.0] * 7, [0.0, -0.5] + [0.0] * 5, 0.04)
    recorder.on_joints(0.02, [0.0] * 7, [0.0, -0.5] + [0.0] * 5, 0.04)
    assert recorder.moved_at == 5.0


def test_without_frames_there_is_no_film(tmp_path):
    with pytest.raises(SimulationError, match="nothing to film: the simulator has shown nothing"):
        write_film([], tmp_path / "film.mp4", tmp_path / "last.png")
