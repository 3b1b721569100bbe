"""Robot adapters of the safety filter: wanted commands in, filtered commands out.

To an arm (`ros2_control` or the simulator), the interface `trajectory` sends whole trajectories to a
joint_trajectory_controller. They end at rest, so the robot stops if it receives nothing more. `position` and `velocity`
send one value per joint and tick to a forward command controller, which repeats the last value for ever; prefer
`trajectory`.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.formulation import sample
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.command_timing import RobotClock
from llm_planner.control.safety_filter.guard import Guard, GuardSettings
from llm_planner.control.safety_filter.robots import arm_body, base_guard
from llm_planner.control.safety_filter.safety_filter import Filtered, SafetyFilter
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.carried import Carried
from llm_planner.robots.controllers import POSITION, TRAJECTORY
from llm_planner.robots.mobile_base import MOBILE_BASE
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.arm_context import BaseUnderArm, follow_hand
from llm_planner.ros.base_node import NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.robot_messages import (
    BASE_LINK,
    MAP_FRAME,
    in_base_frame,
    in_map_frame,
    joint_state_from_msg,
    odometry_from_msg,
    trajectory_from_bytes,
    trajectory_to_bytes,
    velocity_from_msg,
    velocity_to_msg,
)
from llm_planner.ros.parameters import CMD_VEL_TIMEOUT, STAMPED_CMD_VEL, arm_of
from llm_planner.ros.robot_topics import (
    CMD_VEL,
    ODOMETRY,
    GripperCommand,
    command_interface,
    command_topic,
    gripper_goes_with_joints,
    state_topic,
)
from llm_planner.scene.scene import Vector3
from llm_planner.skills.mobile_arm import STILL

Wanted = Callable[[object], None]
InTime = Callable[[float], bool]  # whether a command that starts at this time [s] can still be sent
OUT_OF_ORDER = 0.1  # [s] a state that is older by more than this means that the robot was restarted
SILENT = 0.5  # [s] age of the arm's state, compared with that of the base, from which it counts as unknown
OF_ANOTHER_TIME = 0.5  # [s] largest distance of a plan's start from now
CLOSING = 5.0  # [1/s] feedback gain of velocity commands on the deviation from the plan


class ArmOutput:
    """Publisher of joint commands, with a separate one for the gripper if so configured."""

    def __init__(self, node: BaseNode, arm: ArmModel) -> None:
        """Read `OUTPUT_SETTINGS`, which the node must declare; raise InputError."""
        self._arm = arm
        self._interface = command_interface(node, arm)
        in_joints = gripper_goes_with_joints(node)
        if in_joints and self._interface != TRAJECTORY:
            raise InputError(
                f"the gripper's width cannot go with the joints' {self._interface}; set the parameter gripper to topic"
            )
        self._with_finger = in_joints and bool(arm.fingers)
        kind = JointTrajectoryMsg if self._interface == TRAJECTORY else Float64MultiArray
        self._command = node.create_lifecycle_publisher(kind, command_topic(node, arm), 1)
        self._gripper = None if in_joints else GripperCommand(node)

    def send(self, plan: JointTrajectory, state: JointState, now: float) -> None:
        """Send commands that follow `plan`.

        Args:
            plan: Trajectory of the arm.
            state: Measured state, for the feedback of velocity commands.
            now: Time [s] at which position and velocity commands take effect.
        """
        if self._interface == TRAJECTORY:
            self._command.publish(trajectory_to_bytes(plan, self._arm, self._with_finger))
        else:
            planned, most = sample(plan, now), self._arm.limits.qvel_max
            values = planned.qpos
            if self._interface != POSITION:
                behind = sample(plan, state.time).qpos - state.qpos
                values = np.clip(planned.qvel + CLOSING * behind, -most, most)
            self._command.publish(Float64MultiArray(data=array("d", values.tolist())))
        if self._gripper is not None:
            self._gripper.send(plan.gripper_width)


class FilteredArm:
    """Filters joint trajectories of an arm; its `guard` holds the wanted one and the verdict of the last step."""

    message_type = JointStateMsg

    def __init__(self, node: BaseNode, arm: ArmModel, on_wanted: Wanted, in_time: InTime) -> None:
        self._arm, self._in_time = arm, in_time
        self.frame, self.topic = arm.frame, state_topic(node, arm)
        self._safety = SafetyFilter(arm_body(arm), arm.limits)
        self.guard = Guard(self._safety, GuardSettings(lead=node.setting("lead")))
        self.here: JointState | None = None  # measured last
        self._output = ArmOutput(node, arm)
        self.holds = False
        self.refusal: Callable[[], str] = str  # says why the arm may not move now, "" if it may
        follow_hand(node, arm, self._carry)
        node.create_subscription(JointTrajectoryMsg, "joint_command_wanted", on_wanted, NEWEST_ONLY, raw=True)

    @property
    def why(self) -> str:
        """Reason for not passing the wanted command unchanged; "" if there is none."""
        return self.guard.why if self.guard.is_stepping else ""

    @property
    def margin(self) -> float:
        """Margin added to clearances [m]."""
        return self.guard.margin

    def state(self, message: JointStateMsg) -> JointState:
        """Convert the robot's state message; raise InputError."""
        return joint_state_from_msg(message, self._arm.joints, ())[0]

    def hand(self, state: JointState) -> Vector3:
        """Return the position of the gripper point [m]."""
        return self._safety.point(state.qpos)

    def speed(self, state: JointState) -> float:
        """Return the speed of the gripper point [m/s]."""
        return self._safety.point_speed(state.qpos, state.qvel)

    def measured(self, state: JointState) -> None:
        """Update the guard with a measured state; raise InputError."""
        self.guard.measured(state)
        self.here = state

    def hear(self, message: bytes, now: float, constraints: MotionConstraints) -> bool:
        """Pass a wanted trajectory, as serialized, on if it is proved safe; raise InputError if it is invalid.

        Returns:
            Whether it was passed on; if not, `step` must follow at the filter's rate.
        """
        plan = trajectory_from_bytes(message, self._arm)
        if abs(plan.start_time - now) > OF_ANOTHER_TIME:
            raise InputError(
                f"a wanted motion begins {plan.start_time - now:.2f} s from now; at most {OF_ANOTHER_TIME} s are taken"
            )
        if np.abs(plan.qvel).max() > STILL and (refusal := self.refusal()):
            raise InputError(refusal)
        begins = max(plan.start_time, now)
        return self._send(self.guard.hear(plan, begins, constraints), begins)

    def step(self, now: float, constraints: MotionConstraints) -> None:
        self._send(self.guard.step(now, constraints), now)

    def _carry(self, carried: Carried | None) -> None:
        """Include the held object in the body that keeps out of zones."""
        self.holds = carried is not None
        self._safety = SafetyFilter(arm_body(self._arm, carried), self._arm.limits)
        self.guard.judged_by(self._safety)

    def _send(self, command: JointTrajectory | None, now: float) -> bool:
        """Send a command unless it is late; return whether it was sent."""
        if command is None or self.here is None:
            return False
        if not self._in_time(max(command.start_time, now)):
            self.guard.withdraw()
            return False
        self._output.send(command, self.here, now)
        return True


