"""Robot adapters of the controller: topic of the robot's state, output of motion plans, and ticks with the states."""

from __future__ import annotations

import math
import time

import numpy as np
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.adaptation import Adaptation
from llm_planner.control.controlled_robot import arm as controlled_arm
from llm_planner.control.envelope import Envelope
from llm_planner.control.fallback_supervisor import FallbackSupervisor
from llm_planner.control.formulation import end_time, sample
from llm_planner.control.input_validation import Expected, InputValidator
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.mpc import BaseController, BaseSettings, MpcController, Status
from llm_planner.control.tick_solver import MpcSettings
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.mobile_base import BASE_LIMITS
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.arm_context import follow_hand
from llm_planner.ros.base_node import BaseNode
from llm_planner.ros.conversions.robot_messages import (
    MAP_FRAME,
    in_base_frame,
    joint_state_unchecked,
    odometry_unchecked,
    trajectory_to_bytes,
    velocity_to_msg,
)
from llm_planner.ros.parameters import ADAPTATION, arm_of
from llm_planner.ros.robot_topics import ODOMETRY, SIMULATOR, GripperCommand, state_topic
from llm_planner.scene.scene import Pose, Vector3
from llm_planner.scene.zones import Shape, Zone


class ControlledArm:
    """Arm controlled by joint trajectories."""

    message_type = JointStateMsg

    def __init__(self, node: BaseNode, arm: ArmModel, time_limit: float, envelope: Envelope) -> None:
        self._arm, self.frame, self.topic = arm, arm.frame, state_topic(node, arm)
        share = LimitShare(acceleration=min(envelope.acceleration, LimitShare.acceleration))
        self._kinematics = arm.kinematics()
        robot = controlled_arm(arm, self._kinematics)
        self.controller = MpcController(MpcSettings(share=share, time_limit=time_limit), robot)
        zone = Zone("nothing", Shape.SPHERE, (0.01,), Pose((0.0, 0.0, -50.0)))
        rest = JointState(0.0, np.array(arm.home), np.zeros(arm.nq))
        self.controller.could_keep(rest, 0.0, MotionConstraints(zones=(zone,)))  # builds the structures for zones
        follow_hand(node, arm, self.controller.carry)
        self._adaptation = Adaptation(arm) if adapts(node, arm) else None
        self._command = node.create_lifecycle_publisher(JointTrajectoryMsg, "joint_command_wanted", 1)

    def hand(self, state: JointState) -> Vector3:
        x, y, z = self._kinematics.forward(state.qpos)[0].tolist()
        return x, y, z

    def expected(self, silence: float) -> Expected:
        """Return the expected properties of the robot's states; `silence` [s] is the longest gap between them."""
        return Expected(self._arm.limits.qvel_max, silence=silence)

    def speed(self, state: JointState) -> float:
        """Return the speed of the gripper point, or of the base's centre [m/s]."""
        _, _, jacobian = self._kinematics.jacobian(state.qpos)
        return float(np.linalg.norm(jacobian[:3] @ state.qvel))

    def state(self, message: JointStateMsg) -> JointState:
        """Convert the robot's state; NaN passes, and holds the robot. Raise InputError for missing joints."""
        return joint_state_unchecked(message, self._arm.joints, ())[0]

    def send(self, plan: JointTrajectory, state: JointState, now: float) -> None:
        """Send the trajectory to the safety filter, adapted to estimated disturbances if adaptation is on."""
        command = plan if self._adaptation is None else self._adaptation.adapted(plan, state)
        self._command.publish(trajectory_to_bytes(command, self._arm))

    def diagnosis(self, now: float) -> tuple[str, ...]:
        """Describe what is wrong with the robot at its time `now` [s], one sentence each."""
        found = () if self._adaptation is None else self._adaptation.diagnoses
        return tuple(diagnosis.words(now) for diagnosis in found)


def adapts(node: BaseNode, arm: ArmModel) -> bool:
    """Return whether adaptation is on and knows the simulated arm's drives."""
    is_on = node.setting(ADAPTATION.name) in ("on", True)
    return is_on and arm.payload is not None and bool(node.setting(SIMULATOR.name))


