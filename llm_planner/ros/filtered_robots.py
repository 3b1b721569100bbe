"""The safety filter's side of each robot: what is wanted of it comes in, what it may do goes out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.guard import Guard, GuardSettings
from llm_planner.control.safety_filter.robots import base_guard, panda_body
from llm_planner.control.safety_filter.safety_filter import Filtered, SafetyFilter
from llm_planner.errors import InputError
from llm_planner.robots.carried import Carried
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.ros.arm_output import ArmOutput, HandFeed, arm_of
from llm_planner.ros.base_node import NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions.base_messages import (
    BASE_LINK,
    MAP_FRAME,
    in_base_frame,
    in_map_frame,
    odometry_from_msg,
    velocity_from_msg,
    velocity_to_msg,
)
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.message_conversions import BASE_FRAME as ARM_FRAME
from llm_planner.ros.conversions.message_conversions import joint_state_from_msg, trajectory_from_msg
from llm_planner.ros.parameters import CMD_VEL_TIMEOUT, STAMPED_CMD_VEL

Wanted = Callable[[object], None]
InTime = Callable[[float], bool]  # whether a command that begins at this time [s] can still be sent
OF_ANOTHER_TIME = 0.5  # [s] that a plan may begin before or after now


class FilteredArm:
    """Joint trajectories, wanted and filtered."""

    topic, message_type, frame = "joint_states", JointStateMsg, ARM_FRAME

    def __init__(self, node: BaseNode, on_wanted: Wanted, in_time: InTime) -> None:
        self._in_time = in_time
        self._arm = arm_of(node)
        self._safety = SafetyFilter(panda_body(), self._arm.limits)
        self._guard = Guard(self._safety, GuardSettings(lead=node.setting("lead")))
        self._state: JointState | None = None
        self._output = ArmOutput(node, self._arm)
        self.holds = False
        HandFeed(node, self._carry)
        node.create_subscription(JointTrajectoryMsg, "joint_command_wanted", on_wanted, NEWEST_ONLY)

    @property
    def filtered(self) -> Filtered:
        """The last step's verdict."""
        return self._guard.filtered

    @property
    def why(self) -> str:
        """What speaks against following what is wanted as it is; "" where nothing does."""
        return self._guard.why if self._guard.is_stepping else ""

    @property
    def margin(self) -> float:
        """What is kept beyond clearances [m]."""
        return self._guard.margin

    def state(self, message: JointStateMsg) -> JointState:
        """Raises InputError."""
        return joint_state_from_msg(message, self._arm.joints, ())[0]

    def speed(self, state: JointState) -> float:
        """Of the gripper point [m/s]."""
        return self._safety.point_speed(state.qpos, state.qvel)

    def measured(self, state: JointState) -> None:
        """Raises InputError."""
        self._guard.measured(state)
        self._state = state

    def forget(self) -> None:
        """The robot was restarted."""
        self._guard.forget()

    def brake(self) -> None:
        """Nothing is wanted any more."""
        self._guard.brake()

    def rests(self, now: float) -> bool:
        """Whether nothing moves."""
        return self._guard.rests(now)

    def hear(self, message: JointTrajectoryMsg, now: float, constraints: MotionConstraints) -> bool:
        """Passes a wanted plan on where it is proved; else steps have to be taken. Raises InputError."""
        plan = trajectory_from_msg(message)
        if abs(plan.start_time - now) > OF_ANOTHER_TIME:
            raise InputError(
                f"a wanted motion begins {plan.start_time - now:.2f} s from now; at most {OF_ANOTHER_TIME} s are taken"
            )
        begins = max(plan.start_time, now)
        return self._send(self._guard.hear(plan, begins, constraints), begins)

    def step(self, now: float, constraints: MotionConstraints) -> None:
        """The next command, if there is a new one."""
        self._send(self._guard.step(now, constraints), now)

    def _carry(self, carried: Carried | None) -> None:
        """What the hand holds keeps out of zones as well."""
        self.holds = carried is not None
        self._safety = SafetyFilter(panda_body(carried), self._arm.limits)
        self._guard.judged_by(self._safety)

    def _send(self, command: JointTrajectory | None, now: float) -> bool:
        """Whether there was anything to send; what is too late is not."""
        if command is None or self._state is None:
            return False
        if not self._in_time(max(command.start_time, now)):
            self._guard.withdraw()
            return False
        self._output.send(command, self._state, now)
        return True


class FilteredBase:
    """Velocities, wanted and filtered."""

    topic, message_type, frame = "odom", Odometry, MAP_FRAME
    holds = False  # what lies on it makes it no wider

    margin = 0.0  # [m] where it is measured counts, not where it was sent

    def __init__(self, node: BaseNode, on_wanted: Wanted, in_time: InTime) -> None:
        self._guard, self._in_time = base_guard(node.setting(CMD_VEL_TIMEOUT.name)), in_time
        self._state: JointState | None = None
        self._lead = node.setting("lead")
        self._stamped = node.setting(STAMPED_CMD_VEL.name)
        self._command = node.create_lifecycle_publisher(TwistStamped if self._stamped else Twist, "cmd_vel", 1)
        node.create_subscription(Twist, "cmd_vel_wanted", on_wanted, NEWEST_ONLY)

    @property
    def filtered(self) -> Filtered:
        """The last step's verdict."""
        return self._guard.filtered

    @property
    def why(self) -> str:
        """What speaks against following what is wanted as it is; "" where nothing does."""
        return ", ".join(self.filtered.binding) if self.filtered.changed else ""

    def state(self, message: Odometry) -> JointState:
        """Raises InputError."""
        return odometry_from_msg(message)

    def speed(self, state: JointState) -> float:
        """Of its middle [m/s]."""
        return float(np.hypot(state.qvel[0], state.qvel[1]))

    def measured(self, state: JointState) -> None:
        self._state = state

    def forget(self) -> None:
        """The robot was restarted."""
        self._guard.forget()

    def brake(self) -> None:
        """Nothing is wanted any more."""
        self._guard.brake()

    def rests(self, now: float) -> bool:
        """Whether nothing moves."""
        return self._guard.rests(now)

    def hear(self, message: Twist, now: float, constraints: MotionConstraints) -> bool:
        """Commands what comes nearest to the wanted velocity; whether that is it. Raises InputError."""
        if self._state is None:
            return True
        velocity = in_map_frame(velocity_from_msg(message), float(self._state.qpos[2]))
        self._guard.hear(np.array(velocity), now)
        self.step(now, constraints)
        return not self.filtered.changed

    def step(self, now: float, constraints: MotionConstraints) -> None:
        """The next command."""
        state = self._state
        if state is not None:
            velocity = self._guard.step(state, now, constraints)
            if self._in_time(now):
                twist = velocity_to_msg(in_base_frame(JointState(now, state.qpos, velocity)))
                stamped = (
                    TwistStamped(header=header(now - self._lead, BASE_LINK), twist=twist) if self._stamped else None
                )
                self._command.publish(stamped or twist)


FILTERED = {"arm": FilteredArm, "mobile": FilteredBase}
