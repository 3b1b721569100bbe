"""Retrieval of lessons for a plan: which lessons apply to which steps, as which operations, and their announcement.

Rules apply by their scope, other lessons where their slots fit. Among lessons that decide the same, the most specific
one wins, then the newest. If two contradict each other and neither is more specific, the person is asked and neither is
used. A lesson's operations are then bound to the step. The wording of the command takes precedence: "put the mug on the
tray" goes on the tray, whatever was learned. Offsets are kept in the frame of an object, so that they turn with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from math import cos, pi, remainder, sin

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Clarify,
    Edit,
    Insert,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
    is_of_motion,
)
from llm_planner.corrections.preferences.learning import contrary, decides
from llm_planner.corrections.preferences.preference import (
    FIRST,
    THING,
    Occasion,
    Preference,
    Slots,
    State,
    announcement,
    gist,
)
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Frame, Scope
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
        regions = (value for value in step.arguments.values() if isinstance(value, str) and value in REGIONS)
        place = next(regions, "") or room
        slots = replace(thing_slots(thing), skill=step.skill, place=place, user=user)
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
            errand, ahead = situation.errand_of(step.id), situation.ahead
            is_first = operation.before == FIRST
            there = ahead[: len(errand)] if is_first else ahead[-len(errand) :]
            if there != errand and not _ORDER.search(command):
                yield Move(tuple(item.id for item in errand), ahead[0].id if is_first else "")
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
    names, meant, rules = list(lesson.things), dict[str, str](), list[AddRule]()

    def renamed(part: Formula) -> Formula:
        if part.operands or not part.propositions:
            return part
        said = parse_proposition(part.propositions[0])
        return atom(str(replace(said, arguments=tuple(meant.get(name, name) for name in said.arguments))))

    for chosen in product(*(_fitting(lesson.things[name], scene) for name in names)):
        meant = dict(zip(names, chosen, strict=True))
        for rule in (one for one in lesson.operations if isinstance(one, AddRule)):
            formula = substituted(parse(rule.formula), renamed)
            with suppress(InputError):  # what the formula refers to is not here
                for item in formula.propositions:
                    check_proposition(parse_proposition(item), scene)
                rules.append(replace(rule, formula=str(formula)))
    return tuple(rules)


@dataclass(frozen=True)
class Use:
    """Application of a lesson to the step `step` ("" for the whole plan) with its operations for this plan."""

    lesson: Preference
    step: str
    operations: tuple[Operation, ...]

    @property
    def in_motion(self) -> bool:
        """Whether it changes motion only while its step is under way."""
        return bool(self.step) and all(map(is_of_motion, self.operations))


@dataclass(frozen=True)
class Doubt:
    """Question which of several contrary lessons applies to a case; the options are in the order of `lessons`."""

    question: Clarify
    lessons: tuple[int, ...]
    case: Slots


@dataclass(frozen=True)
class Recollection:
    """Lessons that apply to a plan made at `time` [s since the epoch]."""

    time: float
    uses: tuple[Use, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def announcement(self) -> str:
        """Announcement of the lessons: "using what you told me on 3 November: slower with mugs"."""
        return announcement([use.lesson for use in self.uses], self.time)

    def edit(self, version: int = 0) -> Edit:
        """Return the edit to apply before the plan starts; it may have no operations."""
        operations = tuple(operation for use in self.uses if not use.in_motion for operation in use.operations)
        return Edit(operations, self.announcement if operations else "", version)

    def used(self, step: str) -> tuple[int, ...]:
        """Return the ids of the lessons in force for a step."""
        return tuple(use.lesson.id for use in self.uses if use.step in ("", step))


def recall(lessons: Sequence[Preference], situation: Situation, occasion: Occasion) -> Recollection:
    """Return the lessons for the remaining steps of the plan; `occasion` gives the person and the time."""
    live = [lesson for lesson in lessons if _holds(lesson, occasion)]
    cases = cases_of(situation, occasion.user)
    kept = {str(constraint.formula) for constraint in situation.plan.constraints}
    rules = ((lesson, bound_rules(lesson, situation.scene)) for lesson in live)
    new_rules = ((lesson, tuple(rule for rule in own if rule.formula not in kept)) for lesson, own in rules)
    uses = [Use(lesson, "", own) for lesson, own in new_rules if own]
    doubts: list[Doubt] = []
    for step in situation.ahead:
        chosen, doubt = _chosen(live, cases[step.id].slots)
        doubts += [item for item in doubt if item.lessons not in [other.lessons for other in doubts]]
        bindings = ((lesson, bound(lesson, step, cases[step.id], situation)) for lesson in chosen)
        uses += [Use(lesson, step.id, operations) for lesson, operations in bindings if operations]
    settled = _of_whole_plan(_without_repeats(uses), situation)
    return Recollection(occasion.time, tuple(settled), tuple(doubts))


def _holds(lesson: Preference, occasion: Occasion) -> bool:
    """Whether the lesson is learned and its scope includes the occasion."""
    if lesson.state is not State.LEARNED:
        return False
    told = lesson.provenance
    reach = {Scope.TASK: told.command == occasion.command, Scope.SESSION: told.session == occasion.session}
    return reach.get(lesson.scope, lesson.scope is Scope.ALWAYS)


def _chosen(lessons: Iterable[Preference], case: Slots) -> tuple[list[Preference], list[Doubt]]:
    """Return one lesson for each decision in this case, and questions about contrary lessons."""
    groups: dict[tuple[str, ...], list[Preference]] = {}
    for lesson in sorted(lessons, key=lambda one: one.slots.kind != ""):  # general lessons first
        if not isinstance(lesson.operations[0], AddRule) and lesson.slots.fit(case):
            groups.setdefault(decides(lesson.operations[0]), []).append(lesson)
    chosen, doubts = [], []
    for group in groups.values():
        slots = [item.slots.said.items() for item in group]
        closest = [item for item, own in zip(group, slots, strict=True) if not any(own < other for other in slots)]
        newest = max(closest, key=lambda item: (item.provenance.time, item.id))
        against = [item for item in closest if any(map(contrary, item.operations, newest.operations))]
        if against:
            offered = (newest, *against)[:3]
            asked = "You told me things that do not go together; which shall I do now?"
            question = Clarify(asked, tuple(map(gist, offered)))
            doubts.append(Doubt(question, tuple(lesson.id for lesson in offered), case))
        else:
            chosen.append(newest)
    return chosen, doubts


def _without_repeats(uses: Sequence[Use]) -> list[Use]:
    """Remove repeated changes of the plan, and changes of removed steps."""
    gone = {item.step for use in uses for item in use.operations if isinstance(item, Remove)}
    kept: list[Use] = []
    for use in uses:
        done = [item for other in kept if not other.in_motion for item in other.operations]
        leaves_out = isinstance(use.operations[0], Remove)
        if (use.step in gone and not leaves_out) or (
            not use.in_motion and all(item in done for item in use.operations)
        ):
            continue
        kept.append(use)
    return kept


def _of_whole_plan(uses: Sequence[Use], situation: Situation) -> Iterator[Use]:
    """Merge a lesson without a case that is used in every step into one use for the whole plan."""
    ahead = {step.id for step in situation.ahead}
    told: set[int] = set()
    for use in uses:
        steps = {other.step for other in uses if other.lesson.id == use.lesson.id}
        if not (use.in_motion and use.lesson.slots.said.keys() <= {"user"} and steps == ahead):
            yield use
        elif use.lesson.id not in told:
            told.add(use.lesson.id)
            of_all = (replace(one, step="") if isinstance(one, Adjust) else one for one in use.operations)
            yield Use(use.lesson, "", tuple(of_all))
