"""Resumption of an unfinished command.

The journal gives the newest command that did not succeed. Its remaining steps are planned for the present scene without
a query to a language model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_planner.corrections.draft import with_manner
from llm_planner.corrections.edit_steps import program_line
from llm_planner.errors import InputError, QuestionError
from llm_planner.execution.execution_state import Execution
from llm_planner.execution.journal import Record, RecordKind, Unfinished
from llm_planner.language.stop_words import GO_ON, is_go_on, is_stop
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

_OVER = (StepStatus.FAILED, StepStatus.SKIPPED)  # replaced by other steps before the journal entry


class NothingLeftError(InputError):
    """Failure to resume, because nothing is left to do or to go on with; the message gives the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"there is nothing to go on with: {reason}")


@dataclass(frozen=True)
class Leftover:
    """Plan of the unfinished command `command_id`, with steps that are done or pending, and its manner of motion."""

    command_id: str
    plan: Plan
    manner: Manner

    @property
    def done(self) -> tuple[PlanStep, ...]:
        """Steps that are done."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.DONE)

    @property
    def ahead(self) -> tuple[PlanStep, ...]:
        """Steps that are not done, including the one that was under way."""
        return tuple(step for step in self.plan.steps if step.status is StepStatus.PENDING)


@dataclass
class _Command:
    """Journal records of one command."""

    said: str | None = None
    planned: str | None = None  # words of the plan, which may be those of a resumed command
    plan: Mapping[str, Any] | None = None
    statuses: dict[str, str] = field(default_factory=dict)
    succeeded: bool = False
    answered: bool = False  # it has ended and the person received the result

    @property
    def words(self) -> str:
        return self.planned or self.said or ""


def left_over(records: Iterable[Record], before: str = "") -> Leftover:
    """Return the unfinished part of the newest command before the command of the id `before`.

    Stops, refused commands and a "go on" without effect do not count. Raises NothingLeftError if the command has
    succeeded, never began, or left too little in the journal.
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
        plan, manner = plan_from_record(command.plan)
    except InputError as error:
        raise NothingLeftError(f"of “{command.words}” {error}; say it again") from error
    steps = []
    for step in (step for step in plan.steps if step.status not in _OVER):  # one that was under way is pending
        done = command.statuses.get(step.id, step.status.value) == StepStatus.DONE.value
        steps.append(replace(step, status=StepStatus.DONE if done else StepStatus.PENDING, message=""))
    return Leftover(newest, replace(plan, steps=tuple(steps)), manner)


def is_of_work(records: Sequence[Record]) -> bool:
    """Whether "go on" may refer to the command of these records; older commands are then irrelevant."""
    return any(_is_of_work(command) for command in _commands(records).values())


def _commands(records: Iterable[Record]) -> dict[str, _Command]:
    """Group the records by command id, in the order of the utterances; skip ids without an utterance."""
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
            command.plan = data.get("plan", {})  # without its plan, the edited command cannot resume
        elif record.kind is RecordKind.STEP:
            command.statuses[str(data.get("step_id", ""))] = str(data.get("status", ""))
        elif record.kind is RecordKind.OUTCOME:
            command.succeeded |= data.get("outcome") == "done" or data.get("code") in (0, "SUCCEEDED")
            command.answered |= "code" in data and not data.get("lost")
    return {name: commands[name] for name in order}


def _is_of_work(command: _Command) -> bool:
    """Whether the command did something; refused commands and questions do not replace the one before."""
    return not is_stop(command.words) and (
        command.plan is not None or not (is_go_on(command.words) or command.answered)
    )


def is_left(command_id: str, records: Iterable[Record], before: str = "") -> bool:
    """Whether `left_over` returns this command."""
    try:
        return left_over(records, before).command_id == command_id
    except NothingLeftError:
        return False


def offer(left: Unfinished, records: Iterable[Record]) -> str:
    """Report an abandoned command to the person, with the words that resume it."""
    what = GO_ON if is_left(left.command_id, records) else "say it again"
    return f"left unfinished earlier: {left}; {what}"


Skills = Mapping[str, Signature]


