"""The robot as the skill server sees it: topic of its states, their age, and conversion to a skill's observation.

On a busy computer the states of a simulated robot come late, not never.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg

from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.mobile_base import CLOSED_WIDTH, OPEN_WIDTH
from llm_planner.robots.motion import Array, JointState, MotionReference, Observation
from llm_planner.ros.base_node import NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.robot_messages import (
    MAP_FRAME,
    WIDTH_MAX,
    joint_state_from_msg,
    joint_state_unchecked,
    odometry_from_msg,
)
from llm_planner.ros.heartbeat_monitor import LONGEST_LOOK, DataSilence
from llm_planner.ros.parameters import arm_of
from llm_planner.ros.robot_topics import GRIPPER_STATE_TOPIC, ODOMETRY, SIMULATOR, gripper_state_topic, state_topic
from llm_planner.scene.driven_base import driven_to, seen_anew
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.skills.mobile_arm import interlock


@dataclass(frozen=True)
class RobotState:
    """Measured joints, `qpos` and `qvel` (nq,), at `time` [s]; gripper `width` [m], NaN if it is not measured."""

    time: float
    qpos: Array
    qvel: Array
    width: float = float("nan")


class ObservedArm:
    """Arm whose joint states give joints and gripper width; a real gripper may have a topic of its own."""

    message_type = JointStateMsg

    def __init__(self, node: BaseNode, arm: ArmModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._arm, self.name, self.frame = arm, arm.name, arm.frame
        self._kinematics = arm.kinematics()
        self._gripper = None if node.setting(SIMULATOR.name) else arm.controllers.gripper
        joint = self._gripper.joint if self._gripper else ""
        self._fingers = (joint,) if joint else arm.fingers
        self.topic, self._gripper_topic = state_topic(node, arm), gripper_state_topic(node, arm)
        self._clock, self._timeout = clock, float(node.setting("state_timeout"))
        self._width, self._heard = float("nan"), -float("inf")
        if self._gripper_topic != self.topic:
            node.create_subscription(JointStateMsg, self._gripper_topic, validated(node, self._on_gripper), NEWEST_ONLY)

    @property
    def flaw(self) -> str:
        """What is missing of the robot's states, "" if nothing is."""
        late = bool(self._fingers) and self._clock() - self._heard > self._timeout
        return f"no states of {', '.join(self._fingers)} on {self._gripper_topic}" if late else ""

    @property
    def obstacle(self) -> str:
        """Why no skill can run, with what to do about it: the gripper's states never came; "" if they did."""
        if not self.flaw or self._heard > -float("inf"):
            return ""
        return (
            f"the gripper's states are missing: {self.flaw}. If they come elsewhere, set the parameter "
            f"{GRIPPER_STATE_TOPIC.name}, or gripper_states in the topics of robot.yaml; if the gripper has none, "
            "write fingers: [] there"
        )

    def state(self, message: JointStateMsg) -> RobotState:
        """Convert the robot's state message; raise InputError."""
        if self._gripper_topic == self.topic and set(self._fingers) <= set(message.name):
            self._hear(message)
        elif self.flaw:
            self._width = float("nan")
        joints, _ = joint_state_from_msg(message, self._arm.joints, ())
        return RobotState(joints.time, joints.qpos, joints.qvel, self._width)

    def _on_gripper(self, message: JointStateMsg) -> None:
        if set(self._fingers) <= set(message.name):  # others may use the topic too
            self._hear(message)

    def _hear(self, message: JointStateMsg) -> None:
        """Read the gripper's width; raise InputError."""
        if not self._fingers:
            return
        total = float(joint_state_unchecked(message, self._fingers, ())[0].qpos.sum())
        width = self._gripper.width(total) if self._gripper and self._gripper.joint else total
        checks.number("the width between the fingers in joint_states", width, -WIDTH_MAX, WIDTH_MAX)
        self._width, self._heard = width, self._clock()

    def hand(self, state: RobotState) -> Pose:
        """Return the pose of the grip point in the frame of the scene [m]."""
        return self._kinematics.pose(state.qpos)

    def observation(self, state: RobotState, scene: Scene, origins: Mapping[str, Vector3]) -> Observation:
        pose = self.hand(state)
        return Observation(state.time, scene, tuple(state.qpos.tolist()), pose, state.width, origins)

    def refusal(self, reference: MotionReference, observation: Observation, state: RobotState) -> str:
        """Return why the robot may not follow `reference` now; "" if it may."""
        return ""


