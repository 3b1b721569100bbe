"""Who plans tasks in a building: the planner, the same without decoding and voting, and a reader who knows them.

Searches give up by CPU time: what else the machine does makes no difference.
"""

from __future__ import annotations

import re
from time import process_time

from optimal_plans import optimal_length
from rooms_tasks import RoomsTask

from llm_planner.errors import QuestionError
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
from llm_planner.ltl.formula import Constraint
from llm_planner.planning.planned import Planned, PlanningSettings
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import SkillLibrary

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
