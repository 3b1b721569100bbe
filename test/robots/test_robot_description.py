"""`robot_description`: what RViz and robot_state_publisher need of it, and where MuJoCo has the same links."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote, urlparse

import mujoco
import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.mobile_base import MOBILE_BASE
from llm_planner.robots.robot_description import base_description, robot_description
from llm_planner.robots.robot_folders import mobile_names, shipped_names
from llm_planner.robots.urdf import LinkFrames
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose

EXAMPLES = Path(__file__).parents[2] / "examples" / "robots"
QUICK = ["panda", "fr3", "ur5e", str(EXAMPLES / "ur5e_gantry"), str(EXAMPLES / "ur5e_suction")]  # without large meshes
FIXED_ARMS = [name for name in shipped_names() if name not in mobile_names()]


def described(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(robot_description(arm_model(name)))


def poses(urdf: str, root: str, positions: dict[str, float]) -> dict[str, Pose]:
    """Pose of each link in the link `root`."""
    frames = LinkFrames(urdf)
    left, found = [*frames.fixed, *frames.moving(positions)], {root: Pose((0.0, 0.0, 0.0))}
    while left:
        placed = [one for one in left if one.parent in found]
        assert placed, f"{[one.child for one in left]} hang on nothing"
        found |= {one.child: compose(found[one.parent], one.pose) for one in placed}
        left = [one for one in left if one.child not in found]
    return found


@pytest.mark.parametrize("name", QUICK)
def test_every_link_is_where_mujoco_has_it(name):
    arm, rng = arm_model(name), np.random.default_rng(0)
    model = arm.make().compile()
    data = mujoco.MjData(model)
    bodies = {model.body(body).name: body for body in range(1, model.nbody)}
    for _ in range(5):
        qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max)
        fingers = dict.fromkeys(arm.fingers, float(rng.uniform(0.0, arm.gripper.widest / 2)))
        data.qpos[:] = [*qpos, *[*fingers.values()][: arm.gripper.joints]]
        mujoco.mj_kinematics(model, data)
        found = poses(robot_description(arm), arm.base, dict(zip(arm.joints, qpos.tolist(), strict=True)) | fingers)
        checked = 0
        for link, pose in found.items():
            body = bodies.get(link) or bodies.get(link.replace("fr3_", "panda_"))
            if body is not None:
                at = compose(arm.mounting.pose(), pose)
                assert at.position == pytest.approx(tuple(data.xpos[body]), abs=1e-6), link
                x, y, z, w = at.orientation
                assert abs(np.dot((w, x, y, z), data.xquat[body])) == pytest.approx(1.0, abs=1e-9), link
                checked += 1
        assert checked == len(bodies)
        grip = compose(arm.mounting.pose(), found["gripper"]).position
        assert grip == pytest.approx(tuple(data.site("gripper").xpos), abs=1e-6)


@pytest.mark.parametrize("name", FIXED_ARMS)
def test_it_has_what_a_reader_of_urdf_asks_for(name):
    arm, robot = arm_model(name), described(name)
    links = [link.get("name") for link in robot.findall("link")]
    joints = robot.findall("joint")
    assert len(set(links)) == len(links)
    assert {joint.find("child").get("link") for joint in joints} == set(links) - {arm.base}, "one root: the base"
    moving = {joint.get("name"): joint for joint in joints if joint.get("type") != "fixed"}
    assert set(moving) == {*arm.joints, *(arm.fingers if arm.gripper.joints else ())}
    for joint in moving.values():
        assert {"lower", "upper", "effort", "velocity"} <= set(joint.find("limit").attrib)
    for name, low in zip(arm.joints, arm.limits.qpos_min, strict=True):
        assert float(moving[name].find("limit").get("lower")) == pytest.approx(low)
    assert not robot.findall(".//capsule"), "a URDF has none"
    for mesh in robot.iter("mesh"):
        assert Path(unquote(urlparse(mesh.get("filename")).path)).is_file()
    shown = [link for link in robot.findall("link") if link.find("visual") is not None]
    assert len(shown) >= arm.nq


@pytest.mark.parametrize("name", mobile_names())
def test_an_arm_on_a_mobile_base_stands_on_its_link(name):
    arm, urdf = arm_model(name), robot_description(arm_model(name))
    found = poses(urdf, MOBILE_BASE, dict(zip(arm.joints, arm.home, strict=True)))
    ahead, left, height = arm.mount.position
    assert found[arm.base].position == pytest.approx((ahead, left, 0.0))
    at = compose(Pose((-ahead, -left, 0.0)), found["gripper"]).position
    assert at == pytest.approx(arm.kinematics().pose(np.array(arm.home)).position, abs=1e-6)
    body = ElementTree.fromstring(urdf).find(f"link[@name='{MOBILE_BASE}']/collision/origin")
    assert float(body.get("xyz").split()[2]) == pytest.approx(0.15 - height), "its lower end is on the floor"


def test_an_arm_like_another_has_links_of_its_own_name():
    names = {link.get("name") for link in described("fr3").findall("link")}
    assert {"fr3_link0", "fr3_link7", "fr3_hand", "fr3_leftfinger", "gripper"} <= names
    assert not [name for name in names if name.startswith("panda")]


def test_meshes_that_are_not_installed_are_left_out(tmp_path):
    text = """
    <robot name="bare">
      <link name="base"/>
      <link name="arm">
        <visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>
        <collision><geometry><box size="0.1 0.1 0.3"/></geometry></collision>
      </link>
      <link name="tool"/>
      <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
      <joint name="end" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 0.3"/></joint>
    </robot>"""
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    (tmp_path / "robot.yaml").write_text(
        "description: arm.urdf\nbase: base\ntool: tool\nhand: {turn: 0.0}\n"
        "joints:\n  turn: {range: [-3, 3], velocity: 1, acceleration: 1, torque: 10, home: 0}\n"
        "fingers: []\nreach: [[0, 0.1, 0.5], [0.5, 0.1, 0.5]]\nrest: [0.3, 0, 0.3]\n",
        encoding="utf-8",
    )
    robot = described(str(tmp_path))
    assert not list(robot.iter("mesh"))
    assert robot.find("link[@name='arm']/visual/geometry/box") is not None, "its solid is shown instead"
    assert robot.find("joint[@name='turn']").get("type") == "revolute"
    fingers = [joint.get("type") for joint in robot.findall("joint") if "finger" in joint.get("name")]
    assert fingers == ["fixed", "fixed"], "joint states lack them"


def test_the_mobile_base_is_one_link_on_the_floor():
    robot = ElementTree.fromstring(base_description("base_link"))
    assert [link.get("name") for link in robot.findall("link")] == ["base_link"]
    cylinder = robot.find("link/collision")
    assert (
        float(cylinder.find("origin").get("xyz").split()[2])
        == float(cylinder.find("geometry/cylinder").get("length")) / 2
    )
