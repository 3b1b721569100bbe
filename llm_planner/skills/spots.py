"""Choice of a free spot for placing: beside an object, in a region, at a point, or at an exact offset.

Pure searches over a scene, so that planning detects a lack of space before anything moves. Each takes a function `way`
that plans the path to a release and raises SkillError if rules leave none; the search then tries another spot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn

from llm_planner.robots.arm_model import arm_shape
from llm_planner.scene.driven_base import on_area
from llm_planner.scene.names import the
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, Rectangle, direction_vector
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import Footprint, footprint, separation
from llm_planner.skills.hand_geometry import EDGE, lies_on_table
from llm_planner.skills.placement import GRID, TURNS, Held, Point2, Release, on_table, spread, square

NUDGES = (0.0, 0.01, -0.01, 0.02, -0.02)  # [m] off the wanted place, tried in order
FINE_NUDGES = (0.0, 0.003, -0.003)  # [m] the same for an exact distance: too small to notice
INSIDE = 0.01  # [m] from a region's edge to the spot, so that the object lies inside
TIGHT = (0.004,)  # [m] free table required at a given place
TIGHTEST = (0.004, 0.002)  # [m] the same for an exact distance, tried in order
FINE_TURNS = tuple(sorted((math.radians(7.5 * k) for k in range(-12, 12)), key=abs))

Way = Callable[[Release], object]


def anywhere(release: Release) -> None:
    """Accept every spot: the `way` if no zones exist."""


def spot_in(scene: Scene, held: Held, name: str, way: Way = anywhere) -> Release:
    """Return the free spot in the region `name` nearest to its middle; raises SkillError (NO_FREE_SPACE)."""
    area = scene.region(name)
    places = spread(area.area, area.anchor, scene.scale * INSIDE, scene.scale * GRID)
    found = _first(on_table(scene, held, places, ()), way)
    return found or _refused(scene, held, area.anchor, "in that part of the table")


def spot_on(scene: Scene, held: Held, table: SceneObject, way: Way = anywhere) -> Release:
    """Return the free spot on a table nearest to the middle in front of the arm; raises like `spot_in`."""
    nearest, farthest = arm_shape(scene.arm).table_range
    front, margin = Rectangle(nearest, farthest, -farthest, farthest), max(EDGE, held.shape.radius)
    spots = [spot for spot in spread(front, scene.workspace.center) if on_area(table, spot, margin)]
    found = _first(on_table(scene, held, spots, ()), way)
    return found or _refused(scene, held, spots[0] if spots else table.position[:2], f"on {the(table.name)}")


def spot_at(scene: Scene, held: Held, point: Point2, way: Way = anywhere) -> Release:
    """Return a spot at `point` [m] or close to it; raises SkillError (NO_FREE_SPACE, UNREACHABLE)."""
    found = _first(on_table(scene, held, _around(point, NUDGES), (), TIGHT), way)
    return found or _refused(scene, held, point, f"at ({point[0]:.2f}, {point[1]:.2f})")


def spot_offset(scene: Scene, held: Held, point: Point2) -> Release:
    """Return a spot within 5 mm of `point` [m], with any gap and any turn of the object; raises like `spot_at`."""
    for center in _around(point, FINE_NUDGES):
        for turns in (TURNS, FINE_TURNS):
            for release in on_table(scene, held, [center], (), TIGHTEST, turns):
                return release
    return _refused(scene, held, point, "exactly that far away")


def spot_beside(
    scene: Scene, held: Held, other: SceneObject, direction: str, distance: float, near: Point2, way: Way = anywhere
) -> Release:
    """Return a spot with `distance` [m] of free table between the held object and `other`; raises like `spot_at`.

    For `ANY_SIDE`, the side with room nearest to `near` [m] is taken, preferably within the workspace.
    """
    shape = footprint(other)
    places = [one for nudge in NUDGES for one in _beside(scene, held, shape, direction, distance, nudge, near)]
    releases = (one for center, yaw in places for one in on_table(scene, held, [center], (yaw,), TIGHT))
    where = "on any side" if direction == ANY_SIDE else "on that side"
    found = _first(releases, way)
    return found or _refused(scene, held, places[-1][0], f"{distance:g} m beside {the(other.name)} {where}")


def _first(releases: Iterable[Release], way: Way) -> Release | None:
    """Return the first release with a path, None if there are no releases; raises the first refusal of `way`."""
    refusal: SkillError | None = None
    for release in releases:
        try:
            way(release)
        except SkillError as error:
            refusal = refusal or error
        else:
            return release
    if refusal:
        raise refusal
    return None


def _refused(scene: Scene, held: Held, center: Point2, where: str) -> NoReturn:
    """Raise the error for a placement at `center`: out of reach, off the table, or blocked by a neighbour."""
    if not arm_shape(scene.arm).reaches(*center):
        raise SkillError(SkillErrorCode.UNREACHABLE, f"the arm cannot reach the place {where} with the hand down")
    if not lies_on_table(scene, *center):
        raise SkillError(SkillErrorCode.UNREACHABLE, f"the table ends before the place {where}")
    body = held.shape_at(center, 0.0)
    others = [item for item in scene.objects if item.name != held.item.name and item.kind != TABLE_KIND]
    nearest = min(others, key=lambda item: separation(body, footprint(item)), default=None)
    reason = f"; {the(nearest.name)} is in the way" if nearest is not None else ""
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no room for {the(held.item.name)} {where}{reason}")


def _around(point: Point2, nudges: Sequence[float]) -> list[Point2]:
    return sorted(
        ((point[0] + dx, point[1] + dy) for dx in nudges for dy in nudges), key=lambda center: math.dist(center, point)
    )


def _beside(
    scene: Scene, held: Held, other: Footprint, direction: str, distance: float, nudge: float, near: Point2
) -> list[tuple[Point2, float]]:
    """Return centres and object yaws with that gap on that side, shifted sideways by `nudge` [m], best first."""
    sides = [direction_vector(side) for side in (DIRECTIONS if direction == ANY_SIDE else (direction,))]
    poses = [pose for side in sides for pose in _on_side(held, other, side, distance, nudge)]
    if direction == ANY_SIDE:
        poses.sort(key=lambda pose: (not scene.workspace.contains(*pose[0]), math.dist(pose[0], near)))
    return poses


def _on_side(
    held: Held, other: Footprint, side: Point2, distance: float, nudge: float
) -> Iterator[tuple[Point2, float]]:
    ux, uy = side
    along = math.atan2(uy, ux)
    for first, yaw in zip(held.shape.half, square(along), strict=True):
        reach = distance + first + other.extent(along)
        yield (other.center[0] + ux * reach - uy * nudge, other.center[1] + uy * reach + ux * nudge), yaw
