"""Signed distances to zones: as the simulation has them outside, convex, and with the right directions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.bodies import NO_PAIRS
from llm_planner.control.safety_filter.distances import ITSELF, Clearances, Gaps
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

GEOM = {
    Shape.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Shape.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Shape.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Shape.BOX: mujoco.mjtGeom.mjGEOM_BOX,
}


class Balls:
    """A body of one ball behind the gripper point for each of `count` - 1 points, and `pairs` that must stay apart."""

    def __init__(self, count: int, pairs=NO_PAIRS) -> None:
        self.radii = np.array([0.0, *[0.05] * (count - 1)])
        self.travels, self.pairs = np.arange(1, count), pairs
        self.reach, self.most, self.bend = np.ones((count, 1)), np.ones(1), np.zeros((1, 1))


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
    values = Gaps(zones, BODY).clearances(points).values
    for point in range(1, 30):
        data.qpos[:3] = points[:, 0, point]
        mujoco.mj_kinematics(model, data)
        for index, zone in enumerate(zones):
            expected = mujoco.mj_geomDistance(model, data, index, len(zones), 2.0, None) - zone.clearance
            if expected + zone.clearance > 0.0:  # inside, the simulation's own distances are rough
                assert values[at(index, point), 0] == pytest.approx(expected, abs=1e-6)


def test_normals_are_the_directions_in_which_clearances_grow_fastest(zones, points):
    watch, step = Gaps(zones, BODY), 1e-6
    normals = watch.clearances(points).normals
    for axis in range(3):
        nudge = step * np.eye(3)[axis][:, None, None]
        there, back = watch.clearances(points + nudge).values, watch.clearances(points - nudge).values
        assert normals[:, :, axis] == pytest.approx((there - back) / (2 * step), abs=1e-4)


def test_a_clearance_never_falls_below_its_tangent_inside_as_well(zones, points):
    watch = Gaps(zones, BODY)
    here = watch.clearances(points)
    elsewhere = np.random.default_rng(5).uniform(-0.6, 0.6, points.shape)
    tangent = here.values + (here.normals * moved(elsewhere - points)).sum(axis=2)
    assert (here.values < 0.0).any()
    assert (watch.clearances(elsewhere).values >= tangent - 1e-9).all()


@pytest.mark.parametrize(
    ("shape", "size"), [(Shape.SPHERE, (0.1,)), (Shape.CYLINDER, (0.1, 0.2)), (Shape.BOX, (1, 1, 1))]
)
def test_a_point_in_the_very_middle_has_a_way_out(shape, size):
    watch = Gaps([Zone("it", shape, size, Pose((0.0, 0.0, 0.0)))], Balls(2))
    clearances = watch.clearances(np.zeros((3, 1, 2)))
    assert clearances.values[0, 0] < 0.0
    assert np.linalg.norm(clearances.normals[0, 0]) == pytest.approx(1.0)


def test_a_zone_for_the_gripper_binds_its_point_only():
    pose = Pose((0.0, 0.0, 0.0))
    both = [Zone("a", Shape.SPHERE, (0.1,), pose, 0.02, subject) for subject in (Subject.GRIPPER, Subject.ROBOT)]
    points = np.full((3, 1, 2), [[[1.0]], [[0.0]], [[0.0]]])
    gripper, robot = Gaps(both, Balls(2)).clearances(points).values[:, 0]
    assert gripper == pytest.approx(0.88)
    assert robot == pytest.approx(0.83)


def test_a_pair_of_points_keeps_the_sum_of_their_radii():
    body = Balls(3, (np.array([1]), np.array([2])))
    points = np.array([[[0.0, 0.1, 0.4]], [[0.0, 0.0, 0.4]], [[0.0, 0.0, 0.0]]])
    gaps = Gaps([], body)
    clearances = gaps.clearances(points)
    assert gaps.names(np.array([0])) == [ITSELF]
    assert clearances.values[0, 0] == pytest.approx(0.5 - 0.1)
    assert clearances.normals[0, 0] == pytest.approx((0.6, 0.8, 0.0))
    assert gaps.widened(0.01).clearances(points).values[0, 0] == pytest.approx(0.4 - 0.02), "both points may be off"


def test_a_part_is_seen_as_in_the_whole(zones, points):
    watch = Gaps(zones, BODY)
    whole = watch.clearances(points).values
    kept = np.array([at(0, 1), at(0, 3), at(2, 3)])
    part, some = watch.part(kept)
    assert some.tolist() == [0, 1, 3]
    assert part.names(np.arange(3)) == [zones[0].name, zones[0].name, zones[2].name]
    assert part.clearances(np.ascontiguousarray(points[:, :, some])).values == pytest.approx(whole[kept])


def test_the_bound_of_a_path_is_below_every_clearance_on_it(zones):
    rng, watch = np.random.default_rng(6), Gaps(zones, BODY)
    ends = rng.uniform(-0.6, 0.6, (3, 2, len(BODY.radii)))
    shares = np.linspace(0.0, 1.0, 200)[:, None]
    path = np.ascontiguousarray(ends[:, :1] + shares * (ends[:, 1:] - ends[:, :1]))
    every = watch.clearances(path).values
    for gap in range(len(watch)):
        part, some = watch.part(np.array([gap]))
        clearances: Clearances = part.clearances(np.ascontiguousarray(ends[:, :, some]))
        bound, why = clearances.lowest(np.zeros(1), 0.0)
        assert bound <= every[gap].min() + 1e-9
        assert (why == "") == (bound >= min(0.0, every[gap, 0]))


@pytest.mark.parametrize("points", [np.zeros((3, 1, 2), dtype=np.float32), np.zeros((3, 2, 2))[:, ::2]])
def test_an_array_of_another_type_or_layout_is_refused(points):
    with pytest.raises((TypeError, ValueError), match=r"type|contiguous"):
        Gaps([Zone("it", Shape.SPHERE, (0.1,), Pose((0.0, 0.0, 0.0)))], Balls(2)).clearances(points)


def test_arrays_whose_shapes_disagree_are_refused():
    points, solids, gaps = np.zeros((3, 1, 2)), np.zeros((1, 15)), np.zeros((1, 3), dtype=np.intp)
    with pytest.raises(ValueError, match="shapes that disagree"):
        kernel.clearances(points, solids, gaps, np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1, 3)), np.zeros((1, 1, 3)))
