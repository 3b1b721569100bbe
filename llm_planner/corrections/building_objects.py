"""Requests for another object, before or after the grasp, and requests for more steps.

The planner writes the steps of a new command for the predicted scene at their position in the plan.
"""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.corrections.building_order import after, put_down_where_it_lay, repeated, skip_this, start, taking
from llm_planner.corrections.edits import Insert, Move, Operation, Rebind
from llm_planner.corrections.references import AlreadySoError, UnclearError, described, listed, only
from llm_planner.corrections.situation import Errand, Situation, Sources, ahead, has_begun
from llm_planner.errors import AlreadySatisfiedError, LlmPlannerError
from llm_planner.language.correction_requests import Request, When
from llm_planner.language.grounding.lifting import amounts_in
from llm_planner.plans.plan import PlanStep, StepStatus, goals_of, in_base_words
from llm_planner.scene.names import the
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.scene import Scene, SceneObject


def replaced_errand(request: Request, situation: Situation) -> Errand:
    """Return the errand with the wrong object: the one with the named target, of the rejected object, or under way.

    If an object of another kind is held, it is the only errand that acts on an object of the named kind.
    """
    if request.target:
        return situation.meant(request.target)[0]
    if request.instead_of:
        now = situation.current
        if situation.subject(now) in situation.named(request.instead_of):
            return now
        return situation.meant(request.instead_of)[0]
    later = _of_its_kind(request.thing, situation) if situation.scene.held else ()
    return later or situation.current


def _of_its_kind(words: str, situation: Situation) -> Errand:
    """Return the only errand that acts on another object of the named kind, () for none or several."""
    if not words or is_for_one(words, situation):
        return ()
    scene = situation.scene
    found = situation.candidates(words)
    kinds = {item.kind for item in found}
    alike = [
        one for one in situation.errands_ahead if (name := situation.subject(one)) and scene.find(name).kind in kinds
    ]
    is_one = len(alike) == 1 and [item.name for item in found] != [situation.subject(alike[0])]
    return alike[0] if is_one else ()


def the_other(request: Request, situation: Situation, errand: Errand) -> SceneObject:
    """Return the object that replaces the errand's object; raise UnclearError unless there is exactly one."""
    old = situation.subject(errand)
    if not request.thing:
        return _only_other(old, situation)
    found = situation.candidates(request.thing, old)
    found = tuple(item for item in found if item.name != old) or found
    carried = tuple(item for item in found if is_portable(item)) if len(found) > 1 else found
    return only(carried or found, request.thing, situation.scene)


def _only_other(old: str, situation: Situation) -> SceneObject:
    """Return the only other object of the same kind, which "not the red one" leaves."""
    scene = situation.scene
    alike = [item for item in scene.objects if old and item.kind == scene.find(old).kind and item.name != old]
    if len(alike) == 1:
        return alike[0]
    names = [the(item.name) for item in alike]
    raise UnclearError(f"Which one should it be then{': ' + listed(names) if names else ''}?", names)


def take_other(errand: Errand, new: str, situation: Situation) -> tuple[Operation, ...]:
    """Replace the errand's object by `new`; if it has been grasped, put it back first."""
    old = situation.subject(errand)
    if new == old:
        raise AlreadySoError(f"{the(new).capitalize()} is what I am to take already. What should be different?")
    if not old or not any(situation.subject_of(step) == old for step in ahead(errand)):
        if not old or situation.scene.held != old:
            raise UnclearError(f"Nothing that is under way takes anything. What should I do with {the(new)}?")
        now = ahead(errand)[0].id
        # a mobile robot returns to the destination that it has reached
        ways = [step for step in errand if situation.skills[step.skill].leads]
        passed = tuple(step for step in ways[1:] if step.status is StepStatus.DONE)[-1:]
        return *put_down_where_it_lay(situation), *taking(new, situation, now), *repeated(passed, now)
    operations: list[Operation] = []
    done = (step for step in errand if step.status is StepStatus.DONE and situation.skills[step.skill].leads)
    way = next((step for step in done if old in situation.destinations_of(step)), None)
    if way is not None:  # the robot has already gone to the old object
        takes = next(step for step in ahead(errand) if situation.subject_of(step) == old)
        there = {name: new if value == old else value for name, value in way.arguments.items()}
        operations.append(Insert(way.skill, there, takes.id))
    operations += [_named_anew(step, old, new) for step in ahead(errand) if old in step.arguments.values()]
    return *operations, *_later_targets(errand, old, new, situation)


