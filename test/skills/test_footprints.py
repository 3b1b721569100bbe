import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.scene.scene import SceneObject
from llm_planner.skills.footprints import Footprint, footprint, is_upright, reach_from, separation

number = st.floats(-0.3, 0.3)
rectangles = st.builds(
    Footprint, st.tuples(number, number), st.tuples(st.floats(0.01, 0.1), st.floats(0.01, 0.1)), st.floats(-4, 4)
)
discs = st.builds(lambda c, r: Footprint(c, (r, r), round=True), st.tuples(number, number), st.floats(0.01, 0.1))


def corners(shape: Footprint) -> np.ndarray:
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    local = np.array([[i * shape.half[0], j * shape.half[1]] for i in (-1, 1) for j in (-1, 1)])
    return np.array(shape.center) + local @ np.array([[c, s], [-s, c]])


def samples(shape: Footprint) -> np.ndarray:
    """Points of the rectangle, edges and corners among them."""
    low_left, high_left, low_right, _ = corners(shape)
    u, v = np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 1, 15))
    return low_left + u.reshape(-1, 1) * (low_right - low_left) + v.reshape(-1, 1) * (high_left - low_left)


@settings(max_examples=60, deadline=None)
@given(rectangles, rectangles)
def test_the_separation_of_rectangles_never_exceeds_their_distance(a: Footprint, b: Footprint) -> None:
    nearest = np.linalg.norm(samples(a)[:, None] - samples(b)[None], axis=-1).min()
    assert separation(a, b) <= nearest + 1e-9


@settings(max_examples=60, deadline=None)
@given(rectangles, rectangles)
def test_rectangles_overlap_exactly_when_no_axis_separates_them(a: Footprint, b: Footprint) -> None:
    gaps = []
    for axis in (a.yaw, a.yaw + math.pi / 2, b.yaw, b.yaw + math.pi / 2):
        direction = np.array([math.cos(axis), math.sin(axis)])
        pa, pb = corners(a) @ direction, corners(b) @ direction
        gaps.append(max(pa.min() - pb.max(), pb.min() - pa.max()))
    assert separation(a, b) == pytest.approx(max(gaps), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(discs, rectangles)
def test_the_separation_of_a_disc_is_the_same_from_both_sides(disc: Footprint, rectangle: Footprint) -> None:
    assert separation(disc, rectangle) == separation(rectangle, disc)
    nearest = np.linalg.norm(samples(rectangle) - np.array(disc.center), axis=1).min() - disc.half[0]
    assert separation(disc, rectangle) <= nearest + 1e-9


@settings(max_examples=60, deadline=None)
@given(rectangles, st.tuples(number, number))
def test_the_reach_is_to_the_farthest_corner(shape: Footprint, point: tuple[float, float]) -> None:
    assert reach_from(point, shape) == pytest.approx(np.linalg.norm(corners(shape) - point, axis=1).max())


def test_discs_are_apart_by_their_edges() -> None:
    a, b = Footprint((0, 0), (0.05, 0.05), round=True), Footprint((0.2, 0), (0.03, 0.03), round=True)
    assert separation(a, b) == pytest.approx(0.12)
    assert reach_from((0.0, 0.1), a) == pytest.approx(0.15)


def item(kind: str, orientation: tuple[float, float, float, float]) -> SceneObject:
    return SceneObject("it", kind, "", (0.4, 0.1, 0.05), orientation, (0.04, 0.06, 0.1))


def test_an_upright_box_covers_its_sides_at_its_yaw() -> None:
    shape = footprint(item("box", (0.0, 0.0, math.sin(0.15), math.cos(0.15))))
    assert shape.half == pytest.approx((0.02, 0.03))
    assert shape.yaw == pytest.approx(0.3)


def test_a_box_on_its_side_covers_what_it_lies_on() -> None:
    shape = footprint(item("box", (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))))
    assert sorted(shape.half) == pytest.approx([0.02, 0.05])


def test_a_leaning_box_covers_its_bounding_box() -> None:
    shape = footprint(item("box", (math.sin(0.35), 0.0, 0.0, math.cos(0.35))))
    assert shape.yaw == 0.0
    assert shape.half[1] == pytest.approx((0.06 * math.cos(0.7) + 0.1 * math.sin(0.7)) / 2)


def test_a_bowl_is_round_when_it_stands() -> None:
    assert footprint(item("bowl", (0.0, 0.0, 0.0, 1.0))).round
    assert not is_upright(item("bowl", (1.0, 0.0, 0.0, 0.0)))
