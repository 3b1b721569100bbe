"""Signed distances to zones: as the simulation has them outside, convex, and with the right directions."""

from __future__ import annotations

from itertools import pairwise

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.bodies import NO_PAIRS, Ball
from llm_planner.control.safety_filter.distances import Gaps, surroundings
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

GEOM = {
    Shape.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Shape.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Shape.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Shape.BOX: mujoco.mjtGeom.mjGEOM_BOX,
}


class Balls(Ball):
    """A body of one ball behind the gripper point for each of `count` - 1 points."""

    def __init__(self, count: int) -> None:
        super().__init__(0.05)
        self.radii, self.travels = np.array([0.0, *[0.05] * (count - 1)]), np.arange(1, count)
        self.reach = np.ones((count, 3))


BODY = Balls(61)


@pytest.fixture(scope="module")
def zones(draw_zone) -> list[Zone]:
    rng = np.random.default_rng(2)
    drawn = [draw_zone(rng, f"zone {k}", np.zeros(3)) for k in range(24)]
    assert {zone.shape for zone in drawn} == set(Shape)
    return drawn


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(4).uniform(-0.6, 0.6, (3, 2, len(BODY.radii)))


def at(zone: int, point: int) -> int:
    """The gap of a zone and a point."""
    return zone * len(BODY.travels) + point - 1


def moved(points: np.ndarray) -> np.ndarray:
    """What belongs to each gap (M, n, 3), of what belongs to each point (3, n, S)."""
    return np.tile(points[:, :, 1:].transpose(2, 1, 0), (24, 1, 1))


def test_distances_are_those_of_the_simulation(zones, points):
    spec = mujoco.MjSpec()
    for zone in zones:
        x, y, z, w = zone.pose.orientation
        size = [*zone.size, 0.0, 0.0][:3]
        spec.worldbody.add_geom(type=GEOM[zone.shape], size=size, pos=zone.pose.position, quat=[w, x, y, z])
    ball = spec.worldbody.add_body()
    ball.add_freejoint()
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0.0, 0.0])
    model = spec.compile()
    data = mujoco.MjData(model)
    values, _ = Gaps(zones, BODY, NO_PAIRS).clearances(points)
    for point in range(1, 30):
        data.qpos[:3] = points[:, 0, point]
        mujoco.mj_kinematics(model, data)
        for index, zone in enumerate(zones):
            expected = mujoco.mj_geomDistance(model, data, index, len(zones), 2.0, None) - zone.clearance
            if expected + zone.clearance > 0.0:  # inside, the simulation's own distances are rough
                assert values[at(index, point), 0] == pytest.approx(expected, abs=1e-6)


def test_normals_are_the_directions_in_which_clearances_grow_fastest(zones, points):
    watch, step = Gaps(zones, BODY, NO_PAIRS), 1e-6
    _, normals = watch.clearances(points)
    for axis in range(3):
        nudge = step * np.eye(3)[axis][:, None, None]
        there, back = watch.clearances(points + nudge)[0], watch.clearances(points - nudge)[0]
        assert normals[:, :, axis] == pytest.approx((there - back) / (2 * step), abs=1e-4)


def test_a_clearance_never_falls_below_its_tangent_inside_as_well(zones, points):
    watch = Gaps(zones, BODY, NO_PAIRS)
    values, normals = watch.clearances(points)
    elsewhere = np.random.default_rng(5).uniform(-0.6, 0.6, points.shape)
    tangent = values + (normals * moved(elsewhere - points)).sum(axis=2)
    assert (values < 0.0).any()
    assert (watch.clearances(elsewhere)[0] >= tangent - 1e-9).all()


@pytest.mark.parametrize(
    ("shape", "size"), [(Shape.SPHERE, (0.1,)), (Shape.CYLINDER, (0.1, 0.2)), (Shape.BOX, (1, 1, 1))]
)
def test_a_point_in_the_very_middle_has_a_way_out(shape, size):
    watch = Gaps([Zone("it", shape, size, Pose((0.0, 0.0, 0.0)))], Balls(2), NO_PAIRS)
    values, normals = watch.clearances(np.zeros((3, 1, 2)))
    assert values[0, 0] < 0.0
    assert np.linalg.norm(normals[0, 0]) == pytest.approx(1.0)


def test_a_zone_for_the_gripper_binds_its_point_only():
    pose = Pose((0.0, 0.0, 0.0))
    both = [Zone("a", Shape.SPHERE, (0.1,), pose, 0.02, subject) for subject in (Subject.GRIPPER, Subject.ROBOT)]
    points = np.full((3, 1, 2), [[[1.0]], [[0.0]], [[0.0]]])
    gripper, robot = Gaps(both, Balls(2), NO_PAIRS).clearances(points)[0][:, 0]
    assert gripper == pytest.approx(0.88)
    assert robot == pytest.approx(0.83)


def test_a_pair_of_points_keeps_the_sum_of_their_radii():
    gaps = Gaps([], Balls(3), (np.array([1]), np.array([2])))
    values, normals = gaps.clearances(np.array([[[0.0, 0.1, 0.4]], [[0.0, 0.0, 0.4]], [[0.0, 0.0, 0.0]]]))
    assert values[0, 0] == pytest.approx(0.5 - 0.1)
    assert normals[0, 0] == pytest.approx((0.6, 0.8, 0.0))


@pytest.mark.parametrize("enough", [0.0, 0.05, np.inf])
def test_the_bound_of_a_path_is_below_every_clearance_on_it(zones, enough):
    rng = np.random.default_rng(6)
    for zone in zones:
        around, why = surroundings(Ball(0.05), [zone]), ""
        for _ in range(30):
            path = np.cumsum(rng.uniform(-0.2, 0.2, (5, 3)), axis=0) + rng.uniform(-0.3, 0.3, 3)
            bound, lost, farthest = around.model.path(path, np.zeros(4), 0.0, enough)
            shares = np.linspace(0.0, 1.0, 50)[:, None]
            every = [around.clearance(row) for a, b in pairwise(path) for row in a + shares * (b - a)]
            assert min(bound, enough) <= min(every) + 1e-9
            why, least = around.name(lost), min(0.0, every[0])
            assert why == ("" if bound >= least else zone.name)
            assert bound >= least or min(every) < least + 0.05, "it is not much stricter than it has to be"
            assert farthest == pytest.approx(np.linalg.norm(np.diff(path, axis=0), axis=1).max())


@pytest.mark.parametrize("points", [np.zeros((3, 1, 2), dtype=np.float32), np.zeros((3, 2, 2))[:, ::2]])
def test_an_array_of_another_type_or_layout_is_refused(points):
    with pytest.raises((TypeError, ValueError), match=r"type|contiguous"):
        Gaps([Zone("it", Shape.SPHERE, (0.1,), Pose((0.0, 0.0, 0.0)))], Balls(2), NO_PAIRS).clearances(points)


def test_arrays_whose_shapes_disagree_are_refused():
    points, solids, gaps = np.zeros((3, 1, 2)), np.zeros((1, 15)), np.zeros((1, 3), dtype=np.intp)
    with pytest.raises(ValueError, match="shapes that disagree"):
        kernel.clearances(points, solids, gaps, np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1, 3)))
