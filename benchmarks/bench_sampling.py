"""The sampling planner and judo (judo-rai on PyPI) on two tasks: what a plan costs, and how well the task is done.

Both get the same models, costs, starts, rollouts, knots and seconds ahead; how widely they draw is each one's own. judo
pins an older MuJoCo, so it runs in an environment of its own, if there is one (requirements-bench.txt).
Usage: bench_sampling.py [--starts 6] [--seconds 8] [--seed 0] [--judo-python .venv-judo/bin/python] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from closed_loop_sampling import Planner, run
from sampling_tasks import HORIZON, KNOTS, PERIOD, ROLLOUTS, TASKS, SamplingTask

from llm_planner.skills.rewards.sampling import (
    ControlRange,
    Method,
    Rolled,
    Rollouts,
    SamplingSettings,
    controls_at,
    first_plan,
    full_state,
    optimise,
    shifted,
)

FOLDER = Path(__file__).parent
JUDO = FOLDER.parent / ".venv-judo" / "bin" / "python"
METHODS: tuple[Method, ...] = ("predictive", "cem", "mppi")
SPREAD = {"cartpole": 0.03, "cylinder_push": 0.05}  # of half the range of the controls


def planner(task: SamplingTask, name: str, method: Method, seed: int) -> Planner:
    """Our planner, warm started with its last plan."""
    model = mujoco.MjModel.from_xml_string(task.model)
    rollouts, rng = Rollouts(model), np.random.default_rng(seed)
    settings = SamplingSettings(method, ROLLOUTS, 1, HORIZON, KNOTS, "hold")
    controls = ControlRange.of(rollouts, SPREAD[name])
    best = first_plan(0.0, np.zeros(model.nu), settings)
    ahead = model.opt.timestep * np.arange(round(PERIOD / model.opt.timestep))

    def cost(rolled: Rolled) -> np.ndarray:
        return np.asarray(task.cost(rolled.qpos, rolled.qvel, rolled.controls).mean(axis=-1))

    def plan(_: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
        nonlocal best
        moved = shifted(best, data.time, settings)
        best = optimise(rollouts, full_state(model, data), cost, moved, controls, settings, rng)
        return np.asarray(controls_at(best, data.time + ahead, settings))

    return plan


def ours(name: str, method: Method, starts: int, seconds: float, seed: int) -> dict[str, list[float]]:
    task = TASKS[name]
    return run(task, lambda of: planner(task, name, method, of), starts, seconds, seed)


def judos(python: Path, name: str, method: Method, starts: int, seconds: float, seed: int) -> dict[str, list[float]]:
    """The same by judo; raises SystemExit with its output when it fails."""
    command = [str(python), str(FOLDER / "judo_planner.py"), name, method, str(starts), str(seconds), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"judo failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    report: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return report


def medians(report: dict[str, list[float]]) -> dict[str, float]:
    numbers = {name: float(np.median(values)) for name, values in report.items()}
    return numbers | {"cpu ms, p99": float(np.percentile(report["cpu ms"], 99))}


def measure(starts: int, seconds: float, seed: int, python: Path) -> dict[str, Any]:
    """For each task and method the medians of both, judo's where it is installed."""
    report: dict[str, Any] = {"judo": python.exists()}
    for name in TASKS:
        report[name] = {}
        for method in METHODS:
            row = {"ours": medians(ours(name, method, starts, seconds, seed))}
            if python.exists():
                row["judo"] = medians(judos(python, name, method, starts, seconds, seed))
            report[name][method] = row
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--judo-python", type=Path, default=JUDO)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    report = measure(options.starts, options.seconds, options.seed, options.judo_python)
    if options.json:
        print(json.dumps(report, indent=2))
        return 0
    print(f"{'':32} {'mean cost':>10} {'last second':>12} {'CPU ms a plan':>14} {'99 %':>8} {'wall ms':>8}")
    for name in TASKS:
        for method, row in report[name].items():
            for who, r in row.items():
                costs = f"{r['mean cost']:10.3f} {r['last cost']:12.3f}"
                times = f"{r['cpu ms']:14.2f} {r['cpu ms, p99']:8.2f} {r['wall ms']:8.2f}"
                print(f"{name:14} {method:11} {who:5} {costs} {times}")
    if not report["judo"]:
        print(f"judo was left out: there is no {options.judo_python} (requirements-bench.txt says how to install it)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
