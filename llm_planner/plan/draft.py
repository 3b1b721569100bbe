"""A plan as it would be after an edit: operations applied to a copy, one after the other.

Nothing is checked against the scene here, only that the operations mean something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llm_planner.errors import LlmPlannerError
from llm_planner.plan.edits import Adjust, Change, Insert, Move, Rebind, Remove, Replace
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.program.problems import did_you_mean
from llm_planner.program.signatures import Parameter, Signature
from llm_planner.skills.contract import Argument


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
