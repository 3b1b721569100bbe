"""Requests about speed, height, clearance, distance and duration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from llm_planner.corrections.edits import AddRule, Adjust, Change, Operation, Remove
from llm_planner.corrections.references import UnclearError, listed
from llm_planner.corrections.situation import Situation, ahead
from llm_planner.language.correction_requests import (
    MOTION_QUANTITIES,
    STEP_QUANTITIES,
    Intent,
    Request,
    Scope,
    Sense,
    Size,
    quantity_of,
)
from llm_planner.language.grounding.lifting import Amount
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import PlanStep
from llm_planner.scene.names import the
from llm_planner.scene.propositions import NEAR_ARM, NEAR_BASE

ARM_SPEED, BASE_SPEED = 0.2, 0.5  # [m/s] full speed for "slower near the vase"
ROOM: Mapping[Size, float] = {Size.BIT: 0.75, Size.MUCH: 1.5}  # share of the near distance
_SKILLS = {"push": ("push", "place_offset"), "place": ("place_beside",), "follow": ("follow",), "wait": ("wait",)}


def speed(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the speed of all motion or of the motion with an object, relative to full or present speed.

    A speed near an object, or in metres per second, becomes a rule.
    """
    if request.near and request.sense is Sense.LESS:
        return (_slower_near(request, situation),)
    amount = _amount(request)
    if amount is not None and amount.is_speed and request.sense is not Sense.MORE:
        holding = " | ".join(f"holding({name})" for name in situation.named(request.thing)) if request.thing else ""
        limit = f"speed(robot) < {amount.value:g}"
        formula = str(parse(f"G (({holding}) -> {limit})" if holding else f"G {limit}"))
        return (AddRule(formula, f"at most {amount}"),)
    return _of_motion(Adjust("speed", *_speed(request)), request, situation)


def _slower_near(request: Request, situation: Situation) -> AddRule:
    names = situation.named(request.near)
    of_base = situation.scene.building is not None
    rooms = situation.scene.building.names if situation.scene.building else ()
    near = " | ".join(f"{'in' if name in rooms else 'near'}(robot, {name})" for name in names)
    limit = (BASE_SPEED if of_base else ARM_SPEED) * MOTION_QUANTITIES["speed"].less.sizes[request.size]
    formula = str(parse(f"G (({near}) -> speed(robot) < {limit:g})"))
    where = "in" if set(names) <= set(rooms) else "near"
    return AddRule(formula, f"slower {where} {listed(list(map(the, names)), 'and')}")


def _speed(request: Request) -> tuple[Change, float]:
    amount = _amount(request)
    if request.sense is Sense.NORMAL:
        return Change.SET, 1.0
    if amount is not None and (amount.is_length or amount.is_time):
        raise UnclearError(f"How fast is {amount}? Please say a share of the full speed, such as 50 percent.")
    if amount is not None:
        return _changed(amount, request.sense)
    return Change.SCALE, MOTION_QUANTITIES["speed"].way(request.sense).sizes[request.size]


