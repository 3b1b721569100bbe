"""Values survive the way into messages and back; messages that make no sense are refused with a reason."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_planner_interfaces.msg import SkillArgument
from rclpy._rclpy_pybind11 import RMWError
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, JointTrajectory, MotionReference
from llm_planner.ros.conversions import geometry_messages as geometry
from llm_planner.ros.conversions import message_checks, scene_messages
from llm_planner.ros.conversions import motion_messages as motion
from llm_planner.ros.conversions import plan_messages as plans
from llm_planner.ros.conversions import robot_messages as robots
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, DrivenBase, Pose, Room, Scene, SceneObject

PANDA = arm_model("panda")

number = st.floats(-10.0, 10.0)
point = st.tuples(number, number, number)
quaternion = (
    st.tuples(number, number, number, number)
    .filter(lambda parts: math.hypot(*parts) > 0.01)
    .map(lambda parts: tuple(part / math.hypot(*parts) for part in parts))
    .map(lambda parts: tuple(part / math.hypot(*parts) for part in parts))  # twice: to the last bit
)
side = st.floats(0.001, 10.0)
moment = st.floats(0.0, 2e9)
word = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
poses = st.builds(Pose, point, quaternion)
name = word.filter(str.strip)
things = st.builds(SceneObject, name, word, word, point, quaternion, st.tuples(side, side, side))
areas = st.builds(lambda x, y, width, depth: Rectangle(x, x + width, y, y + depth), number, number, side, side)
rooms = st.lists(st.builds(Room, name, areas), min_size=1, max_size=3, unique_by=lambda room: room.name).map(tuple)


@st.composite
def some_buildings(draw: st.DrawFn) -> Building:
    built = draw(rooms)
    known = st.sampled_from([room.name for room in built])
    doors = st.lists(st.builds(Door, st.tuples(known, known), st.tuples(number, number)), max_size=3)
    return Building(built, tuple(draw(doors)))


scenes = st.builds(
    Scene,
    moment,
    st.lists(things, max_size=4, unique_by=lambda item: item.name).map(tuple),
    st.one_of(st.just(""), name),
    st.one_of(st.none(), poses),
    st.floats(0.0, 10.0),
    st.one_of(st.none(), some_buildings()),
)
references = st.builds(
    MotionReference,
    moment,
    st.floats(0.01, 1.0),
    st.lists(poses, min_size=1, max_size=4).map(tuple),
    st.floats(0.0, 0.08),
    st.floats(0.1, 1.0),
    st.floats(0.1, 1.0),
)
arguments = st.dictionaries(word, st.one_of(word, number, point), max_size=4)


@given(moment)
def test_a_stamp_keeps_a_time_to_the_microsecond(seconds):
    assert message_checks.seconds(message_checks.stamp(seconds)) == pytest.approx(seconds, abs=1e-6)


@given(scenes)
def test_a_scene_survives(scene):
    back = scene_messages.scene_from_msg(scene_messages.scene_to_msg(scene, "panda_link0"))
    assert replace(back, time=scene.time) == scene
    assert back.time == pytest.approx(scene.time, abs=1e-6)


def test_a_transform_carries_the_pose_and_both_frames():
    message = geometry.transform_to_msg(2.5, "mug", Pose((1.0, 2.0, 3.0), (0.0, 0.0, 1.0, 0.0)), "panda_link0")
    assert (message.header.frame_id, message.child_frame_id, message.header.stamp.sec) == ("panda_link0", "mug", 2)
    assert (message.transform.translation.y, message.transform.rotation.z) == (2.0, 1.0)


@given(references)
def test_a_motion_reference_survives(reference):
    back = motion.reference_from_msg(motion.reference_to_msg(reference, "panda_link0"))
    assert back.poses == reference.poses
    assert (back.dt, back.gripper_width, back.valid_for) == (
        reference.dt,
        reference.gripper_width,
        reference.valid_for,
    )
    assert back.speed_scale == reference.speed_scale


def test_the_frame_of_a_reference_says_whether_it_is_of_the_base_under_an_arm():
    of_base = MotionReference(3.0, 0.1, (Pose((1.0, 2.0, 0.0)),), 0.08, of_base=True)
    message = motion.reference_to_msg(of_base, "base_link")
    assert message.header.frame_id == "map"
    assert motion.reference_from_msg(message).of_base
    assert not motion.reference_from_msg(motion.reference_to_msg(replace(of_base, of_base=False), "base_link")).of_base


def test_a_scene_of_an_arm_on_a_base_survives_and_needs_a_room():
    arm = arm_model("mobile_ur5e")
    building = Building((Room("room", Rectangle(-3.0, 3.0, -3.0, 3.0)),), ())
    base = DrivenBase(Pose((1.0, 2.0, 0.0)), arm.mount.position[0], arm.shape.table_range, building)
    scene = Scene(3.0, (), robot=Pose((0.3, 0.0, 0.4)), arm=arm.name, workspace=arm.shape.workspace, base=base)
    message = scene_messages.scene_to_msg(scene, arm.frame)
    assert message.header.frame_id == arm.frame
    assert scene_messages.scene_from_msg(message, arm=arm.name) == scene
    message.rooms = []
    with pytest.raises(InputError, match=r"scene\.rooms is empty; the base of mobile_ur5e drives in rooms"):
        scene_messages.scene_from_msg(message, arm=arm.name)


def test_a_reference_without_poses_means_no_more_motion():
    assert motion.reference_from_msg(motion.no_motion(3.0, "panda_link0")) is None


@given(arguments)
def test_arguments_of_skills_survive(given_arguments):
    assert plans.arguments_from_msg(plans.arguments_to_msg(given_arguments)) == given_arguments


def test_an_argument_of_an_unknown_type_is_refused():
    with pytest.raises(InputError, match="argument 'x' has the type 9; the types are WORD, NUMBER and POINT"):
        plans.arguments_from_msg([SkillArgument(name="x", type=9)])


def test_a_joint_state_survives_in_any_order_of_joints():
    state = JointState(12.5, np.arange(7.0), np.arange(7.0) / 10, 3 * np.arange(7.0))
    message = robots.joint_state_to_msg(state, 0.06, PANDA)
    order = [8, 3, 1, 0, 2, 7, 6, 5, 4]
    message.effort = array("d", [message.effort[k] for k in order])
    message.position = array("d", [message.position[k] for k in order])
    message.velocity = array("d", [message.velocity[k] for k in order])
    message.name = [message.name[k] for k in order]
    back, width = robots.joint_state_from_msg(message, PANDA.joints, PANDA.fingers)
    assert back.time == 12.5
    assert np.array_equal(back.qpos, state.qpos)
    assert np.array_equal(back.qvel, state.qvel)
    assert np.array_equal(back.effort, state.effort)
    assert width == pytest.approx(0.06)


@pytest.mark.parametrize("effort", [[], [1.0, 2.0]])
def test_the_effort_of_a_joint_state_is_empty_where_it_is_not_told_of_every_joint(effort):
    message = robots.joint_state_to_msg(JointState(0.0, np.zeros(7), np.zeros(7)), 0.0, PANDA)
    message.effort = array("d", effort)
    assert robots.joint_state_from_msg(message, PANDA.joints, PANDA.fingers)[0].effort.size == 0


def test_a_joint_state_may_name_other_joints_and_more_of_them():
    names = ["wheel", *(f"fr3_joint{k}" for k in (7, 6, 5, 4, 3, 2, 1))]
    message = JointStateMsg(name=names, position=[9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    state, width = robots.joint_state_from_msg(message, [f"fr3_joint{k}" for k in range(1, 8)], ())
    assert state.qpos.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert state.qvel.tolist() == [0.0] * 7
    assert np.isnan(width)


def test_a_joint_state_that_lacks_joints_is_refused():
    message = robots.joint_state_to_msg(JointState(0.0, np.zeros(7), np.zeros(7)), 0.0, PANDA)
    message.name = [name.replace("panda_joint2", "elbow") for name in message.name]
    with pytest.raises(InputError, match="joint_states lacks panda_joint2; it holds: panda_joint1, elbow"):
        robots.joint_state_from_msg(message, PANDA.joints, PANDA.fingers)


@pytest.mark.parametrize("robot", ["panda", "fr3", "so_arm", "ur5e", "xarm7"])
def test_states_and_commands_of_any_arm_survive_under_its_own_names_and_frame(robot):
    arm, rng = arm_model(robot), np.random.default_rng(0)
    state = JointState(12.5, *rng.normal(size=(3, arm.nq)))
    message = robots.joint_state_to_msg(state, 0.06, arm)
    assert (message.header.frame_id, message.name) == (arm.frame, [*arm.joints, *arm.fingers])
    back, width = robots.joint_state_from_msg(message, arm.joints, arm.fingers)
    assert (back.qpos.tolist(), back.effort.tolist()) == (state.qpos.tolist(), state.effort.tolist())
    assert width == pytest.approx(0.06)
    sent = trajectory(nq=arm.nq)
    command = robots.trajectory_to_msg(sent, arm)
    assert (command.header.frame_id, command.joint_names) == (arm.frame, [*arm.joints, arm.fingers[0]])
    assert np.array_equal(robots.trajectory_from_msg(command, arm).qpos, sent.qpos)


def test_an_arm_whose_states_lack_the_fingers_is_told_their_width_all_the_same():
    arm = replace(arm_model("ur5e"), fingers=())
    assert robots.joint_state_to_msg(JointState(0.0, np.zeros(6), np.zeros(6)), 0.06, arm).name == list(arm.joints)
    command = robots.trajectory_to_msg(trajectory(nq=6), arm)
    assert robots.trajectory_from_msg(command, arm).gripper_width == pytest.approx(0.05)


def test_states_and_commands_of_another_arm_are_refused_with_the_names_that_are_expected():
    panda, ur5e = arm_model("panda"), arm_model("ur5e")
    state = robots.joint_state_to_msg(JointState(0.0, np.zeros(7), np.zeros(7)), 0.0, panda)
    with pytest.raises(
        InputError, match=r"Expected are: shoulder_pan_joint, .*, wrist_3_joint\. Set the parameter robot"
    ):
        robots.joint_state_from_msg(state, ur5e.joints, ())
    with pytest.raises(InputError, match=r"it must name shoulder_pan_joint, .* and may add finger_joint1"):
        robots.trajectory_from_msg(robots.trajectory_to_msg(trajectory(), panda), ur5e)


def test_a_scene_is_of_the_arm_that_its_reader_is_told():
    message = scene_messages.scene_to_msg(Scene(1.0, ()), frame="base_link")
    assert message.header.frame_id == "base_link"
    assert scene_messages.SceneReader(lambda flaw: None, "ur5e").read(message).arm == "ur5e"


def trajectory(width: float = 0.05, nq: int = 7) -> JointTrajectory:
    rng = np.random.default_rng(0)
    qpos, qvel, qacc = (rng.normal(size=(count, nq)) for count in (4, 4, 3))
    return JointTrajectory(2.0, 0.05, qpos, qvel, qacc, width)


def test_a_trajectory_survives_and_commands_the_finger():
    sent = trajectory()
    message = robots.trajectory_to_msg(sent, PANDA)
    assert message.joint_names[-1] == "panda_finger_joint1"
    assert message.points[-1].positions[-1] == pytest.approx(0.025)
    back = robots.trajectory_from_msg(message, PANDA)
    assert (back.start_time, back.gripper_width) == (2.0, pytest.approx(0.05))
    assert back.dt == pytest.approx(0.05)
    for name in ("qpos", "qvel", "qacc"):
        assert np.array_equal(getattr(back, name), getattr(sent, name))


def test_a_trajectory_that_leaves_the_fingers_alone_does_not_name_them():
    message = robots.trajectory_to_msg(trajectory(float("nan")), PANDA)
    assert "panda_finger_joint1" not in message.joint_names
    assert np.isnan(robots.trajectory_from_msg(message, PANDA).gripper_width)


def test_a_trajectory_of_other_joints_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    message.joint_names = ["wheel"]
    with pytest.raises(InputError, match="joint_command names wheel; it must name panda_joint1"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_trajectory_with_uneven_times_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    message.points[2].time_from_start.nanosec += 7_000_000
    with pytest.raises(InputError, match="at least two points, evenly spaced"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_trajectory_whose_points_lack_velocities_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    message.points[1] = JointTrajectoryPoint(
        positions=message.points[1].positions, time_from_start=message.points[1].time_from_start
    )
    with pytest.raises(InputError, match="every point of joint_command needs positions, velocities and acc"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_trajectory_that_holds_no_number_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    message.points[1].positions[3] = float("nan")
    with pytest.raises(InputError, match="one finite position, velocity and acceleration a joint"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_trajectory_of_numbers_no_arm_can_reach_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    message.points[1].velocities[0] = -1e308
    with pytest.raises(InputError, match="no position, velocity or acceleration of joint_command may exceed 1000"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_trajectory_whose_points_are_all_at_once_is_refused():
    message = robots.trajectory_to_msg(trajectory(), PANDA)
    for point in message.points:
        point.time_from_start.sec, point.time_from_start.nanosec = 0, 0
    with pytest.raises(InputError, match=r"evenly spaced in time, 0\.001 s apart or more"):
        robots.trajectory_from_msg(message, PANDA)


def test_a_joint_state_shorter_than_its_names_is_refused():
    message = robots.joint_state_to_msg(JointState(0.0, np.zeros(7), np.zeros(7)), 0.0, PANDA)
    message.position = array("d", [0.0] * 3)
    with pytest.raises(InputError, match="joint_states names 9 joints but does not give each a position"):
        robots.joint_state_from_msg(message, PANDA.joints, PANDA.fingers)


@pytest.mark.parametrize("robot", ["panda", "fr3", "so_arm", "ur5e", "xarm7"])
@pytest.mark.parametrize("width", [0.05, float("nan")])
def test_a_command_as_bytes_is_the_serialized_message(robot, width):
    arm = arm_model(robot)
    sent = trajectory(width, arm.nq)
    assert deserialize_message(robots.trajectory_to_bytes(sent, arm), JointTrajectoryMsg) == (
        robots.trajectory_to_msg(sent, arm)
    )


@pytest.mark.parametrize("width", [0.05, float("nan")])
def test_a_command_is_read_from_bytes_of_this_package_and_of_others(width):
    sent = trajectory(width)
    for data in (robots.trajectory_to_bytes(sent, PANDA), serialize_message(robots.trajectory_to_msg(sent, PANDA))):
        back = robots.trajectory_from_bytes(data, PANDA)
        assert (back.start_time, back.dt) == (2.0, pytest.approx(0.05))
        assert back.gripper_width == pytest.approx(width, nan_ok=True)
        for name in ("qpos", "qvel", "qacc"):
            assert np.array_equal(getattr(back, name), getattr(sent, name))


def test_damaged_bytes_of_a_command_are_read_as_by_rclpy_or_refused():
    data, rng, read = robots.trajectory_to_bytes(trajectory(), PANDA), np.random.default_rng(1), 0
    for _ in range(3000):
        damaged = bytearray(data)
        for place in rng.integers(4, len(data), size=rng.integers(1, 4)):  # behind the encapsulation, which is rmw's
            damaged[place] = rng.choice([0, 1, 8, 127, 255, rng.integers(256)])
        damaged = damaged[: rng.choice([len(data), rng.integers(4, len(data))])]
        try:
            expected = robots.trajectory_from_msg(deserialize_message(bytes(damaged), JointTrajectoryMsg), PANDA)
        except (InputError, RMWError):
            with pytest.raises(InputError):
                robots.trajectory_from_bytes(bytes(damaged), PANDA)
            continue
        found, read = robots.trajectory_from_bytes(bytes(damaged), PANDA), read + 1
        assert (found.start_time, found.dt) == (expected.start_time, pytest.approx(expected.dt))
        assert found.gripper_width == pytest.approx(expected.gripper_width, nan_ok=True)
        assert np.array_equal(found.qpos, expected.qpos)
    assert read > 300
