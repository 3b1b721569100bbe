"""Requests that something else is to be taken, before the grasp or after it."""

from __future__ import annotations

from llm_planner.correction.building_order import put_down_where_it_lay, taking
from llm_planner.correction.errands import (
    Errand,
    ahead,
    current,
    destinations_of,
    errands_ahead,
    leads,
    meant,
    named,
    subject,
    subject_of,
)
from llm_planner.correction.references import AlreadySoError, UnclearError, candidates, described, listed, only
from llm_planner.correction.requests import Request
from llm_planner.correction.situation import Situation
from llm_planner.plan.edits import Insert, Operation, Rebind
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.world.names import the
from llm_planner.world.predicates import is_portable
from llm_planner.world.scene import SceneObject


def replaced_errand(request: Request, situation: Situation) -> Errand:
    """The errand that was given the wrong thing: where the right one is to go, whose thing it shall not be, or the one
    under way; with something of another kind in the hand, the only one that takes another of its kind."""
    if request.target:
        return meant(request.target, situation)[0]
    if request.instead_of:
        now = current(situation)
        if subject(now, situation) in named(request.instead_of, situation):
            return now
        return meant(request.instead_of, situation)[0]
    later = _of_its_kind(request.thing, situation) if situation.scene.held else ()
    return later or current(situation)


def _of_its_kind(words: str, situation: Situation) -> Errand:
    """The only errand that takes another thing of the kind that the words name, () for none or several."""
    if not words or is_for_one(words, situation):
        return ()
    scene = situation.scene
    found = candidates(words, scene, situation.viewpoint)
    kinds = {item.kind for item in found}
    alike = [
        one for one in errands_ahead(situation) if (name := subject(one, situation)) and scene.find(name).kind in kinds
    ]
    is_one = len(alike) == 1 and [item.name for item in found] != [subject(alike[0], situation)]
    return alike[0] if is_one else ()


def the_other(request: Request, situation: Situation, errand: Errand) -> SceneObject:
    """What is to be taken in place of the errand's thing; raises UnclearError unless it is one thing."""
    old = subject(errand, situation)
    if not request.thing:
        return _only_other(old, situation)
    found = candidates(request.thing, situation.scene, situation.viewpoint, old)
    found = tuple(item for item in found if item.name != old) or found
    carried = tuple(item for item in found if is_portable(item)) if len(found) > 1 else found
    return only(carried or found, request.thing, situation.scene)


def _only_other(old: str, situation: Situation) -> SceneObject:
    """The only other thing of the same kind: what "not the red one" leaves."""
    scene = situation.scene
    alike = [item for item in scene.objects if old and item.kind == scene.find(old).kind and item.name != old]
    if len(alike) == 1:
        return alike[0]
    names = [the(item.name) for item in alike]
    raise UnclearError(f"Which one should it be then{': ' + listed(names) if names else ''}?", names)


def take_other(errand: Errand, new: str, situation: Situation) -> tuple[Operation, ...]:
    """Take `new` in place of what the errand is about: by another name where it has not been taken, else put it back
    and take the other one."""
    old = subject(errand, situation)
    if new == old:
        raise AlreadySoError(f"{the(new).capitalize()} is what I am to take already. What should be different?")
    if not old or not any(subject_of(step, situation) == old for step in ahead(errand)):
        if old and situation.scene.held == old:
            return _exchanged(errand, new, situation)
        raise UnclearError(f"Nothing that is under way takes anything. What should I do with {the(new)}?")
    return _renamed(errand, old, new, situation)


def _exchanged(errand: Errand, new: str, situation: Situation) -> tuple[Operation, ...]:
    """A mobile robot that has come to its goal has to go there again."""
    now = ahead(errand)[0]
    taken = tuple(Insert(skill, arguments, now.id) for skill, arguments in taking(new, situation))
    ways = [step for step in errand if leads(situation.skills[step.skill])]
    passed = [step for step in ways[1:] if step.status is StepStatus.DONE]
    return_ways = tuple(Insert(step.skill, dict(step.arguments), now.id) for step in passed[-1:])
    return *put_down_where_it_lay(situation), *taken, *return_ways


def _renamed(errand: Errand, old: str, new: str, situation: Situation) -> tuple[Operation, ...]:
    operations: list[Operation] = []
    if _went_there(errand, old, situation):
        takes = next(step for step in ahead(errand) if subject_of(step, situation) == old)
        operations.append(Insert("go_to", {"destination": new}, takes.id))
    operations += [_named_anew(step, old, new, situation) for step in ahead(errand) if old in step.arguments.values()]
    return *operations, *_later_targets(errand, old, new, situation)


def _went_there(errand: Errand, old: str, situation: Situation) -> bool:
    """Whether a way that led to the thing is over."""
    return any(step.status is StepStatus.DONE and old in destinations_of(step, situation) for step in errand)


def _named_anew(step: PlanStep, old: str, new: str, situation: Situation) -> Rebind:
    parameter = next(name for name, value in step.arguments.items() if value == old)
    return Rebind(step.id, parameter, new)


def _later_targets(errand: Errand, old: str, new: str, situation: Situation) -> tuple[Operation, ...]:
    """What was to be put to the old thing is put to the new one, unless another errand takes the old one as well."""
    left = errands_ahead(situation)
    later = left[left.index(errand) + 1 :]
    if any(subject(other, situation) == old for other in later):
        return ()
    steps = [step for other in later for step in ahead(other) if old in destinations_of(step, situation)]
    return tuple(_named_anew(step, old, new, situation) for step in steps)


def same_kind(words: str, name: str, situation: Situation) -> tuple[SceneObject, ...]:
    """What the words fit among the other things of the kind of the thing called `name`; none where that is no thing."""
    scene = situation.scene
    if name not in scene.names:
        return ()
    kind = scene.find(name).kind
    found = candidates(words, scene, situation.viewpoint, name)
    return tuple(item for item in found if item.kind == kind and item.name != name)


def is_for_one(words: str, situation: Situation) -> bool:
    """Whether the words name no kind: "the blue one"."""
    description = described(words, situation.scene)
    return not (description.name or description.kind or description.unknown)