@dataclass(frozen=True)
class Rest:
    """Plan for the rest of the command of the id `continues`, and a sentence for the person."""

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
    """Plan the remaining steps of an unfinished command.

    Remaining steps whose effects hold already are left out. Done steps are repeated if the remaining steps need them,
    such as picking up a dropped object. A plan that was not known to its end restarts its whole program. Rules apply
    from now on, because their history is lost.

    Raises:
        NothingLeftError: Everything is done or nothing is possible; other errors as `plan_program`.
    """
    check_names(scene)
    command, program = left.plan.command, left.plan.program
    if not left.plan.complete:
        planned = plan_program(command, program, scene, skills, viewpoint, settings, left.plan.constraints)
        told = f"“{command}” depends on what is seen on the way, so I begin it again: {planned.plan.listing}"
        return Rest(planned, left.command_id, told)
    table = {skill.name: skill for skill in skills}
    _check_there(left, scene, table)
    held, ahead = _in_hand(left.done, table), left.ahead
    while ahead:  # leave out leading steps whose effects the scene shows; a displacement never shows
        skill = table[ahead[0].skill]
        goals = goals_of(skill, ahead[0].id, in_base_words(skill, ahead[0].arguments, viewpoint), scene, {})
        if not goals or not all(replace(goal, held_at_start=held or "").holds(scene) for goal in goals):
            break
        held, ahead = _in_hand(ahead[:1], table, held), ahead[1:]
    if not ahead:
        raise NothingLeftError(f"all of “{command}” is done, as far as I can see")
    planned = _planned(left, ahead, scene, table, viewpoint, settings)
    return Rest(planned, left.command_id, f"going on with “{command}”: {planned.plan.listing}")


def as_before(state: Execution, left: Leftover) -> Execution:
    """Restore the manner of motion at the start of a resumed plan.

    Changes of single steps go to the matching steps of both plans, counted from the end.
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
    """Raise NothingLeftError if a step needs a skill or object that is gone."""
    for step in left.ahead:
        if step.skill not in skills:
            raise NothingLeftError(f"the skill {step.skill} of “{left.plan.command}” is not there; say it otherwise")
        for parameter in skills[step.skill].parameters:
            name = step.arguments.get(parameter.name)
            if parameter.type == "object" and isinstance(name, str) and name not in scene.names:
                there = ", ".join(scene.names) or "nothing"
                raise NothingLeftError(f"the {name} of “{left.plan.command}” is not there any more; there is: {there}")


def _in_hand(steps: Sequence[PlanStep], skills: Skills, held: str | None = None) -> str | None:
    """Return the held object after these steps, starting from `held`; None if unknown."""
    for step in steps:
        skill = skills.get(step.skill)
        taken = [atom.arguments[0] for atom in skill.effects if atom.predicate == "held"] if skill else []
        held = str(step.arguments[taken[0]]) if taken else "" if skill and skill.empties_gripper else held
    return held


def _planned(
    left: Leftover,
    ahead: tuple[PlanStep, ...],
    scene: Scene,
    skills: Skills,
    viewpoint: Viewpoint,
    settings: PlanningSettings,
) -> Planned:
    """Plan with as few repeated steps as possible; a step must find the expected object in the gripper."""
    before = left.plan.steps[: left.plan.steps.index(ahead[0])]
    constraints, signatures = left.plan.constraints, tuple(skills.values())
    refusal = ""
    for first in range(len(before), -1, -1):
        held, unknown = _in_hand(before[:first], skills), scene.held if first == len(before) else ""
        if scene.held != (unknown if held is None else held):
            refusal = refusal or f"the robot holds {the(scene.held) if scene.held else 'nothing'}"
            continue
        text = "".join(f"{program_line(step, skills[step.skill])}\n" for step in (*before[first:], *ahead))
        try:
            return plan_program(left.plan.command, text, scene, signatures, viewpoint, settings, constraints)
        except ProgramError as error:  # a step cannot start; it may need the steps before it
            refusal = refusal or "; ".join(problem.message for problem in error.problems)
        except QuestionError:
            if not refusal:
                raise
            break
    raise NothingLeftError(f"what is left of “{left.plan.command}” cannot be done now: {refusal}")
