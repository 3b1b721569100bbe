"""Relevance for a task: the objects, rooms and skills that a search for a plan considers.

`wanted` returns the propositions that help to satisfy formulas by being true, or by being false.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.planning.choices import Call, Menu, slides, with_what_lies_on
from llm_planner.planning.search.search import windows_of
from llm_planner.planning.search.task import Task, spoken_of
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.predicates import DRAWER, contents, is_portable
from llm_planner.scene.propositions import ANYTHING, Proposition, parse_proposition
from llm_planner.scene.scene import Scene


def wanted(constraints: Sequence[Constraint], so: bool = True) -> tuple[Proposition, ...]:
    """Return the propositions that can help to satisfy some formula by being true, or false if not `so`."""
    names = frozenset[str]().union(*(_asked_for(one.formula, so) for one in constraints))
    return tuple(map(parse_proposition, sorted(names)))


def _asked_for(f: Formula, so: bool = True) -> frozenset[str]:
    """Return the propositions that can help to satisfy the formula by being true, or false if not `so`.

    If the formula counts changes, any change can help.
    """
    if f.operator == "":
        return frozenset(f.propositions) if so else frozenset()
    if f.operator == "<->" or counts_changes(f):
        return frozenset(f.propositions)
    signs = {"!": (not so,), "->": (not so, so)}.get(f.operator, (so,) * len(f.operands))
    return frozenset[str]().union(*(_asked_for(g, sign) for g, sign in zip(f.operands, signs, strict=True)))


def counts_changes(f: Formula) -> bool:
    """Return whether the formula refers to the next change."""
    return f.operator in ("X", "N") or any(map(counts_changes, f.operands))


_CARRYING = frozenset(
    {"in", "on", "at", "beside", "holding", "moved", "height", "clear"}
)  # predicates that a grasp changes
_ONLY_SPOKEN_OF = frozenset(
    {"above", "closed", "lit", "clean", "toppled", "followed", "docked"}
)  # effects that help no other effect


def menu_for(task: Task, widest: bool = False) -> Menu:
    """Return the menu of calls worth considering: objects and rooms that some demand mentions.

    A mobile robot puts objects down only in rooms that some demand names. With `widest` it may go to every object,
    carry everything that is mentioned, and put it down in every room on the way. That seldom helps and there are many
    rooms, so it is the last resort.
    """
    items = spoken_of(task.judged)
    things = things_of(task)
    portable = [name for name in things if is_portable(task.scene.find(name))]
    carried = tuple(name for name in portable if widest or _is_carried(name, items, task))
    drops = {} if widest else {name: rooms for name in carried if (rooms := _rooms_for(name, items, task))}
    skills = {skill.name: skill for skill in task.skills if _matters(skill, items, task)}
    places = task.scene.names if widest and task.scene.building else things
    reached = {word for item in items for word in item.arguments[1:]}
    fetched = frozenset() if widest else frozenset(portable) - reached
    calls = (*task.calls, *_waits(task, skills))
    return Menu(skills, places, carried, drops, calls, _pushed(portable, task), fetched)


def _rooms_for(name: str, items: Sequence[Proposition], task: Task) -> frozenset[str]:
    """Return the rooms in which the object is wanted, or in which something is to be put down."""
    putting = _putting(task)
    named = {
        item.arguments[1]
        for item in items
        if (item.predicate == "in" and item.arguments[0] == name)
        or (item.predicate == "did" and item.arguments[0] in putting)
    }
    if any(item.predicate == "holding" and item.arguments[0] == name for item in wanted(task.judged, so=False)):
        named |= {_room_of(item.arguments[1], task.scene) for item in items if item.predicate == "near"}  # handed over
    return frozenset(named.intersection(task.scene.building.names if task.scene.building else ()))


def _room_of(name: str, scene: Scene) -> str:
    known = scene.building is not None and name in scene.names
    return scene.building.room_at(*scene.find(name).position[:2]) if known and scene.building else ""


def _putting(task: Task) -> frozenset[str]:
    return frozenset(skill.name for skill in task.skills if skill.empties_gripper)


def things_of(task: Task) -> tuple[str, ...]:
    """Return the objects that a demand or call mentions, what lies on them, and the drawers that contain them.

    If any object would do, the result is all objects.
    """
    words = {word for item in spoken_of(task.judged) for word in item.arguments}
    words |= {word for goal in task.goals for word in goal.objects}
    words |= {word for call in task.calls for word in call.arguments if isinstance(word, str)}
    named = set(task.scene.names) if _any_would_do(task) else words & set(task.scene.names)
    drawers = {item.name for item in task.scene.objects if item.kind == DRAWER}
    named |= {drawer for drawer in drawers if named.intersection(contents(task.scene, drawer))}
    return tuple(name for name in task.scene.names if name in with_what_lies_on(named, task.scene))


def _any_would_do(task: Task) -> bool:
    """Return whether an unnamed object could serve: to be held, put down, or put on what is to be covered."""
    putting = _putting(task)
    return any(
        (item.predicate == "holding" and item.arguments[0] == ANYTHING)
        or (item.predicate == "did" and item.arguments[0] in putting)
        for item in wanted(task.judged)
    ) or any(item.predicate == "clear" for item in wanted(task.judged, so=False))


def _pushed(names: Sequence[str], task: Task) -> tuple[str, ...]:
    """Return the objects to push: those that a demand wants pushed, or moved without a grasp."""
    pushing = {skill.name for skill in task.skills if slides(skill)}
    asked = wanted(task.judged)
    kept_off = {item.arguments[0] for item in wanted(task.judged, so=False) if item.predicate == "holding"}
    moved = {item.arguments[0] for item in asked if item.predicate == "moved"}
    pushed = {item.arguments[1] for item in asked if item.predicate == "did" and item.arguments[0] in pushing}
    return tuple(name for name in names if name in pushed or (name in moved and kept_off & {name, ANYTHING}))


def _is_carried(name: str, items: Sequence[Proposition], task: Task) -> bool:
    """Return whether the object may have to be carried.

    On a table any mentioned object may be in the way; in a building only objects that a demand places count.
    """
    if task.scene.building is None or _any_would_do(task):
        return True
    taken = any(name in item.arguments and item.predicate in _CARRYING for item in items)
    return taken or any(name in call.arguments for call in task.calls) or _did(name, items) or _placed(name, task)


def _did(name: str, items: Sequence[Proposition]) -> bool:
    return any(item.predicate == "did" and item.arguments[1] == name for item in items)


def _placed(name: str, task: Task) -> bool:
    return any(name in goal.objects for goal in task.goals)


def _matters(skill: Signature, items: Sequence[Proposition], task: Task) -> bool:
    """Return whether the skill is worth a call.

    This holds if a demand asks for it, if it causes what a demand mentions, or if its effects may enable other skills.
    It does not hold if it only combines what other skills do one by one.
    """
    asked = {item.arguments[0] for item in items if item.predicate == "did"} | {call.skill for call in task.calls}
    spoken = {item.predicate for item in items} | {goal.atom.predicate for goal in task.goals}
    promised = {effect.predicate for effect in skill.effects}
    useful = bool(promised & spoken or promised - _ONLY_SPOKEN_OF) and not _at_once(skill)
    return useful or skill.name in asked or _is_wait(skill)


def _at_once(skill: Signature) -> bool:
    """Return whether the skill puts an object somewhere without a separate grasp."""
    return any(effect.predicate in ("on", "at") and effect.arguments[0] != HELD for effect in skill.effects)


def _is_wait(skill: Signature) -> bool:
    return not skill.effects and [parameter.name for parameter in skill.parameters] == ["seconds"]


def _waits(task: Task, skills: dict[str, Signature]) -> tuple[Call, ...]:
    """Return waits for as long as each window lasts, or until it begins or ends; () without windows."""
    windows = {window for one in task.judged for window in windows_of(one.formula)}
    times = sorted({time for first, last in windows for time in (last - first, first, last) if time > 0})
    waiting = [skill for skill in skills.values() if _is_wait(skill)]
    return tuple(Call(skill.name, (time,)) for skill in waiting for time in times if time <= _longest(skill))


def _longest(wait: Signature) -> float:
    """Return the longest wait [s]."""
    maximum = wait.parameters[0].maximum
    return inf if maximum is None else maximum
