"""Requests to shift the motion under way.

An amount without a number is a share of the size of the moved object. If the direction reverses, it is half of the
previous shift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from llm_planner.corrections.building_quantities import height_or_clearance, of_a_step, steps_with
from llm_planner.corrections.building_targets import OPPOSITE_SIDE, SIDE_OF
from llm_planner.corrections.edits import Adjust, Change, Operation, Rebind, Shift
from llm_planner.corrections.references import UnclearError, is_room, only, the_region
from llm_planner.corrections.situation import Situation, ahead
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import STEP_QUANTITIES, Frame, Intent, Request, Scope, Sense, Size
from llm_planner.language.grounding.lifting import Amount
from llm_planner.scene.names import the
from llm_planner.scene.places import REGIONS
from llm_planner.scene.scene import Scene, SceneObject, Vector3

SHARES: Mapping[Size, float] = {Size.BIT: 0.5, Size.PLAIN: 1.0, Size.MUCH: 2.0}  # share of the object's size
SMALLEST = 0.02  # [m] minimum size of an object
NO_THING = 0.04  # [m] size without an object
BASE = 0.4  # [m] size for a mobile robot


def thing_size(item: SceneObject | None, scene: Scene) -> float:
    """Return the smaller horizontal extent of the object [m], the unit of amounts without a number."""
    if scene.building is not None:
        return BASE
    return max(SMALLEST, min(item.size[:2])) if item is not None else NO_THING


def shift_length(size: Size, amount: Amount | None, reference: float, reversed_from: float = 0.0) -> float:
    """Return the length of a shift [m], rounded to a millimetre: `amount`, or else a share of `reference` by `size`.

    `reference` is the size of the moved object [m]. `reversed_from` is the length of the previous shift [m] if this one
    reverses it, else 0; the shift then goes back by half of it, unless `size` is much.
    """
    if amount is not None:
        return round(amount.value, 3)
    if reversed_from and size is not Size.MUCH:
        return round(reversed_from / 2, 3)
    return round(SHARES[size] * reference, 3)


AXES: dict[str, Vector3] = {
    "forward": (1.0, 0.0, 0.0), "backward": (-1.0, 0.0, 0.0), "left": (0.0, 1.0, 0.0), "right": (0.0, -1.0, 0.0),
    "up": (0.0, 0.0, 1.0), "down": (0.0, 0.0, -1.0),
}  # fmt: skip
OPPOSITE = {"forward": "backward", "backward": "forward", "left": "right", "right": "left", "up": "down", "down": "up"}
_ALONG_A_LINE = ("towards", "away")
_HIGHER = {"up": Sense.MORE, "down": Sense.LESS}


def shift(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Return the operations for a shift; raise UnclearError if its direction or reference is unknown."""
    if gap := _gap(request, situation):
        return gap
    if place := _of_the_place(request, situation) or _the_other_way(request, situation):
        return place
    if request.direction in _HIGHER and _is_of_another(request, situation):
        of_thing = replace(request, thing=request.thing or request.about, about="")
        return height_or_clearance(replace(of_thing, intent=Intent.HEIGHT, sense=_HIGHER[request.direction]), situation)
    if _is_of_another(request, situation):
        about = the(situation.scene.held or situation.subject(situation.current) or "way")
        said = request.thing or request.about
        raise UnclearError(f"“{said}” is not what I am at now, that is {about}. What should go where?")
    if request.direction == "more":
        return _same_again(request, situation)
    before = last_shift(situation)
    if request.direction in ("back", "opposite"):
        if before is not None:
            return (_reversed(request, situation, before),)
        if request.direction == "opposite":
            raise UnclearError("Which way? Nothing has been shifted yet; please say where it should go.")
        request = replace(request, direction="backward")
    frame = Frame.ROBOT if request.direction in _ALONG_A_LINE else request.frame
    axis = _axis(request, situation)
    reversed_from = 0.0
    if before is not None and before.frame is frame and _dot(before.offset, axis) < -0.5 * math.hypot(*before.offset):
        reversed_from = math.hypot(*before.offset)
    return (Shift(_scaled(axis, _distance(request, situation, reversed_from)), frame, request.lifetime),)


