"""Topics and controllers of the robot that a node moves or observes: simulated, or real as its `robot.yaml` says.

A parameter that is set wins over `robot.yaml`, and that over the default of ros2_control.
"""

from __future__ import annotations

import math

from std_msgs.msg import Float64

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.controllers import GRIPPER_ACTIONS, INTERFACES, TRAJECTORY, GripperController, GripperEnd
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.parameters import Setting

SIMULATOR = Setting(
    "simulator", True, "the robot is the simulated one; false: real, with the controllers of robot.yaml"
)
STATE_TOPIC = Setting(
    "state_topic",
    "",
    "the topic of the robot's states; empty: joint_states or that of robot.yaml, of a mobile robot odom",
)
GRIPPER_STATE_TOPIC = Setting(
    "gripper_state_topic", "", "joint states of a real gripper; empty: that of robot.yaml, or the robot's states"
)
COMMAND_INTERFACE = Setting(
    "command_interface", "", "what the robot takes; empty: as robot.yaml says", choices=INTERFACES
)
COMMAND_TOPIC = Setting(
    "command_topic",
    "",
    "the topic that the robot's controller listens to; empty: joint_command in simulation, that of robot.yaml for a "
    "real arm, cmd_vel for a mobile robot",
)
GRIPPER = Setting(
    "gripper",
    "",
    "where the gripper's width goes: joint (with the arm's) or topic (gripper_command); empty: joint in simulation, "
    "topic for a real arm",
    choices=("joint", "topic"),
)
OUTPUT_SETTINGS = (SIMULATOR, COMMAND_INTERFACE, COMMAND_TOPIC, GRIPPER)

GRIPPER_ACTION = Setting("gripper_action", "", "name of the gripper's action; empty: that of robot.yaml, if any")
GRIPPER_TYPE = Setting("gripper_type", "", "type of that action; empty: as robot.yaml says", choices=GRIPPER_ACTIONS)
GRIPPER_JOINT = Setting("gripper_joint", "", "joint that a ParallelGripperCommand names; empty: as robot.yaml says")
GRIPPER_EFFORT = Setting(
    "gripper_effort", -1.0, "largest effort of the gripper [N]; -1: as robot.yaml says", -1.0, 1000.0
)
GRIPPER_ACTION_SETTINGS = (GRIPPER_ACTION, GRIPPER_TYPE, GRIPPER_JOINT, GRIPPER_EFFORT)


ODOMETRY, CMD_VEL = "odom", "cmd_vel"  # of a base, whether or not it carries an arm


class GripperCommand:
    """Publisher of `gripper_command`, the gripper's width [m], whenever that is new."""

    def __init__(self, node: BaseNode) -> None:
        self._topic, self._width = node.create_lifecycle_publisher(Float64, "gripper_command", LATCHED), math.nan

    def send(self, width: float) -> None:
        """Publish a width; NaN keeps the present one."""
        if not math.isnan(width) and width != self._width:
            self._width = width
            self._topic.publish(Float64(data=width))


def state_topic(node: BaseNode, arm: ArmModel | None) -> str:
    """Return the topic of the robot's states; `arm` is None for a mobile base."""
    given = str(node.setting(STATE_TOPIC.name))
    if given or arm is None:
        return given or ODOMETRY
    return "joint_states" if node.setting(SIMULATOR.name) else arm.topics.states


def gripper_state_topic(node: BaseNode, arm: ArmModel) -> str:
    """Return the topic with the states of the arm's gripper."""
    of_file = "" if node.setting(SIMULATOR.name) else arm.topics.gripper_states
    return str(node.setting(GRIPPER_STATE_TOPIC.name)) or of_file or state_topic(node, arm)


def command_interface(node: BaseNode, arm: ArmModel) -> str:
    """Return the interface of the arm's controller, one of `INTERFACES`."""
    default = TRAJECTORY if node.setting(SIMULATOR.name) else arm.controllers.arm.interface
    return str(node.setting(COMMAND_INTERFACE.name)) or default


def command_topic(node: BaseNode, arm: ArmModel | None) -> str:
    """Return the topic of the robot's commands; `arm` is None for a mobile base."""
    given = str(node.setting(COMMAND_TOPIC.name))
    if given or arm is None:
        return given or CMD_VEL
    if node.setting(SIMULATOR.name):
        return "joint_command"
    return arm.controllers.arm.topic(command_interface(node, arm))


def gripper_goes_with_joints(node: BaseNode) -> bool:
    """Return whether the gripper's width is part of the arm's commands."""
    return (node.setting(GRIPPER.name) or ("joint" if node.setting(SIMULATOR.name) else "topic")) == "joint"


def gripper_controller(node: BaseNode, arm: ArmModel | None) -> GripperController | None:
    """Return the gripper's action server, None if neither parameters nor `robot.yaml` name one; raise InputError."""
    found = arm.controllers.gripper if arm else None
    action = str(node.setting(GRIPPER_ACTION.name)) or (found.action if found else "")
    if not action:
        return None
    effort = float(node.setting(GRIPPER_EFFORT.name))
    kind = str(node.setting(GRIPPER_TYPE.name)) or (found.type if found else GRIPPER_ACTIONS[0])
    joint = str(node.setting(GRIPPER_JOINT.name)) or (found.joint if found else "")
    if kind == GRIPPER_ACTIONS[1] and not joint:
        raise InputError(
            f"a {kind} names the joint that it moves; set the parameter {GRIPPER_JOINT.name}, or joint in "
            "controllers/gripper of robot.yaml"
        )
    return GripperController(
        action=action,
        type=kind,
        open=found.open if found else GripperEnd(width=0.08, position=0.08),
        closed=found.closed if found else GripperEnd(width=0.0, position=0.0),
        joint=joint,
        effort=effort if effort >= 0.0 else found.effort if found else 0.0,
    )
