"""Making of lessons from an applied edit: generalized operations, and the slots that select their cases.

A lesson is as general as its words. It always keeps the kind of the object, but its colour or name only if they were
said. `binding` makes sure that commands take precedence over lessons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from llm_planner.corrections.edit_motion import in_robot_frame
from llm_planner.corrections.edits import AddRule, Adjust, Edit, Insert, Move, Operation, Rebind, Remove, Replace, Shift
from llm_planner.corrections.preferences.binding import Case, cases_of, in_frame_of, thing_slots
from llm_planner.corrections.preferences.learning import decides
from llm_planner.corrections.preferences.preference import FIRST, THING, THIS, Occasion, Preference, Slots
from llm_planner.corrections.references import described, is_region, is_room, the_region, the_room
from llm_planner.corrections.situation import Situation
from llm_planner.language.correction_requests import Scope
from llm_planner.language.understanding.wording import arguments_of, plain
from llm_planner.ltl.parser import parse
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Scene

Told = tuple[str, Operation]  # id of the step that it concerns, "" for none


def make_lessons(edit: Edit, situation: Situation, occasion: Occasion) -> tuple[Preference, ...]:
    """Return what the edit teaches, one lesson for each decision; `situation` is from the time of the utterance.

    Holds, dialogue, lifted rules and points on the table teach nothing.
    """
    cases = cases_of(situation, occasion.user)
    lessons: dict[tuple[str, ...], Preference] = {}
    for step, operation in _told(edit.operations, situation, cases):
        case, key = cases.get(step, Case(Slots(user=occasion.user))), _decision(step, operation, cases, situation)
        lesson = _lesson(_freed(operation, case, situation), edit, case, situation, replace(occasion, step=step))
        if key in lessons and isinstance(operation, Insert):
            lesson = _joined(lessons[key], lesson)
        elif key in lessons:
            continue
        lessons[key] = lesson
    return tuple(lessons.values())


def _joined(one: Preference, more: Preference) -> Preference:
    return replace(one, operations=one.operations + more.operations, things={**one.things, **more.things})


def _decision(step: str, operation: Operation, cases: Mapping[str, Case], situation: Situation) -> tuple[str, ...]:
    """Return a key that is equal for operations of one lesson."""
    match operation:
        case Rebind(parameter=parameter, value=value):
            taken = {case.thing.name for case in cases.values() if case.thing and case.named == case.thing}
            before = next(str(item.arguments.get(parameter)) for item in situation.plan.steps if item.id == step)
            # An object that replaces another is one decision in all steps; a target is one for each object.
            return "bind", str(value), before if before in taken else _thing(cases, step)
        case Insert(before=before):
            return "insert", step, before
        case Adjust(is_of_motion=True):
            return _thing(cases, step), *decides(replace(operation, step=""))
        case Remove() | Move():
            return _thing(cases, step), *decides(operation)
        case _:
            return step, *decides(operation)


def _thing(cases: Mapping[str, Case], step: str) -> str:
    case = cases.get(step)
    return case.thing.name if case and case.thing else ""


def _told(operations: Sequence[Operation], situation: Situation, cases: Mapping[str, Case]) -> Iterator[Told]:
    """Yield each operation that may teach something, with the step that it concerns."""
    ahead = situation.ahead
    now = situation.running or (ahead[0] if ahead else None)
    for operation in operations:
        match operation:
            case Shift() if now is not None:
                yield now.id, operation
            case Adjust(step=step):
                yield step or (now.id if now else ""), operation
            case Rebind(step=step, value=str()) if step in cases:
                yield step, operation
            case Insert(before=step) | Replace(step=step) if not _names_a_point(operation.arguments):
                yield step or (now.id if now else ""), operation
            case Remove(step=step) | Move(steps=(step, *_)) if step in cases:
                yield from ((item.id, operation) for item in situation.errand_of(step) if cases[item.id].thing)
            case AddRule():
                yield "", operation


def _names_a_point(arguments: Mapping[str, Argument]) -> bool:
    return any(isinstance(value, tuple) for value in arguments.values())


def _freed(operation: Operation, case: Case, situation: Situation) -> Operation:
    """Replace step ids and the name of the step's object by placeholders."""
    match operation:
        case Shift():
            return in_frame_of(case.named, in_robot_frame(operation, situation.viewpoint, case.thing))
        case Adjust(is_of_motion=True):
            return replace(operation, step="")
        case Adjust() | Rebind() | Remove():
            return replace(operation, step=THIS)
        case Replace():
            return replace(operation, step=THIS, arguments=_about(operation.arguments, case))
        case Insert():
            before = THIS if operation.before else ""
            return replace(operation, before=before, arguments=_about(operation.arguments, case))
        case Move():
            return Move((THIS,), FIRST if operation.before else "")
        case _:
            return operation


