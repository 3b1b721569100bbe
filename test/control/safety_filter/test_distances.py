"""Signed distances to zones: as the simulation has them outside, convex, and with the right directions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter.distances import UNLIMITED, ZoneSet
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

GEOM = {
    Shape.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    Shape.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    Shape.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    Shape.BOX: mujoco.mjtGeom.mjGEOM_BOX,
}
RADII = np.array([0.0, *[0.05] * 60])


@pytest.fixture(scope="module")
def zones(draw_zone) -> list[Zone]:
    rng = np.random.default_rng(2)
    drawn = [draw_zone(rng, f"zone {k}", np.zeros(3)) for k in range(24)]
    assert {zone.shape for zone in drawn} == set(Shape)
    return drawn


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(4).uniform(-0.6, 0.6, (3, 2, len(RADII)))


def indices(zones: list[Zone]) -> list[np.ndarray]:
    """Every pair of a zone and a point that it binds: zone, posture, point."""
    grid = np.meshgrid(np.arange(len(zones)), np.arange(2), np.arange(1, len(RADII)), indexing="ij")
    return [axis.ravel() for axis in grid]


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
    values = ZoneSet(zones, RADII).clearances(points).values
    for point in range(1, 30):
        data.qpos[:3] = points[:, 0, point]
        mujoco.mj_kinematics(model, data)
        for index, zone in enumerate(zones):
            expected = mujoco.mj_geomDistance(model, data, index, len(zones), 2.0, None) - zone.clearance
            if expected + zone.clearance > 0.0:  # inside, the simulation's own distances are rough
                assert values[index, 0, point] == pytest.approx(expected, abs=1e-6)


def test_normals_are_the_directions_in_which_clearances_grow_fastest(zones, points):
    zone, posture, point = indices(zones)
    watch, step = ZoneSet(zones, RADII), 1e-6
    normals = watch.clearances(points).normals(zone, posture, point)
    for axis in range(3):
        nudge = step * np.eye(3)[axis][:, None, None]
        there, back = watch.clearances(points + nudge).values, watch.clearances(points - nudge).values
        grown = (there[zone, posture, point] - back[zone, posture, point]) / (2 * step)
        assert normals[:, axis] == pytest.approx(grown, abs=1e-4)


def test_a_clearance_never_falls_below_its_tangent_inside_as_well(zones, points):
    zone, posture, point = indices(zones)
    watch = ZoneSet(zones, RADII)
    here = watch.clearances(points)
    normals = here.normals(zone, posture, point)
    elsewhere = np.random.default_rng(5).uniform(-0.6, 0.6, points.shape)
    there = watch.clearances(elsewhere).values[zone, posture, point]
    moved = (elsewhere - points)[:, posture, point].T
    tangent = here.values[zone, posture, point] + (normals * moved).sum(axis=1)
    assert (here.values[zone, posture, point] < 0.0).any()
    assert (there >= tangent - 1e-9).all()


@pytest.mark.parametrize(
    ("shape", "size"), [(Shape.SPHERE, (0.1,)), (Shape.CYLINDER, (0.1, 0.2)), (Shape.BOX, (1, 1, 1))]
)
def test_a_point_in_the_very_middle_has_a_way_out(shape, size):
    watch = ZoneSet([Zone("it", shape, size, Pose((0.0, 0.0, 0.0)))], np.array([0.0, 0.0]))
    clearances = watch.clearances(np.zeros((3, 1, 2)))
    out = clearances.normals(np.array([0]), np.array([0]), np.array([1]))
    assert clearances.values[0, 0, 1] < 0.0
    assert np.linalg.norm(out) == pytest.approx(1.0)


def test_a_zone_for_the_gripper_binds_its_point_only():
    pose = Pose((0.0, 0.0, 0.0))
    both = [Zone("a", Shape.SPHERE, (0.1,), pose, 0.02, subject) for subject in (Subject.GRIPPER, Subject.ROBOT)]
    points = np.full((3, 1, 2), [[[1.0]], [[0.0]], [[0.0]]])
    gripper, robot = ZoneSet(both, np.array([0.0, 0.05])).clearances(points).values[:, 0]
    assert gripper == pytest.approx([0.88, UNLIMITED], rel=1e-5)
    assert robot == pytest.approx([UNLIMITED, 0.83], rel=1e-5)


def test_a_part_is_seen_as_in_the_whole(zones, points):
    watch = ZoneSet(zones, RADII)
    whole = watch.clearances(points).values
    kept, some = np.array([0, 2]), np.array([1, 3])
    part = watch.part(kept, some)
    assert part.zones == (zones[0], zones[2])
    assert part.clearances(points[:, :, some]).values == pytest.approx(whole[kept][:, :, some])
