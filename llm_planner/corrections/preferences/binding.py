"""Binding of lessons to the steps of a plan.

A lesson's operations are instantiated for a step if its slots fit the step's case. The wording of the command takes
precedence: "put the mug on the tray" goes on the tray, whatever was learned. Offsets are kept in the frame of an
object, so that they turn with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import cos, pi, remainder, sin

from llm_planner.corrections.edits import AddRule, Adjust, Insert, Move, Operation, Rebind, Remove, Replace, Shift
from llm_planner.corrections.preferences.preference import FIRST, THING, Preference, Slots
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Frame
from llm_planner.language.understanding.wording import plain
from llm_planner.ltl.formula import Formula, atom, substituted
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.programs.values import Argument
from llm_planner.scene import geometry
from llm_planner.scene.places import REGIONS
from llm_planner.scene.propositions import check_proposition, parse_proposition
from llm_planner.scene.scene import Scene, SceneObject, Vector3

_OVER = (StepStatus.FAILED, StepStatus.SKIPPED)


@dataclass(frozen=True)
class Case:
    """Slots of a step with `thing`, the held or else the named object, and `named`, the object that the step names."""

    slots: Slots
    thing: SceneObject | None = None
    named: SceneObject | None = None


def cases_of(situation: Situation, user: str) -> dict[str, Case]:
    """Return the case of every step by id; the held object and the robot's room are tracked through the plan."""
    scene, steps = situation.scene, situation.plan.steps
    cases: dict[str, Case] = {}
    held = scene.held if not any(step.status is StepStatus.DONE for step in steps) else ""
    room = scene.robot_room
    for step in steps:
        if step.status is StepStatus.RUNNING and scene.held:
            held = scene.held
        skill = situation.skills[step.skill]
        named = named_object(step, situation)
        thing = _object(scene, held) or named
        room = _reached(step, situation, named) or room
        slots = replace(thing_slots(thing), skill=step.skill, place=_region(step) or room, user=user)
        cases[step.id] = Case(slots, thing, named)
        if step.status not in _OVER:
            held = named.name if skill.fills_gripper and named else "" if skill.empties_gripper else held
    return cases


def thing_slots(thing: SceneObject | None) -> Slots:
    """Return the slots of an object; empty slots for None."""
    if thing is None:
        return Slots()
    return Slots(kind=thing.kind, color=thing.color, name=thing.name if thing.name[:1].isupper() else "")


def named_object(step: PlanStep, situation: Situation) -> SceneObject | None:
    """Return the first object of the scene that the step's arguments name."""
    words = (value for value in step.arguments.values() if isinstance(value, str))
    return next((thing for word in words if (thing := _object(situation.scene, word))), None)


def _object(scene: Scene, name: str) -> SceneObject | None:
    return next((item for item in scene.objects if item.name == name), None)


def _region(step: PlanStep) -> str:
    return next((value for value in step.arguments.values() if isinstance(value, str) and value in REGIONS), "")


def _reached(step: PlanStep, situation: Situation, named: SceneObject | None) -> str:
    """Return the room of a mobile robot after the step, "" if it stays."""
    building, skill = situation.scene.building, situation.skills[step.skill]
    if building is None or not skill.leads:
        return ""
    rooms = (str(value) for value in step.arguments.values() if value in building.names)
    return next(rooms, "") or (building.room_at(*named.position[:2]) if named else "")


SQUARE = 1.05  # largest ratio of the sides of a square object


def heading(item: SceneObject) -> float:
    """Return the yaw of the object [rad] as far as its shape shows it: 0 for round, within ±π/4 for square ones."""
    if item.kind in geometry.ROUND_KINDS:
        return 0.0
    yaw = geometry.yaw_of(item)
    long, short = max(item.size[:2]), min(item.size[:2])
    return remainder(yaw, pi / 2) if long < SQUARE * short else yaw


def in_frame_of(item: SceneObject | None, offset: Vector3) -> Shift:
    """Convert an offset [m] from the robot's frame to the object's frame; keep it if there is no object."""
    return Shift(_turned(offset, -heading(item)), Frame.OBJECT) if item else Shift(offset, Frame.ROBOT)


