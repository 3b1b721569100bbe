"""What moves the real robot is read from its robot.yaml; what is left out is ros2_control's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_file import load_arm
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.controllers import ArmController, Controllers, GripperController, GripperEnd, RobotTopics
from llm_planner.share import share_folder

UR5E = (share_folder("config") / "robots" / "ur5e" / "robot.yaml").read_text(encoding="utf-8").split("controllers:")[0]
GRIPPER = "gripper: {action: g/gripper_cmd, open: {width: 0.085, position: 0.0}, closed: {width: 0.0, position: 0.8}"
OPEN, CLOSED = GripperEnd(width=0.085, position=0.0), GripperEnd(width=0.0, position=0.8)


def read(folder: Path, more: str) -> ArmModel:
    urdf = share_folder("config") / "robots" / "ur5e" / "ur5e.urdf"
    text = UR5E.replace("ur5e.urdf", str(urdf)) + more
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return load_arm(folder)


def test_an_arm_of_which_nothing_is_said_has_the_defaults_of_ros2_control(tmp_path):
    found = read(tmp_path, "")
    assert found.controllers.arm.topic() == "joint_trajectory_controller/joint_trajectory"
    assert (found.controllers.gripper, found.topics) == (None, RobotTopics(states="joint_states"))


def test_what_is_named_is_taken(tmp_path):
    more = (
        "controllers:\n  arm: {name: forward_position_controller, interface: position}\n"
        f"  {GRIPPER}, type: ParallelGripperCommand, joint: knuckle, effort: 20}}\n"
        "topics: {states: arm/joint_states, gripper_states: hand/joint_states}\n"
    )
    found = read(tmp_path, more)
    assert found.controllers == Controllers(
        arm=ArmController(name="forward_position_controller", interface="position"),
        gripper=GripperController(
            action="g/gripper_cmd",
            type="ParallelGripperCommand",
            open=OPEN,
            closed=CLOSED,
            joint="knuckle",
            effort=20.0,
        ),
    )
    assert found.topics == RobotTopics(states="arm/joint_states", gripper_states="hand/joint_states")


def test_a_controller_of_positions_listens_to_commands():
    assert ArmController(name="c", interface="position").topic() == "c/commands"
    assert ArmController(name="c").topic("velocity") == "c/commands"


def test_a_width_becomes_a_position_and_a_position_a_width():
    gripper = GripperController(action="g", open=OPEN, closed=CLOSED)
    assert gripper.position(0.0425) == pytest.approx(0.4)
    assert gripper.width(0.4) == pytest.approx(0.0425)
    assert (gripper.position(0.2), gripper.position(-0.1)) == pytest.approx((0.0, 0.8))
    assert gripper.width(0.9) < 0.0  # it is measured, so it is not hidden


def test_the_grippers_of_the_arms_that_ship_have_the_positions_of_their_drivers():
    half, drive = arm_model("fr3").controllers.gripper, arm_model("xarm7").controllers.gripper
    assert half.position(0.04) == pytest.approx(0.02)  # franka_gripper takes half the width
    assert drive.position(0.04) == pytest.approx(0.45)  # the drive of the xArm's gripper turns 0.01 rad a millimetre


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("controllers: {arm: {name: c, interface: effort}}", "choose one of: trajectory, position, velocity"),
        ("controllers: {arm: {name: my controller}}", "name"),
        (f"controllers: {{{GRIPPER}, type: ParallelGripperCommand}}}}", "a ParallelGripperCommand names the joint"),
        (f"controllers: {{{GRIPPER.replace('0.085', '0.0')}}}}}", "the closed one must be smaller"),
        (f"controllers: {{{GRIPPER.replace('0.8}', '0.0}')}}}}}", "one position, 0, open and closed; give two"),
        ("topics: {state: joint_states}", "state is unknown; the keys are: states, gripper_states"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, more, message):
    with pytest.raises(InputError, match=re.escape(message)) as told:
        read(tmp_path, more)
    assert "robot.yaml, line " in str(told.value)
