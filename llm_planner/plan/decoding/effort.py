"""What a search has tried, and what it has left out although it could matter: it proves something only without that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llm_planner.plan.choices import Menu, slides
from llm_planner.plan.decoding.task import Task, spoken_of
from llm_planner.plan.decoding.wanted import wanted
from llm_planner.program.signatures import Signature
from llm_planner.world.predicates import SUPPORTS
from llm_planner.world.propositions import OF_THE_ROBOT

_OPEN = frozenset({"number", "integer", "place", "point", "location"})  # types with more values than can be tried
_EXACT = OF_THE_ROBOT | {"at", "beside", "moved", "height"}  # these depend on where exactly a thing or the hand is


@dataclass(frozen=True)
class Effort:
    """Skills of which every call that could matter was `tried`, and those of which only some or none, `partly`."""

    tried: tuple[str, ...]
    partly: tuple[str, ...]


def effort_of(task: Task, menu: Menu) -> Effort:
    """What a search for a plan for `task` among the calls of `menu` comes to. A mobile robot's calls are all tried: it
    is sent to rooms and things only, and there is no more to be done with them than to carry them away."""
    partly = () if task.scene.building else tuple(_partly(task))
    others = (name for name in menu.skills if name not in partly)
    return Effort(tuple(name for name in others if not _moves_nothing(menu.skills[name])), partly)


def _partly(task: Task) -> Iterator[str]:
    spoken = {item.predicate for item in spoken_of(task.judged)} | {goal.atom.predicate for goal in task.goals}
    for skill in task.skills:
        if slides(skill):
            matters = bool(_EXACT & spoken) or _may_upset(task) or _asked_to(skill, task)
        elif not skill.effects:  # only the hand may move
            matters = bool(OF_THE_ROBOT & spoken)
        else:
            matters = bool(_EXACT & spoken) and (_has_choices(skill) or _moves_nothing(skill))
        if matters:
            yield skill.name


def _may_upset(task: Task) -> bool:
    """Whether it would help that a thing no longer rests on or in another: that can be pushed away from under it."""
    gone = {item.predicate for item in wanted(task.judged, so=False)}
    return bool(SUPPORTS & gone) or any(item.predicate == "clear" for item in wanted(task.judged))


def _asked_to(skill: Signature, task: Task) -> bool:
    return any(item.predicate == "did" and item.arguments[0] == skill.name for item in wanted(task.judged))


def _has_choices(skill: Signature) -> bool:
    return any(parameter.type in _OPEN for parameter in skill.parameters)


def _moves_nothing(skill: Signature) -> bool:
    """But the hand, and what it lets fall."""
    return not any(atom.predicate != "empty" for atom in skill.effects)