def _named_anew(step: PlanStep, old: str, new: str) -> Rebind:
    parameter = next(name for name, value in step.arguments.items() if value == old)
    return Rebind(step.id, parameter, new)


def _later_targets(errand: Errand, old: str, new: str, situation: Situation) -> tuple[Operation, ...]:
    """Replace the old object as a target of later errands, unless one of them grasps it."""
    left = situation.errands_ahead
    later = left[left.index(errand) + 1 :]
    if any(situation.subject(other) == old for other in later):
        return ()
    steps = [step for other in later for step in ahead(other) if old in situation.destinations_of(step)]
    return tuple(_named_anew(step, old, new) for step in steps)


def same_kind(words: str, name: str, situation: Situation) -> tuple[SceneObject, ...]:
    """Return the objects that fit the words and are of the kind of `name`, except that object itself."""
    scene = situation.scene
    if name not in scene.names:
        return ()
    kind = scene.find(name).kind
    found = situation.candidates(words, name)
    return tuple(item for item in found if item.kind == kind and item.name != name)


def is_for_one(words: str, situation: Situation) -> bool:
    """Whether the words name no kind, such as "the blue one"."""
    description = described(words, situation.scene)
    return not (description.name or description.kind or description.unknown)


def add(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Insert the steps of a new command, next or at the end; raise UnclearError with the planner's objections."""
    if not request.text:
        raise UnclearError("What should I do besides? Please say it as a command.")
    before = _place(request, situation)
    try:
        steps = sources.write_steps(request.text, scene_before(before, situation))
    except AlreadySatisfiedError as error:
        raise AlreadySoError(str(error)) from error
    except LlmPlannerError as error:
        raise UnclearError(str(error)) from error
    if request.when is When.NEXT and not request.target and all(step.skill == "wait" for step in steps):
        before = next((step.id for step in situation.ahead), "")  # a wait starts at once
    added = repeated(tuple(steps), before)
    if planned := _as_planned(added, situation):
        return (Move(planned, before),)
    if _is_next_already(added, situation):
        return skip_this(situation)
    if more := _more_of_it(added, situation):
        return more
    values = [value for insert in added for value in insert.arguments.values() if isinstance(value, float)]
    for said, amount in amounts_in(request.text):
        if not any(math.isclose(amount.value, value, abs_tol=1e-3) for value in values):
            raise UnclearError(f"I found no way to do “{request.text}” with {said}. Please say it in another way.")
    return added


def _as_planned(added: tuple[Insert, ...], situation: Situation) -> tuple[str, ...]:
    """Return the ids of a waiting errand of several steps that equals the added steps, and moves instead."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in situation.errands_ahead:
        same = [(step.skill, dict(step.arguments)) for step in errand] == calls
        if same and len(calls) > 1 and not has_begun(errand):
            return tuple(step.id for step in errand)
    return ()


def _more_of_it(added: tuple[Insert, ...], situation: Situation) -> tuple[Insert, ...]:
    """Drop one repetition of a step that is planned once already: "and press the button twice"."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in situation.errands_ahead:
        planned = [(step.skill, dict(step.arguments)) for step in errand]
        if len(planned) == 1 < len(added) and not has_begun(errand) and calls == planned * len(calls):
            return tuple(replace(one, before=after((errand,), situation)) for one in added[1:])
    return ()


def _is_next_already(added: tuple[Insert, ...], situation: Situation) -> bool:
    """Whether the added step is the next one after a wait: "go to the kitchen" then ends the wait."""
    now, left = situation.running, situation.errands_ahead
    if now is None or "seconds" not in now.arguments or len(added) != 1 or len(left) < 2:
        return False
    (way,), following = added, left[1][0]
    return (way.skill, dict(way.arguments)) == (following.skill, dict(following.arguments))


def _place(request: Request, situation: Situation) -> str:
    if request.when is When.END:
        return after(situation.meant(request.target), situation) if request.target else ""
    if request.target:
        return start(situation.meant(request.target), situation)
    return situation.next_place()


def scene_before(step_id: str, situation: Situation) -> Scene:
    """Predict the scene before the step, or at the end of the plan for ""."""
    from llm_planner.plans.prediction import predict  # loads MuJoCo

    scene = situation.scene
    origins = {item.name: item.position for item in scene.objects}
    for step in situation.ahead:
        if step.id == step_id:
            break
        skill = situation.skills[step.skill]
        values = in_base_words(skill, step.arguments, situation.viewpoint)
        scene = replace(predict(scene, goals_of(skill, step.id, values, scene, origins)), time=scene.time + 1.0)
        origins.update({item.name: item.position for item in scene.objects if item.name != scene.held})
    return scene