def in_frame_of_robot(shift: Shift, item: SceneObject | None) -> Shift:
    """Convert a shift of `in_frame_of` back to the robot's frame, for the object's present orientation."""
    angle = heading(item) if shift.frame is Frame.OBJECT and item else 0.0
    return Shift(_turned(shift.offset, angle), Frame.ROBOT)


def _turned(offset: Vector3, angle: float) -> Vector3:
    x, y, z = offset
    turned = x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)
    return round(turned[0], 4) + 0.0, round(turned[1], 4) + 0.0, z


_AMOUNT = re.compile(r"\d|\b(?:(?:centi|milli)?met(?:er|re)s?|inch|inches|seconds?|minutes?)\b")
_ORDER = re.compile(r"\b(?:first|last|then|before|after|finally|next)\b")


def bound(lesson: Preference, step: PlanStep, case: Case, situation: Situation) -> tuple[Operation, ...]:
    """Return the operations of a whole lesson for this step; () if a part of it does not apply."""
    parts = [tuple(_bound(operation, lesson, step, case, situation)) for operation in lesson.operations]
    return tuple(operation for part in parts for operation in part) if all(parts) else ()


def _bound(
    operation: Operation, lesson: Preference, step: PlanStep, case: Case, situation: Situation
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
    """Whether the command, in plain words, contains the full name."""
    return f" {plain(name)} " in f" {command} "


def _rebound(
    operation: Rebind, lesson: Preference, step: PlanStep, situation: Situation, command: str
) -> Iterator[Rebind]:
    """Yield the rebinding of the step and, if it grasps the only such object, of later steps that name it."""
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
    operation: Insert | Replace, lesson: Preference, step: PlanStep, case: Case, situation: Situation, command: str
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
    arguments: Mapping[str, Argument], lesson: Preference, case: Case, scene: Scene
) -> dict[str, Argument] | None:
    found: dict[str, Argument] = {}
    for key, value in arguments.items():
        name = (case.thing.name if case.thing else None) if value == THING else _found(value, lesson, scene)
        if name is None:
            return None
        found[key] = name
    return found


def _found(value: Argument, lesson: Preference, scene: Scene) -> Argument | None:
    """Return the named object, or the only one that fits its slots; None if there is none."""
    if not isinstance(value, str) or value not in lesson.things or value in scene.names:
        return value
    fitting = _fitting(lesson.things[value], scene)
    return fitting[0] if len(fitting) == 1 else None


def _fitting(slots: Slots, scene: Scene) -> list[str]:
    return [item.name for item in scene.objects if slots.fit(thing_slots(item))]


def bound_rules(lesson: Preference, scene: Scene) -> tuple[AddRule, ...]:
    """Return a rule for every combination of objects in the scene that fits the lesson's rules."""
    names = list(lesson.things)
    rules = []
    for chosen in product(*(_fitting(lesson.things[name], scene) for name in names)):
        meant = dict(zip(names, chosen, strict=True))
        for rule in lesson.operations:
            if isinstance(rule, AddRule) and _speaks_of(formula := _about(parse(rule.formula), meant), scene):
                rules.append(replace(rule, formula=str(formula)))
    return tuple(rules)


def is_rule(lesson: Preference, formula: str, scene: Scene) -> bool:
    """Whether the lesson requires this formula in the scene."""
    return any(rule.formula == formula for rule in bound_rules(lesson, scene))


def _about(formula: Formula, meant: Mapping[str, str]) -> Formula:
    def renamed(part: Formula) -> Formula:
        if part.operands or not part.propositions:
            return part
        said = parse_proposition(part.propositions[0])
        return atom(str(replace(said, arguments=tuple(meant.get(name, name) for name in said.arguments))))

    return substituted(formula, renamed)


def _speaks_of(formula: Formula, scene: Scene) -> bool:
    """Whether the scene contains everything that the formula refers to."""
    try:
        for item in formula.propositions:
            check_proposition(parse_proposition(item), scene)
    except InputError:
        return False
    return True
