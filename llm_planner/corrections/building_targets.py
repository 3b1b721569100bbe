"""Requests for another object or target: another bowl, another object to take, another region or room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.corrections.building_errands import add, repeated, skip
from llm_planner.corrections.edits import Insert, Operation, Rebind, Replace
from llm_planner.corrections.handling import lay_back, taking
from llm_planner.corrections.references import (
    AlreadySoError,
    UnclearError,
    described,
    is_region,
    is_room,
    listed,
    only,
    the_region,
    the_room,
)
from llm_planner.corrections.reflexes import in_words
from llm_planner.corrections.situation import Errand, Situation, Sources, ahead
from llm_planner.language.correction_requests import Frame, Request, Scope
from llm_planner.language.grounding.lifting import Amount
from llm_planner.language.grounding.naming import CONTAINERS, SURFACES
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the
from llm_planner.scene.predicates import DOCK, is_container, is_portable
from llm_planner.scene.scene import SceneObject

SIDE_OF = {"left": "left", "right": "right", "forward": "top", "backward": "bottom"}
OPPOSITE_SIDE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_SKILL_OF = {
    "in": "place_in",
    "on": "place_on",
    "beside": "place_beside",
    **dict.fromkeys(OPPOSITE_SIDE, "place_beside"),
}


def retarget(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the target of the object's errand, or of the errand under way."""
    if request.relation == "direction":
        return _another_way(request, situation)
    errand = _errand(request, situation)
    if situation.scene.building is not None:
        return _to_elsewhere(request, errand, situation)
    return _put_elsewhere(request, errand, situation)


def _errand(request: Request, situation: Situation) -> Errand:
    """Return the errand of the named object, the one with the rejected target, or the one under way."""
    if request.thing:
        found = situation.meant(request.thing)
        return next((errand for errand in found if errand == situation.current), found[0])
    now = situation.current
    if request.instead_of:
        old = request.instead_of
        names = {the_region(old)} if is_region(old) else set(situation.named(old))
        fitting = [one for one in situation.errands_ahead if names & situation.goals(ahead(one))]
        if not fitting:
            raise UnclearError(f"Nothing that is left goes to “{request.instead_of}”. What should go elsewhere?")
        return now if now in fitting else fitting[0]
    return now