class ControlledBase:
    """Mobile base controlled by velocities, as `ControlledArm`; one that carries an arm has no gripper of its own."""

    message_type, frame = Odometry, MAP_FRAME

    def __init__(self, node: BaseNode, envelope: Envelope, carries_arm: bool = False) -> None:
        self.topic = ODOMETRY if carries_arm else state_topic(node, None)
        acceleration = min(envelope.acceleration, BaseSettings.acceleration_share)
        self.controller = BaseController(BaseSettings(acceleration_share=acceleration))
        self._velocity = node.create_lifecycle_publisher(Twist, "cmd_vel_wanted", 1)
        self._gripper = None if carries_arm else GripperCommand(node)

    def expected(self, silence: float) -> Expected:
        return Expected(BASE_LIMITS.qvel_max, turning=(2,), silence=silence)  # the yaw wraps around

    def speed(self, state: JointState) -> float:
        return math.hypot(*state.qvel[:2].tolist())

    def diagnosis(self, now: float) -> tuple[str, ...]:
        return ()  # a base's drives are not diagnosed

    def state(self, message: Odometry) -> JointState:
        return odometry_unchecked(message)

    def send(self, plan: JointTrajectory, state: JointState, now: float) -> None:
        """Send the first velocity of the plan in the base frame, and the gripper width if it is new."""
        velocity = sample(plan, plan.start_time + plan.dt).qvel
        self._velocity.publish(velocity_to_msg(in_base_frame(JointState(state.time, state.qpos, velocity))))
        if self._gripper is not None:
            self._gripper.send(plan.gripper_width)


def controlled_robot(node: BaseNode, time_limit: float, envelope: Envelope) -> ControlledArm | ControlledBase:
    """Return the robot that the parameter `robot` names; raise InputError.

    `time_limit` [s] bounds the time of a plan.
    """
    arm = arm_of(node)
    return ControlledArm(node, arm, time_limit, envelope) if arm else ControlledBase(node, envelope)


REST_PERIOD = 0.1  # [s] between commands at rest
OUT_OF_ORDER = 0.05  # [s] age relative to the last state up to which a state arrived out of order


class Mover:
    """Controller of an arm or a base under its fallback supervisor, which ticks with the robot's states."""

    def __init__(self, robot: ControlledArm | ControlledBase, period: float, lead: float, silence: float) -> None:
        """Create a mover.

        Args:
            robot: Robot that is moved.
            period: Time between ticks [s].
            lead: Time from a state to the beginning of the plan that comes from it [s].
            silence: Wall time without a newer state after which the robot is held [s].
        """
        self.robot, self._period, self._lead = robot, period, lead
        self.supervisor = FallbackSupervisor(robot.controller, InputValidator(robot.expected(silence)))
        self.time = -math.inf  # of the last tick [s]
        self.solve_times: list[float] = []
        self._sent = -math.inf
        self._holds = False  # whether the last plan stands still

    def is_early(self, now: float) -> bool:
        """Return whether the next tick is not due yet, or the state at `now` [s] is out of order."""
        return self.time - OUT_OF_ORDER < now < self.time + 0.9 * self._period

    def tick(self, state: JointState, keep: MotionConstraints) -> None:
        """Plan from `state` under the constraints `keep`, and send the plan; raise InputError."""
        if state.time < self.time:
            self._sent = -math.inf
        self.time = state.time
        plan = self.supervisor.step(state, state.time + self._lead, time.monotonic(), keep)
        statistics = self.robot.controller.statistics
        if statistics.solve_time:
            self.solve_times.append(statistics.solve_time)
        was_holding, self._holds = self._holds, statistics.status is Status.HOLDING
        if not (was_holding and self._holds) or state.time >= self._sent + REST_PERIOD:
            assert self.supervisor.state is not None  # the last valid state
            self.robot.send(plan, self.supervisor.state, state.time + self._lead)
            self._sent = state.time

    def watch(self) -> None:
        """Let the robot come to rest once its states have stopped."""
        plan = self.supervisor.watch(time.monotonic())
        if plan is not None and self.supervisor.state is not None:
            self.robot.send(plan, self.supervisor.state, end_time(plan))
