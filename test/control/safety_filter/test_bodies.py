"""The filter's own kinematics agree with the simulation's, and its spheres cover what moves."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter.bodies import Ball, Body, FlatBase, Rod
from llm_planner.control.safety_filter.robots import arm_body, base_body
from llm_planner.robots.arm_model import arm_model
from llm_planner.simulation.tabletop import tabletop_spec

PANDA = arm_model("panda")

FIRST = np.zeros(3, dtype=np.intp)
FIXED = ("link0", "link1")  # they turn about their own axis at most


def postures(count: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.uniform(PANDA.limits.qpos_min, PANDA.limits.qpos_max, (count, 7))


def test_the_gripper_point_is_where_the_simulation_has_it():
    body, kinematics, qpos = arm_body(PANDA), PANDA.kinematics(), postures(50)
    expected = np.array([kinematics.forward(row)[0] for row in qpos])
    assert pytest.approx(expected, abs=1e-6) == body.place(qpos).points[:, :, 0].T


def test_the_gripper_point_moves_as_the_simulation_says():
    body, kinematics = arm_body(PANDA), PANDA.kinematics()
    for row in postures(50):
        slopes = body.place(row[None]).slopes(FIRST, FIRST, np.eye(3))
        assert slopes == pytest.approx(kinematics.jacobian(row)[2][:3], abs=1e-6)


@pytest.mark.parametrize(
    ("body", "qpos"),
    [
        (arm_body(PANDA), postures(1)[0]),
        (base_body(), np.array([1.0, 2.0, 0.5])),
        (Ball(0.2), np.array([0.3, -0.2, 1.0])),
    ],
    ids=["arm", "base", "ball"],
)
def test_every_point_moves_by_its_slopes(body: Body, qpos: np.ndarray):
    step, nq = 1e-6, len(qpos)
    points = np.arange(len(body.radii))
    nudged = body.place(np.concatenate([qpos + step * np.eye(nq), qpos - step * np.eye(nq)])).points
    expected = (nudged[:, :nq] - nudged[:, nq:]) / (2 * step)  # (3, nq, S)
    placed = body.place(qpos[None])
    for axis in range(3):
        normals = np.tile(np.eye(3)[axis], (len(points), 1))
        slopes = placed.slopes(np.zeros_like(points), points, normals)
        assert slopes == pytest.approx(expected[axis].T, abs=1e-6)
        assert (np.abs(slopes) <= body.reach + 1e-9).all(), "farther than its reach"


def surface(model: mujoco.MjModel, data: mujoco.MjData, geom: int, rng: np.random.Generator) -> np.ndarray:
    """Points on a capsule or a box."""
    size = model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        directions = rng.normal(size=(600, 3))
        local = size[0] * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        local[:, 2] += rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], 600) * size[1]
    else:
        local = rng.uniform(-1, 1, (600, 3))
        local[np.arange(600), rng.integers(3, size=600)] = rng.choice([-1.0, 1.0], 600)
        local *= size
    return local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


@pytest.mark.parametrize("finger", [0.0, 0.02, 0.04])
def test_spheres_cover_every_solid_that_moves(finger: float):
    model = tabletop_spec((), PANDA).compile()
    data, body, rng = mujoco.MjData(model), arm_body(PANDA), np.random.default_rng(3)
    arm = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.startswith("panda")]
    moving = [geom for geom in arm if model.geom(geom).name not in FIXED]
    assert len(moving) > 15
    for row in postures(4):
        data.qpos[:9] = [*row, finger, finger]
        mujoco.mj_kinematics(model, data)
        centers = body.place(row[None]).points[:, 0].T
        for geom in moving:
            away = np.linalg.norm(surface(model, data, geom, rng)[:, None] - centers, axis=2) - body.radii
            assert away.min(axis=1).max() < 1e-6, model.geom(geom).name


def test_spheres_stick_out_by_no_more_than_asked():
    balls = Rod(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.3), 0.05).spheres(excess=0.005)
    assert max(radius for *_, radius in balls) <= 0.055
    assert [balls[0][2], balls[-1][2]] == [0.0, 0.3]


def test_a_base_is_covered_from_the_floor_to_its_top():
    body = FlatBase(0.2, 0.3)
    centers = body.place(np.array([[1.0, 2.0, 0.7]])).points[:, 0].T
    angle = np.linspace(0, 2 * np.pi, 40)
    for height in np.linspace(0, 0.3, 11):
        rim = np.stack([1.0 + 0.2 * np.cos(angle), 2.0 + 0.2 * np.sin(angle), np.full(40, height)], axis=1)
        assert (np.linalg.norm(rim[:, None] - centers, axis=2) - body.radii).min(axis=1).max() < 1e-9
    assert centers[0] == pytest.approx([1.0, 2.0, 0.0]), "point 0 is the middle on the floor"