def _to_elsewhere(request: Request, errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    """Change the destination of the onward navigation step; without an object, go into a dock."""
    scene = situation.scene
    if is_room(request.target, scene):
        goal = the_room(request.target, scene)
    else:
        goal = only(situation.candidates(request.target), request.target, scene).name
    about = situation.subject(errand)
    ways = [step for step in ahead(errand) if situation.skills[step.skill].leads]
    onward = [step for step in ways if step.arguments["destination"] != about]
    if onward:
        if onward[-1].arguments["destination"] == goal:
            raise AlreadySoError(f"That is where it goes already: {goal}. What should be different?")
        if not about and goal in scene.names and scene.find(goal).kind == DOCK and "dock" in situation.skills:
            return (Replace(onward[-1].id, "dock", {"station": goal}),)
        return (Rebind(onward[-1].id, "destination", goal),)
    left = ahead(errand)
    if scene.held and left and situation.skills[left[0].skill].puts_down:
        return (Insert("go_to", {"destination": goal}, left[0].id),)
    raise UnclearError(f"Nothing that is under way goes anywhere. What should go to “{request.target}”?")


def _put_elsewhere(request: Request, errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    if situation.is_over and situation.scene.held and not _putting(errand, situation):
        return (Insert(*_placing(request, errand[-1], situation)),)  # of what was only picked up
    step = _last_step(errand, request, situation)
    if request.relation == "opposite":
        return _other_side(step)
    skill, arguments = _placing(request, step, situation)
    old, new = step.arguments.get("object"), arguments.get("object")
    ways = [  # drives ahead to the old target lead to the new one
        Rebind(way.id, name, new)
        for way in (ahead(errand) if new and new != old else ())
        for name, value in way.arguments.items()
        if new and value == old and situation.skills[way.skill].leads
    ]
    if skill != step.skill:
        return (*ways, Replace(step.id, skill, arguments))
    changed = tuple(
        Rebind(step.id, name, value) for name, value in arguments.items() if step.arguments.get(name) != value
    )
    if not changed:
        raise AlreadySoError(f"That is how it is planned already: {step}. What should be different?")
    return *ways, *changed


def _last_step(errand: Errand, request: Request, situation: Situation) -> PlanStep:
    """Return the errand's placing or sweeping step, else the only one ahead, or the only one with that target."""
    found = _putting(errand, situation)
    if found is None:
        others = [step for one in situation.errands_ahead if (step := _putting(one, situation)) is not None]
        names = () if not request.target or is_region(request.target) else situation.named(request.target)
        there = [step for step in others if set(names) & set(situation.destinations_of(step))]
        found = next((some[0] for some in (there, others) if len(some) == 1), None)
    if found is None:
        raise UnclearError(f"Nothing that is under way is put anywhere. What should go to “{request.target}”?")
    return found


def _putting(errand: Errand, situation: Situation) -> PlanStep | None:
    for step in reversed(ahead(errand)):
        if situation.skills[step.skill].puts_down or "place" in step.arguments or "onto" in step.arguments:
            return step
    return None


def _other_side(step: PlanStep) -> tuple[Operation, ...]:
    """Mirror the side of the target, or of the table."""
    for name in ("direction", "place"):
        words = str(step.arguments.get(name, "")).split()
        if len(OPPOSITE_SIDE.keys() & {*words}) == 1:  # not a corner
            return (Rebind(step.id, name, " ".join(OPPOSITE_SIDE.get(word, word) for word in words)),)
    raise UnclearError("On which side should it be?", tuple(f"on the {side} side" for side in ("left", "right")))


def _placing(request: Request, step: PlanStep, situation: Situation) -> tuple[str, dict[str, Argument]]:
    """Return the skill that places something at the target, and its arguments as the speaker says them."""
    if is_region(request.target):
        skill = step.skill if "place" in step.arguments else "place_at"
        return skill, {"place": the_region(request.target)}
    scene = situation.scene
    like = next((name for name in situation.destinations_of(step) if name in scene.names), "")
    found = tuple(item for item in situation.candidates(request.target, like) if item.name != scene.held)
    item = only(found, request.target, scene)
    skill = _SKILL_OF.get(request.relation) or _natural(step, is_container(item), situation)
    if skill == "place_on" and "onto" in step.arguments:
        return step.skill, {"onto": item.name}
    arguments: dict[str, Argument] = {"object": item.name}
    if request.relation in OPPOSITE_SIDE:
        arguments["direction"] = request.relation
    if request.number is not None:
        if skill != "place_beside":
            raise UnclearError(f"Only beside a thing a gap can be left. Where to {the(item.name)} should it go?")
        arguments["distance"] = Amount(request.number, request.unit or "cm").value
    return skill, arguments


def _natural(step: PlanStep, container: bool, situation: Situation) -> str:
    """Return the placing skill if the person does not say how: as before, else into containers and onto others."""
    if step.skill == "place_in":
        return "place_in" if container else "place_on"
    if "object" in step.arguments and situation.skills[step.skill].puts_down:
        return step.skill
    return "place_in" if container else "place_on"


def _another_way(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the direction of a push."""
    names = situation.named(request.thing) if request.thing else ()
    steps = [step for step in situation.ahead if step.skill == "push"]
    steps = [step for step in steps if not names or step.arguments["object"] in names]
    if not steps:
        raise UnclearError("Nothing that is left to do pushes anything. What should go where?")
    step, word = steps[0], SIDE_OF.get(request.direction)
    if request.direction in ("back", "opposite"):
        word = OPPOSITE_SIDE[str(step.arguments["direction"])]
    if word is None:
        raise UnclearError("A push goes left, right, forward or back. Which way should it be?", tuple(SIDE_OF))
    if request.frame is Frame.ROBOT:
        word = situation.viewpoint.from_base(word)
    return (Rebind(step.id, "direction", word),)


def other_thing(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the object to grasp, or the target if the named object is of the target's kind.

    A rejected object outside of the plan is ignored: "the blue, no, the green one".
    """
    if request.thing and request.instead_of and not is_room(request.instead_of, situation.scene):
        rejected = {item.name for item in situation.candidates(request.instead_of)}
        if rejected and not rejected & situation.names_ahead:
            request = replace(request, instead_of="")
    place = request.thing and (is_room(request.thing, situation.scene) or is_region(request.thing))
    if place or (request.thing and _is_target(request, situation)):
        return retarget(replace(request, target=request.thing, thing=""), situation)
    if request.negated and request.instead_of and not _is_for_one(request.instead_of, situation):
        return _not_this(request, situation)
    errand = _replaced_errand(request, situation)
    return _take_other(errand, _the_other(request, situation, errand).name, situation)


def _not_this(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Take the other object of the kind ("not the mug"), or skip the errand if there is none."""
    errand = _replaced_errand(request, situation)
    if _same_kind_as(situation.subject(errand), situation) and errand is situation.errands_ahead[0]:
        return _take_other(errand, _the_other(request, situation, errand).name, situation)
    return skip(replace(request, thing=request.instead_of), situation)


def _is_target(request: Request, situation: Situation) -> bool:
    """Whether the object is of a target's kind and not of the grasped kind; raise UnclearError if it may be both."""
    if request.target or not situation.errands_ahead:
        return False
    errand = situation.current
    about = situation.subject(errand)
    targets = [name for step in errand for name in situation.destinations_of(step) if name != about]
    if request.instead_of:
        return not _taken(request.instead_of, situation)
    things, *other = (
        [item for item in _same_kind_as(name, situation) if item in situation.candidates(request.thing, name)]
        for name in (about, *targets)
    )
    goals = [item for some in other for item in some]
    if things == goals and len(goals) == 1 and situation.scene.held:
        _raise_either(things[0], situation)
    if things and goals and situation.scene.held:
        options = [the(item.name) for item in (*things, *goals)]
        raise UnclearError(
            f"Which one do you mean by “{request.thing}”: {' or '.join(options)}?", options, request.thing
        )
    found = situation.candidates(request.thing)
    holds_another = situation.scene.held and targets and not things and not goals
    if holds_another and len(found) == 1 and found[0].kind in (*CONTAINERS, *SURFACES):
        _raise_either(found[0], situation)
    return bool(goals) and not things


def _raise_either(item: SceneObject, situation: Situation) -> None:
    """Ask whether the held object goes to `item` or `item` is taken instead."""
    name, held = the(item.name), the(situation.scene.held)
    options = (f"put it {'in' if is_container(item) else 'on'} {name}", f"take {name}")
    raise UnclearError(f"Does {held} go to {name}, or shall I take {name} instead of it?", options)


def other_target(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Change a target; for an object that no errand grasps, or for several, add a new command."""
    if not (request.target or request.instead_of or request.relation):
        raise UnclearError(f"Where shall I put {the(situation.scene.held) if situation.scene.held else 'it'} down?")
    several = bool(request.thing) and described(request.thing, situation.scene).plural
    if several and "both" in request.thing.split() and len(taken := _taken(request.thing, situation)) == 2:
        return _each_elsewhere(request, taken, situation)
    if several or (request.thing and not _taken(request.thing, situation)):
        if request.instead_of and not several and _taken(request.instead_of, situation):
            return other_thing(replace(request, target="", relation=""), situation)
        said = in_words(replace(request, scope=Scope.ONCE)).removesuffix(" instead")
        command = request.text or said
        if request.scope is not Scope.ONCE:
            question = f"I remember how things are done, not what is to be done. Shall I {command} now?"
            raise UnclearError(question, (command,))
        return add(replace(request, text=command), situation, sources)
    place = is_region(request.instead_of) or is_room(request.instead_of, situation.scene)
    if request.instead_of and not place and not request.thing:
        names = situation.named(request.instead_of)
        steps = (step for step in situation.ahead if not situation.skills[step.skill].empties_gripper)
        if any(step.arguments.get("object") in names for step in steps):  # and not placing something there
            return other_thing(replace(request, thing=request.target, target="", relation=""), situation)
    return retarget(request, situation)


def _each_elsewhere(request: Request, names: Sequence[str], situation: Situation) -> tuple[Operation, ...]:
    """Change the target of each object; raise AlreadySoError if all have it already."""
    operations: list[Operation] = []
    is_so: AlreadySoError | None = None
    for name in names:
        try:
            operations += retarget(replace(request, thing=name), situation)
        except AlreadySoError as known:
            is_so = known
    if is_so is not None and not operations:
        raise is_so
    return tuple(operations)


def _taken(words: str, situation: Situation) -> tuple[str, ...]:
    """Return the named objects that a remaining errand acts on."""
    names = situation.named(words)
    about = dict.fromkeys(situation.subject(errand) for errand in situation.errands_ahead)
    return tuple(name for name in about if name in names)


# Another object


def _replaced_errand(request: Request, situation: Situation) -> Errand:
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
    if not words or _is_for_one(words, situation):
        return ()
    scene = situation.scene
    found = situation.candidates(words)
    kinds = {item.kind for item in found}
    alike = [
        one for one in situation.errands_ahead if (name := situation.subject(one)) and scene.find(name).kind in kinds
    ]
    is_one = len(alike) == 1 and [item.name for item in found] != [situation.subject(alike[0])]
    return alike[0] if is_one else ()


def _the_other(request: Request, situation: Situation, errand: Errand) -> SceneObject:
    """Return the object that replaces the errand's object; raise UnclearError unless there is exactly one."""
    old = situation.subject(errand)
    if not request.thing:
        # the only other object of the same kind is what "not the red one" leaves
        alike = _same_kind_as(old, situation)
        if len(alike) == 1:
            return alike[0]
        names = [the(item.name) for item in alike]
        raise UnclearError(f"Which one should it be then{': ' + listed(names) if names else ''}?", names)
    found = situation.candidates(request.thing, old)
    found = tuple(item for item in found if item.name != old) or found
    carried = tuple(item for item in found if is_portable(item)) if len(found) > 1 else found
    return only(carried or found, request.thing, situation.scene)


def _take_other(errand: Errand, new: str, situation: Situation) -> tuple[Operation, ...]:
    """Replace the errand's object by `new`; if it has been grasped, or let go just now, put it back first."""
    old = situation.subject(errand)
    if new == old:
        raise AlreadySoError(f"{the(new).capitalize()} is what I am to take already. What should be different?")
    if not old or not any(situation.subject_of(step) == old for step in ahead(errand)):
        if not old or situation.scene.held not in (old, ""):
            raise UnclearError(f"Nothing that is under way takes anything. What should I do with {the(new)}?")
        now = ahead(errand)[0].id
        # a mobile robot returns to the destination that it has reached
        ways = [step for step in errand if situation.skills[step.skill].leads]
        passed = tuple(step for step in ways[1:] if step.status is StepStatus.DONE)[-1:]
        again = () if situation.scene.held else taking(old, situation, now)
        return *again, *lay_back(old, situation), *taking(new, situation, now), *repeated(passed, now)
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


def _is_for_one(words: str, situation: Situation) -> bool:
    """Whether the words name no kind, such as "the blue one"."""
    description = described(words, situation.scene)
    return not (description.name or description.kind or description.unknown)


def _same_kind_as(name: str, situation: Situation) -> list[SceneObject]:
    """Return the other objects of the kind of `name`; [] if it is no object."""
    scene = situation.scene
    kind = scene.find(name).kind if name in scene.names else ""
    return [item for item in scene.objects if kind and item.kind == kind and item.name != name]
