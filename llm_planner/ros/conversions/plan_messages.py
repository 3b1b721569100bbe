"""Conversions between ROS messages and plans, steps, constraints and traces."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from llm_planner_interfaces.msg import Constraint as ConstraintMsg
from llm_planner_interfaces.msg import ConstraintState, ConstraintStatus
from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStep as PlanStepMsg

from llm_planner.errors import InputError
from llm_planner.execution.watch import ConstraintResult, Watch, margin
from llm_planner.ltl.alphabet import Trace
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.monitor import Verdict
from llm_planner.ltl.parser import parse
from llm_planner.ltl.verbalization import read_back
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.message_conversions import arguments_from_msg, arguments_to_msg
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Scene

STEPS_MAX, CONSTRAINTS_MAX, LETTERS_MAX = 1000, 64, 100_000
FORMULA_MAX, PROGRAM_MAX = 4000, 100_000  # characters
_STEP_STATUS = {
    StepStatus.PENDING: PlanStepMsg.PENDING,
    StepStatus.RUNNING: PlanStepMsg.RUNNING,
    StepStatus.DONE: PlanStepMsg.DONE,
    StepStatus.FAILED: PlanStepMsg.FAILED,
    StepStatus.SKIPPED: PlanStepMsg.SKIPPED,
}
_STATUS_OF_STEP = {number: status for status, number in _STEP_STATUS.items()}
NO_FRAME = ""  # plans and verdicts have no coordinates


def step_to_msg(step: PlanStep) -> PlanStepMsg:
    return PlanStepMsg(
        id=step.id,
        line=step.line,
        skill=step.skill,
        arguments=arguments_to_msg(step.arguments),
        status=_STEP_STATUS[step.status],
        message=step.message,
    )


def step_from_msg(message: PlanStepMsg) -> PlanStep:
    """Convert a step; raise InputError for an unknown status or an invalid argument."""
    name = checks.text("the id of a step", message.id, checks.NAME_MAX)
    skill = checks.text(f"the skill of step {name!r}", message.skill, checks.NAME_MAX)
    said = checks.text(f"the message of step {name!r}", message.message)
    if message.status not in _STATUS_OF_STEP:
        raise InputError(f"step {name!r} has the status {message.status}; the highest is {PlanStepMsg.SKIPPED}")
    status, arguments = _STATUS_OF_STEP[message.status], arguments_from_msg(message.arguments)
    return PlanStep(name, skill, arguments, message.line, status, said)


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


_VERDICTS = {
    Verdict.PENDING: ConstraintState.PENDING,
    Verdict.SATISFIED: ConstraintState.SATISFIED,
    Verdict.VIOLATED: ConstraintState.VIOLATED,
    Verdict.DOOMED: ConstraintState.DOOMED,
}


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
            verdict=_VERDICTS[one.verdict],
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
