"""Seeded tasks with rules in buildings, from words to what the simulator shows; and without decoding and voting.

Each seed draws a building of 8 to 12 rooms, and a task with 1 to 5 rules whose meaning is known. The command is read,
planned, run in-process, and judged by the scenes that were recorded on the way, with the true formulas and their
definition, not with the planner's own automata. A task that nobody can do must be refused.

The model `truth` reads every command as it is meant, so that what is left are failures of planning and motion.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from time import process_time
from typing import Any

import numpy as np
from optimal_plans import optimal_length
from reports import print_report, report_parser
from rooms_judge import Judged, Recorder, judge
from rooms_tasks import MAX_RULES, RoomsTask, draw_task

from llm_planner.errors import QuestionError
from llm_planner.language.factory import open_model
from llm_planner.language.model import (
    ChoiceReply,
    ChoiceRequest,
    LanguageModel,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingReply,
    ReadingRequest,
)
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.formula import Constraint, conj
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import Planned, PlanningSettings
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome
from llm_planner.scene.scene import Scene
from llm_planner.simulation.rooms.building_plan import ROOMS_MAX, ROOMS_MIN
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import SkillLibrary, load_skills

_VISITED = re.compile(r"(?:in|near)\(([\w ]+), ([\w ]+)\)")


class Truth:
    """A model that reads every task as it is meant, and writes the program that does it straight ahead."""

    name = "truth"
    chooses = False
    is_large = False
    guess = None

    def __init__(self, task: RoomsTask) -> None:
        self._task = task

    def read_command(self, request: ReadingRequest) -> ReadingReply:
        goals = tuple(ReadConstraint(clause.formula, clause.words, goal=True) for clause in self._task.goals)
        rules = tuple(ReadConstraint(clause.formula, clause.words) for clause in self._task.rules)
        return ReadingReply((Reading(constraints=(*goals, *rules), log_probability=0.0),) * request.samples)

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        return ProgramReply(straight_program([clause.formula for clause in self._task.goals]))

    def choose(self, request: ChoiceRequest) -> ChoiceReply:
        return ChoiceReply((0.0,) * len(request.options))


def with_rules(command: str, scene: Scene, library: SkillLibrary, model: LanguageModel) -> Planned:
    """The planner: readings that vote, then a plan that keeps every rule, watched as it runs."""
    settings = PlanningSettings(clock=process_time)
    return plan_command(command, scene, library.for_scene(scene).signatures, model, settings=settings)


def one_reading(command: str, scene: Scene, library: SkillLibrary, model: LanguageModel) -> Planned:
    """The planner without voting: the model's best reading counts, whatever others would say."""
    settings = PlanningSettings(samples=1, clock=process_time)
    return plan_command(command, scene, library.for_scene(scene).signatures, model, settings=settings)


def shortest_metres(task: RoomsTask, scene: Scene, library: SkillLibrary) -> float:
    """Length of the shortest plan that does the task and keeps its rules, by exact search; inf for none."""
    constraints = [Constraint(formula, "") for formula in task.formulas]
    return optimal_length(scene, library.for_scene(scene).signatures, constraints)


def straight_ahead(command: str, scene: Scene, library: SkillLibrary, model: LanguageModel) -> Planned:
    """Baseline: the model's best reading, its goals one after the other as they are mentioned, rules unheeded."""
    reading = model.read_command(ReadingRequest(command, scene)).readings[0]
    if reading.question:
        raise QuestionError(reading.question)
    goals = [constraint.formula for constraint in reading.constraints if constraint.goal]
    return plan_program(command, straight_program(goals), scene, library.for_scene(scene).signatures)


def straight_program(goals: list[str]) -> str:
    """Calls that bring about each goal in turn."""
    return "\n".join(line for goal in goals for match in _VISITED.finditer(goal) for line in _steps(*match.groups()))


def _steps(what: str, where: str) -> list[str]:
    if what == "robot":
        return [f'go_to("{where}")']
    return [f'go_to("{what}")', f'pick_up("{what}")', f'go_to("{where}")', "drop_off()"]


Planner = Callable[[str, Scene, SkillLibrary, LanguageModel], Planned]
PLANNERS: dict[str, Planner] = {"planner": with_rules, "one reading": one_reading, "baseline": straight_ahead}
REFUSALS = (Outcome.QUESTION, Outcome.REFUSED)
Z = 1.96  # of a 95 % interval


@dataclass(frozen=True)
class Trial:
    """What became of one task; `metres` of the shortest plan that keeps all rules; planning took `seconds` [CPU]."""

    task: RoomsTask
    rooms: int
    outcome: Outcome
    message: str
    judged: Judged
    misread: bool
    shortest: float
    seconds: float

    @property
    def finished(self) -> bool:
        return self.outcome is Outcome.DONE

    @property
    def kind(self) -> str:
        """One word or two for the table of failures; "done" is none."""
        if not self.task.possible:
            return "refused rightly" if self.outcome in REFUSALS else "not refused"
        if self.finished and self.judged.reached and not self.judged.broken:
            return "done"
        if self.misread:
            return "misread"
        if self.outcome in REFUSALS:
            return "question" if self.outcome is Outcome.QUESTION else "refused"
        if self.judged.broken:
            return "rule broken"
        return "goal missed" if self.finished else "not finished"


@dataclass(frozen=True)
class Setting:
    """The task of a seed and its building: 8 to 12 rooms and 1 to 5 rules, in every combination as seeds go on."""

    task: RoomsTask
    rooms: int
    shortest: float

    def world(self) -> RoomsWorld:
        return open_world("rooms", self.task.seed, rooms=self.rooms)


