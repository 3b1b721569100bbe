"""Sweep: slide an object over the table into a region or to a point, round what is in the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.detours import nearest_in
from llm_planner.skills.errors import SkillError
from llm_planner.skills.scripts.slide import CLOSE, ENOUGH, GRAZING, is_behind, slide
from llm_planner.skills.sliding import stroke_to
from llm_planner.world.names import the
from llm_planner.world.places import WORKSPACE, Point2, Rectangle, region
from llm_planner.world.predicates import at
from llm_planner.world.scene import Scene, SceneObject

INSIDE = 0.01  # [m] of the middle of what is swept into a region from its edge
GOALS, DETOURS = 0.04, 0.06  # [m] between the points of a region, and of the table, that are tried
ROOMY = 0.006  # [m] beside other things, for a stroke to begin
Place = str | Point2


def sweep(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` at `place`; raises SkillError (NO_FREE_SPACE) where no strokes lead there."""
    name, place = str(arguments["object"]), _place(arguments["place"])
    yield from slide(arm, name, lambda item: _next(arm, item, place))
    if not at(arm.scene, name, place):
        x, y, _ = arm.find(name).position
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} was swept no farther than ({x:.2f}, {y:.2f})")


def _place(value: Argument) -> Place:
    return (value[0], value[1]) if isinstance(value, tuple) else str(value)


def _next(arm: Arm, item: SceneObject, place: Place) -> Point2:
    """Where the next stroke takes the thing: to its place, or somewhere from where there is a way to that.

    What was chosen in the beginning stays so: a thing that slides aside by millimetres is not taken elsewhere for it.
    """
    began = arm.began.scene.find(item.name)
    goals = _goals(began.position[:2], place)
    if math.dist(item.position[:2], goals[0]) <= ENOUGH:
        return goals[0]
    with suppress(SkillError):
        first = _chosen(arm, arm.began.scene, began, goals)
        near = math.dist(item.position[:2], first) <= ENOUGH
        if first in goals and (near or _is_free(arm, arm.scene, item, first, GRAZING)):
            return first
    return _chosen(arm, arm.scene, item, goals)


def _chosen(arm: Arm, scene: Scene, item: SceneObject, goals: list[Point2]) -> Point2:
    """Where to take the thing that is there; raises SkillError (NO_FREE_SPACE)."""
    for goal in goals:
        if _is_free(arm, scene, item, goal, ROOMY):
            return goal
    for via in _detours(item.position[:2], goals[0]):
        there = replace(item, position=(*via, item.position[2]))
        if _is_free(arm, scene, item, via, ROOMY) and _is_free(arm, scene, there, goals[0], ROOMY):
            return via
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no free way to sweep {the(item.name)} there")


def _detours(here: Point2, goal: Point2) -> list[Point2]:
    """Points to go round by, the shortest way first."""
    points = [point for point in _spread(WORKSPACE, DETOURS) if math.dist(here, point) >= DETOURS / 2]
    return sorted(points, key=lambda point: math.dist(here, point) + math.dist(point, goal))


def _goals(here: Point2, place: Place) -> list[Point2]:
    """The point, or those of a region, the nearest to `here` first."""
    if not isinstance(place, str):
        return [place]
    area = region(place).area
    inside = Rectangle(area.x_min + INSIDE, area.x_max - INSIDE, area.y_min + INSIDE, area.y_max - INSIDE)
    return sorted([nearest_in(inside, here), *_spread(inside, GOALS)], key=lambda point: math.dist(point, here))


def _spread(area: Rectangle, apart: float) -> list[Point2]:
    nx, ny = math.ceil((area.x_max - area.x_min) / apart), math.ceil((area.y_max - area.y_min) / apart)
    xs = [area.x_min + i * (area.x_max - area.x_min) / nx for i in range(nx + 1)]
    return [(x, area.y_min + j * (area.y_max - area.y_min) / ny) for x in xs for j in range(ny + 1)]


def _is_free(arm: Arm, scene: Scene, item: SceneObject, goal: Point2, margin: float) -> bool:
    """Whether one stroke may take the thing there, `margin` [m] beside others; a hand that is behind it has room."""
    if math.dist(item.position[:2], goal) <= CLOSE:
        return True
    stroke, zones = stroke_to(item, goal), arm.observation.zones
    try:
        if margin < 0.0 and is_behind(arm, stroke):
            stroke.check_way(scene, zones, margin)
        else:
            stroke.check(scene, zones, margin)
    except SkillError:
        return False
    return True
