"""Memory of corrections: what an applied edit teaches, and a SQLite file with lessons as JSON, shared by processes.

A lesson is as general as its words. It always keeps the kind of the object, but its colour or name only if they were
said. `retrieval` makes sure that commands take precedence over lessons. Each event is one transaction. `llm-planner
memory export` prints the same JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from llm_planner.corrections.draft import in_robot_frame
from llm_planner.corrections.edit_json import operation_from_json, operation_json
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Edit,
    Insert,
    LiftRule,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
)
from llm_planner.corrections.preferences import learning
from llm_planner.corrections.preferences.learning import Changes, decides
from llm_planner.corrections.preferences.preference import (
    FIRST,
    THING,
    THIS,
    Occasion,
    Preference,
    Slots,
    State,
    gist,
    last_in_mind,
    meant,
)
from llm_planner.corrections.preferences.retrieval import (
    Case,
    Doubt,
    Recollection,
    bound_rules,
    cases_of,
    in_frame_of,
    recall,
    thing_slots,
)
from llm_planner.corrections.references import described, is_region, is_room, the_region, the_room
from llm_planner.corrections.situation import Situation
from llm_planner.database import Format, open_database, refusals, transaction
from llm_planner.errors import InputError
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
            one = lessons[key]
            both = one.operations + lesson.operations
            lesson = replace(one, operations=both, things={**one.things, **lesson.things})
        elif key in lessons:
            continue
        lessons[key] = lesson
    return tuple(lessons.values())


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
            case Insert(before=step, arguments=named) | Replace(step=step, arguments=named) if not any(
                isinstance(value, tuple)
                for value in named.values()  # a point on the table
            ):
                yield step or (now.id if now else ""), operation
            case Remove(step=step) | Move(steps=(step, *_)) if step in cases:
                yield from ((item.id, operation) for item in situation.errand_of(step) if cases[item.id].thing)
            case AddRule():
                yield "", operation


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
    things = {}
    for name in (name for name in _names(operation) if name in situation.scene.names):
        known = thing_slots(situation.scene.find(name))
        is_said = re.search(rf"\b{re.escape(known.color.lower())}\b", words)
        things[name] = replace(known, color=known.color if is_said else "")
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


def lesson_json(lesson: Preference) -> dict[str, Any]:
    """Convert a lesson to plain values."""
    values = asdict(replace(lesson, operations=()))
    values["operations"] = [operation_json(operation) for operation in lesson.operations]
    return values | {"scope": lesson.scope.value, "state": lesson.state.value}


def lesson_from_json(values: dict[str, Any]) -> Preference:
    """Parse the values of `lesson_json`; raise InputError for an unknown operation."""
    return Preference(
        **values
        | {
            "operations": tuple(map(operation_from_json, values["operations"])),
            "slots": Slots(**values["slots"]),
            "case": Slots(**values["case"]),
            "scope": Scope(values["scope"]),
            "provenance": Occasion(**values["provenance"]),
            "things": {name: Slots(**slots) for name, slots in values["things"].items()},
            "state": State(values["state"]),
        }
    )


_FORM = Format(
    "memory",
    0x6C706D65,  # "lpme"
    ("CREATE TABLE lesson (id INTEGER PRIMARY KEY AUTOINCREMENT, lesson TEXT NOT NULL)",),  # ids are never reused
)


class PreferenceStore:
    """Store of lessons in the file `path`, which is created with its folder if necessary.

    Unreadable lessons are skipped but stay in the file; `unreadable` maps their ids to reasons. Raises InputError if
    the file cannot be written, is not a memory, or comes from a newer version of llm-planner.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: dict[int, str] = {}
        self._database = open_database(path, _FORM)

    def lessons(self) -> tuple[Preference, ...]:
        """Return all lessons, ordered by id."""
        with refusals(self.path, _FORM.what):
            rows = self._database.execute("SELECT id, lesson FROM lesson ORDER BY id").fetchall()
        return tuple(lesson for row in rows if (lesson := self._lesson(*row)) is not None)

    def change(self, decide: Callable[[tuple[Preference, ...]], Changes]) -> Changes:
        """Apply the changes that `decide` returns for the present lessons, in one transaction.

        In the returned changes, new lessons have ids. Lessons that another process has dropped are not stored again.
        """
        with refusals(self.path, _FORM.what), transaction(self._database):
            changes = decide(self.lessons())
            self._database.executemany("DELETE FROM lesson WHERE id = ?", [(number,) for number in changes.drop])
            return replace(changes, keep=tuple(map(self._keep, changes.keep)))

    def forget(self, ids: Iterable[int]) -> None:
        """Delete the lessons."""
        self.change(lambda lessons: Changes(drop=tuple(ids)))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _lesson(self, number: int, text: str) -> Preference | None:
        try:
            return replace(lesson_from_json(json.loads(text)), id=number)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, InputError) as error:
            told = f"{type(error).__name__}: {error}"
            self.unreadable[number] = f"lesson {number} of {self.path} cannot be read and is left out ({told})"
            return None

    def _keep(self, lesson: Preference) -> Preference:
        text = json.dumps(lesson_json(lesson), ensure_ascii=False)
        if lesson.id:
            self._database.execute("UPDATE lesson SET lesson = ? WHERE id = ?", (text, lesson.id))
            return lesson
        number = self._database.execute("INSERT INTO lesson (lesson) VALUES (?)", (text,)).lastrowid
        return replace(lesson, id=int(number or 0))


