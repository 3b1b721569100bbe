"""A lesson's operations for a step of the plan at hand; none where it has nothing to say there.

What the command names itself is never overruled: "put the mug on the tray" goes on the tray, whatever was learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from llm_planner.correction.memory.cases import Case, named_object, thing_slots
from llm_planner.correction.memory.lesson import FIRST, THING, Lesson, Slots
from llm_planner.correction.memory.offsets import in_frame_of_robot
from llm_planner.correction.situation import Situation
from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.plan.edits import AddRule, Adjust, Insert, Move, Operation, Rebind, Remove, Replace, Shift
from llm_planner.plan.plan import PlanStep
from llm_planner.skills.contract import Argument
from llm_planner.temporal.formula import Formula, atom
from llm_planner.temporal.parser import parse
from llm_planner.temporal.substitution import substituted
from llm_planner.world.propositions import check_proposition, parse_proposition
from llm_planner.world.scene import Scene

_AMOUNT = re.compile(r"\d|\b(?:(?:centi|milli)?met(?:er|re)s?|inch|inches|seconds?|minutes?)\b")
_ORDER = re.compile(r"\b(?:first|last|then|before|after|finally|next)\b")


def bound(lesson: Lesson, step: PlanStep, case: Case, situation: Situation) -> tuple[Operation, ...]:
    """What the lesson is for this step: all of it, or nothing."""
    parts = [tuple(_bound(operation, lesson, step, case, situation)) for operation in lesson.operations]
    return tuple(operation for part in parts for operation in part) if all(parts) else ()


def _bound(
    operation: Operation, lesson: Lesson, step: PlanStep, case: Case, situation: Situation
) -> Iterator[Operation]:
    command = plain(situation.plan.command)
    match operation:
        case Shift():
            yield in_frame_of_robot(operation, case.named)
        case Adjust(is_of_motion=True):
            yield replace(operation, step=step.id)
        case Adjust():
            names = [parameter.name for parameter in situation.skills[step.skill].parameters]
            if operation.quantity in names and not _AMOUNT.search(command):
                yield replace(operation, step=step.id)
        case Rebind():
            yield from _rebound(operation, lesson, step, situation, command)
        case Remove():
            if not (case.thing and _says(command, case.thing.name)):
                yield from (Remove(item.id) for item in situation.errand_of(step.id) if item in situation.ahead)
        case Move():
            if not _ORDER.search(command):
                yield from _moved(operation, step, situation)
        case Insert() | Replace():
            yield from _with_arguments(operation, lesson, step, case, situation, command)


def _says(command: str, name: str) -> bool:
    """Whether the command, as plain words, names it in full."""
    return f" {plain(name)} " in f" {command} "


def _rebound(operation: Rebind, lesson: Lesson, step: PlanStep, situation: Situation, command: str) -> Iterator[Rebind]:
    """The step, and where it takes a thing, all later steps that name that thing, unless another step takes it too."""
    before, value = step.arguments.get(operation.parameter), _found(operation.value, lesson, situation.scene)
    if value is None or before is None or value == before or _says(command, str(before)):
        return
    yield Rebind(step.id, operation.parameter, value)
    taking = [item for item in situation.ahead if situation.skills[item.skill].fills_gripper]
    takers = [item for item in taking if before in item.arguments.values()]
    if takers == [step]:
        later = situation.ahead[situation.ahead.index(step) + 1 :]
        yield from (
            Rebind(item.id, name, value) for item in later for name in item.arguments if item.arguments[name] == before
        )


def _moved(operation: Move, step: PlanStep, situation: Situation) -> Iterator[Move]:
    errand, ahead = situation.errand_of(step.id), situation.ahead
    there = ahead[: len(errand)] if operation.before == FIRST else ahead[-len(errand) :]
    if there != errand:
        yield Move(tuple(item.id for item in errand), ahead[0].id if operation.before == FIRST else "")


def _with_arguments(
    operation: Insert | Replace, lesson: Lesson, step: PlanStep, case: Case, situation: Situation, command: str
) -> Iterator[Operation]:
    arguments = _resolved(operation.arguments, lesson, case, situation.scene)
    if arguments is None or operation.skill not in situation.skills:
        return
    if isinstance(operation, Insert):
        there = (item.skill == operation.skill and item.arguments == arguments for item in situation.plan.steps)
        if not any(there):
            yield replace(operation, arguments=arguments, before=step.id if operation.before else "")
        return
    target = named_object(step, situation)
    if not (target and _says(command, target.name)):
        yield replace(operation, arguments=arguments, step=step.id)


def _resolved(
    arguments: Mapping[str, Argument], lesson: Lesson, case: Case, scene: Scene
) -> dict[str, Argument] | None:
    found: dict[str, Argument] = {}
    for key, value in arguments.items():
        name = (case.thing.name if case.thing else None) if value == THING else _found(value, lesson, scene)
        if name is None:
            return None
        found[key] = name
    return found


def _found(value: Argument, lesson: Lesson, scene: Scene) -> Argument | None:
    """What the value stands for here: the thing of that name, or the only one that fits the words; None for neither."""
    if not isinstance(value, str) or value not in lesson.things or value in scene.names:
        return value
    fitting = _fitting(lesson.things[value], scene)
    return fitting[0] if len(fitting) == 1 else None


def _fitting(slots: Slots, scene: Scene) -> list[str]:
    return [item.name for item in scene.objects if slots.fit(thing_slots(item))]


def bound_rules(lesson: Lesson, scene: Scene) -> tuple[AddRule, ...]:
    """A rule for every thing here that fits the rule's words; none where it speaks of nothing that is here."""
    names = list(lesson.things)
    rules = []
    for chosen in product(*(_fitting(lesson.things[name], scene) for name in names)):
        meant = dict(zip(names, chosen, strict=True))
        for rule in lesson.operations:
            if isinstance(rule, AddRule) and _speaks_of(formula := _about(parse(rule.formula), meant), scene):
                rules.append(replace(rule, formula=str(formula)))
    return tuple(rules)


def is_rule(lesson: Lesson, formula: str, scene: Scene) -> bool:
    """Whether this formula is what the lesson asks for in the scene."""
    return any(rule.formula == formula for rule in bound_rules(lesson, scene))


def _about(formula: Formula, meant: Mapping[str, str]) -> Formula:
    """The formula with other things in the place of those it names."""

    def renamed(part: Formula) -> Formula:
        if part.operands or not part.propositions:
            return part
        said = parse_proposition(part.propositions[0])
        return atom(str(replace(said, arguments=tuple(meant.get(name, name) for name in said.arguments))))

    return substituted(formula, renamed)


def _speaks_of(formula: Formula, scene: Scene) -> bool:
    """Whether all that the formula speaks of is in the scene."""
    try:
        for item in formula.propositions:
            check_proposition(parse_proposition(item), scene)
    except InputError:
        return False
    return True