def setting_of(seed: int, library: SkillLibrary) -> Setting:
    """Draws the task, and searches for the shortest way to do it."""
    rooms = ROOMS_MIN + seed % (ROOMS_MAX - ROOMS_MIN + 1)
    scene = open_world("rooms", seed, rooms=rooms).scene()
    task = draw_task(scene, seed, 1 + seed // (ROOMS_MAX - ROOMS_MIN + 1) % MAX_RULES)
    return Setting(task, rooms, shortest_metres(task, scene, library) if task.possible else inf)


def run_task(setting: Setting, planner: Planner, model: LanguageModel, library: SkillLibrary) -> Trial:
    """Plans and runs one task, and judges what was recorded."""
    task, world, seconds = setting.task, setting.world(), 0.0
    recorder = Recorder(world)

    def make_plan(before: Scene) -> Planned:
        nonlocal seconds
        began = time.process_time()
        try:
            return planner(task.command, before, library, model)
        finally:
            seconds = time.process_time() - began

    report = run_command(task.command, Workcell(recorder, library), make_plan)
    judged = judge(task, recorder.scenes, report.outcome is Outcome.DONE)
    misread = _misread(task, report, recorder.scenes[0])
    return Trial(task, setting.rooms, report.outcome, report.message, judged, misread, setting.shortest, seconds)


def _misread(task: RoomsTask, report: Report, scene: Scene) -> bool:
    """Whether the plan's constraints say something else than the task; without a plan nobody can tell."""
    if report.plan is None or not report.plan.constraints:
        return False
    understood = conj(*(constraint.formula for constraint in report.plan.constraints))
    return not Meanings(scene).same(understood, conj(*task.formulas))


def summary(trials: list[Trial]) -> dict[str, Any]:
    """Shares with their 95 % intervals; tasks that nobody can do are counted apart."""
    possible = [trial for trial in trials if trial.task.possible]
    finished = [trial for trial in possible if trial.finished]
    impossible = [trial for trial in trials if not trial.task.possible]
    ratios = [t.judged.metres / t.shortest for t in finished if t.kind == "done" and 0 < t.shortest < inf]
    hardest = [t.seconds for t in possible if t.rooms == ROOMS_MAX and len(t.task.rules) == MAX_RULES]
    return {
        "tasks": len(trials),
        "finished": _share(len(finished), len(possible)),
        "safe, of the finished": _share(sum(not t.judged.broken for t in finished), len(finished)),
        "safe, of all": _share(sum(not t.judged.broken for t in possible), len(possible)),
        "asked back": _share(sum(t.outcome is Outcome.QUESTION for t in possible), len(possible)),
        "misread": _share(sum(t.misread for t in possible), len(possible)),
        "complete": _share(sum(t.kind == "done" for t in possible), len(possible)),
        "impossible ones refused": _share(sum(t.outcome in REFUSALS for t in impossible), len(impossible)),
        "metres driven / shortest": _spread(ratios),
        "CPU s from words to plan": _spread([t.seconds for t in possible]),
        f"the same, {ROOMS_MAX} rooms and {MAX_RULES} rules": _spread(hardest),
        "kinds": dict(Counter(trial.kind for trial in trials).most_common()),
    }


def _share(count: int, of: int) -> dict[str, float]:
    """A share and its 95 % interval (Wilson)."""
    if not of:
        return {"share": 1.0, "low": 0.0, "high": 1.0, "of": 0}
    p = count / of
    middle, half = p + Z * Z / (2 * of), Z * sqrt(p * (1 - p) / of + Z * Z / (4 * of * of))
    low, high = ((middle + sign * half) / (1 + Z * Z / of) for sign in (-1, 1))
    return {"share": round(p, 3), "low": max(0.0, round(low, 3)), "high": round(high, 3), "of": of}


def _spread(values: list[float]) -> dict[str, float]:
    """Median, mean with its 95 % interval, and the 99th percentile; zeros for nothing measured."""
    if not values:
        return {"median": 0.0, "mean": 0.0, "low": 0.0, "high": 0.0, "p99": 0.0, "of": 0}
    mean, half = statistics.mean(values), Z * float(np.std(values)) / sqrt(len(values))
    figures = {"median": statistics.median(values), "mean": mean, "low": mean - half, "high": mean + half}
    return {
        **{k: round(v, 3) for k, v in figures.items()},
        "p99": round(float(np.quantile(values, 0.99)), 3),
        "of": len(values),
    }


def show(planner: str, trial: Trial) -> None:
    """Prints on stderr what was not done, and why."""
    if trial.kind not in ("done", "refused rightly"):
        told = f"{planner} {trial.task.seed} {trial.kind.upper()}: {trial.task.command}\n    {trial.message}"
        print(told, trial.judged.broken or "", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run and print; returns the figures of the planner, and those of the baseline beside it."""
    parser = report_parser(__doc__)
    parser.add_argument("--model", default="embedded", help="embedded, openai, or truth")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first task")
    parser.add_argument("--planners", nargs="+", choices=PLANNERS, default=["planner", "baseline"])
    parser.add_argument("--show", action="store_true", help="print what was not done")
    args = parser.parse_args(arguments)
    opened = None if args.model == "truth" else open_model(args.model)
    library = load_skills()
    settings = [setting_of(seed, library) for seed in range(args.seed, args.seed + args.tasks)]
    figures: dict[str, Any] = {}
    for name in args.planners:
        trials = []
        for setting in settings:
            trials.append(run_task(setting, PLANNERS[name], opened or Truth(setting.task), library))
            if args.show:
                show(name, trials[-1])
        figures[name] = summary(trials)
    print_report(figures, args.json)
    return figures


if __name__ == "__main__":
    main()
