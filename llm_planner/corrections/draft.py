"""Draft of a plan under edit, and edits of its rules.

The operations are applied one after the other to a copy of the plan. The draft checks that they refer to existing
steps, skills and parameters, but does not check them against the scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, LiftRule, Move, Rebind, Remove, Replace
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution_state import Execution
from llm_planner.execution.watch import check_watchable
from llm_planner.ltl.decision import satisfiable, smallest_conflict
from llm_planner.ltl.formula import Constraint, Formula, globally, neg, until
from llm_planner.ltl.parser import parse
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.ltl.verbalization import read_back
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.programs.problems import did_you_mean
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Scene


class EditError(LlmPlannerError):
    """Edit that cannot be made; the message names the obstacle and the alternatives."""


class StaleEditError(EditError):
    """Edit for a plan, or a step of it, that has changed by now; the utterance must be read again."""


StepOperation = Rebind | Insert | Remove | Move | Replace


@dataclass(frozen=True)
class Draft:
    """Steps of a plan under edit: `done` have ended, `ahead` are under way or pending.

    `last_id` is the highest step id ever used.
    """

    done: tuple[PlanStep, ...]
    ahead: tuple[PlanStep, ...]
    skills: Mapping[str, Signature]
    last_id: int

    def changed(self, operation: StepOperation) -> Draft:
        """Apply one operation; raise EditError if its step, skill or parameter does not exist."""
        match operation:
            case Rebind(step, parameter, value):
                return self._rebound(step, parameter, value)
            case Insert(skill, arguments, before):
                return self._inserted(skill, arguments, self._place(before))
            case Remove(step):
                place = self.index(step)
                return replace(self, ahead=(*self.ahead[:place], *self.ahead[place + 1 :]))
            case Move(steps, before):
                return self._moved(steps, before)
            case Replace(step, skill, arguments):
                place = self.index(step)
                return self.changed(Remove(step))._inserted(skill, arguments, place)

    def adjusted(self, operation: Adjust) -> Draft:
        """Change a numeric parameter of a step within its bounds."""
        step = self.ahead[self.index(operation.step)]
        parameter = self._parameter(step, operation.quantity)
        now = step.arguments.get(parameter.name, parameter.default)
        if isinstance(now, bool) or not isinstance(now, (int, float)):
            raise EditError(f"{parameter.name} of step {step.id}, {step}, is {now!r}, which is not a number")
        return self._rebound(step.id, parameter.name, clamped(changed_value(float(now), operation), parameter))

    def _rebound(self, step_id: str, name: str, value: Argument) -> Draft:
        place = self.index(step_id)
        step = self.ahead[place]
        parameter = self._parameter(step, name)
        rebound = replace(step, arguments={**step.arguments, parameter.name: value})
        return replace(self, ahead=(*self.ahead[:place], rebound, *self.ahead[place + 1 :]))

    def _inserted(self, skill: str, arguments: Mapping[str, Argument], place: int) -> Draft:
        if skill not in self.skills:
            hint = did_you_mean(skill, self.skills)
            raise EditError(f"there is no skill {skill!r}{hint}; there are: {', '.join(self.skills)}")
        new = PlanStep(str(self.last_id + 1), skill, dict(arguments), 0)
        return replace(self, ahead=(*self.ahead[:place], new, *self.ahead[place:]), last_id=self.last_id + 1)

    def _moved(self, steps: tuple[str, ...], before: str) -> Draft:
        moving = tuple(self.ahead[self.index(step)] for step in steps)
        if before in steps:
            raise EditError(f"step {before} cannot be done before itself")
        rest = replace(self, ahead=tuple(step for step in self.ahead if step.id not in steps))
        place = rest._place(before)
        return replace(rest, ahead=(*rest.ahead[:place], *moving, *rest.ahead[place:]))

    def _place(self, before: str) -> int:
        return self.index(before) if before else len(self.ahead)

    def index(self, step_id: str) -> int:
        """Return the position of the step in `ahead`; raise EditError with the reason if it is not there."""
        for index, step in enumerate(self.ahead):
            if step.id == step_id:
                return index
        for step in self.done:
            if step.id == step_id:
                how = step.status.value
                raise StaleEditError(f"step {step.id}, {step}, is over ({how}) and cannot be changed any more")
        listed = ", ".join(f"{step.id} {step}" for step in self.ahead) or "none"
        raise EditError(f"there is no step {step_id!r}; those still to come: {listed}")

    def _parameter(self, step: PlanStep, name: str) -> Parameter:
        parameters = self.skills[step.skill].parameters
        for parameter in parameters:
            if parameter.name == name:
                return parameter
        names = ", ".join(parameter.name for parameter in parameters) or "none"
        raise EditError(f"step {step.id}, {step}, has no parameter {name!r}; it has: {names}")


def highest_id(steps: tuple[PlanStep, ...]) -> int:
    """Return the highest numeric id of the steps, 0 if there is none."""
    return max((int(step.id) for step in steps if step.id.isdigit()), default=0)


def is_over(step: PlanStep) -> bool:
    """Whether the step has ended and can no longer change."""
    return step.status in (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)


def check_ahead(step_id: str, steps: Sequence[PlanStep]) -> None:
    """Raise EditError if no pending or running step has this id."""
    Draft(tuple(filter(is_over, steps)), tuple(step for step in steps if not is_over(step)), {}, 0).index(step_id)


def changed_value(now: float, operation: Adjust) -> float:
    """Apply a change to the value `now`."""
    match operation.change:
        case Change.SET:
            return operation.value
        case Change.SCALE:
            return now * operation.value
        case Change.SHIFT:
            return now + operation.value


def clamped(value: float, parameter: Parameter) -> float:
    """Clamp the value to the parameter's bounds and round it."""
    low = parameter.minimum if parameter.minimum is not None else value
    high = parameter.maximum if parameter.maximum is not None else value
    return round(min(max(value, low), high), 4)


