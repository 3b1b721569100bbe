"""Our policies, plain regression and lerobot's DiffusionPolicy on three Meta-World tasks, from the same demonstrations.

Demonstrations, weights and episodes played are kept in a folder, so that a run goes on where the last one ended; the
latencies are measured anew each time, side by side, one thread, CPU time. metaworld and lerobot live in an environment
of their own (`make setup-lerobot`), to which any other Python hands over.
Usage: bench_metaworld.py [--episodes 200] [--tasks push pick-place drawer-open] [--without NAME ...]
                          [--demonstrations 300] [--folder runs/meta_world] [--json | --markdown]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from meta_world.contenders import Contender

ROOT = Path(__file__).parent.parent
PYTHON = ROOT / ".venv-lerobot" / "bin" / "python"
TASKS = ("push", "pick-place", "drawer-open")
DAYS = 1_000_000_000.0


def in_its_environment(python: Path) -> bool:
    """Whether metaworld can be imported; where another Python has it, this process becomes that one."""
    if importlib.util.find_spec("metaworld") is not None:
        return True
    if python.exists() and Path(sys.executable) != python.absolute():
        os.execve(python, [str(python), *sys.argv], os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"})
    return False


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """What all benchmarks on Meta-World take."""
    parser.add_argument("--folder", type=Path, default=ROOT / "runs" / "meta_world")
    parser.add_argument("--python", type=Path, default=PYTHON, help="an interpreter that has metaworld and lerobot")
    parser.add_argument("--json", action="store_true")


def is_left_out(options: argparse.Namespace) -> bool:
    """Whether no Python here has metaworld, which is then told; where another one has it, see `in_its_environment`."""
    if in_its_environment(options.python):
        return False
    missing = f"there is no {options.python}, which `make setup-lerobot` sets up, and no metaworld here"
    print(json.dumps({"metaworld": False}) if options.json else missing)
    return True


def contenders(steps: int, seconds: float, episodes: int) -> list[Contender]:
    """Ours, trained for `steps`; lerobot's small one; and its defaults, which two cores cannot train: one task, for
    `seconds`."""
    from meta_world.contenders import Ours, Peers
    from meta_world.peer_policy import SMALL

    return [
        Ours("flow, 3 steps", "flow", 3, 1.0, TASKS, steps),
        Ours("flow, 1 step from no noise", "flow", 1, 0.0, TASKS, steps),
        Ours("regression", "regression", 1, 0.0, TASKS, steps),
        Peers("lerobot small", "lerobot-small.pt", TASKS, 2500, DAYS, 1_000_000, 40, SMALL),
        Peers("lerobot defaults", "lerobot-defaults.pt", TASKS[:1], 1_000_000, seconds, episodes, 3),
    ]


def measure(
    entered: Sequence[Contender], tasks: Sequence[str], episodes: int, demonstrations: int, folder: Path
) -> dict[str, Any]:
    """Of each contender its latency, and of each task its success, and what its training took."""
    from meta_world.contenders import played_file, trained, training_facts
    from meta_world.episodes import cached_demonstrations
    from meta_world.rollouts import judged, latencies, share

    report: dict[str, Any] = {"metaworld": True, "demonstrations": demonstrations, "tasks": {}, "latency ms": {}}
    timed, weights = {}, folder / f"from-{demonstrations}"
    for task in tasks:
        shown = cached_demonstrations(folder / "data", task, demonstrations)
        rows = report["tasks"][task] = {}
        for contender in (each for each in entered if task in each.tasks):
            policy = trained(contender, task, weights, shown)
            played = judged(played_file(contender, task, weights), policy, task, min(episodes, contender.episodes))
            facts = {"training": training_facts(contender, task, weights)}
            rows[contender.name] = (share(sum(played), len(played)) if played else {}) | facts
            timed.setdefault(contender.name, (policy, contender.chunks))
            print(f"{task}, {contender.name}: {rows[contender.name]}", file=sys.stderr, flush=True)
    seen = cached_demonstrations(folder / "data", tasks[0], demonstrations)[0].observations
    report["latency ms"] = latencies(timed, list(seen))
    return report


def markdown(report: dict[str, Any]) -> str:
    """One table: a row for each contender."""
    tasks, latency = report["tasks"], report["latency ms"]
    lines = [
        "| policy | "
        + " | ".join(f"{task}, success" for task in tasks)
        + " | chunk, CPU ms: median, 99 % | training, CPU s | parameters |",
        "|---" * (len(tasks) + 4) + "|",
    ]
    for name, times in latency.items():
        rows = [rows.get(name) for rows in tasks.values()]
        training = [row["training"] for row in rows if row]
        seconds = ", ".join(f"{facts['cpu s']:.0f} ({facts['steps']:.0f} steps)" for facts in training)
        shown = f"{times['median']:.2f}, {times['p99']:.2f}"
        cells = [name, *map(_success, rows), shown, seconds, f"{training[0]['parameters'] / 1e6:.2f} M"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _success(row: dict[str, float] | None) -> str:
    if row is None or "share" not in row:
        return "not judged"
    return f"{100 * row['share']:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}] of {row['of']}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="contenders to leave out")
    parser.add_argument("--demonstrations", type=int, default=300)
    parser.add_argument("--training-steps", type=int, default=2000, help="of our policies")
    parser.add_argument("--defaults-seconds", type=float, default=30.0, help="of CPU to train lerobot's defaults for")
    parser.add_argument("--defaults-episodes", type=int, default=0, help="to judge them on, minutes each")
    add_environment_arguments(parser)
    options = parser.parse_args(argv)
    if is_left_out(options):
        return 0
    import torch

    torch.set_num_threads(1)
    entered = [
        contender
        for contender in contenders(options.training_steps, options.defaults_seconds, options.defaults_episodes)
        if contender.name not in options.without
    ]
    report = measure(entered, options.tasks, options.episodes, options.demonstrations, options.folder)
    print(json.dumps(report, indent=2) if options.json else markdown(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