def _the_other_way(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Reverse the direction of a push under way: "left, I should have said"."""
    step = situation.running
    is_plain = request.number is None and request.size is Size.PLAIN and request.frame is Frame.PERSON
    way = SIDE_OF.get(request.direction)
    if step is None or step.skill != "push" or not is_plain or way is None:
        return ()
    return (Rebind(step.id, "direction", way),) if OPPOSITE_SIDE[way] == step.arguments["direction"] else ()


def _gap(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the gap to the object that something is placed beside."""
    if request.direction not in _ALONG_A_LINE:
        return ()
    sense = Sense.LESS if request.direction == "towards" else Sense.MORE
    of_place = replace(request, intent=Intent.DISTANCE, text="place", sense=sense, target="")
    steps = steps_with("distance", of_place, situation)
    steps = steps if request.thing else [step for step in steps if step in ahead(situation.current)]
    targets = {item.name for item in situation.candidates(request.target)} if steps else ()
    return of_a_step(of_place, situation) if any(step.arguments["object"] in targets for step in steps) else ()


def _of_the_place(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Shift the target position of an object that is not grasped yet."""
    if situation.scene.held or situation.scene.building is not None or not situation.errands:
        return ()
    steps = [step for step in ahead(situation.current) if step.arguments.get("place") in REGIONS]
    if not steps or steps[0] is situation.running:
        return ()
    name = str(steps[0].arguments["place"])
    about = situation.subject(situation.current)
    if request.thing and about not in situation.named(request.thing):
        return ()
    x, y = situation.viewpoint.region(name, situation.scene.workspace).anchor
    if request.direction in _ALONG_A_LINE:
        ux, uy = _along_the_line(request, (x, y), situation)
    elif request.direction in SIDE_OF:
        ux, uy = situation.viewpoint.direction(SIDE_OF[request.direction])
    else:
        return ()
    length = _distance(request, situation, 0.0)
    return (Rebind(steps[0].id, "place", (round(x + ux * length, 3), round(y + uy * length, 3), 0.0)),)


def too_far(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Go back by half of the previous shift, or reduce the distance of a push.

    Without a previous shift in the named direction, the shift goes the opposite way.
    """
    before = last_shift(situation)
    if request.direction in AXES and not (before is not None and _dot(before.offset, AXES[request.direction]) > 0):
        return shift(replace(request, direction=OPPOSITE[request.direction]), situation)
    if before is not None:
        return (_reversed(request, situation, before),)
    step = situation.running
    if step is not None and "distance" in step.arguments:
        return (Adjust("distance", Change.SCALE, STEP_QUANTITIES["distance"].less.sizes[request.size], step.id),)
    raise UnclearError("Too far which way? Nothing has been shifted yet; please say where it should go.")


def last_shift(situation: Situation) -> Shift | None:
    """Return the newest shift that was applied."""
    shifts = [item for edit in situation.edits for item in edit.operations if isinstance(item, Shift)]
    return shifts[-1] if shifts else None


def moved_thing(situation: Situation) -> SceneObject | None:
    """Return the held object, else the object of the step under way; None without either."""
    scene = situation.scene
    if scene.held:
        return scene.find(scene.held)
    step = situation.running or next(iter(situation.ahead), None)
    values = step.arguments.values() if step is not None else ()
    name = next((value for value in values if isinstance(value, str) and value in scene.names), "")
    return scene.find(name) if name else None


def _is_of_another(request: Request, situation: Situation) -> bool:
    """Whether the request is about an object outside of the errand under way and is not to be remembered."""
    said = request.thing or (request.about if request.scope is Scope.ONCE else "")
    if not said:
        return False
    here = {situation.scene.held, situation.subject(situation.current), *situation.goals(situation.current)}
    return here.isdisjoint(situation.named(said))


def _same_again(request: Request, situation: Situation) -> tuple[Operation, ...]:
    newest = situation.edits[-1].operations if situation.edits else ()
    again = tuple(
        _once_more(item, request, situation)
        for item in newest
        if isinstance(item, Shift) or (isinstance(item, Adjust) and item.change is not Change.SET)
    )
    step = situation.running
    if not again and step is not None and "distance" in step.arguments:
        if request.number is not None:
            return (Adjust("distance", Change.SHIFT, _distance(request, situation, 0.0), step.id),)
        return (Adjust("distance", Change.SCALE, STEP_QUANTITIES["distance"].more.sizes[request.size], step.id),)
    if not again:
        raise UnclearError("More of what? Please say which way, or whether you mean faster, higher or farther.")
    return again


def _once_more(item: Shift | Adjust, request: Request, situation: Situation) -> Shift | Adjust:
    """Return the operation again: a shift by the amount of the request, if it has one."""
    if request.number is None:
        return item
    if isinstance(item, Shift):
        return replace(item, offset=_scaled(item.offset, _distance(request, situation, 0.0) / math.hypot(*item.offset)))
    more = f"{request.number:g} {request.unit}".strip()
    raise UnclearError(f"{more} more of what? The last change was of the {item.quantity}.")


def _reversed(request: Request, situation: Situation, before: Shift) -> Shift:
    length = math.hypot(*before.offset)
    back = _distance(request, situation, length)
    return replace(before, offset=_scaled(before.offset, -back / length))


def _distance(request: Request, situation: Situation, against: float) -> float:
    amount = Amount(request.number, request.unit) if request.number is not None else None
    if amount is not None and not amount.is_length:
        raise UnclearError(f"How far is {amount.number:g} {amount.unit}? Please say a length, such as 2 cm.")
    return shift_length(request.size, amount, thing_size(moved_thing(situation), situation.scene), against)


def _axis(request: Request, situation: Situation) -> Vector3:
    """Return the unit vector of the direction in its frame; raise InputError for an unknown direction."""
    if request.direction in AXES:
        return AXES[request.direction]
    if request.direction not in _ALONG_A_LINE:
        choices = ", ".join((*AXES, *_ALONG_A_LINE, "back", "more"))
        raise InputError(f"{request.direction!r} is not a direction of a shift; the directions are: {choices}")
    return *_along_the_line(request, _where(situation), situation), 0.0


def _along_the_line(request: Request, start: tuple[float, float], situation: Situation) -> tuple[float, float]:
    """Return the unit vector from `start` [m] towards the target, or away from it."""
    (x, y), (tx, ty) = start, _target(request, situation)
    distance = math.hypot(tx - x, ty - y)
    if distance < 1e-6:
        raise UnclearError(f"I am right over “{request.target}”. Which way should I go?")
    sign = 1.0 if request.direction == "towards" else -1.0
    return sign * (tx - x) / distance, sign * (ty - y) / distance


def _where(situation: Situation) -> tuple[float, float]:
    """Return the position [m, frame of the robot] of the held object or of the robot."""
    scene = situation.scene
    if scene.held and scene.building is None:
        return scene.find(scene.held).position[:2]
    if scene.robot is not None:
        return scene.robot.position[:2]
    item = moved_thing(situation)
    return item.position[:2] if item is not None else (0.0, 0.0)


def _target(request: Request, situation: Situation) -> tuple[float, float]:
    scene = situation.scene
    if scene.building is not None and is_room(request.target, scene):
        return scene.building.find(situation.named(request.target)[0]).area.center
    try:
        place = the_region(request.target)
    except UnclearError:
        return only(situation.candidates(request.target), request.target, scene).position[:2]
    return situation.viewpoint.region(place, scene.workspace).anchor


def _dot(a: Vector3, b: Vector3) -> float:
    return sum(p * q for p, q in zip(a, b, strict=True))


def _scaled(a: Vector3, factor: float) -> Vector3:
    """Scale and round to a millimetre, without negative zeros."""
    x, y, z = (round(part * factor, 3) + 0.0 for part in a)
    return x, y, z
