"""Requests about which errands are done, and in which order."""

from __future__ import annotations

import math

from llm_planner.corrections.edits import Insert, Move, Operation, Remove
from llm_planner.corrections.references import AlreadySoError, UnclearError, candidates, described, only, the_thing
from llm_planner.corrections.situation import (
    Errand,
    Situation,
    ahead,
    current,
    errands_ahead,
    has_begun,
    meant,
    next_place,
    puts_down,
    subject,
    subject_parameter,
)
from llm_planner.language.correction_requests import Request, Sense, When
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the

SAME_PLACE = 0.01  # [m] displacement up to which an object has not moved
MOST_TIMES = 10  # repetitions in one request


def first(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Move the errands of the object to the front, or before or after those of another object."""
    errands = meant(request.thing, situation, "{} first")
    if request.relation:
        others = meant(request.target, situation)
        if request.relation == "before":
            return (Move(_waiting(errands, situation), start(others, situation)),)
        return (Move(_movable(errands, situation), after(others, situation)),)
    return (Move(_waiting(errands, situation), _next_or_now(errands, situation, request.when is When.NEXT)),)


def _next_or_now(errands: tuple[Errand, ...], situation: Situation, may_wait: bool) -> str:
    """Return the step that first errands precede: of the errand under way if it can wait, else of the next one."""
    waiting = [errand for errand in errands_ahead(situation) if not has_begun(errand)]
    is_next = bool(waiting) and waiting[0] == errands[0]
    if (is_next or not may_wait) and not situation.scene.held and has_begun(current(situation)):
        return ahead(current(situation))[0].id
    return next_place(situation, errands)


def last(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Move the errands of the object, or the one under way, to the end."""
    errands = meant(request.thing, situation, "{} last") if request.thing else (current(situation),)
    held = situation.scene.held
    if held and any(subject(errand, situation) == held for errand in errands):
        left = tuple(step.id for errand in errands for step in ahead(errand))
        return *put_down_where_it_lay(situation), *_taking(held, situation, ""), Move(left)
    return (Move(tuple(step.id for errand in errands for step in ahead(errand))),)


def swap_order(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Swap two errands, by default the next two; one under way counts only while no object is held."""
    left = errands_ahead(situation)
    errands = [one for one in left if not (situation.scene.held and has_begun(one))]
    if request.thing and request.target:
        named = (meant(request.thing, situation)[0], meant(request.target, situation)[0])
        errands = [one for one in errands if one in named]
    if len(errands) < 2:
        raise UnclearError("There are no two errands left whose order could change. What should be done first?")
    earlier, later = errands[:2]
    following = left[left.index(later) + 1 :]
    moves = [Move(tuple(step.id for step in ahead(later)), ahead(earlier)[0].id)]
    if left.index(later) > left.index(earlier) + 1:
        moves.append(Move(tuple(step.id for step in ahead(earlier)), following[0][0].id if following else ""))
    return tuple(moves)


def skip(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Remove the errands of the object, or all others; a held object is put back first."""
    errands = meant(request.thing, situation, "skip {}")
    if request.relation == "except":
        errands = tuple(errand for errand in errands_ahead(situation) if errand not in errands)
        if not errands:
            raise UnclearError("Nothing else is left to do. What do you mean?")
    return tuple(operation for errand in errands for operation in without(errand, situation))


def skip_this(situation: Situation) -> tuple[Operation, ...]:
    """Remove the errand under way."""
    return without(current(situation), situation)


def skip_rest(situation: Situation) -> tuple[Operation, ...]:
    """Remove all errands except the one under way."""
    now = current(situation)
    return tuple(Remove(step.id) for errand in errands_ahead(situation) if errand != now for step in ahead(errand))


def without(errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    """Remove the errand's steps, after putting back an object that is held for it."""
    removed = tuple(Remove(step.id) for step in ahead(errand))
    held = situation.scene.held
    if held and has_begun(errand) and subject(errand, situation) == held:
        return *put_down_where_it_lay(situation), *removed
    return removed


def put_back(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Return the held object, or the one moved last, to its initial position."""
    held = situation.scene.held
    moved = _moved_last(situation)
    name = held or moved
    if request.thing:
        found = candidates(request.thing, situation.scene, situation.viewpoint, name)
        name = held if held in [one.name for one in found] else only(found, request.thing, situation.scene).name
    elif not name:
        raise UnclearError("What should go back? Nothing has been moved yet.")
    if held and name == held:
        return without(next(errand for errand in errands_ahead(situation) if has_begun(errand)), situation)
    if name not in situation.origins:
        raise UnclearError(f"I do not know where {the(name)} lay before. Where should it go?")
    if not moved and math.dist(situation.scene.find(name).position, situation.origins[name]) < SAME_PLACE:
        raise AlreadySoError(f"{the(name).capitalize()} is where it lay already. What should go back?")
    before = next_place(situation) if held else _now(situation)  # once the gripper is empty
    return *_taking(name, situation, before), *_laying(name, situation, before)


def again(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Repeat the last finished errand, or else the one under way.

    With an object, do the errand under way with it as well. With a number, repeat the object's errand after itself.
    """
    if request.number is not None:
        return _repeated(request, situation)
    if request.thing:
        return _as_well(request, situation)
    done = [errand for errand in situation.errands if all(step.status is StepStatus.DONE for step in errand)]
    errand = done[-1] if done else current(situation)
    before = next_place(situation, (errand,))
    return tuple(Insert(step.skill, dict(step.arguments), before) for step in errand)


def _repeated(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Repeat an errand up to the requested number, or by it for the sense `MORE`."""
    more = round(request.number or 0) - (request.sense is not Sense.MORE)
    if not 0 < more < MOST_TIMES:
        raise UnclearError(f"I can do it 2 to {MOST_TIMES} times. How many times shall it be?")
    left = errands_ahead(situation)
    begun = [errand for errand in situation.errands if has_begun(errand)]
    errand = meant(request.thing, situation)[-1] if request.thing and left else (begun or left or [()])[-1]
    if not errand:
        raise UnclearError("What should I do again? Nothing is left of the plan.")
    before = after((errand,), situation) if errand in left else next_place(situation)
    return tuple(Insert(step.skill, dict(step.arguments), before) for _ in range(more) for step in errand)


def _as_well(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Do the last errand with other objects ("the vase too"), or again with its own if it grasps nothing."""
    begun = [errand for errand in situation.errands if has_begun(errand)] or list(errands_ahead(situation)[:1])
    like = [errand for errand in situation.errands if _is_alike(request.thing, errand, situation)]
    errand = next((one for one in begun[-1:] if not like or one in like), like[-1] if like else ())
    old = subject(errand, situation)
    if not old:
        raise UnclearError(f"What should I do with {request.thing}? Nothing is being done with anything else.")
    before = next_place(situation, (errand,)) if has_begun(errand) else after((errand,), situation)
    found = candidates(request.thing, situation.scene, situation.viewpoint, old)
    once_more = [item.name for item in found] == [old] and not any(
        situation.skills[step.skill].fills_gripper for step in errand
    )
    return tuple(
        Insert(step.skill, {name: new if value == old else value for name, value in step.arguments.items()}, before)
        for new in ([old] if once_more else _others(request.thing, old, situation))
        for step in errand
    )


def _is_alike(words: str, errand: Errand, situation: Situation) -> bool:
    """Whether the errand is about an object of the named kind."""
    scene, about = situation.scene, subject(errand, situation)
    kinds = {item.kind for item in candidates(words, scene, situation.viewpoint, about)} if about else set()
    return bool(about) and kinds == {scene.find(about).kind}


def _others(words: str, old: str, situation: Situation) -> list[str]:
    """Return the object that the words mean, or all for a plural; raise UnclearError if the plan uses them all."""
    names = [item.name for item in candidates(words, situation.scene, situation.viewpoint, old)]
    if names and described(words, situation.scene).plural:
        spoken_of = {value for step in situation.plan.steps for value in step.arguments.values()}
    else:
        names = [the_thing(words, situation.scene, situation.viewpoint, old).name]
        spoken_of = {subject(errand, situation) for errand in errands_ahead(situation)}
    left = [name for name in names if name not in spoken_of]
    if not left:
        raise UnclearError(f"{the(names[0]).capitalize()} is part of the plan already. What should be done with it?")
    return left


def put_down_where_it_lay(situation: Situation) -> tuple[Operation, ...]:
    """Put the held object back before the step under way; raise UnclearError if its origin is unknown."""
    held = situation.scene.held
    if held not in situation.origins:
        raise UnclearError(f"I do not know where {the(held)} lay before. Where should it go?")
    return _laying(held, situation, _now(situation))


def _laying(name: str, situation: Situation, before: str) -> tuple[Operation, ...]:
    x, y, _ = situation.origins[name]
    building = situation.scene.building
    if building is None:
        return (Insert("place_at", {"place": (x, y, 0.0)}, before),)
    room = building.room_at(x, y)
    return Insert("go_to", {"destination": room}, before), Insert("drop_off", {}, before)


def _taking(name: str, situation: Situation, before: str) -> tuple[Operation, ...]:
    return tuple(Insert(skill, arguments, before) for skill, arguments in taking(name, situation))


def taking(name: str, situation: Situation) -> tuple[tuple[str, dict[str, Argument]], ...]:
    """Return the calls that grasp an object; a mobile robot goes there first."""
    if situation.scene.building is not None:
        return ("go_to", {"destination": name}), ("pick_up", {"object": name})
    return (("pick", {"object": name}),)


def _now(situation: Situation) -> str:
    """Return the id of the step under way or next, "" if there is none."""
    return next((step.id for step in situation.ahead), "")


def _moved_last(situation: Situation) -> str:
    """Return the object that was moved last, "" for none."""
    done = [step for step in situation.plan.steps if step.status is StepStatus.DONE]
    for step in reversed(done):
        skill = situation.skills[step.skill]
        if puts_down(skill):
            return subject(situation.errand_of(step.id), situation)
        if any(atom.predicate in ("moved", "at", "on") for atom in skill.effects):
            return str(step.arguments[subject_parameter(skill)])
    return ""


def _waiting(errands: tuple[Errand, ...], situation: Situation) -> tuple[str, ...]:
    """Return the step ids of errands that have not begun; raise AlreadySoError if there are none."""
    steps: list[PlanStep] = [step for errand in errands if not has_begun(errand) for step in errand]
    if not steps:
        raise AlreadySoError(f"{the(subject(errands[0], situation) or 'That').capitalize()} is under way already. What "
                           "should be done first?")  # fmt: skip
    return tuple(step.id for step in steps)


def _movable(errands: tuple[Errand, ...], situation: Situation) -> tuple[str, ...]:
    """Return the ids of the remaining steps; an errand under way counts only while no object is held."""
    if situation.scene.held:
        return _waiting(errands, situation)
    return tuple(step.id for errand in errands for step in ahead(errand))


def start(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Return the first step id of these errands; an errand under way counts only while no object is held."""
    waiting = (errand for errand in errands if not (situation.scene.held and has_begun(errand)))
    return next((ahead(errand)[0].id for errand in waiting), "") or next_place(situation)


def after(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Return the id of the step that follows the last of these errands, "" for the end."""
    left = errands_ahead(situation)
    following = left[left.index(errands[-1]) + 1 :]
    return following[0][0].id if following else ""
