"""The tasks of `bench_rooms` with their rules, over DDS, where nav2's action moves the base instead of our controller.

The real processes of `llm-planner up --world rooms`, with the skill server's `navigate_action`; a stand-in for nav2
(`nav2_rooms/nav2_node.py`) plans on a costmap with our keep-out mask and drives the simulated base. Commands are read
as they are meant (`bench_rooms --model truth`). The simulator's own record of each task is judged by the definition of
the true formulas, not by the planner's automata.

Each task is a line in the file of results; a run that is started again goes on after the last one, or with `--again`
repeats what was not done, as on a machine that was too busy. A rule counts as broken if it was in any run. Impossible
tasks are left out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

from bench_rooms import straight_program
from nav2_rooms.attacks import ATTACKS, run_attack, stage_of
from nav2_rooms.simulator_node import rooms_of
from nav2_rooms.system import System, running, scripted
from reports import print_report, report_parser, spread
from rooms_judge import judge
from rooms_tasks import MAX_RULES, RoomsTask, draw_task

from llm_planner.cli.processes import join_own_network
from llm_planner.ros.transport import use_sockets
from llm_planner.simulation.rooms.building_plan import ROOMS_MAX, ROOMS_MIN
from llm_planner.simulation.worlds import open_world

MOST = 600.0  # [s] of wall time for a task: generous, because the machine may be busy
RESULTS = Path("runs") / "bench_nav2.jsonl"


def task_of(seed: int) -> RoomsTask:
    """Return the task that `bench_rooms` draws for a seed."""
    scene = open_world("rooms", seed, rooms=rooms_of(seed)).scene()
    return draw_task(scene, seed, 1 + seed // (ROOMS_MAX - ROOMS_MIN + 1) % MAX_RULES)


def reading_of(task: RoomsTask) -> tuple[list[tuple[str, str]], list[tuple[str, str]], str]:
    goals, rules = ([(one.words, one.formula) for one in clauses] for clauses in (task.goals, task.rules))
    return goals, rules, straight_program([formula for _, formula in goals])


def run_task(system: System, task: RoomsTask, after: int) -> dict[str, Any]:
    """Do one task in its building, lay out that of the seed `after`, and judge what the simulator recorded."""
    began = time.monotonic()
    submission = system.client.submit(task.command)
    result = system.finish(submission, MOST)
    system.rest()
    system.reset(after)
    scenes = system.record(task.seed)
    judged = judge(task, scenes, result is not None and result.succeeded)
    return {
        "seed": task.seed, "command": task.command, "rules": len(task.rules),
        "code": None if result is None else result.code, "done": result is not None and result.succeeded,
        "message": "no end in time" if result is None else result.message,
        "broken": list(judged.broken), "reached": judged.reached, "metres": round(judged.metres, 2),
        "fastest": round(max(scene.speed for scene in scenes), 2),
        "simulated": round(scenes[-1].time, 1), "wall": round(time.monotonic() - began, 1),
    }  # fmt: skip


def run(tasks: Sequence[RoomsTask], results: Path, speed: float, folder: Path) -> None:
    """Do the tasks and append a line for each to the file of results."""
    script = scripted({task.command: reading_of(task) for task in tasks})
    with running(folder, script, speed) as system:
        system.reset(tasks[0].seed)
        for task, after in zip(tasks, [*tasks[1:], tasks[-1]], strict=True):
            line = run_task(system, task, after.seed)
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            said = f"{line['seed']}: {line['message'] or 'done'}; broken: {line['broken'] or 'nothing'}"
            print(f"{said} ({line['wall']} s)", file=sys.stderr, flush=True)


def attack(seeds: Sequence[int], names: Sequence[str], results: Path, speed: float, folder: Path) -> None:
    """Run every attack in the buildings of the seeds, and append a line for each to the file of results."""
    stages = [stage_of(seed) for seed in seeds]
    script = scripted({words: reading for stage in stages for words, reading in stage.commands.items()})
    with running(folder, script, speed) as system:
        for stage in stages:
            for name in names:
                shown = run_attack(system, name, stage)
                line = {"seed": stage.seed, "attack": name, **vars(shown)}
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                said = "; ".join(shown.wrong) or "held"
                print(f"{name} {stage.seed}: {said} {shown.figures} ({shown.told})", file=sys.stderr, flush=True)


def attacks_summary(results: Path) -> dict[str, Any]:
    """Return how often each attack held, and what was wrong otherwise; the last run in a building counts."""
    lines = list(
        {(one["attack"], one["seed"]): one for one in map(json.loads, results.open(encoding="utf-8"))}.values()
    )
    lines = [line for line in lines if not line["figures"].get("left_out")]
    return {
        name: {
            "held": f"{sum(not one['wrong'] for one in some)} of {len(some)}",
            **{key: max(one["figures"].get(key, 0.0) for one in some) for key in some[0]["figures"]},
            **(
                {"wrong": sorted({told for one in some for told in one["wrong"]})}
                if any(one["wrong"] for one in some)
                else {}
            ),
        }
        for name in ATTACKS
        if (some := [line for line in lines if line["attack"] == name])
    }


def join() -> None:
    """Join the ROS domain of the environment, or a free one."""
    if "ROS_DOMAIN_ID" in os.environ:
        use_sockets()
    else:
        join_own_network()


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures over the tasks that were run; of those that were repeated the last run counts."""
    lines = list({line["seed"]: line for line in runs}.values())
    return {
        "tasks": len(lines),
        "runs": len(runs),
        "tasks_with_a_rule_broken": len({line["seed"] for line in runs if line["broken"]}),
        "done_and_shown_by_the_simulator": sum(line["done"] and line["reached"] for line in lines),
        "said_done_but_not_shown": sum(line["done"] and not line["reached"] for line in lines),
        "by_number_of_rules": {
            str(count): f"{sum(one['done'] and one['reached'] for one in some)} of {len(some)} done, "
            f"{sum(bool(one['broken']) for one in some)} broken"
            for count in sorted({line["rules"] for line in lines})
            for some in [[line for line in lines if line["rules"] == count]]
        },
        "fastest_m_s": max((line["fastest"] for line in lines), default=0.0),
        "metres": spread([line["metres"] for line in lines]),
        "simulated_s": spread([line["simulated"] for line in lines]),
        "wall_s": spread([line["wall"] for line in lines]),
        "not_done": dict(Counter(line["message"][:90] for line in lines if not line["done"]).most_common()),
    }