class FilteredBase:
    """Filters velocities of a mobile base, as `FilteredArm`."""

    message_type, frame = Odometry, MAP_FRAME
    holds = False  # a carried object does not widen the base
    margin = 0.0  # [m] none, since the filter uses the measured pose, not the commanded one

    def __init__(self, node: BaseNode, on_wanted: Wanted, in_time: InTime, carries_arm: bool = False) -> None:
        self.guard, self._in_time = base_guard(node.setting(CMD_VEL_TIMEOUT.name)), in_time
        self._state: JointState | None = None
        self.topic = ODOMETRY if carries_arm else state_topic(node, None)
        self._link = MOBILE_BASE if carries_arm else BASE_LINK
        self._lead = node.setting("lead")
        self._stamped = node.setting(STAMPED_CMD_VEL.name)
        kind = TwistStamped if self._stamped else Twist
        self._command = node.create_lifecycle_publisher(kind, CMD_VEL if carries_arm else command_topic(node, None), 1)
        node.create_subscription(Twist, "cmd_vel_wanted", on_wanted, NEWEST_ONLY)

    @property
    def why(self) -> str:
        return ", ".join(self.guard.filtered.binding) if self.guard.filtered.changed else ""

    def state(self, message: Odometry) -> JointState:
        return odometry_from_msg(message)

    def speed(self, state: JointState) -> float:
        return float(np.hypot(state.qvel[0], state.qvel[1]))

    def measured(self, state: JointState) -> None:
        self._state = state
        self.guard.measured(state)

    def hear(self, message: Twist, now: float, constraints: MotionConstraints) -> bool:
        """Command the safe velocity nearest to the wanted one; raise InputError if that is invalid.

        Returns:
            Whether the wanted velocity was passed on unchanged.
        """
        if self._state is None:
            return True
        velocity = in_map_frame(velocity_from_msg(message), float(self._state.qpos[2]))
        self.guard.hear(np.array(velocity), now)
        self.step(now, constraints)
        return not self.guard.filtered.changed

    def step(self, now: float, constraints: MotionConstraints) -> None:
        state = self._state
        if state is not None:
            velocity = self.guard.step(state, now, constraints)
            if self._in_time(now):
                twist = velocity_to_msg(in_base_frame(JointState(now, state.qpos, velocity)))
                stamp = header(now - self._lead, self._link)
                self._command.publish(TwistStamped(header=stamp, twist=twist) if self._stamped else twist)