class Memory:
    """Learned lessons; every change is on the disk before its method returns.

    `used` are the ids of the lessons in force for a step (`Recollection.used`). `Changes.told` are sentences for the
    person, and `Changes.question` is about the lesson `Changes.keep[-1]`.
    """

    def __init__(self, store: PreferenceStore) -> None:
        self._store = store
        self._gone: Preference | None = None  # last lesson that was dropped at the end of a step or command

    def recall(self, situation: Situation, occasion: Occasion) -> Recollection:
        """Return the lessons that apply to a plan."""
        return recall(self._store.lessons(), situation, occasion)

    def taught(self, edit: Edit, situation: Situation, occasion: Occasion, used: Collection[int] = ()) -> Changes:
        """Learn from an applied edit; `situation` is from the time of the utterance."""
        made = make_lessons(edit, situation, occasion)
        lifted = [operation.formula for operation in edit.operations if isinstance(operation, LiftRule)]

        def decide(lessons: learning.Lessons) -> Changes:
            changes = learning.taught(lessons, made, used)
            for lesson in lessons:
                rules = [rule.formula for rule in bound_rules(lesson, situation.scene)]
                if lesson.state is State.LEARNED and not {*rules}.isdisjoint(lifted):
                    changes = changes.and_then(learning.retired(lesson))
            return changes

        return self._store.change(decide)

    def undone(self, words: str, command: str) -> Changes:
        """Drop what an undone edit taught, by its words and the id of its command."""
        return self._store.change(lambda lessons: learning.undone(lessons, words, command))

    def step_ended(self, occasion: Occasion, succeeded: bool, used: Collection[int] = ()) -> Changes:
        """Update the lessons after the step of `occasion`, during which the lessons `used` were in force."""
        return self._ended(lambda lessons: learning.step_ended(lessons, occasion, succeeded, used))

    def command_ended(self, command: str, succeeded: bool) -> Changes:
        """Update the lessons after the command, with all plans made for it."""
        return self._ended(lambda lessons: learning.command_ended(lessons, command, succeeded))

    def _ended(self, decide: Callable[[learning.Lessons], Changes]) -> Changes:
        def noted(lessons: learning.Lessons) -> Changes:
            changes = decide(lessons)
            gone = [item for item in lessons if item.id in changes.drop and item.scope is not Scope.ONCE]
            self._gone = gone[-1] if gone else self._gone
            return changes

        return self._store.change(noted)

    def remember(self, scope: Scope, occasion: Occasion) -> Changes:
        """Keep what was taught last (`Remember`)."""
        return self._store.change(lambda lessons: learning.remembered(lessons, scope, occasion))

    def forget(self, about: str) -> Changes:
        """Delete lessons (`Forget`); "forget that" does not delete an older lesson if the last one is gone."""

        def forgotten(lessons: learning.Lessons) -> Changes:
            gone = meant(lessons, about)
            if not about and self._gone and all(last_in_mind(self._gone) > last_in_mind(lesson) for lesson in gone):
                return Changes(told=(f"that is gone already: {gist(self._gone)}",))
            told = tuple(f"forgotten: {gist(lesson)}" for lesson in gone) or ("I remember nothing of that",)
            return Changes(drop=tuple(lesson.id for lesson in gone), told=told)

        return self._store.change(forgotten)

    def meant(self, about: str) -> int:
        """Return the number of learned lessons that `forget` would delete."""
        return sum(lesson.state is State.LEARNED for lesson in meant(self._store.lessons(), about))

    def answer(self, lesson: int, yes: bool) -> Changes:
        """Process the answer to "shall I always do so?" about the lesson of this id (`Confirm`)."""
        return self._store.change(lambda lessons: learning.answered(lessons, lesson, yes))

    def prefer(self, doubt: Doubt, chosen: int) -> Changes:
        """Process the choice of the lesson `chosen`; it applies to plans from now on."""
        return self._store.change(lambda lessons: learning.preferred(lessons, chosen, doubt.lessons, doubt.case))
