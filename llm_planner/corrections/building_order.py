"""Requests about what is done at all, and in which order."""

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

SAME_PLACE = 0.01  # [m] from where a thing lay that it still lies there
MOST_TIMES = 10  # that something is done again at once


def first(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """The errands of the thing before all that have not begun, or before or after those of another."""
    errands = meant(request.thing, situation, "{} first")
    if request.relation:
        others = meant(request.target, situation)
        if request.relation == "before":
            return (Move(_waiting(errands, situation), start(others, situation)),)
        return (Move(_movable(errands, situation), after(others, situation)),)
    return (Move(_waiting(errands, situation), _next_or_now(errands, situation, request.when is When.NEXT)),)


def _next_or_now(errands: tuple[Errand, ...], situation: Situation, may_wait: bool) -> str:
    """Before what has begun, too, while nothing is held in it; where it `may_wait`, if it comes next already."""
    waiting = [errand for errand in errands_ahead(situation) if not has_begun(errand)]
    is_next = bool(waiting) and waiting[0] == errands[0]
    if (is_next or not may_wait) and not situation.scene.held and has_begun(current(situation)):
        return ahead(current(situation))[0].id
    return next_place(situation, errands)


def last(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """The errands of the thing, or the one under way, after all others."""
    errands = meant(request.thing, situation, "{} last") if request.thing else (current(situation),)
    held = situation.scene.held
    if held and any(subject(errand, situation) == held for errand in errands):
        left = tuple(step.id for errand in errands for step in ahead(errand))
        return *put_down_where_it_lay(situation), *_taking(held, situation, ""), Move(left)
    return (Move(tuple(step.id for errand in errands for step in ahead(errand))),)


def swap_order(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Two errands change places, the next two where none are named; one under way waits while nothing is held in it."""
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
    """Without the errands of the thing, or but for them without any; what is held of one goes back first."""
    errands = meant(request.thing, situation, "skip {}")
    if request.relation == "except":
        errands = tuple(errand for errand in errands_ahead(situation) if errand not in errands)
        if not errands:
            raise UnclearError("Nothing else is left to do. What do you mean?")
    return tuple(operation for errand in errands for operation in without(errand, situation))


def skip_this(situation: Situation) -> tuple[Operation, ...]:
    """Without the errand under way."""
    return without(current(situation), situation)


def skip_rest(situation: Situation) -> tuple[Operation, ...]:
    """Without any errand but the one under way."""
    now = current(situation)
    return tuple(Remove(step.id) for errand in errands_ahead(situation) if errand != now for step in ahead(errand))


def without(errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    """Its steps removed; before that, what is held in it is put back where it lay."""
    removed = tuple(Remove(step.id) for step in ahead(errand))
    held = situation.scene.held
    if held and has_begun(errand) and subject(errand, situation) == held:
        return *put_down_where_it_lay(situation), *removed
    return removed


def put_back(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """What is held, or what was moved last, where it lay at first."""
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
    before = next_place(situation) if held else _now(situation)  # once the hand is free
    return *_taking(name, situation, before), *_laying(name, situation, before)


def again(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """The steps of the errand that was finished last, or else of the one under way, next; with another thing, those of
    the errand under way; where it is said how often, those of the thing's errand after it."""
    if request.number is not None:
        return _repeated(request, situation)
    if request.thing:
        return _as_well(request, situation)
    done = [errand for errand in situation.errands if all(step.status is StepStatus.DONE for step in errand)]
    errand = done[-1] if done else current(situation)
    before = next_place(situation, (errand,))
    return tuple(Insert(step.skill, dict(step.arguments), before) for step in errand)


def _repeated(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """So many times in all, or besides for the sense `MORE`, the thing's errand, that under way or the last one."""
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
    """What is done with a thing, or else was done last, with others as well: "the vase too". Where nothing is taken, it
    may be done with the same thing once more: "press the button again"."""
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
    """Whether it is with a thing of the kind that the words name: the blue parcel goes where the red one does."""
    scene, about = situation.scene, subject(errand, situation)
    kinds = {item.kind for item in candidates(words, scene, situation.viewpoint, about)} if about else set()
    return bool(about) and kinds == {scene.find(about).kind}


def _others(words: str, old: str, situation: Situation) -> list[str]:
    """The thing that the words mean, or of several all that the plan has nothing to do with; raises UnclearError for
    what it moves already."""
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
    """What is held goes back, before the step under way; raises UnclearError where nobody knows where it lay."""
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
    """The calls that take a thing; a mobile robot goes there first."""
    if situation.scene.building is not None:
        return ("go_to", {"destination": name}), ("pick_up", {"object": name})
    return (("pick", {"object": name}),)


def _now(situation: Situation) -> str:
    """Before the step under way, or else the next."""
    return next((step.id for step in situation.ahead), "")


def _moved_last(situation: Situation) -> str:
    """The thing that was put down last, "" where none was."""
    done = [step for step in situation.plan.steps if step.status is StepStatus.DONE]
    for step in reversed(done):
        skill = situation.skills[step.skill]
        if puts_down(skill):
            return subject(situation.errand_of(step.id), situation)
        if any(atom.predicate in ("moved", "at", "on") for atom in skill.effects):
            return str(step.arguments[subject_parameter(skill)])
    return ""


def _waiting(errands: tuple[Errand, ...], situation: Situation) -> tuple[str, ...]:
    """The steps of errands that have not begun; raises UnclearError where they are under way already."""
    steps: list[PlanStep] = [step for errand in errands if not has_begun(errand) for step in errand]
    if not steps:
        raise AlreadySoError(f"{the(subject(errands[0], situation) or 'That').capitalize()} is under way already. What "
                           "should be done first?")  # fmt: skip
    return tuple(step.id for step in steps)


def _movable(errands: tuple[Errand, ...], situation: Situation) -> tuple[str, ...]:
    """Their steps that are ahead; what is under way may wait while nothing is held in it."""
    if situation.scene.held:
        return _waiting(errands, situation)
    return tuple(step.id for errand in errands for step in ahead(errand))


def start(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Before the first of these errands that can wait: one that is under way only while nothing is held in it."""
    waiting = (errand for errand in errands if not (situation.scene.held and has_begun(errand)))
    return next((ahead(errand)[0].id for errand in waiting), "") or next_place(situation)


def after(errands: tuple[Errand, ...], situation: Situation) -> str:
    """Before what follows the last of these errands."""
    left = errands_ahead(situation)
    following = left[left.index(errands[-1]) + 1 :]
    return following[0][0].id if following else ""
