"""Pictures of docs/concepts/control.md, from runs of the guarded arm: clearance and speed, times of computing.

python benchmarks/pictures.py [--folder docs/images]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import bench_clearance
import bench_slower
import numpy as np
from charts import Curve, Mark, chart_svg
from clearance_scenes import draw_scene

FOLDER = Path(__file__).parents[1] / "docs" / "images"
GROWS, SLOWS = 13, 3  # the seeds of a scene whose clearance grows while the arm is near, and of a motion
SHOWN = (1.0, 3.0)  # [s] before and after "slower"
BINS = 60


def clearance() -> Iterator[tuple[str, str]]:
    """A scene over time, and how long its ticks took."""
    scene = draw_scene(np.random.default_rng(GROWS))
    log = bench_clearance.play(scene)
    name = scene.solids[1].name
    times = log.times
    measured = Curve("measured", times, [100 * row[name] for row in log.distances])
    asked = Curve("in force", times, [100 * row[name] for row in log.clearances], dashed=True)
    changes = [Mark(patch.stamp, "patch") for patch in scene.patches if patch.stamp > 0]
    title = f"Straight through {name}, while its clearance changes"
    yield "clearance.svg", chart_svg(title, "time [s]", "nearest link to the solid [cm]", [measured, asked], changes)
    kinds = {
        "programs": log.solve_ms,
        "controller tick": log.controller_ms,
        "filter, proof of a plan": log.proof_ms,
        "filter, step": log.filter_ms,
    }
    curves = [_histogram(kind, values) for kind, values in kinds.items()]
    words = "How long computing takes, in the same run"
    yield "solve_times.svg", chart_svg(words, "CPU time [ms]", "share of the ticks [%]", curves)


def slower() -> tuple[str, str]:
    """A motion that is told to be slower."""
    log, told = bench_slower.play(SLOWS)
    times = np.array(log.times) - told
    shown = (times > -SHOWN[0]) & (times < SHOWN[1])
    speeds = Curve("measured", times[shown].tolist(), np.array(log.speeds)[shown].tolist())
    limits = Curve("limit in force", times[shown].tolist(), np.array(log.limits)[shown].tolist(), dashed=True)
    title = '"Slower", said in full motion'
    words = "time from the patch [s]", "speed of the hand [m/s]"
    return "slower.svg", chart_svg(title, *words, [speeds, limits], [Mark(0.0, "patch")])


def _histogram(name: str, values: Sequence[float]) -> Curve:
    """The shares [%] of the values in bins of equal width, as steps."""
    used = np.array([value for value in values if value > 0])
    shares, edges = np.histogram(used, BINS, (0.0, 6.0))
    heights = np.repeat(100.0 * shares / max(len(used), 1), 2)
    return Curve(name, np.repeat(edges, 2)[1:-1].tolist(), heights.tolist())


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (*clearance(), slower()):
        (folder / name).write_text(picture, encoding="utf-8")
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
