"""The rest of a command that was left unfinished, planned for the scene as it is now; no model is asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import QuestionError
from llm_planner.plan.choices import Call
from llm_planner.plan.edit_motion import with_manner
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.leftover import Leftover, NothingLeftError
from llm_planner.plan.manner import OfSteps
from llm_planner.plan.plan import PlanStep, goals_of, in_base_words
from llm_planner.plan.planning import Planned, plan_program
from llm_planner.plan.planning_settings import DEFAULTS, PlanningSettings
from llm_planner.program.problems import ProgramError
from llm_planner.program.signatures import Signature
from llm_planner.world.names import check_names, the
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

Skills = Mapping[str, Signature]


@dataclass(frozen=True)
class Rest:
    """The plan for what was left of the command of the id `continues`, and what a person is told of it."""

    planned: Planned
    continues: str
    told: str


def plan_rest(
    left: Leftover,
    scene: Scene,
    skills: Sequence[Signature],
    viewpoint: Viewpoint = BEHIND,
    settings: PlanningSettings = DEFAULTS,
) -> Rest:
    """The steps that are left, checked and rehearsed as those of any plan; what holds already is left out.

    Of the steps that were done the last are done again as far as the others need it: what has been dropped is picked
    up. A plan that was not known to its end is made from its whole program again. What the rules have seen until then
    is not known any more: they are kept from now on. Raises NothingLeftError where all is done or nothing can be, and
    otherwise as `plan_program`.
    """
    check_names(scene)
    command, program = left.plan.command, left.plan.program
    if not left.plan.complete:
        planned = plan_program(command, program, scene, skills, viewpoint, settings, left.plan.constraints)
        told = f"“{command}” depends on what is seen on the way, so I begin it again: {planned.plan.listing}"
        return Rest(planned, left.command_id, told)
    table = {skill.name: skill for skill in skills}
    _check_there(left, scene, table)
    ahead = _still_to_do(left, scene, table, viewpoint)
    if not ahead:
        raise NothingLeftError(f"all of “{command}” is done, as far as I can see")
    planned = _planned(left, ahead, scene, table, viewpoint, settings)
    return Rest(planned, left.command_id, f"going on with “{command}”: {planned.plan.listing}")


def as_before(state: Execution, left: Leftover) -> Execution:
    """The plan of a rest at its beginning, moving as the person wanted it before.

    What was said of single steps goes with the steps: those of both plans are the same, counted from the end.
    """
    said, now = left.manner.said, {}
    for new, old in zip(reversed(state.plan.steps), reversed(left.plan.steps), strict=False):
        if (new.skill, new.arguments) != (old.skill, old.arguments):
            break
        now[old.id] = new.id
    offsets = {now[step]: offset for step, offset in said.offsets.items() if step in now}
    quantities = {now[step]: own for step, own in said.quantities.items() if step in now}
    return with_manner(state, replace(left.manner, said=OfSteps(offsets, quantities)))


def _check_there(left: Leftover, scene: Scene, skills: Skills) -> None:
    """Raises NothingLeftError where a step is about what is gone."""
    for step in left.ahead:
        if step.skill not in skills:
            raise NothingLeftError(f"the skill {step.skill} of “{left.plan.command}” is not there; say it otherwise")
        for parameter in skills[step.skill].parameters:
            name = step.arguments.get(parameter.name)
            if parameter.type == "object" and isinstance(name, str) and name not in scene.names:
                there = ", ".join(scene.names) or "nothing"
                raise NothingLeftError(f"the {name} of “{left.plan.command}” is not there any more; there is: {there}")


def _still_to_do(left: Leftover, scene: Scene, skills: Skills, viewpoint: Viewpoint) -> tuple[PlanStep, ...]:
    """The steps ahead without the first ones, where the scene shows what they promise."""
    held, ahead = _in_hand(left.done, skills), left.ahead
    while ahead and _holds(ahead[0], held, scene, skills, viewpoint):
        held, ahead = _in_hand(ahead[:1], skills, held), ahead[1:]
    return ahead


def _in_hand(steps: Sequence[PlanStep], skills: Skills, held: str | None = None) -> str | None:
    """The thing that is in the gripper after these steps, where `held` is before; None where nobody knows."""
    for step in steps:
        skill = skills.get(step.skill)
        taken = [atom.arguments[0] for atom in skill.effects if atom.predicate == "held"] if skill else []
        held = str(step.arguments[taken[0]]) if taken else "" if skill and skill.empties_gripper else held
    return held


def _holds(step: PlanStep, held: str | None, scene: Scene, skills: Skills, viewpoint: Viewpoint) -> bool:
    """Whether the scene shows that the step, begun with `held` in the gripper, has done its work. Nobody knows from
    where a thing was to be moved: that is never shown."""
    skill = skills[step.skill]
    goals = goals_of(skill, step.id, in_base_words(skill, step.arguments, viewpoint), scene, {})
    return bool(goals) and all(replace(goal, held_at_start=held or "").holds(scene) for goal in goals)


def _planned(
    left: Leftover,
    ahead: tuple[PlanStep, ...],
    scene: Scene,
    skills: Skills,
    viewpoint: Viewpoint,
    settings: PlanningSettings,
) -> Planned:
    """With as few of the steps that were done as the others need. A step begins with what it is for in the gripper:
    nothing else is put down in its place."""
    before = left.plan.steps[: left.plan.steps.index(ahead[0])]
    constraints, signatures = left.plan.constraints, tuple(skills.values())
    refusal = ""
    for first in range(len(before), -1, -1):
        held, unknown = _in_hand(before[:first], skills), scene.held if first == len(before) else ""
        if scene.held != (unknown if held is None else held):
            refusal = refusal or f"the robot holds {the(scene.held) if scene.held else 'nothing'}"
            continue
        text = "".join(f"{_line(step, skills[step.skill])}\n" for step in (*before[first:], *ahead))
        try:
            return plan_program(left.plan.command, text, scene, signatures, viewpoint, settings, constraints)
        except ProgramError as error:  # a step cannot start: those before it may be missing
            refusal = refusal or "; ".join(problem.message for problem in error.problems)
        except QuestionError:
            if not refusal:
                raise
            break
    raise NothingLeftError(f"what is left of “{left.plan.command}” cannot be done now: {refusal}")


def _line(step: PlanStep, skill: Signature) -> str:
    """The call as a line of a program; its words are the speaker's already."""
    values = tuple(step.arguments.get(parameter.name, parameter.default) for parameter in skill.parameters)
    return Call(step.skill, values).text(skill, BEHIND)
