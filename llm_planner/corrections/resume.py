"""The rest of a command that was left unfinished, planned for the scene as it is now; no model is asked again.

What the journal says was left unfinished: the newest command that did not succeed, and what of it is still to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_planner.corrections.edit_motion import with_manner
from llm_planner.errors import InputError, QuestionError
from llm_planner.execution.execution_state import Execution
from llm_planner.execution.journal import Record, RecordKind, Unfinished
from llm_planner.language.stop_words import GO_ON, is_go_on, is_stop
from llm_planner.planning.choices import Call
from llm_planner.planning.planned import DEFAULTS, Planned, PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.planning.report import plan_from_record
from llm_planner.plans.manner import Manner, OfSteps
from llm_planner.plans.plan import Plan, PlanStep, StepStatus, goals_of, in_base_words
from llm_planner.programs.problems import ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.names import check_names, the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene

_OVER = (StepStatus.FAILED, StepStatus.SKIPPED)  # when the plan was noted: another goes on in their place


class NothingLeftError(InputError):
    """There is nothing to go on with; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"there is nothing to go on with: {reason}")


@dataclass(frozen=True)
class Leftover:
    """The plan of the command `command_id`, whose steps are done or pending, and how it was to move."""

    command_id: str
    plan: Plan
    manner: Manner

    @property
    def done(self) -> tuple[PlanStep, ...]:
        """The steps that were done."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.DONE)

    @property
    def ahead(self) -> tuple[PlanStep, ...]:
        """The steps that were not, the one under way among them."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.PENDING)


@dataclass
class _Command:
    """What the records tell of one command."""

    said: str | None = None
    planned: str | None = None  # the words of the plan: those of the command that it goes on with
    plan: Mapping[str, Any] | None = None
    statuses: dict[str, str] = field(default_factory=dict)
    succeeded: bool = False
    answered: bool = False  # it has ended, and whoever said it was told how

    @property
    def words(self) -> str:
        return self.planned or self.said or ""


def left_over(records: Iterable[Record], before: str = "") -> Leftover:
    """What was left of the newest command, of those that came before the command of the id `before`.

    A stop is no command, and neither is what was refused or a "go on" that came to nothing. Raises NothingLeftError
    where the command has succeeded, was never begun, or left too little in the journal.
    """
    commands = _commands(records)
    given = list(commands)[: list(commands).index(before)] if before in commands else list(commands)
    newest = next((name for name in reversed(given) if _is_of_work(commands[name])), None)
    if newest is None:
        raise NothingLeftError("nobody has said a command yet")
    command = commands[newest]
    if command.succeeded:
        raise NothingLeftError(f"“{command.words}” is done; say what else is to be done")
    if command.plan is None:
        raise NothingLeftError(f"“{command.words}” was never begun; say it again")
    try:
        kept = plan_from_record(command.plan)
    except InputError as error:
        raise NothingLeftError(f"of “{command.words}” {error}; say it again") from error
    steps = tuple(_as_left(step, command) for step in kept.plan.steps if step.status not in _OVER)
    return Leftover(newest, replace(kept.plan, steps=steps), kept.manner)


def is_of_work(records: Sequence[Record]) -> bool:
    """Whether the command of these records is one that "go on" may be about: with it, no older one is needed."""
    return any(_is_of_work(command) for command in _commands(records).values())


def _commands(records: Iterable[Record]) -> dict[str, _Command]:
    """By their ids, in the order in which they were said; what was never said is none."""
    commands: dict[str, _Command] = {}
    order: dict[str, None] = {}
    for record in records:
        data, command = record.data, commands.setdefault(record.command_id, _Command())
        if record.kind is RecordKind.COMMAND:
            command.said = str(data.get("command", ""))
            order[record.command_id] = None
        elif record.kind is RecordKind.PLAN:
            command.plan, command.planned = data, str(data.get("command", ""))
        elif record.kind is RecordKind.EDIT:
            command.plan = data.get("plan", {})  # one that was not kept is not to be done as if nothing had been said
        elif record.kind is RecordKind.STEP:
            command.statuses[str(data.get("step_id", ""))] = str(data.get("status", ""))
        elif record.kind is RecordKind.OUTCOME:
            command.succeeded |= data.get("outcome") == "done" or data.get("code") in (0, "SUCCEEDED")
            command.answered |= "code" in data and not data.get("lost")
    return {name: commands[name] for name in order}


def _is_of_work(command: _Command) -> bool:
    """What was refused or only asked about has done nothing, and takes the place of nothing."""
    return not is_stop(command.words) and (
        command.plan is not None or not (is_go_on(command.words) or command.answered)
    )


def _as_left(step: PlanStep, command: _Command) -> PlanStep:
    """Done, or else still to do: what was under way has not come to its end."""
    done = command.statuses.get(step.id, step.status.value) == StepStatus.DONE.value
    return replace(step, status=StepStatus.DONE if done else StepStatus.PENDING, message="")


def is_left(command_id: str, records: Iterable[Record], before: str = "") -> bool:
    """Whether that command is the one that `left_over` would tell of."""
    try:
        return left_over(records, before).command_id == command_id
    except NothingLeftError:
        return False


def offer(left: Unfinished, records: Iterable[Record]) -> str:
    """What a person is told of a command that nobody is doing any more, and what they can say."""
    what = GO_ON if is_left(left.command_id, records) else "say it again"
    return f"left unfinished earlier: {left}; {what}"


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
