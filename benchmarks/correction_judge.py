"""Whether an edit read from what a person said is the right one.

An edit is exactly right where it leaves the same steps in the same order as one that is expected, says the same of all
else in the same order, and is to be remembered as long and of the same thing. How a rule or a question is worded is
not judged; formulas are proved equivalent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from correction_cases import Case

from llm_planner.corrections.edits import (
    AddRule,
    Clarify,
    Edit,
    Insert,
    Level,
    LiftRule,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
)
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.parser import parse
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Scene

NEAR, SHARE = 1e-3, 0.02  # numbers that differ by less, or by less than this share, are the same
_TAUGHT = frozenset((Level.MOTION, Level.PARAMETER, Level.STEP, Level.RULE))  # what can be remembered


def level_right(edit: Edit, case: Case) -> bool:
    """Whether the edit touches what is meant: the level of its first operation."""
    return edit.level in {accepted.level for accepted in case.accepted}


def exact_right(edit: Edit, case: Case, situation: Situation) -> bool:
    """Whether the edit does what one of those accepted does; one that names what is not there does not."""
    try:
        return any(_same_edit(edit, accepted, situation) for accepted in case.accepted)
    except InputError:
        return False


def _same_edit(edit: Edit, expected: Edit, situation: Situation) -> bool:
    others, wanted = (_without_steps(each) for each in (edit, expected))
    return (
        len(others) == len(wanted)
        and all(_same_operation(a, b, situation.scene) for a, b in zip(others, wanted, strict=True))
        and _same_steps(steps_after(edit, situation), steps_after(expected, situation), situation.skills)
        and (not _teaches(expected) or (edit.scope, edit.about) == (expected.scope, expected.about))
    )


def _without_steps(edit: Edit) -> list[Operation]:
    return [operation for operation in edit.operations if operation.level is not Level.STEP]


def _teaches(edit: Edit) -> bool:
    return any(operation.level in _TAUGHT for operation in edit.operations)


def _same_operation(operation: Operation, expected: Operation, scene: Scene) -> bool:
    if type(operation) is not type(expected):
        return False
    if isinstance(operation, AddRule | LiftRule) and isinstance(expected, AddRule | LiftRule):
        return Meanings(scene).same(parse(operation.formula), parse(expected.formula))
    return isinstance(operation, Clarify) or all(
        _same_value(getattr(operation, item.name), getattr(expected, item.name)) for item in fields(operation)
    )


def _same_value(value: Any, expected: Any) -> bool:
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, tuple) and isinstance(expected, tuple):
        return len(value) == len(expected) and all(map(_same_value, value, expected))
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return abs(value - expected) <= max(NEAR, SHARE * abs(expected))
    return bool(value == expected)


@dataclass(frozen=True)
class Step:
    """A step of the edited plan; `id` is "" for a new one. What is left out keeps its place until all is done."""

    id: str
    skill: str
    arguments: Mapping[str, Argument]
    left_out: bool = False


def steps_after(edit: Edit, situation: Situation) -> list[Step]:
    """The steps that the edit leaves, whatever the order of the operations that lead there; raises InputError."""
    steps = [Step(step.id, step.skill, step.arguments) for step in situation.plan.steps]
    for operation in edit.operations:
        steps = _changed(steps, operation)
    return [step for step in steps if not step.left_out]


def _changed(steps: list[Step], operation: Operation) -> list[Step]:
    if isinstance(operation, Insert):
        at = _index(steps, operation.before)
        return [*steps[:at], Step("", operation.skill, operation.arguments), *steps[at:]]
    if isinstance(operation, Move):
        moved = [steps[_index(steps, name)] for name in operation.steps]
        others = [step for step in steps if step not in moved]
        at = _index(others, operation.before)
        return [*others[:at], *moved, *others[at:]]
    if not isinstance(operation, Remove | Replace | Rebind):
        return steps
    at = _index(steps, operation.step)
    return [*steps[:at], _renewed(steps[at], operation), *steps[at + 1 :]]


def _renewed(step: Step, operation: Remove | Replace | Rebind) -> Step:
    if isinstance(operation, Remove):
        return replace(step, left_out=True)
    if isinstance(operation, Replace):
        return Step("", operation.skill, operation.arguments)
    return replace(step, arguments={**step.arguments, operation.parameter: operation.value})


def _index(steps: Sequence[Step], name: str) -> int:
    """Where the step is, or the end for ""; raises InputError."""
    names = [step.id for step in steps]
    if name and name not in names:
        raise InputError(f"no step is called {name!r}; the steps are: {', '.join(filter(None, names))}")
    return names.index(name) if name else len(steps)


def _same_steps(steps: Sequence[Step], expected: Sequence[Step], skills: Mapping[str, Signature]) -> bool:
    return len(steps) == len(expected) and all(
        (a.id, a.skill) == (b.id, b.skill) and _same_arguments(a, b, skills)
        for a, b in zip(steps, expected, strict=True)
    )


def _same_arguments(step: Step, expected: Step, skills: Mapping[str, Signature]) -> bool:
    """Whether they are called alike, what is not said having its default."""
    defaults = {p.name: p.default for p in skills[expected.skill].parameters if not p.required}
    given, wanted = {**defaults, **step.arguments}, {**defaults, **expected.arguments}
    return given.keys() == wanted.keys() and all(_same_argument(given[name], wanted[name]) for name in wanted)


def _same_argument(value: Argument, expected: Argument) -> bool:
    """Points lie on the table: their height says nothing."""
    if isinstance(value, tuple) and isinstance(expected, tuple):
        return _same_value(value[:2], expected[:2])
    return _same_value(value, expected)
