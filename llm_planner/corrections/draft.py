"""Draft of a plan under edit, and edits of its rules and its motion.

The operations are applied one after the other to a copy of the plan. The draft checks that they refer to existing
steps, skills and parameters, but does not check them against the scene. Motion is edited by offsets of the step under
way, and by quantities of all motion or of single steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Change,
    Insert,
    LiftRule,
    Move,
    Rebind,
    Remove,
    Replace,
    Shift,
)
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution_state import Execution
from llm_planner.execution.watch import check_watchable
from llm_planner.language.correction_requests import MOTION_QUANTITIES, Frame, Lifetime
from llm_planner.ltl.decision import satisfiable, smallest_conflict
from llm_planner.ltl.formula import Constraint, Formula, globally, neg, until
from llm_planner.ltl.parser import parse
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.ltl.verbalization import read_back
from llm_planner.plans.manner import FARTHEST, Manner, moved_along
from llm_planner.plans.plan import Goal, PlanStep, StepStatus
from llm_planner.plans.prediction import predict
from llm_planner.programs.problems import did_you_mean
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.atoms import HELD
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.names import the
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, SceneObject, Vector3
from llm_planner.skills.tuning import shifted_things


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

    @classmethod
    def of(cls, state: Execution) -> Draft:
        """Return the plan of an execution as a draft."""
        return cls.of_steps(state.plan.steps, state.interpreter.program.skills, state.last_id)

    @classmethod
    def of_steps(cls, steps: Sequence[PlanStep], skills: Mapping[str, Signature], last_id: int = 0) -> Draft:
        """Return the steps of a plan as a draft; `last_id` is the highest id that an edit has used."""
        done, ahead = (tuple(step for step in steps if is_over(step) is over) for over in (True, False))
        return cls(done, ahead, skills, max([last_id, *(int(step.id) for step in steps if step.id.isdigit())]))

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


def is_over(step: PlanStep) -> bool:
    """Whether the step has ended and can no longer change."""
    return step.status in (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)


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
    rule = next((one for one in rules if one.formula in (formula, *_once_left(formula))), None)
    if rule is None:
        listed = "; ".join(f"“{one.words}”" for one in rules) or "none"
        raise EditError(f"no rule of this plan says: {read_back(formula)}; its rules: {listed}")
    return without_constraints(state, [rule])


def without_constraints(state: Execution, dropped: Sequence[Constraint]) -> Execution:
    """Remove these rules or goals from the plan."""
    watch = state.watch
    for one in dropped:
        watch = watch.without_rule(one.formula)
    constraints = tuple(one for one in state.plan.constraints if one not in dropped)
    return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))


SMALLEST_RISE = 0.005  # [m] vertical offset from which messages say up or down


def shifted(state: Execution, shift: Shift, scene: Scene) -> Execution:
    """Shift the target of the step under way, or of the next step.

    If the step under way has already grasped its object, the offset is for the next step. Raises EditError if the
    offset is too large, or if the placed object would miss its container or support.
    """
    step = step_under_way(state)
    if state.run is not None and state.interpreter.program.skills[state.run.step.skill].has_taken(scene.held):
        step = next((later for later in state.plan.steps if later.status is StepStatus.PENDING), step)
    if step is None:
        raise EditError("nothing is left to do that could be moved to the side")
    names = [scene.held, *(value for value in step.arguments.values() if isinstance(value, str))]
    thing = next((scene.find(name) for name in names if name in scene.names), None)
    offset = in_robot_frame(shift, state.viewpoint, thing)
    manner = state.manner.with_offset(offset, step.id if shift.lifetime is Lifetime.STEP else "")
    whole, most = math.hypot(*manner.offset_of(step.id)), FARTHEST[scene.robot_kind]
    if whole > most:
        raise EditError(
            f"that would be {100 * whole:.0f} cm beside where step {step.id}, {step}, is to be done; at most "
            f"{100 * most:.0f} cm can be corrected so: say where it is to go instead"
        )
    after = with_manner(state, manner)
    _check_effects(after, step, scene)
    return after


def adjusted(state: Execution, adjust: Adjust) -> Execution:
    """Change a quantity of all motion or of one step, clamped to its bounds.

    A change of all motion also changes the step under way if that step has its own value. Raises EditError if the
    quantity does not exist, or if no such step remains.
    """
    if adjust.quantity not in MOTION_QUANTITIES:
        raise EditError(f"there is no {adjust.quantity!r} to change; there are: {', '.join(MOTION_QUANTITIES)}")
    if adjust.step:
        Draft.of(state).index(adjust.step)
    manner, now = _changed(state.manner, adjust, adjust.step), step_under_way(state)
    if not adjust.step and now is not None and manner.is_special(adjust.quantity, now.id):
        manner = _changed(manner, adjust, now.id)
    return with_manner(state, manner)


def _changed(manner: Manner, adjust: Adjust, step_id: str) -> Manner:
    quantity = MOTION_QUANTITIES[adjust.quantity]
    value = changed_value(manner.quantity(adjust.quantity, step_id), adjust)
    return manner.with_quantity(adjust.quantity, round(min(max(value, quantity.minimum), quantity.maximum), 4), step_id)


def with_manner(state: Execution, manner: Manner) -> Execution:
    """Set the manner of the execution; the goals of queued and running steps shift with their offsets."""
    run = state.run and replace(state.run, goals=_offset(state.run.goals, manner))
    queue = tuple(replace(task, goals=_offset(task.goals, manner)) for task in state.queue)
    return replace(state, manner=manner, run=run, queue=queue)


def _offset(goals: tuple[Goal, ...], manner: Manner) -> tuple[Goal, ...]:
    return tuple(replace(goal, offset=manner.offset_of(goal.step_id)) for goal in goals)


def step_under_way(state: Execution) -> PlanStep | None:
    """Return the step that runs, was interrupted, or comes next."""
    ahead = (step for step in state.plan.steps if step.status in (StepStatus.RUNNING, StepStatus.PENDING))
    return state.run.step if state.run else next(ahead, None)


def in_robot_frame(shift: Shift, viewpoint: Viewpoint, thing: SceneObject | None) -> Vector3:
    """Convert a shift to the robot's frame [m]; raise EditError for an object's frame without `thing`."""
    x, y, z = shift.offset
    match shift.frame:
        case Frame.ROBOT:
            return shift.offset
        case Frame.PERSON:
            (fx, fy), (lx, ly) = viewpoint.direction("top"), viewpoint.direction("left")
        case Frame.OBJECT:
            if thing is None:
                raise EditError("the step under way is about no object whose axes could be meant; say left or right")
            yaw = yaw_of(thing)
            (fx, fy), (lx, ly) = (math.cos(yaw), math.sin(yaw)), (-math.sin(yaw), math.cos(yaw))
    return x * fx + y * lx, x * fy + y * ly, z


def _check_effects(state: Execution, step: PlanStep, scene: Scene) -> None:
    """Raise EditError if the placed object would no longer be in or on its target."""
    runs = state.run is not None and state.run.step.id == step.id
    queued = next((task.goals for task in state.queue if task.step.id == step.id), ())
    goals = state.run.goals if state.run and runs else queued
    carried = {goal.held_at_start for goal in goals if goal.atom.arguments[:1] == (HELD,)} | moved_along(goals)
    ends = shifted_things(predict(scene, goals), frozenset(carried), state.manner.offset_of(step.id))
    lost = [goal for goal in goals if goal.atom.predicate in ("in", "on") and not goal.holds(ends)]
    if lost:
        name, container = (str(word) for word in lost[0].words[:2])
        rise = state.manner.offset_of(step.id)[2]
        where = "to the side" if abs(rise) < SMALLEST_RISE else "up" if rise > 0 else "down"
        raise EditError(
            f"so far {where} {the(name)} would not be {lost[0].atom.predicate} {the(container)} any more; "
            "say less, or where it is to go instead"
        )
