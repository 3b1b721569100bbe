"""A plan as it would be after an edit: operations applied to a copy, one after the other.

Nothing is checked against the scene here, only that the operations mean something.

Edits of what a plan has to keep: a rule more from now on, or one less.
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
    """An edit that cannot be made; the message says what is in the way, and what could be done instead."""


class StaleEditError(EditError):
    """The plan, or how far the robot is with it, is another by now: the words are to be read again."""


StepOperation = Rebind | Insert | Remove | Move | Replace


@dataclass(frozen=True)
class Draft:
    """`done` are the steps that have ended, `ahead` those under way or still to come. `last_id` is the highest number
    that a step was ever called by."""

    done: tuple[PlanStep, ...]
    ahead: tuple[PlanStep, ...]
    skills: Mapping[str, Signature]
    last_id: int

    def changed(self, operation: StepOperation) -> Draft:
        """After one operation; raises EditError where it speaks of a step, skill or parameter that cannot be meant."""
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
        """With a numeric parameter of a step changed, within its bounds."""
        step = self.ahead[self.index(operation.step)]
        parameter = self._parameter(step, operation.quantity)
        now = step.arguments.get(parameter.name, parameter.default)
        if isinstance(now, bool) or not isinstance(now, (int, float)):
            raise EditError(f"{parameter.name} of step {step.id}, {step}, is {now!r}, which is no number to change")
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
        """Where the step is among those ahead; raises EditError that says why it is not."""
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
    """The highest number among the ids of these steps."""
    return max((int(step.id) for step in steps if step.id.isdigit()), default=0)


def is_over(step: PlanStep) -> bool:
    """Whether nothing can change about the step any more."""
    return step.status in (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)


def check_ahead(step_id: str, steps: Sequence[PlanStep]) -> None:
    """Raises EditError where none of those steps that are still to come, or under way, has that id."""
    Draft(tuple(filter(is_over, steps)), tuple(step for step in steps if not is_over(step)), {}, 0).index(step_id)


def changed_value(now: float, operation: Adjust) -> float:
    """What becomes of the value `now`."""
    match operation.change:
        case Change.SET:
            return operation.value
        case Change.SCALE:
            return now * operation.value
        case Change.SHIFT:
            return now + operation.value


def clamped(value: float, parameter: Parameter) -> float:
    """Within the parameter's bounds, and no finer than a person speaks."""
    low = parameter.minimum if parameter.minimum is not None else value
    high = parameter.maximum if parameter.maximum is not None else value
    return round(min(max(value, low), high), 4)


def with_rule(state: Execution, added: AddRule, scene: Scene) -> Execution:
    """With the rule kept from now on; one that is not so at this moment, from when it is.

    Raises EditError where nothing can keep it, alone or with the rules that there are.
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
    """Of a rule that forbids for ever what is so now: that it ends, and does not come again."""
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
    """With the rule kept no more; raises EditError where there is none such, listing those that there are."""
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
    """The rule that was to be kept once it could be."""
    return (formula.operands[1],) if formula.operator == "U" and formula.operands[1].operator == "G" else ()