def filtered_robot(node: BaseNode, on_wanted: Wanted, in_time: InTime) -> FilteredArm | FilteredBase:
    """Return the robot that the parameter `robot` names; raise InputError."""
    arm = arm_of(node)
    return FilteredArm(node, arm, on_wanted, in_time) if arm else FilteredBase(node, on_wanted, in_time)


class FilteredBaseUnderArm:
    """Filters velocities of the base that carries an arm, which brakes unless that is tucked and at rest.

    It steps when a state or a wanted velocity arrives, by the clock of its own states. Errors end in `brake(reason)`.
    """

    def __init__(
        self,
        node: BaseNode,
        below: BaseUnderArm,
        arm: FilteredArm,
        brake: Callable[[str], None],
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node, self._below, self._arm, self._on_flaw, self._wall = node, below, arm, brake, wall
        self._clock, self._time, self._lead = RobotClock(), -np.inf, float(node.setting("lead"))
        self.keep: MotionConstraints | None = None  # of the robot [map]; None before the first
        self._base = FilteredBase(node, self._on_wanted, self._in_time, carries_arm=True)
        node.create_subscription(Odometry, self._base.topic, self._on_state, NEWEST_ONLY)

    @property
    def filtered(self) -> Filtered:
        """Verdict of the last step."""
        return self._base.guard.filtered

    def rests(self) -> bool:
        """Return whether the base is at rest and commanded to stay there."""
        return self._base.guard.rests(self._now())

    def brake(self) -> None:
        """Drop the wanted velocity and brake to rest."""
        self._base.guard.brake()
        self._step()

    def _on_state(self, message: Odometry) -> None:
        try:
            state = self._base.state(message)
            if state.time < self._time - OUT_OF_ORDER:
                self._base.guard.forget()
                self._clock.forget()
            elif state.time <= self._time:
                return
            self._time = state.time
            self._clock.heard(state.time, self._wall())
            self._base.measured(state)
            self._below.state = state
        except LlmPlannerError as error:
            self._on_flaw(str(error))
            return
        if not self.rests():
            self._step()

    def _on_wanted(self, message: object) -> None:
        assert isinstance(message, Twist)
        keep, now = self.keep, self._wall()
        if not self._node.is_active or keep is None or not self._clock.is_known(now):
            return
        arm, is_rest = self._arm.here, message == Twist()
        if arm is not None and arm.time < self._time - SILENT:
            arm = None
        refusal = "" if is_rest else self._below.interlock(True, arm, arm and self._arm.hand(arm))
        try:
            if refusal:
                raise InputError(f"cmd_vel_wanted is not followed: {refusal}")
            self._base.hear(message, self._now(), self._below.of_base(keep))
        except LlmPlannerError as error:
            self._on_flaw(str(error))

    def _step(self) -> None:
        keep, now = self.keep, self._wall()
        if self._node.is_active and keep is not None and self._clock.is_known(now):
            self._base.step(self._now(), self._below.of_base(keep))

    def _now(self) -> float:
        """Return when a command sent now begins, in the robot's time [s]."""
        return self._clock.now(self._wall()) + self._lead

    def _in_time(self, begins: float) -> bool:
        return self._clock.now(self._wall()) <= begins