class ObservedMobileArm(ObservedArm):
    """Arm on a mobile base, whose odometry says where the scene's frame is at the moment of the arm's state.

    The velocities of the base come after those of the arm.
    """

    def __init__(self, node: BaseNode, arm: ArmModel) -> None:
        super().__init__(node, arm)
        self._base: JointState | None = None
        node.create_subscription(Odometry, ODOMETRY, validated(node, odometry_from_msg, self._on_odometry), NEWEST_ONLY)

    def state(self, message: JointStateMsg) -> RobotState:
        state = super().state(message)
        return state if self._base is None else replace(state, qvel=np.concatenate([state.qvel, self._base.qvel]))

    def observation(self, state: RobotState, scene: Scene, origins: Mapping[str, Vector3]) -> Observation:
        if self._base is None:
            return super().observation(state, scene, origins)
        now = driven_to(scene, upright_pose(*self._base.qpos.tolist()))
        return super().observation(state, now, seen_anew(origins, scene, now))

    def refusal(self, reference: MotionReference, observation: Observation, state: RobotState) -> str:
        if self._base is None:
            return f"no {ODOMETRY} has come, so it is not known whether the base stands"
        hand, arm = observation.T_base_gripper.position, state.qvel[: self._arm.nq]
        return interlock(reference.of_base, self.name, hand, arm, self._base.qvel)

    def _on_odometry(self, state: JointState) -> None:
        self._base = state


class ObservedBase:
    """Mobile base, as `ObservedArm`; odometry gives its pose, the scene whether its gripper holds something."""

    message_type, frame = Odometry, MAP_FRAME
    name = Scene.arm  # of no importance to a scene with rooms
    flaw = obstacle = ""

    def __init__(self, node: BaseNode) -> None:
        self.topic = state_topic(node, None)

    def state(self, message: Odometry) -> RobotState:
        state = odometry_from_msg(message)
        return RobotState(state.time, state.qpos, state.qvel)

    def observation(self, state: RobotState, scene: Scene, origins: Mapping[str, Vector3]) -> Observation:
        x, y, yaw = state.qpos.tolist()
        width = CLOSED_WIDTH if scene.held else OPEN_WIDTH
        return Observation(state.time, scene, (x, y, yaw), upright_pose(x, y, yaw), width, origins)

    def refusal(self, reference: MotionReference, observation: Observation, state: RobotState) -> str:
        return ""


def observed_robot(node: BaseNode) -> ObservedArm | ObservedBase:
    """Return the robot that the parameter `robot` names; raise InputError."""
    arm = arm_of(node)
    if arm is None:
        return ObservedBase(node)
    return ObservedArm(node, arm) if arm.mount is None else ObservedMobileArm(node, arm)


WINDOW = 10.0  # [s, wall time] over which the pace is measured
LEAST = 2.0  # [s, wall time] of states that say something about the pace
SLOW = 0.2  # share of real time below which a computer counts as too slow


class SimulationPace:
    """Measures the clock of a simulated robot against wall time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()  # robot's time and wall time of each state [s]

    def saw(self, time: float, wall: float) -> None:
        """Record a state with the robot's `time` [s] that arrived at `wall` [s, monotonic]."""
        if self._seen and time < self._seen[-1][0]:  # the simulation has restarted
            self._seen.clear()
        self._seen.append((time, wall))
        while wall - self._seen[0][1] > WINDOW:
            self._seen.popleft()

    def told(self, wall: float) -> str:
        """Say at `wall` [s] that the computer is too slow, with the measured pace; "" if nothing shows that."""
        recent = [one for one in self._seen if wall - one[1] <= WINDOW]
        if not recent:
            return ""
        (began, first), (last, _) = recent[0], recent[-1]
        if wall - first < LEAST or last - began > SLOW * (wall - first):
            return ""
        return (
            f": this computer is too slow for the simulation, whose clock went {last - began:.2f} s in the last "
            f"{wall - first:.1f} s ({len(recent)} states); end other programs, or lower the parameter real_time_factor"
        )


class StateWatch:
    """Watches the robot's states on a topic that `node` subscribes to.

    `timeout` is the silence after which they count as lost [s].
    """

    def __init__(self, node: BaseNode, timeout: float, topic: str, is_simulated: bool) -> None:
        self._node, self._topic, self._is_simulated = node, topic, is_simulated
        self._silence, self._flaw, self._pace = (
            DataSilence(node.now, min(LONGEST_LOOK, timeout / 2)),
            "",
            SimulationPace(),
        )
        self._count = 0

    def saw(self, stamp: float) -> None:
        """Record a state with the robot's time `stamp` [s] that arrives now."""
        self._silence.heard()
        self._flaw = ""
        self._count += 1
        self._pace.saw(stamp, time.monotonic())

    def refused(self, why: str) -> None:
        """Record that a state cannot be used."""
        self._flaw = why

    def look(self) -> None:
        """Count the time without a usable state; call a few times a second."""
        self._silence.look()

    @property
    def silence(self) -> float:
        """Time since the last usable state [s], as `DataSilence` counts it."""
        return self._silence.seconds

    @property
    def why(self) -> str:
        """Reason for which no usable state arrives."""
        if self._flaw:
            return f"the robot's {self._topic} cannot be used: {self._flaw}"
        if not self._node.count_publishers(self._topic):
            return f"nothing publishes the robot's {self._topic} (any more)"
        return f"the robot's {self._topic} do not arrive{self.slowness}"

    @property
    def slowness(self) -> str:
        """Text that the computer is too slow for the simulation, with a colon before it; "" if it is not."""
        return self._pace.told(time.monotonic()) if self._is_simulated else ""

    def count(self) -> int:
        """Return the number of usable states since the last call."""
        count, self._count = self._count, 0
        return count