def _of_motion(adjust: Adjust, request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Apply the change to the remaining steps of the named object, or to all motion if there are none."""
    if request.instead_of and request.scope is not Scope.ONCE:
        raise UnclearError(f"I can remember that of things, not of all but “{request.instead_of}”. Of what shall I?")
    said = request.about or request.thing or request.instead_of
    found = situation.candidates(said) if said else ()
    if not found and request.thing and request.scope is Scope.ONCE:
        situation.named(request.thing)  # raises: no such object
    if not found:
        return (adjust,)
    names, spared = {item.name for item in found}, bool(request.instead_of)
    meant = [errand for errand in situation.errands_ahead if (situation.subject(errand) in names) is not spared]
    is_over = any(situation.subject(errand) in names for errand in situation.errands)
    of_all = not is_over and adjust.quantity == "clearance"  # more room to an object that stays in place
    is_about_it = is_over or (bool(request.thing) and not of_all)
    if not meant and (spared or (is_about_it and request.scope is Scope.ONCE)):
        raise UnclearError(f"Nothing that is left to do is about “{said}”. What do you mean?")
    return tuple(replace(adjust, step=step.id) for errand in meant for step in ahead(errand)) or (adjust,)


def height_or_clearance(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the height or clearance of all motion or of the motion with an object [m].

    A height near an object applies to the errand under way. A clearance near an object or in centimetres becomes a
    rule, and changes the gap if something is placed beside that object.
    """
    near = request.near if request.near and situation.candidates(request.near) else ""
    if request.intent is Intent.CLEARANCE and (request.about or near) and request.scope is Scope.ONCE:
        gap = replace(request, thing=request.about, target=near, text="place")
        if steps_with("distance", gap, situation):
            return of_a_step(replace(gap, intent=Intent.DISTANCE), situation)
    amount = _amount(request)
    if amount is not None and not amount.unit:
        amount = replace(amount, unit="cm")
    if amount is not None and not amount.is_length:
        raise UnclearError(f"How far is {amount}? Please say a length, such as 2 cm.")
    quantity = MOTION_QUANTITIES[request.intent.value]
    by = amount.value if amount else quantity.way(request.sense).sizes[request.size]
    said = near or request.thing or request.about or request.near
    if request.intent is Intent.CLEARANCE and said and request.sense is not Sense.LESS:
        if amount:
            return (_distance_from(said, by, request, situation),)
        kept_to = ahead(situation.current) if _binds_while_held(request, situation) else situation.ahead
        if near and not _lead_to(situation.named(near), kept_to):
            return (_distance_from(near, None, request, situation),)
    most = quantity.maximum
    if by > most and not said and steps_with("distance", replace(request, text="follow"), situation):
        followed = replace(request, intent=Intent.DISTANCE, sense=Sense.EXACT, text="follow")
        return of_a_step(followed, situation)  # "not so close, 2 m"
    if by > most:
        raise UnclearError(f"Of {request.intent.value} I can give {100 * most:.0f} cm at most. How much shall it be?")
    sign = -1.0 if request.sense is Sense.LESS else 1.0
    adjust = Adjust(request.intent.value, Change.SHIFT, sign * by)
    if near and said == near and request.intent is Intent.HEIGHT and request.scope is Scope.ONCE:
        return tuple(replace(adjust, step=step.id) for step in ahead(situation.current))
    return _of_motion(adjust, request, situation)


def _binds_while_held(request: Request, situation: Situation) -> bool:
    return bool(situation.scene.held) and request.scope is not Scope.ALWAYS


def _lead_to(names: Sequence[str], steps: Sequence[PlanStep]) -> bool:
    return any(set(names) & set(step.arguments.values()) for step in steps)


def _distance_from(said: str, length: float | None, request: Request, situation: Situation) -> AddRule:
    """Return a rule to keep `length` [m] from objects, by default not near them; it may bind to a held object."""
    names = situation.named(said)
    held: tuple[str, ...] = ()
    if request.near and request.thing:
        held = situation.named(request.thing)
    elif _binds_while_held(request, situation) and _lead_to(names, situation.ahead):
        held = (situation.scene.held,)
    if length is None and request.size is not Size.PLAIN:
        length = ROOM[request.size] * (NEAR_ARM if situation.scene.building is None else NEAR_BASE)
    if length is None:
        kept = f"!({' | '.join(f'near(robot, {name})' for name in names)})"
    else:
        kept = " & ".join(f"distance(robot, {name}) > {length:g}" for name in names)
    holding = " | ".join(f"holding({name})" for name in held)
    formula = f"G (({holding}) -> {kept})" if holding else f"G ({kept})"
    room = "away" if length is None else f"{length:g} m"
    return AddRule(str(parse(formula)), f"keep {room} from {listed(list(map(the, names)), 'and')}")


def of_a_step(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Change the distance [m] or the duration [s] of a step.

    Units in the utterance decide between the two; a present value without a unit is compared with the steps.
    """
    parameter = quantity_of(request.intent)
    amount, present = _amount(request), Amount(*request.present) if request.present else None
    units = [one for one in (amount, present) if one is not None and one.unit]
    if units:
        lengths, times = any(one.is_length for one in units), any(one.is_time for one in units)
        if lengths and times:
            raise UnclearError(f"Is {units[0]} how far, or how long? Please say it with one unit.")
        parameter = "distance" if lengths else "seconds" if times else parameter
    elif present is not None:
        parameter = _parameter_at(present.number, situation) or parameter
    step = _step_with(parameter, request, situation, present)
    if amount is not None and not amount.unit:
        unit = units[0].unit if units else _unit_of(step, parameter, amount.number, situation)
        amount = replace(amount, unit=unit)
    return (_of_step(parameter, request, amount, step),)


def _parameter_at(number: float, situation: Situation) -> str:
    """Return the parameter of a remaining step whose present value is this number, "" for none."""
    for step in situation.ahead:
        for parameter in ("distance", "seconds"):
            if _is_now(step, parameter, Amount(number, ""), situation):
                return parameter
    return ""


def _is_now(step: PlanStep, parameter: str, present: Amount, situation: Situation) -> bool:
    value = step.arguments.get(parameter)
    unit = present.unit or _unit_of(step, parameter, present.number, situation)
    return isinstance(value, float) and math.isclose(value, Amount(present.number, unit).value, abs_tol=1e-3)


def _unit_of(step: PlanStep, parameter: str, number: float, situation: Situation) -> str:
    """Return the unit of a plain number: s for a time, else the first of cm and m within the parameter's bounds."""
    if parameter == "seconds":
        return "s"
    bounds = next((one for one in situation.skills[step.skill].parameters if one.name == parameter), None)
    least, most = (bounds.minimum or 0.0, bounds.maximum or math.inf) if bounds else (0.0, math.inf)
    return next((unit for unit in ("cm", "m") if least <= Amount(number, unit).value <= most), "cm")


def _amount(request: Request) -> Amount | None:
    return Amount(request.number, request.unit) if request.number is not None else None


def _changed(amount: Amount, sense: Sense) -> tuple[Change, float]:
    """Return the change for an amount that is a share: "30 percent", "20 percent slower", "twice"."""
    if sense is Sense.EXACT:
        return Change.SET, amount.value
    if amount.unit in ("times", "x"):
        return Change.SCALE, 1 / amount.value if sense is Sense.LESS else amount.value
    return Change.SCALE, 1.0 + (-amount.value if sense is Sense.LESS else amount.value)


def _of_step(quantity: str, request: Request, amount: Amount | None, step: PlanStep) -> Adjust:
    if amount is None:
        factor = STEP_QUANTITIES[quantity].way(request.sense).sizes[request.size]
        return Adjust(quantity, Change.SCALE, factor, step.id)
    if not (amount.is_length or amount.is_time):
        return Adjust(quantity, Change.SCALE, _changed(amount, request.sense)[1], step.id)
    if request.sense is Sense.EXACT:
        return Adjust(quantity, Change.SET, amount.value, step.id)
    return Adjust(quantity, Change.SHIFT, -amount.value if request.sense is Sense.LESS else amount.value, step.id)


def steps_with(parameter: str, request: Request, situation: Situation) -> list[PlanStep]:
    """Return the remaining steps that have the parameter and match the request, the one under way first."""
    skills = _SKILLS.get(request.text, tuple(situation.skills))
    found = [step for step in situation.ahead if parameter in step.arguments and step.skill in skills]
    if request.thing:
        names = {*situation.named(request.thing)}
        taken = {step.id: {*map(situation.subject_of, situation.errand_of(step.id))} for step in found}
        found = [step for step in found if names & {*map(str, step.arguments.values()), *taken[step.id]}]
    if request.target:
        name, there, here = situation.named(request.target)[0], "", set()
        for step in situation.plan.steps:
            if name in (*step.arguments.values(), there):
                here.add(step.id)
            there = str(step.arguments.get("destination", there))
        found = [step for step in found if step.id in here]
    return found


def skip_wait(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """Remove the next wait, or the one at the target; navigation to it stays."""
    return (Remove(_step_with("seconds", replace(request, text="wait"), situation).id),)


def _step_with(parameter: str, request: Request, situation: Situation, present: Amount | None = None) -> PlanStep:
    """Return the first matching step, preferably with the `present` value; raise UnclearError if none matches."""
    found = steps_with(parameter, request, situation)
    if present is not None:
        found = [step for step in found if _is_now(step, parameter, present, situation)] or found
    if not found:
        what = {"distance": "a distance", "seconds": "a time"}[parameter]
        about = f" about “{request.thing}”" if request.thing else ""
        raise UnclearError(f"No step ahead{about} has {what} that could be changed. What should be different?")
    return found[0]
