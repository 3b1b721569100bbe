"""The benchmarks run, at tiny sizes, and every figure of `make bench` can be read from their reports."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

MAIN = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "__main__.py"))
WITH_NODES = {
    "bench_first_motion",
    "bench_footprint",
    "bench_correction_latency",
    "bench_spoken_latency",
    "bench_kills",
    "bench_fuzz",
    "bench_floods",
    "bench_lost_responses",
    "bench_nav2",
}  # need all nodes: see test/nodes
WITH_VOICES = {"bench_speech"}  # Debian's: see test_speech_bench
IN_PROCESS = sorted(set(MAIN["BENCHMARKS"]) - WITH_NODES - WITH_VOICES)


@pytest.mark.parametrize("name", IN_PROCESS)
def test_a_benchmark_reports_its_figures(name: str) -> None:
    benchmark = MAIN["BENCHMARKS"][name]
    report = MAIN["run"](name, benchmark.quick)
    for figure in benchmark.figures:
        value = figure.read(report)
        assert value >= 0.0
        assert isinstance(figure.kept(value), bool)


def test_a_benchmark_that_fails_is_shown_with_its_output() -> None:
    with pytest.raises(SystemExit, match="bench_mpc failed"):
        MAIN["run"]("bench_mpc", ["--episodes", "none"])


def test_a_figure_that_is_missed_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    figures = MAIN["BENCHMARKS"]["bench_mpc"].figures
    figures.append(MAIN["Figure"]("impossible", lambda report: 1.0, "≤ 0.5"))
    try:
        assert MAIN["main"](["--quick", "--only", "bench_mpc"]) == 1
    finally:
        figures.pop()
    assert "MISSED" in capsys.readouterr().out
