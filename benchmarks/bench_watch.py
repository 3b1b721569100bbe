"""Time to decide on one scene update, for five constraints over each world: letters, monitors and verdicts together.

The robot leaps about, so nearly every update changes some distance.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from reports import print_report, report_parser

from llm_planner.execution.watch import watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import Pose, Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world

OBJECTS = "red block, green block, blue block, red bowl, green bowl, blue bowl, vase"
ON_THE_TABLE = (
    "!moved(green block) U in(red block, red bowl)",
    "G !near(robot, vase)",
    "G distance(robot, vase) > 0.15",
    "F (in(green block, green bowl) & F in(blue block, blue bowl))",
    "G (holding(red block) -> speed(robot) < 0.3)",
)


def in_rooms(rooms: Sequence[str]) -> tuple[str, ...]:
    """Five constraints over the rooms of a building."""
    a, b, c, d, e, f, g = rooms[:7]
    return (
        f"!in(robot, {a}) W in(robot, {b})",
        f"F in(robot, {c})",
        f"G !in(robot, {d})",
        f"G (in(robot, {e}) -> F in(robot, {f}))",
        f"F[0,600] in(robot, {g})",
    )


def updates(scene: Scene, low: Sequence[float], high: Sequence[float], count: int, seed: int) -> Iterator[Scene]:
    """Scenes 50 ms apart with the robot anywhere in a box [m]."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        x, y, z = rng.uniform(low, high).tolist()
        yield replace(scene, time=0.05 * (k + 1), robot=Pose((x, y, z)), speed=float(rng.uniform(0.0, 0.3)))


def measure(formulas: Sequence[str], scene: Scene, scenes: Iterator[Scene]) -> dict[str, float]:
    """Microseconds an update."""
    watch = watch_for([Constraint(parse(formula), formula) for formula in formulas], scene).see(scene)
    times = []
    for update in scenes:
        begin = time.perf_counter()
        watch = watch.see(update)
        times.append(1e6 * (time.perf_counter() - begin))
    return {"median_us": round(float(np.median(times)), 1), "p99_us": round(float(np.percentile(times, 99)), 1)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = report_parser(__doc__)
    parser.add_argument("--updates", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    table = open_world("tabletop", args.seed, parse_objects(OBJECTS)).scene()
    building = open_world("rooms", args.seed, rooms=12).scene()
    assert building.building is not None
    on_table = updates(table, (0.3, -0.4, 0.05), (0.6, 0.4, 0.4), args.updates, args.seed)
    among_rooms = updates(building, (-8.0, -6.0, 0.0), (8.0, 6.0, 0.0), args.updates, args.seed)
    figures = {
        "tabletop": measure(ON_THE_TABLE, table, on_table),
        "rooms": measure(in_rooms(building.building.names), building, among_rooms),
    }
    return print_report({"updates": args.updates, **figures}, args.json)


if __name__ == "__main__":
    sys.exit(main())
