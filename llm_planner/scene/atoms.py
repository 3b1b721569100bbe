"""Atoms: the grammar of preconditions and effects in skill manifests, and their evaluation.

An atom is `predicate(argument, ...)` or `not predicate(...)`. An argument is the name of a skill parameter, `held`
(the object that was in the gripper when the skill started) or `here` (the room a mobile robot was in at that time).

    empty()                                   nothing is in the gripper
    holding()                                 something is in the gripper
    held(object)                              that object is in the gripper
    above(object)                             the gripper is a little above it
    on(held, object)   in(held, object)       see `predicates`
    in(held, here)   in(object, here)         that object lies in the room
    reached(destination)                      the robot is in that room, or beside that object or person; a mobile arm
                                              stands where it reaches that object
    followed(object, distance)                the robot is at that distance from it [m]
    docked(station)                           the robot stands in that docking station
    portable(object)                          a robot may pick it up (it is not a person or a fixture)
    within_reach(object)                      the arm reaches it from where its base stands; so it is for a fixed arm
    at(held, place)                           a region's name or a point
    beside(held, object, direction, distance)
    moved(held, direction, distance)          exactly so far from where it lay before it was picked up
    moved(object, direction, distance)        the same for a pushed object, which may slide on a little
    clear(object)                             nothing is on or in it
    container(object)                         things can be put into it
    accessible(object)                        it is not a closed drawer and does not lie in one
    open(object)   closed(object)   lit(object)   clean(object)   toppled(object)       see `predicates`
    drawer(object)   button(object)   stain(object)   dock(station)                     its kind
    different(held, object)                   they are two different objects

Directions and regions are those seen by a person behind the robot. Callers convert other viewpoints beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from llm_planner.errors import InputError
from llm_planner.scene import predicates
from llm_planner.scene.driven_base import within_reach
from llm_planner.scene.furniture import docked
from llm_planner.scene.propositions import PREDICATES, ROBOT
from llm_planner.scene.scene import Scene, Vector3

HELD = "held"
HERE = "here"
_ATOM = re.compile(r"(not\s+)?([a-z_]+)\(\s*([a-z_]+(?:\s*,\s*[a-z_]+)*)?\s*\)")


@dataclass(frozen=True)
class Atom:
    """Parsed atom `predicate(*arguments)`, optionally negated."""

    predicate: str
    arguments: tuple[str, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'not ' if self.negated else ''}{self.predicate}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Moment:
    """State against which an atom is evaluated.

    Attributes:
        scene: Current scene.
        values: The skill's arguments by parameter name.
        held_at_start: Object in the gripper when the skill started, "" for none.
        origins: Last position of each moved object before it was picked up or pushed [m, base frame].
    """

    scene: Scene
    values: Mapping[str, Any]
    held_at_start: str
    origins: Mapping[str, Vector3]


def _value(moment: Moment, name: str) -> Any:
    """Return what an argument names. Before a skill starts, `here` is the robot's current room."""
    if name == HELD:
        return moment.held_at_start
    return moment.values.get(HERE, moment.scene.robot_room) if name == HERE else moment.values[name]


def _reached(moment: Moment, destination: str) -> bool:
    scene = moment.scene
    if scene.base is not None:
        return within_reach(scene, destination)
    is_room = scene.building is not None and destination in scene.building.names
    return PREDICATES["in" if is_room else "near"][1](moment, ROBOT, destination)


def _pushed(moment: Moment, item: str, direction: str, distance: float) -> bool:
    return predicates.moved(moment.origins[item], moment.scene, item, direction, distance)


def _placed(moment: Moment, item: str, direction: str, distance: float) -> bool:
    return predicates.displaced(moment.origins[item], moment.scene, item, direction, distance)


def _is_kind(kind: str, moment: Moment, item: str) -> bool:
    return moment.scene.find(item).kind == kind


# name: (number of arguments, meaning); those that rules use too are in `propositions`
_PREDICATES: dict[str, tuple[int, Callable[..., bool]]] = {
    "empty": (0, lambda m: m.scene.held == ""),
    "holding": (0, lambda m: m.scene.held != ""),
    "held": (1, lambda m, item: predicates.held(m.scene, item)),
    "above": (1, lambda m, item: predicates.above(m.scene, item)),
    **{name: PREDICATES[name] for name in ("on", "in", "at", "clear", "open", "closed", "lit", "clean", "toppled")},
    "reached": (1, _reached),
    "followed": (2, lambda m, item, distance: predicates.followed(m.scene, item, distance)),
    "docked": (1, lambda m, station: docked(m.scene, station)),
    "portable": (1, lambda m, item: predicates.is_portable(m.scene.find(item))),
    "beside": (4, lambda m, item, other, side, gap: predicates.beside(m.scene, item, other, side, gap)),
    "moved": (3, _pushed),
    "within_reach": (1, lambda m, item: within_reach(m.scene, item)),
    "accessible": (1, lambda m, item: predicates.accessible(m.scene, item)),
    "container": (1, lambda m, item: predicates.is_container(m.scene.find(item))),
    **{kind: (1, partial(_is_kind, kind)) for kind in sorted(predicates.FURNITURE)},
    "different": (2, lambda m, item, other: item != other),
}


def parse_atom(text: str, parameters: Collection[str]) -> Atom:
    """Parse an atom of a skill with these parameters. Raises InputError that states the problem and the choices."""
    match = _ATOM.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is not an atom; write predicate(argument, ...) or not predicate(argument, ...)")
    negation, predicate, listed = match.groups()
    arguments = tuple(part.strip() for part in listed.split(",")) if listed else ()
    if predicate not in _PREDICATES:
        raise InputError(f"{text!r} uses the unknown predicate {predicate!r}; there are: {', '.join(_PREDICATES)}")
    count = _PREDICATES[predicate][0]
    if len(arguments) != count:
        raise InputError(f"{text!r} gives {predicate} {len(arguments)} arguments; it takes {count}")
    unknown = [name for name in arguments if name not in (HELD, HERE, *parameters)]
    if unknown:
        choices = ", ".join([*parameters, HELD, HERE])
        raise InputError(f"{text!r} names {unknown[0]!r}; an atom may name: {choices}")
    return Atom(predicate, arguments, negation is not None)


def holds(atom: Atom, moment: Moment) -> bool:
    """Return whether the atom holds now. An atom about an object that left the scene is false, even if negated."""
    # A placed object stays where it was put, a pushed one slides on.
    is_placed = atom.predicate == "moved" and atom.arguments[0] == HELD
    meaning = _placed if is_placed else _PREDICATES[atom.predicate][1]
    try:
        return meaning(moment, *(_value(moment, name) for name in atom.arguments)) is not atom.negated
    except KeyError:
        return False
