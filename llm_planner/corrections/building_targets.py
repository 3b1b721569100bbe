"""Requests for another target: another bowl, another object to place beside, another region or room."""

from __future__ import annotations

from llm_planner.corrections.edits import Insert, Operation, Rebind, Replace
from llm_planner.corrections.references import (
    AlreadySoError,
    UnclearError,
    is_region,
    is_room,
    only,
    the_region,
    the_room,
)
from llm_planner.corrections.references import candidates as fitting
from llm_planner.corrections.situation import (
    Errand,
    Situation,
    ahead,
    current,
    destinations_of,
    errands_ahead,
    leads,
    meant,
    named,
    puts_down,
    subject,
)
from llm_planner.language.correction_requests import Frame, Request
from llm_planner.language.grounding.lifting import Amount
from llm_planner.plans.plan import PlanStep
from llm_planner.programs.values import Argument
from llm_planner.scene.names import the
from llm_planner.scene.predicates import DOCK, is_container

_SIDES = ("left", "right", "top", "bottom")
_DIRECTIONS = {"left": "left", "right": "right", "forward": "top", "backward": "bottom"}
_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_SKILL_OF = {"in": "place_in", "on": "place_on", "beside": "place_beside", **dict.fromkeys(_SIDES, "place_beside")}


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
        found = meant(request.thing, situation)
        return next((errand for errand in found if errand == current(situation)), found[0])
    now = current(situation)
    if request.instead_of:
        names = set(_names(request.instead_of, situation))
        fitting = [one for one in errands_ahead(situation) if any(names & set(_targets(one, situation)))]
        if not fitting:
            raise UnclearError(f"Nothing that is left goes to “{request.instead_of}”. What should go elsewhere?")
        return now if now in fitting else fitting[0]
    return now


def _names(words: str, situation: Situation) -> tuple[str, ...]:
    return (the_region(words),) if is_region(words) else named(words, situation)


def _targets(errand: Errand, situation: Situation) -> tuple[str, ...]:
    return tuple(name for step in ahead(errand) for name in destinations_of(step, situation))


def _to_elsewhere(request: Request, errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    """Change the destination of the onward navigation step; without an object, go into a dock."""
    scene = situation.scene
    if is_room(request.target, scene):
        goal = the_room(request.target, scene)
    else:
        goal = only(fitting(request.target, scene, situation.viewpoint), request.target, scene).name
    about = subject(errand, situation)
    ways = [step for step in ahead(errand) if leads(situation.skills[step.skill])]
    onward = [step for step in ways if step.arguments["destination"] != about]
    if onward:
        _check_new(onward[-1].arguments["destination"], goal)
        if not about and goal in scene.names and scene.find(goal).kind == DOCK and "dock" in situation.skills:
            return (Replace(onward[-1].id, "dock", {"station": goal}),)
        return (Rebind(onward[-1].id, "destination", goal),)
    left = ahead(errand)
    if scene.held and left and puts_down(situation.skills[left[0].skill]):
        return (Insert("go_to", {"destination": goal}, left[0].id),)
    raise UnclearError(f"Nothing that is under way goes anywhere. What should go to “{request.target}”?")


def _check_new(old: Argument, new: str) -> None:
    if old == new:
        raise AlreadySoError(f"That is where it goes already: {new}. What should be different?")


def _put_elsewhere(request: Request, errand: Errand, situation: Situation) -> tuple[Operation, ...]:
    step = _last_step(errand, request, situation)
    if request.relation == "opposite":
        return _other_side(step)
    skill, arguments = _placing(request, step, situation)
    ways = _ways_too(errand, step, arguments.get("object"), situation)
    if skill != step.skill:
        return (*ways, Replace(step.id, skill, arguments))
    changed = tuple(
        Rebind(step.id, name, value) for name, value in arguments.items() if step.arguments.get(name) != value
    )
    if not changed:
        raise AlreadySoError(f"That is how it is planned already: {step}. What should be different?")
    return *ways, *changed


def _ways_too(errand: Errand, step: PlanStep, new: Argument | None, situation: Situation) -> tuple[Operation, ...]:
    """Lead the drives ahead that go to the old target of the placing `step` to the `new` one."""
    old = step.arguments.get("object")
    ways = [way for way in ahead(errand) if leads(situation.skills[way.skill])] if new and new != old else []
    found = ((way, name) for way in ways for name, value in way.arguments.items() if value == old)
    return tuple(Rebind(way.id, name, new) for way, name in found if new)


def _last_step(errand: Errand, request: Request, situation: Situation) -> PlanStep:
    """Return the errand's placing or sweeping step, else the only one ahead, or the only one with that target."""
    found = _putting(errand, situation)
    if found is None:
        others = [step for one in errands_ahead(situation) if (step := _putting(one, situation)) is not None]
        names = () if not request.target or is_region(request.target) else named(request.target, situation)
        there = [step for step in others if set(names) & set(destinations_of(step, situation))]
        found = next((some[0] for some in (there, others) if len(some) == 1), None)
    if found is None:
        raise UnclearError(f"Nothing that is under way is put anywhere. What should go to “{request.target}”?")
    return found


def _putting(errand: Errand, situation: Situation) -> PlanStep | None:
    for step in reversed(ahead(errand)):
        if puts_down(situation.skills[step.skill]) or "place" in step.arguments or "onto" in step.arguments:
            return step
    return None


def _other_side(step: PlanStep) -> tuple[Operation, ...]:
    """Mirror the side of the target, or of the table."""
    for name in ("direction", "place"):
        words = str(step.arguments.get(name, "")).split()
        if len(_OPPOSITE.keys() & {*words}) == 1:  # not a corner
            return (Rebind(step.id, name, " ".join(_OPPOSITE.get(word, word) for word in words)),)
    raise UnclearError("On which side should it be?", tuple(f"on the {side} side" for side in ("left", "right")))


def _placing(request: Request, step: PlanStep, situation: Situation) -> tuple[str, dict[str, Argument]]:
    """Return the skill that places something at the target, and its arguments as the speaker says them."""
    if is_region(request.target):
        skill = step.skill if "place" in step.arguments else "place_at"
        return skill, {"place": the_region(request.target)}
    scene = situation.scene
    like = next((name for name in destinations_of(step, situation) if name in scene.names), "")
    found = tuple(item for item in fitting(request.target, scene, situation.viewpoint, like) if item.name != scene.held)
    item = only(found, request.target, scene)
    skill = _SKILL_OF.get(request.relation) or _natural(step, is_container(item), situation)
    if skill == "place_on" and "onto" in step.arguments:
        return step.skill, {"onto": item.name}
    arguments: dict[str, Argument] = {"object": item.name}
    if request.relation in _SIDES:
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
    if "object" in step.arguments and puts_down(situation.skills[step.skill]):
        return step.skill
    return "place_in" if container else "place_on"


def _another_way(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the direction of a push."""
    names = named(request.thing, situation) if request.thing else ()
    steps = [step for step in situation.ahead if step.skill == "push"]
    steps = [step for step in steps if not names or step.arguments["object"] in names]
    if not steps:
        raise UnclearError("Nothing that is left to do pushes anything. What should go where?")
    step, word = steps[0], _DIRECTIONS.get(request.direction)
    if request.direction in ("back", "opposite"):
        word = _OPPOSITE[str(step.arguments["direction"])]
    if word is None:
        raise UnclearError("A push goes left, right, forward or back. Which way should it be?", tuple(_DIRECTIONS))
    if request.frame is Frame.ROBOT:
        word = situation.viewpoint.from_base(word)
    return (Rebind(step.id, "direction", word),)
