"""Node that moves an arm by the action `FollowJointTrajectory` of control_msgs, for drivers that take nothing else.

It turns the commands of the safety filter (`joint_command`, a hundred a second) into few goals. A goal preempts the one
before it. Each is a motion to rest that the filter has proved, so a goal that is lost or refused leaves the arm on such
a motion. Between two goals the arm follows the older one: limits that change take effect up to a period later, unless
the new motion differs at once, as for a stop; then it is sent at once.
"""

from __future__ import annotations

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from llm_planner.errors import InputError
from llm_planner.robots.motion import JointTrajectory, sample
from llm_planner.ros.base_node import ERROR, NEWEST_ONLY, OK, BaseNode, run_node
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.robot_messages import trajectory_from_msg, trajectory_to_msg
from llm_planner.ros.message_types import required_type
from llm_planner.ros.parameters import ROBOT, Setting, arm_of

SAME = 1e-4  # [rad, m] deviation up to which two trajectories count as one
LOOKS = 50  # times at which two trajectories are compared


class GoalPacing:
    """Decides which trajectory a controller gets, of those that follow each other a hundred times a second.

    Each of them continues to rest, so the robot may follow an older one for a while: it is one that was sent.
    """

    def __init__(self, period: float, urgent: float) -> None:
        """Send at most one trajectory every `period` [s].

        One that deviates by more than `urgent` [rad, m] within two periods is sent at once.
        """
        self._period, self._urgent = period, urgent
        self._sent: JointTrajectory | None = None

    def wants(self, plan: JointTrajectory) -> bool:
        """Return whether `plan` should be sent now, and count it as sent if so."""
        chosen = np.ptp(plan.qpos, axis=0).max() > SAME if self._sent is None else self._is_due(plan, self._sent)
        if chosen:
            self._sent = plan
        return bool(chosen)

    def forget(self) -> None:
        """Nothing that was sent is followed any more; the next trajectory that moves is sent."""
        self._sent = None

    def _is_due(self, plan: JointTrajectory, sent: JointTrajectory) -> bool:
        begins = plan.start_time
        ends = begins + plan.dt * (len(plan.qpos) - 1)
        times = np.linspace(begins, max(ends, begins + 2 * self._period), LOOKS)
        apart = np.abs(sample(plan, times)[0] - sample(sent, times)[0]).max(axis=1)
        if apart.max() <= SAME:
            return False
        return (
            begins >= sent.start_time + self._period or apart[times <= begins + 2 * self._period].max() > self._urgent
        )


class TrajectoryActionNode(BaseNode):
    """Sends trajectories as goals, and reports what the controller says of them."""

    SETTINGS = (
        Setting("trajectory_action", "", "name of the action; empty: that of the controller in robot.yaml"),
        Setting("command_topic", "joint_command", "the topic of the safety filter's commands (its command_topic)"),
        Setting("rate", 10.0, "goals a second while a motion goes on as it was sent [Hz]", 1.0, 50.0),
        Setting("urgent", 0.01, "deviation from the last goal at which the next is sent at once [rad]", 0.0001, 1.0),
        ROBOT,
    )

    def configure(self) -> None:
        arm = arm_of(self)
        if arm is None:
            raise InputError("the parameter robot is mobile; FollowJointTrajectory moves an arm: name one")
        name = "FollowJointTrajectory"
        kind = required_type("control_msgs.action", name, f"{name} needs")
        self._arm = arm
        self._action = self.setting("trajectory_action") or f"{arm.controllers.arm.name}/follow_joint_trajectory"
        self._pacing = GoalPacing(1.0 / self.setting("rate"), self.setting("urgent"))
        self._kind, self._client = kind, ActionClient(self, kind, self._action)
        self._number, self._sent, self._refused = 0, 0, 0
        self._flaw = ""
        commanded = validated(self, lambda message: trajectory_from_msg(message, arm), self._on_command)
        self.create_subscription(JointTrajectoryMsg, self.setting("command_topic"), commanded, NEWEST_ONLY)
        self.report_with(self._on_diagnose)

    def _on_command(self, plan: JointTrajectory) -> None:
        if not self.is_active:
            return
        if not self._client.server_is_ready():
            self._flaw = f"no action server answers at {self._action}: is its controller active?"
            self._pacing.forget()
        elif self._pacing.wants(plan):
            self._number += 1
            self._sent += 1
            number, goal = self._number, self._kind.Goal(trajectory=trajectory_to_msg(plan, self._arm, False))
            self._client.send_goal_async(goal).add_done_callback(lambda done: self._on_answer(number, done))

    def _on_answer(self, number: int, done: Future) -> None:
        handle = done.result()
        if handle is not None and handle.accepted:
            self._flaw = ""
            handle.get_result_async().add_done_callback(lambda ended: self._on_result(number, ended))
        elif number == self._number:
            self._drop("the controller refuses the trajectory; see what it prints")

    def _on_result(self, number: int, ended: Future) -> None:
        answer = ended.result()
        if number == self._number and answer is not None and answer.status != GoalStatus.STATUS_SUCCEEDED:
            told = answer.result.error_string or "it does not say why"
            self._drop(f"the controller gave the trajectory up (error code {answer.result.error_code}): {told[:200]}")

    def _drop(self, why: str) -> None:
        self._flaw = f"{self._action}: {why}"
        self._refused += 1
        self._pacing.forget()
        self.get_logger().error(self._flaw, throttle_duration_sec=1.0)

    def _on_diagnose(self) -> None:
        values = [("goals", self._sent), ("refused", self._refused)]
        self.report(ERROR if self._flaw else OK, self._flaw or "ready", values)
        self._sent = self._refused = 0


def main() -> None:
    run_node(TrajectoryActionNode, "trajectory_action")


if __name__ == "__main__":
    main()
