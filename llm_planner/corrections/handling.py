"""Operations that take an object, and that lay it back where it lay before."""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.corrections.edits import Insert
from llm_planner.corrections.references import UnclearError
from llm_planner.corrections.situation import Situation
from llm_planner.scene.names import the
from llm_planner.scene.predicates import TABLE_KIND, in_, is_container, on

SAME_PLACE = 0.01  # [m] displacement up to which an object has not moved


def has_moved(name: str, situation: Situation) -> bool:
    """Whether the object is not where it was first, as far as that is known."""
    place = situation.origins.get(name)
    return place is None or math.dist(situation.scene.find(name).position, place) >= SAME_PLACE


def taking(name: str, situation: Situation, before: str) -> tuple[Insert, ...]:
    """Grasp an object before a step; a mobile robot goes there first."""
    if situation.scene.building is None:
        return (Insert("pick", {"object": name}, before),)
    return Insert("go_to", {"destination": name}, before), Insert("pick_up", {"object": name}, before)


def lay_back(name: str, situation: Situation) -> tuple[Insert, ...]:
    """Put an object that is held then back before the step under way; raise UnclearError if its origin is unknown."""
    return laying(name, situation, now(situation))


def laying(name: str, situation: Situation, before: str) -> tuple[Insert, ...]:
    """Lay a held object where it lay before, before a step; raise UnclearError if that place is unknown."""
    if name not in situation.origins:
        raise UnclearError(f"I do not know where {the(name)} lay before. Where should it go?")
    x, y, _ = situation.origins[name]
    building = situation.scene.building
    if building is None:
        under = _under(name, situation)
        where = {"object": under} if under else {"place": (x, y, 0.0)}
        is_in = under and is_container(situation.scene.find(under))
        return (Insert("place_in" if is_in else "place_on" if under else "place_at", where, before),)
    room = building.room_at(x, y)
    return Insert("go_to", {"destination": room}, before), Insert("drop_off", {}, before)


def _under(name: str, situation: Situation) -> str:
    """Return what the object lay in or on before, "" for the table."""
    scene = situation.scene
    objects = tuple(
        replace(item, position=situation.origins[name]) if item.name == name else item for item in scene.objects
    )
    before = replace(scene, objects=objects, held="" if scene.held == name else scene.held)
    others = [item.name for item in objects if item.name != name and item.kind != TABLE_KIND]
    below = [other for other in others if on(before, name, other)]
    return next((other for other in below if in_(before, name, other)), next(iter(below), ""))


def now(situation: Situation) -> str:
    """Return the id of the step under way or next, "" if there is none."""
    return next((step.id for step in situation.ahead), "")
