"""Every clearance is kept while processes between a commander and the joints stall: the benchmark with a few seeds."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(FOLDER))
    yield runpy.run_path(str(FOLDER / "bench_stalls.py"))
    sys.path.remove(str(FOLDER))


def test_no_stall_of_any_process_breaks_a_clearance(bench: dict[str, Any]) -> None:
    report = bench["run"](seeds=12, seed=1, seconds=3.0, processes=1)
    assert set(report["stalls"]) == {"none", "commander", "filter", "driver", "publisher", "all"}
    assert report["all"]["commanded mm"] >= 0.0, report["worst"]
    assert report["all"]["measured mm"] >= 0.0, report["worst"]
    assert report["all"]["contacts"] == 0
    assert report["all"]["median measured mm"] < 20.0, "the arm went as near as it may"
    assert report["all"]["turned rad"] > 0.5, "it was not simply held"


def test_a_seed_always_comes_to_the_same(bench: dict[str, Any]) -> None:
    assert bench["one"](1.5, 5) == bench["one"](1.5, 5)
