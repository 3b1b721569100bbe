"""An arm of an MJCF as a URDF: its links are where the MJCF has them, and what a URDF cannot say is refused."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_discovery import find_arm, joints_of
from llm_planner.robots.arm_model import default_arm
from llm_planner.robots.mjcf_urdf import write_as_urdf
from llm_planner.robots.urdf import read_urdf, urdf_spec

ODD = """<mujoco model="odd">
  <compiler angle="radian"/>
  <asset><mesh name="wedge" vertex="0 0 0  0.1 0 0  0 0.2 0  0 0 0.3"/></asset>
  <worldbody>
    <body name="base" pos="0 0 0.1" euler="0 0 1.2">
      <geom type="cylinder" size="0.05 0.1"/>
      <body name="arm" pos="0.1 0.2 0.3" euler="0.3 -0.4 0.5">
        <joint name="turn" axis="0 1 0" pos="0.05 0.02 -0.1" range="-1 2" ref="0.25"/>
        <geom name="solid" type="mesh" mesh="wedge" pos="0.01 0.02 0.03" euler="0.1 0.2 0.3"/>
        <geom type="sphere" size="0.3" contype="0" conaffinity="0"/>
        <body name="slider" pos="0 0.1 0.2" euler="0 1.5707963267948966 0">
          <joint name="slide" type="slide" axis="0 0 1" pos="0.3 0 0" range="0 0.2"/>
          <geom type="capsule" size="0.02 0.05" fromto="0 0 0 0.1 0.1 0"/>
          <site name="flange" pos="0 0 0.1" euler="0 0 0.7"/>
        </body>
        <body name="follower">
          <joint name="follow" type="slide" axis="0 0 1" range="0 0.2"/>
          <geom type="box" size="0.01 0.02 0.03"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="follow" joint2="slide" polycoef="0.01 -1 0 0 0"/></equality>
  <actuator><position joint="turn" kp="100" forcerange="-7 5" gear="2"/></actuator>
</mujoco>
"""


@pytest.fixture
def write(tmp_path):
    """Writes an MJCF as a URDF and returns the path of that."""

    def written(text: str):
        path = tmp_path / "odd.xml"
        path.write_text(text, encoding="utf-8")
        return write_as_urdf(path, tmp_path / "written")

    return written


def test_the_links_of_an_arm_are_where_its_mjcf_has_them(tmp_path):
    arm, rng = default_arm(), np.random.default_rng(0)
    urdf = write_as_urdf(arm.source, tmp_path)
    models = arm.make().compile(), urdf_spec(urdf, "world", arm.joints)[0].compile()
    datas = [mujoco.MjData(model) for model in models]
    for _ in range(20):
        qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max)
        for model, data in zip(models, datas, strict=True):
            for name, position in zip(arm.joints, qpos, strict=True):
                data.joint(name).qpos = position
            mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(datas[0].body(arm.hand).xpos, datas[1].body(arm.hand).xpos, atol=1e-6)
        np.testing.assert_allclose(datas[0].body(arm.hand).xmat, datas[1].body(arm.hand).xmat, atol=1e-6)


def test_an_arm_is_found_in_what_was_written_and_its_gripper_left_out(tmp_path):
    arm = default_arm()
    found = find_arm(write_as_urdf(arm.source, tmp_path))
    assert tuple(joint.name for joint in found.joints) == arm.joints
    assert [joint.torque for joint in found.joints] == pytest.approx(arm.limits.torque_max.tolist())
    assert arm.hand in found.grippers
    assert (found.tool, found.mount.place.position) == ("hand_mount", (0.0, 0.0, 0.107))  # where the gripper was


def test_joints_solids_and_sites_keep_their_places(write):
    urdf = write(ODD)
    ours, spec = mujoco.MjModel.from_xml_string(ODD), urdf_spec(urdf, "world", ("turn", "slide"))[0]
    theirs = spec.compile()
    before, after = mujoco.MjData(ours), mujoco.MjData(theirs)
    for turn, slide in ((0.25, 0.0), (1.5, 0.15), (-0.7, 0.05)):
        before.joint("turn").qpos, before.joint("slide").qpos = turn, slide
        after.joint("turn").qpos, after.joint("slide").qpos = turn - 0.25, slide  # a URDF's joint is 0 at rest
        mujoco.mj_kinematics(ours, before)
        mujoco.mj_kinematics(theirs, after)
        np.testing.assert_allclose(before.site("flange").xpos, after.body("flange").xpos, atol=1e-6)
        np.testing.assert_allclose(before.site("flange").xmat, after.body("flange").xmat, atol=1e-6)
        wedge = after.geom_xpos[theirs.body("arm").geomadr[0]]
        np.testing.assert_allclose(before.geom("solid").xpos, wedge, atol=1e-5)
    assert theirs.body("arm").geomnum == 1  # what does not collide is left out


def test_limits_torques_and_couplings_are_kept(write):
    urdf = write(ODD)
    (turn,) = [joint for name, joint in joints_of(urdf).items() if name == "turn"]
    assert turn.range == pytest.approx((-1.25, 1.75))
    assert turn.torque == pytest.approx(14.0)  # of the actuator, by its gear
    mimic = read_urdf(urdf).find(".//joint[@name='follow']/mimic").attrib
    assert mimic == {"joint": "slide", "multiplier": "-1", "offset": "0.01"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '<joint name="turn" ',
            '<joint name="more"/><joint name="turn" ',
            "several joints move the body 'arm'; a URDF",
        ),
        ('euler="0 0 1.2">', 'euler="0 0 1.2"><freejoint/>', "a free or ball joint moves the body 'base'"),
        ("<worldbody>", "<worldbodies>", "MuJoCo refuses"),
    ],
)
def test_what_a_urdf_cannot_say_is_refused(write, old, new, message):
    with pytest.raises(InputError, match=message):
        write(ODD.replace(old, new, 1))
