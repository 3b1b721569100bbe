"""The filter reads arms by itself: its kinematics agree with the controller's, and its capsules cover the bodies."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter.covering import box, cover, cylinder
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.urdf import read_chain
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model

ROBOTS = ("panda", "fr3", "so_arm", "ur5e", "mobile_ur5e", "xarm7")
POSTURES = 10_000
TWO_LINKS = """
<robot name="two">
  <link name="base"/><link name="upper"/><link name="tool"/>
  <joint name="first" type="{type}">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="last" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="1 0 0"/></joint>
</robot>
"""


def nowhere(name: str) -> Path:
    raise AssertionError(name)


@pytest.mark.parametrize("name", ROBOTS)
def test_both_models_have_the_gripper_at_the_same_place(name):
    arm = arm_model(name)
    rng = np.random.default_rng(0)
    qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max, (POSTURES, arm.nq))
    ours = arm_body(arm).place(qpos).points[:, :, 0].T
    kinematics = arm.kinematics()
    theirs = np.array([kinematics.forward(row)[0] for row in qpos])
    assert np.abs(ours - theirs).max() < 1e-6


@pytest.mark.parametrize("name", ROBOTS)
def test_every_solid_of_the_simulator_that_travels_lies_within_the_spheres(name):
    arm = arm_model(name)
    model = arm.collision_spec().compile()
    data, rng, body = mujoco.MjData(model), np.random.default_rng(1), arm_body(arm)
    for _ in range(20):
        qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        centres = body.place(qpos[None]).points[:, 0].T
        for geom in travelling(model):
            points = surface(model, data, geom, rng)
            outside = np.linalg.norm(points[:, None] - centres, axis=-1) - body.radii
            assert outside.min(axis=1).max() < ALLOWED[name], model.geom(geom).name


# [m] The filter's dimensions of the Panda come from drawings, the simulator's from a model of the same drawings.
ALLOWED = {"panda": 0.02, "fr3": 0.02, "so_arm": 1e-6, "ur5e": 1e-6, "mobile_ur5e": 1e-6, "xarm7": 1e-6}


def travelling(model):
    """Solids beyond the first link, which only turns about itself."""
    first = model.body_rootid[model.jnt_bodyid[0]]
    moved = [body for body in range(model.nbody) if chain_length(model, body) > 1]
    assert first >= 0
    return [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in moved]


def chain_length(model, body):
    count = 0
    while body:
        count, body = count + int(model.body_jntnum[body]), model.body_parentid[body]
    return count


def surface(model, data, geom, rng):
    """Points on the surface of a solid, in the base frame."""
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
        vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
        weights = rng.dirichlet((1.0, 1.0, 1.0), 400)
        local = np.einsum("nk,nkj->nj", weights, vertices[faces[rng.integers(len(faces), size=400)]])
    else:
        angles, heights = rng.uniform(0, math.tau, 200), rng.uniform(-size[1], size[1], 200)
        local = np.column_stack((size[0] * np.cos(angles), size[0] * np.sin(angles), heights))
    return local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


def test_a_joint_turns_about_its_axis():
    chain = read_chain(TWO_LINKS.format(type="revolute"), "base", "tool", nowhere)
    assert chain.joints == ("first",)
    turned = chain.frames[0] @ np.array(
        [[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )
    assert (turned @ chain.tool)[:3, 3] == pytest.approx((0.0, 0.0, -0.5))


@pytest.mark.parametrize(
    ("text", "tool", "told"),
    [
        ("<robot", "tool", "not XML"),
        (TWO_LINKS.format(type="revolute"), "hand", "no link 'hand'; it has: base, upper, tool"),
        (TWO_LINKS.format(type="prismatic"), "tool", "'first' is prismatic"),
        (TWO_LINKS.format(type="fixed"), "tool", "no joint"),
        (TWO_LINKS.format(type="fixed").replace('parent link="base"', 'parent link="tool"'), "tool", "hangs on itself"),
    ],
)
def test_a_description_that_is_no_arm_is_refused(text, tool, told):
    with pytest.raises(InputError, match=told):
        read_chain(text, "base", tool, nowhere)


@pytest.mark.parametrize("surface", [box(np.array([0.1, 0.3, 0.2])), cylinder(0.05, 0.4)])
@pytest.mark.parametrize("most", [1, 3, 6])
def test_capsules_cover_every_triangle(surface, most):
    capsules = cover(surface, most)
    assert len(capsules) <= most
    weights = np.concatenate([np.eye(3), np.random.default_rng(0).dirichlet((1.0, 1.0, 1.0), 100)])
    for triangle in surface:
        assert all(any(within(point, capsules)) for point in weights @ triangle)


def test_a_bent_surface_gets_a_tight_cover():
    legs = [box(np.array([0.05, 0.05, 0.4])), np.array([0.2, 0.0, 0.2]) + box(np.array([0.4, 0.05, 0.05]))]
    capsules = cover(np.concatenate(legs), 4)
    assert len(capsules) > 1
    assert max(radius for *_, radius in capsules) < 0.08


def within(point, capsules):
    found = []
    for start, end, radius in capsules:
        along = end - start
        share = np.clip((point - start) @ along / max(along @ along, 1e-12), 0.0, 1.0)
        found.append(np.linalg.norm(point - start - share * along) <= radius)
    return found
