"""Language to rewards: 17 tasks said in a sentence, carried out in physics; success is what the simulator shows.

Every run goes the whole way: the embedded model writes the program, the planner checks and
rehearses it, the skills search motions by sampling, the controller moves the robot. Beside it run the best programs
that can be written with the other skills alone. Plan times are CPU times of one step of a skill, on one thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from reports import print_report, report_parser, spread

sys.path.insert(0, str(Path(__file__).parent))

from rewards_tasks import TASKS, Shown, Task, rooms_world, table_world

from llm_planner.errors import LlmPlannerError
from llm_planner.language.factory import open_model
from llm_planner.planning.in_process import MakePlan, Workcell, run_command
from llm_planner.planning.planned import Planned
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Scene
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillRun
from llm_planner.skills.library import CheckedSkill, SkillLibrary, load_skills

REWARDED = ("achieve", "manoeuvre")


@dataclass(frozen=True)
class Run:
    """How one run went; `seconds` are of the simulation."""

    seed: int
    success: bool
    seconds: float
    message: str


class Watched:
    """A world that remembers every scene that a skill has seen."""

    def __init__(self, world: World | RoomsWorld) -> None:
        self.world = world
        self.shown: list[Scene] = []

    def observation(self) -> Observation:
        observed = self.world.observation()
        self.shown.append(observed.scene)
        return observed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)


@dataclass(frozen=True)
class Timed(CheckedSkill):
    """A skill whose steps are timed [s of CPU]."""

    times: list[float] = None  # type: ignore[assignment]  # always given

    def start(self, arguments: Mapping[str, Any], observation: Observation) -> SkillRun:
        return _TimedRun(super().start(arguments, observation), self.times)


class _TimedRun:
    def __init__(self, run: SkillRun, times: list[float]) -> None:
        self._run, self._times = run, times

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> Any:
        began = time.thread_time()
        outcome = self._run.step(observation)
        if self._run.phase in ("search", "push", "move", "manoeuvre"):
            self._times.append(time.thread_time() - began)
        return outcome


def library(times: list[float]) -> SkillLibrary:
    """The shipped skills, those of reward programs timed."""
    skills = {skill.name: skill for skill in load_skills()}
    return SkillLibrary(
        {
            name: Timed(skill.manifest, skill.implementation, times) if name in REWARDED else skill
            for name, skill in skills.items()
        }
    )


def carry_out(task: Task, seed: int, skills: SkillLibrary, primitives: bool) -> Run:
    """One run of a task on the layout of `seed`."""
    world = Watched(table_world(task, seed) if "parcel" not in task.things else rooms_world(task, seed)[0])
    scene = world.world.scene()
    if primitives and not task.primitives:
        return Run(seed, False, 0.0, "no program without rewards")
    report = run_command(task.command, Workcell(world, skills), _maker(task, skills.for_scene(scene), primitives))
    shown: Shown = [*world.shown, world.world.scene()]
    message = "" if report.message is None else report.message
    return Run(seed, task.done(shown), world.world.time, f"{report.outcome.value}: {message}"[:200])


def _maker(task: Task, skills: SkillLibrary, primitives: bool) -> MakePlan:
    if primitives:
        return partial(_by_hand, task, skills)
    return lambda scene: plan_command(task.command, scene, skills.signatures, open_model("embedded"))


def _by_hand(task: Task, skills: SkillLibrary, scene: Scene) -> Planned:
    return plan_program(task.command, task.primitives, scene, skills.signatures)


def measure(task: Task, seeds: range, primitives: bool) -> dict[str, Any]:
    times: list[float] = []
    skills = library(times)
    runs = [_guarded(task, seed, skills, primitives) for seed in seeds]
    solved = [run for run in runs if run.success]
    report: dict[str, Any] = {
        "solved": len(solved) / len(runs),
        "seconds": spread([run.seconds for run in solved]),
        "failures": [{"seed": run.seed, "message": run.message} for run in runs if not run.success],
    }
    if times:
        report["plan_ms"] = spread([1e3 * one for one in times])
    return report


def _guarded(task: Task, seed: int, skills: SkillLibrary, primitives: bool) -> Run:
    try:
        return carry_out(task, seed, skills, primitives)
    except LlmPlannerError as error:
        return Run(seed, False, 0.0, str(error)[:200])


def main(argv: list[str] | None = None) -> int:
    parser = report_parser(__doc__)
    parser.add_argument("--runs", type=int, default=10, help="of each task, each with a layout of its own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[task.name for task in TASKS])
    options = parser.parse_args(argv)
    seeds = range(options.seed, options.seed + options.runs)
    tasks: dict[str, Any] = {}
    for task in TASKS:
        if options.only in (None, task.name):
            tasks[task.name] = {
                "group": task.group, "command": task.command,
                "rewards": measure(task, seeds, False), "primitives": measure(task, seeds, True),
            }  # fmt: skip
            if not options.json:
                _print(task.name, tasks[task.name])
    report = {"seed": options.seed, "runs": options.runs, **_means(tasks), "tasks": tasks}
    return print_report(report, options.json)


def _means(tasks: Mapping[str, Any]) -> dict[str, Any]:
    medians = [task["rewards"]["plan_ms"]["median"] for task in tasks.values() if "plan_ms" in task["rewards"]]
    return {
        "solved": float(np.mean([task["rewards"]["solved"] for task in tasks.values()])),
        "lowest": min(task["rewards"]["solved"] for task in tasks.values()),
        "solved by primitives": float(np.mean([task["primitives"]["solved"] for task in tasks.values()])),
        "plan_ms, median of tasks": float(np.median(medians)) if medians else 0.0,
    }


def _print(name: str, row: Mapping[str, Any]) -> None:
    rewards, primitives = row["rewards"], row["primitives"]
    plan = rewards.get("plan_ms", {})
    times = f"plan {plan['median']:.0f} / {plan['p99']:.0f} ms" if plan else ""
    seconds = rewards["seconds"].get("median", 0.0)
    print(f"{name:22} {rewards['solved']:5.0%}  primitives {primitives['solved']:5.0%}  {seconds:5.1f} s  {times}")
    for failure in rewards["failures"]:
        print(f"    seed {failure['seed']}: {failure['message']}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