def with_rule(state: Execution, added: AddRule, scene: Scene) -> Execution:
    """Add a rule to the plan; a rule that is violated at this moment applies once it first holds.

    Raises EditError if the rule is unreadable, known already, violated for good, or in conflict with other rules.
    """
    formula = _parsed(added.formula)
    if any(one.formula == formula for one in state.plan.constraints):
        raise EditError(f"that is a rule already: {read_back(formula)}")
    try:
        check_watchable([Constraint(formula, added.words)], scene)
        state_now = _kept_from_now(state, formula, added.words, scene)
    except InputError as error:
        raise EditError(str(error)) from error
    _check_agrees(state_now, scene)
    return state_now


def _parsed(text: str) -> Formula:
    try:
        return parse(text)
    except InputError as error:
        raise EditError(f"the rule {text!r} cannot be read: {error}") from error


def _kept_from_now(state: Execution, formula: Formula, words: str, scene: Scene) -> Execution:
    for candidate in (formula, *_once_left(formula)):
        rule = Constraint(candidate, words)
        watch = state.watch.with_rule(rule, scene)
        if not watch.watched[-1].verdict.lost:
            constraints = (*state.plan.constraints, rule)
            return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))
    raise EditError(f"“{words}” is broken already and nothing can mend that: {read_back(formula)}")


def _once_left(formula: Formula) -> tuple[Formula, ...]:
    """For a rule that forbids the present state for ever: require that it ends and does not return."""
    if formula.operator == "G" and formula.window is None:
        kept = formula.operands[0]
        return (until(neg(kept), globally(kept)),)
    return ()


def _check_agrees(state: Execution, scene: Scene) -> None:
    constraints = state.plan.constraints
    formulas = [one.formula for one in constraints]
    alphabet = alphabet_of((name for formula in formulas for name in formula.propositions), scene)
    if satisfiable(formulas, alphabet):
        return
    guilty = smallest_conflict(formulas, alphabet)
    told = " and ".join(f"“{constraints[index].words}”" for index in guilty)
    raise EditError(f"nothing can keep {told} together; lift one of them first, or say the new one otherwise")


def without_rule(state: Execution, lifted: LiftRule) -> Execution:
    """Remove a rule from the plan; raise EditError that lists the rules if it does not exist."""
    formula = _parsed(lifted.formula)
    rules = [one for one in state.plan.constraints if not one.goal]
    rule = next((one for one in rules if formula in (one.formula, *_original(one.formula))), None)
    if rule is None:
        listed = "; ".join(f"“{one.words}”" for one in rules) or "none"
        raise EditError(f"no rule of this plan says: {read_back(formula)}; its rules: {listed}")
    constraints = tuple(one for one in state.plan.constraints if one is not rule)
    watch = state.watch.without_rule(rule.formula)
    return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))


def _original(formula: Formula) -> tuple[Formula, ...]:
    """Return the rule that `_once_left` was applied to."""
    return (formula.operands[1],) if formula.operator == "U" and formula.operands[1].operator == "G" else ()
