"""What a host takes of this machine's time is read as the kernel counts it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from host_noise import CpuTime


def test_stolen_time_is_a_share_of_what_has_passed(tmp_path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 2 3\n", encoding="ascii")
    before = CpuTime.now(stat)
    assert before == CpuTime(1000, 35)
    stat.write_text("cpu  110 0 50 870 10 0 5 55 0 0\ncpu0 1 2 3\n", encoding="ascii")
    assert CpuTime.now(stat).stolen_since(before) == 0.2
    assert before.stolen_since(before) == 0.0


def test_a_machine_without_that_count_has_had_nothing_stolen(tmp_path) -> None:
    nothing = CpuTime.now(tmp_path / "none")
    assert nothing.stolen_since(nothing) == 0.0