def read(results: Path) -> list[dict[str, Any]]:
    """Return the lines of the file of results, one a run."""
    return list(map(json.loads, results.read_text(encoding="utf-8").splitlines())) if results.exists() else []


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table or JSON; return 1 where a rule was broken."""
    parser = report_parser(__doc__)
    parser.add_argument("--tasks", type=int, default=200, help="seeds that are drawn, impossible tasks among them")
    parser.add_argument("--seed", type=int, default=0, help="of the first task")
    parser.add_argument("--stride", type=int, default=1, help="from a seed to the next, for a part of them all")
    parser.add_argument("--speed", type=float, default=3.0, help="simulated seconds a wall second")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file that is continued")
    parser.add_argument("--log", type=Path, help="folder for what the nodes print")
    parser.add_argument("--again", action="store_true", help="repeat the tasks that were not done")
    parser.add_argument("--only-report", action="store_true", help="report the file of results, and run nothing")
    parser.add_argument("--attacks", nargs="*", choices=ATTACKS, help="attack the adapter instead; none named: all")
    options = parser.parse_args(argv)
    if options.attacks is not None and options.results == RESULTS:
        options.results = RESULTS.with_name("bench_nav2_attacks.jsonl")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    seeds = range(options.seed, options.seed + options.tasks, options.stride)
    with tempfile.TemporaryDirectory() as name:
        folder = options.log or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if options.attacks is None:
            return _tasks(options, seeds, folder)
        if not options.only_report:
            join()
            attack(seeds, options.attacks or list(ATTACKS), options.results, options.speed, folder)
    figures = attacks_summary(options.results)
    print_report(figures, options.json)
    return int(any("wrong" in row for row in figures.values()))


def _tasks(options: Namespace, seeds: Sequence[int], folder: Path) -> int:
    last = {line["seed"]: line for line in read(options.results)}
    known = {seed for seed, line in last.items() if line["done"] or not options.again}
    left = [] if options.only_report else [task_of(seed) for seed in seeds if seed not in known]
    tasks = [task for task in left if task.possible]
    if tasks:
        join()
        run(tasks, options.results, options.speed, folder)
    figures = summary([line for line in read(options.results) if line["seed"] in seeds])
    print_report(figures, options.json)
    return int(figures["tasks_with_a_rule_broken"] > 0)


if __name__ == "__main__":
    sys.exit(main())
