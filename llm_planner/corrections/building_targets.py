"""Requests for another object or target: another bowl, another object to take, another region or room.

The plan decides whether an object is meant as the one to grasp or as a target, and whether any errand concerns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.corrections.building_objects import add, is_for_one, replaced_errand, same_kind, take_other, the_other
from llm_planner.corrections.building_order import first, skip, skip_this
from llm_planner.corrections.building_quantities import of_a_step, steps_with
from llm_planner.corrections.edits import AddRule, Insert, Operation, Rebind, Replace
from llm_planner.corrections.references import (
    AlreadySoError,
    UnclearError,
    described,
    is_region,
    is_room,
    only,
    the_region,
    the_room,
)
from llm_planner.corrections.reflexes import in_words
from llm_planner.corrections.situation import Errand, Situation, Sources, ahead, is_rest
from llm_planner.language.correction_requests import Frame, Intent, Request, Scope, Sense, When
from llm_planner.language.grounding.lifting import Amount
from llm_planner.language.grounding.naming import CONTAINERS, SURFACES
from llm_planner.plans.plan import PlanStep
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the
from llm_planner.scene.predicates import DOCK, is_container
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
        if rejected and not rejected & _in_plan(situation):
            request = replace(request, instead_of="")
    place = request.thing and (is_room(request.thing, situation.scene) or is_region(request.thing))
    if place or (request.thing and _is_target(request, situation)):
        return retarget(replace(request, target=request.thing, thing=""), situation)
    if request.negated and request.instead_of and not is_for_one(request.instead_of, situation):
        return _not_this(request, situation)
    errand = replaced_errand(request, situation)
    return take_other(errand, the_other(request, situation, errand).name, situation)


def _in_plan(situation: Situation) -> set[str]:
    """Return the objects and destinations of the remaining errands."""
    left = situation.errands_ahead
    return {name for errand in left for name in (situation.subject(errand), *situation.goals(errand))}


def _not_this(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Take the other object of the kind ("not the mug"), or skip the errand if there is none."""
    errand = replaced_errand(request, situation)
    name = situation.subject(errand)
    same = [item for item in situation.scene.objects if name and item.kind == situation.scene.find(name).kind]
    if len(same) > 1 and errand is situation.errands_ahead[0]:
        return take_other(errand, the_other(request, situation, errand).name, situation)
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
    things = same_kind(request.thing, about, situation)
    goals = [item for name in targets for item in same_kind(request.thing, name, situation)]
    if list(things) == goals and len(goals) == 1 and situation.scene.held:
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


def skip_or_forbid(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Skip the errands of an object; if there are none, add a rule not to move the object."""
    if not request.thing:
        return skip_this(situation)
    if is_rest(request.thing) or request.relation or is_room(request.thing, situation.scene):
        return skip(request, situation)
    names = situation.named(request.thing)
    if _in_plan(situation) & set(names):
        return skip(request, situation)
    if len(names) > 1:
        raise UnclearError(f"Nothing that is left to do is about “{request.thing}”. What do you mean?")
    (name,) = names
    return (AddRule(f"G !moved({name})", request.text or f"leave {the(name)} alone"),)


def duration(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Change the duration of a step, or add a wait if no remaining step waits."""
    waits = request.text == "wait" or (bool(request.target) and request.text != "follow" and not request.thing)
    is_new = waits and request.sense is Sense.EXACT and not steps_with("seconds", request, situation)
    if not is_new or request.number is None:
        return of_a_step(request, situation)
    command = f"wait {request.number:g} {request.unit or 'seconds'}"
    when = When.END if request.target else When.NEXT
    return add(replace(request, intent=Intent.ADD, text=command, when=when), situation, sources)


def first_or_go(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """Move errands to the front, or add navigation if no errand leads there: "go to the kitchen first"."""
    try:
        return first(request, situation)
    except UnclearError:
        called = (item for item in situation.scene.objects if item.name.lower() == request.thing)
        is_somewhere = is_room(request.thing, situation.scene) or any(item.kind == "person" for item in called)
        if request.relation == "after" or not is_somewhere:
            raise
    way = replace(request, intent=Intent.ADD, text=f"go to {request.thing}", when=When.NEXT)
    return add(way, situation, sources)