def _about(arguments: Mapping[str, Argument], case: Case) -> dict[str, Argument]:
    name = case.thing.name if case.thing else None
    return {key: THING if value == name else value for key, value in arguments.items()}


def _lesson(operation: Operation, edit: Edit, case: Case, situation: Situation, occasion: Occasion) -> Preference:
    words = plain(f"{edit.words} {edit.about}")
    things = {name: _said(situation, name, words) for name in _names(operation) if name in situation.scene.names}
    slots = _slots(operation, edit, case, situation.scene, words)
    return Preference(edit.words, (operation,), slots, case.slots, edit.scope, occasion, things)


def _names(operation: Operation) -> tuple[str, ...]:
    """Return the names that the operation contains, of objects and others."""
    match operation:
        case Rebind(value=str(value)):
            return (value,)
        case Insert() | Replace():
            return tuple(value for value in operation.arguments.values() if isinstance(value, str))
        case AddRule(formula=formula):
            return tuple(sorted(arguments_of(parse(formula))))
        case _:
            return ()


def _said(situation: Situation, name: str, words: str) -> Slots:
    known = thing_slots(situation.scene.find(name))
    color = known.color if re.search(rf"\b{re.escape(known.color.lower())}\b", words) else ""
    return replace(known, color=color)


def _slots(operation: Operation, edit: Edit, case: Case, scene: Scene, words: str) -> Slots:
    """Return the slots that select future cases: the person and, as far as the words say, the object."""
    if isinstance(operation, AddRule):
        return Slots()
    of_all_motion = isinstance(operation, Adjust) and not operation.step
    if of_all_motion and edit.scope is not Scope.ONCE and not edit.about:
        return Slots(user=case.slots.user)  # "always slower", without an object
    skill = "" if isinstance(operation, (Remove, Move)) or (of_all_motion and edit.about) else case.slots.skill
    named = _named(edit.about, scene) if edit.about else Slots()
    thing = named if named.said else _as_said(case.slots, words)
    return replace(thing, skill=skill, user=case.slots.user)


def _as_said(known: Slots, words: str) -> Slots:
    """Return the object's kind, with its colour or name only if the words contain them."""
    color = rf"\b{re.escape(known.color.lower())} (?:{re.escape(known.kind)}|one)s?\b"
    named = known.name and re.search(rf"\b{re.escape(known.name.lower())}\b", words)
    return Slots(
        kind=known.kind,
        color=known.color if known.color and re.search(color, words) else "",
        name=known.name if named else "",
    )


def _named(about: str, scene: Scene) -> Slots:
    """Return the slots for `about`: a room, a region, an object, or a kind with an optional colour."""
    words = plain(about)
    if is_room(words, scene):
        return Slots(place=the_room(words, scene))
    if is_region(words):
        return Slots(place=the_region(words))
    meant = described(words, scene)
    if meant.name:
        return _as_said(thing_slots(scene.find(meant.name)), words)
    return Slots(kind=meant.kind or meant.unknown.removesuffix("s"), color=meant.color)
