"""The benchmarks of skills and control run, on tiny sizes, and report what they promise."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


def test_pick_and_place_is_counted_by_task(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = load("bench_pick_place")
    assert benchmark.main(["--episodes", "1", "--long", "0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["pick_and_place"] == report["by_task"]["block on block"]
    assert report["pick_and_place"]["success"] == 1.0
    assert report["largest_velocity_share"] < 1.0
    assert report["largest_acceleration_share"] < 1.0


def test_the_controller_keeps_its_limits_while_it_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = load("bench_mpc")
    assert benchmark.main(["--episodes", "60", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["states"] == {"tracking": 60}
    assert 0.0 < report["qp_ms"]["median"] < report["tick_ms"]["median"]
    assert benchmark.main(["--episodes", "20"]) == 0
    assert "qp_ms > median" in capsys.readouterr().out


def test_the_bare_physics_goes_the_same_way_as_the_loop(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = load("bench_episode_speed")
    assert benchmark.main(["--episodes", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["failed_skills"] == 0
    assert report["states_apart"] == 0.0
    assert report["ratio"] > 1.0


def test_a_script_begun_anew_after_a_disturbance_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    load("bench_pick_place")  # whose things it lays out
    benchmark = load("bench_demonstrators")
    assert benchmark.main(["--scenes", "1", "--skills", "reach", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["skills"]

    assert (row["skill"], row["plain"], row["disturbed"]) == ("reach", 1.0, 1.0)
    assert row["failures"] == []
