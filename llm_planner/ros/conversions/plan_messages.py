"""Conversions of plans, steps and their arguments, constraints and traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

from geometry_msgs.msg import Point as PointMsg
from llm_planner_interfaces.msg import Constraint as ConstraintMsg
from llm_planner_interfaces.msg import ConstraintState, ConstraintStatus, SkillArgument
from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStep as PlanStepMsg

from llm_planner.errors import InputError
from llm_planner.execution.watch import ConstraintResult, Watch, margin
from llm_planner.ltl.alphabet import Trace
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.programs.values import Argument
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Scene

STEPS_MAX, CONSTRAINTS_MAX, LETTERS_MAX = 1000, 64, 100_000
FORMULA_MAX, PROGRAM_MAX = 4000, 100_000  # characters
NUMBER_MAX, ARGUMENTS_MAX = 1e6, 64  # of a skill argument, in any unit; of a skill
_STATUSES = checks.members(StepStatus, PlanStepMsg)
NO_FRAME = ""  # plans and verdicts have no coordinates


def arguments_to_msg(arguments: Mapping[str, Argument]) -> list[SkillArgument]:
    return [_argument_to_msg(name, value) for name, value in arguments.items()]


def _argument_to_msg(name: str, value: Argument) -> SkillArgument:
    if isinstance(value, str):
        return SkillArgument(name=name, type=SkillArgument.WORD, word=value)
    if isinstance(value, tuple):
        x, y, z = value
        return SkillArgument(name=name, type=SkillArgument.POINT, point=PointMsg(x=x, y=y, z=z))
    return SkillArgument(name=name, type=SkillArgument.NUMBER, number=float(value))


def arguments_from_msg(messages: Sequence[SkillArgument]) -> dict[str, Argument]:
    """Convert skill arguments; raise InputError for unknown types, duplicate names and values out of range."""
    checks.items("arguments", messages, ARGUMENTS_MAX)
    checks.unique("the names of arguments", [message.name for message in messages])
    return {message.name: _argument_from_msg(message) for message in messages}


def _argument_from_msg(message: SkillArgument) -> Argument:
    field = f"the argument {checks.text('the name of an argument', message.name, checks.NAME_MAX)!r}"
    if message.type == SkillArgument.WORD:
        return checks.text(field, message.word)
    if message.type == SkillArgument.NUMBER:
        return checks.number(field, message.number, -NUMBER_MAX, NUMBER_MAX)
    if message.type == SkillArgument.POINT:
        return checks.point(field, message.point)
    raise InputError(f"{field} has the type {message.type}; the types are WORD, NUMBER and POINT")


def step_to_msg(step: PlanStep) -> PlanStepMsg:
    return PlanStepMsg(
        id=step.id,
        line=step.line,
        skill=step.skill,
        arguments=arguments_to_msg(step.arguments),
        status=getattr(PlanStepMsg, step.status.name),
        message=step.message,
    )


def step_from_msg(message: PlanStepMsg) -> PlanStep:
    """Convert a step; raise InputError for an unknown status or an invalid argument."""
    name = checks.text("the id of a step", message.id, checks.NAME_MAX)
    skill = checks.text(f"the skill of step {name!r}", message.skill, checks.NAME_MAX)
    said = checks.text(f"the message of step {name!r}", message.message)
    if message.status not in _STATUSES:
        raise InputError(f"step {name!r} has the status {message.status}; the highest is {PlanStepMsg.SKIPPED}")
    return PlanStep(name, skill, arguments_from_msg(message.arguments), message.line, _STATUSES[message.status], said)


def steps_from_msg(messages: Sequence[PlanStepMsg]) -> tuple[PlanStep, ...]:
    """Convert steps; raise InputError for an invalid step, too many steps and duplicate ids."""
    checks.items("steps", messages, STEPS_MAX)
    checks.unique("the ids of steps", [message.id for message in messages])
    return tuple(map(step_from_msg, messages))


def constraint_to_msg(constraint: Constraint) -> ConstraintMsg:
    return ConstraintMsg(
        formula=str(constraint.formula),
        words=constraint.words,
        plain=read_back(constraint.formula),
        goal=constraint.goal,
    )


def constraint_from_msg(message: ConstraintMsg) -> Constraint:
    """Convert a constraint; raise FormulaError for an unreadable formula, since a constraint is never dropped."""
    formula = parse(checks.text("the formula of a constraint", message.formula, FORMULA_MAX))
    return Constraint(formula, checks.text("the words of a constraint", message.words), message.goal)


def constraints_from_msgs(messages: Sequence[ConstraintMsg]) -> tuple[Constraint, ...]:
    """Convert constraints; raise FormulaError as `constraint_from_msg`, and InputError for too many."""
    checks.items("constraints", messages, CONSTRAINTS_MAX)
    return tuple(map(constraint_from_msg, messages))


def watch_to_msg(watch: Watch, plan_id: str, scene: Scene, kept: Sequence[ConstraintResult] = ()) -> ConstraintStatus:
    """Report the monitors' verdicts.

    Args:
        watch: Monitors of the plan's constraints.
        plan_id: Id of the plan.
        scene: Current scene, for the margins and the stamp.
        kept: After a run, the margin of each constraint over the run; it replaces the current margins.
    """
    moment = Moment(scene, watch.origins)
    margins = [margin(one.constraint.formula, moment) for one in watch.watched]
    if kept:
        margins = [nan if one.margin is None else one.margin for one in kept]
    states = [
        ConstraintState(
            constraint=constraint_to_msg(one.constraint),
            verdict=getattr(ConstraintState, one.verdict.name),
            holds=one.monitor.accepts,
            robustness=least,
        )
        for one, least in zip(watch.watched, margins, strict=True)
    ]
    trace = trace_to_msg(watch.trace)
    return ConstraintStatus(header=header(scene.time, NO_FRAME), plan_id=plan_id, constraints=states, trace=trace)


_AND = "; "  # separates the propositions of a letter; a proposition never contains it


def trace_to_msg(trace: Trace) -> list[str]:
    return [_AND.join(sorted(letter)) for letter in trace]


def trace_from_msg(letters: Sequence[str]) -> Trace:
    """Convert a trace; raise InputError if it is too long."""
    checks.texts("seen", letters, LETTERS_MAX)
    return tuple(frozenset(letter.split(_AND)) if letter else frozenset() for letter in letters)


def plan_to_msg(plan: Plan, plan_id: str, time: float, continues: str = "", version: int = 0) -> PlanMsg:
    """Convert a plan.

    Args:
        plan: Plan.
        plan_id: Id of the plan.
        time: Stamp [s].
        continues: Id of the plan that this one continues; "" if it starts from the beginning.
        version: Number of edits so far.
    """
    return PlanMsg(
        header=header(time, NO_FRAME),
        id=plan_id,
        command=plan.command,
        program=plan.program,
        steps=list(map(step_to_msg, plan.steps)),
        complete=plan.complete,
        constraints=list(map(constraint_to_msg, plan.constraints)),
        version=version,
        continues=continues,
    )


def plan_from_msg(message: PlanMsg) -> Plan:
    """Convert a plan for display; check it again before running it.

    Raises:
        InputError, FormulaError: As `steps_from_msg` and `constraints_from_msgs`.
    """
    for field in ("id", "continues", "source"):
        checks.text(f"the {field} of a plan", getattr(message, field), checks.NAME_MAX)
    return Plan(
        checks.text("the command of a plan", message.command),
        checks.text("the program of a plan", message.program, PROGRAM_MAX),
        steps_from_msg(message.steps),
        message.complete,
        constraints_from_msgs(message.constraints),
    )
