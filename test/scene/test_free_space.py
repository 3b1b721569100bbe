"""Free spots, rows and circles on the table."""

import itertools
import math

import pytest

from llm_planner.scene.free_space import BLOCK_RADIUS, FINGER_ROOM, circle, clearance, free_spot, row
from llm_planner.scene.places import WORKSPACE, region

ENOUGH = BLOCK_RADIUS + FINGER_ROOM


def test_the_anchor_is_taken_while_it_is_free(scene):
    corner = region("top left corner")
    assert free_spot(scene(), corner.area, corner.anchor) == corner.anchor


def test_a_taken_anchor_gives_way_to_the_nearest_free_spot(thing, scene):
    side = region("left side")
    now = scene(thing("red block", *side.anchor))
    spot = free_spot(now, side.area, side.anchor)
    assert side.area.contains(*spot)
    assert clearance(now, spot) >= ENOUGH
    assert math.dist(spot, side.anchor) < 0.12


def test_a_full_region_gives_its_roomiest_spot(thing, scene):
    corner = region("top left corner")
    now = scene(*(thing(f"{color} bowl", 0.57, y) for color, y in (("red", 0.2), ("blue", 0.3), ("green", 0.4))))
    spot = free_spot(now, corner.area, corner.anchor)
    assert corner.area.contains(*spot)
    assert clearance(now, spot) < ENOUGH


def test_what_is_held_is_not_in_the_way(thing, scene):
    assert clearance(scene(thing("red block", 0.4, 0.0), held="red block"), (0.4, 0.0)) == math.inf


def test_a_row_is_straight_evenly_spaced_and_free(thing, scene):
    now = scene(thing("red bowl", 0.46, 0.0))
    points = row(now, 4, (0.0, -1.0))
    assert len({x for x, _ in points}) == 1
    steps = [a[1] - b[1] for a, b in itertools.pairwise(points)]
    assert steps == pytest.approx([0.09] * 3)
    assert all(WORKSPACE.contains(*point) and clearance(now, point) >= ENOUGH for point in points)


def test_a_long_row_is_squeezed_into_the_workspace(scene):
    assert all(WORKSPACE.contains(*point) for point in row(scene(), 12, (1.0, 0.0)))


@pytest.mark.parametrize("count", [1, 3, 8])
def test_a_circle_has_its_points_on_one_radius_inside_the_workspace(scene, count):
    points = circle(scene(), count)
    center = tuple(sum(values) / count for values in zip(*points, strict=True))
    assert all(WORKSPACE.contains(*point) for point in points)
    if count > 1:
        radii = [math.dist(point, center) for point in points]
        assert radii == pytest.approx([radii[0]] * count)
