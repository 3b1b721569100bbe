"""Node of the model predictive controller, which ticks with the robot's states.

For an arm, it turns `motion_reference` and `joint_states` into `joint_command_wanted`; a mobile base has `odom` and
`cmd_vel_wanted` instead, and an arm on a mobile base has both: it moves one at a time. Constraints arrive as
`motion_patch`. The node publishes the constraints in force as `motion_constraints` and its state as `motion_status`.
"""

from __future__ import annotations

import time

import numpy as np
from llm_planner_interfaces.msg import MotionConstraints, MotionReference, MotionStatus
from std_msgs.msg import String

from llm_planner.control.fallback_supervisor import SupervisorStatus
from llm_planner.errors import LlmPlannerError
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.arm_context import BaseUnderArm, base_under
from llm_planner.ros.base_node import ERROR, LATCHED, NEWEST_ONLY, OK, WARN, BaseNode, run_node
from llm_planner.ros.controlled_robots import ControlledBase, Mover, controlled_robot
from llm_planner.ros.conversions.motion_messages import constraints_to_msg, reference_from_msg, supervisor_status_to_msg
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.ros.heartbeat_monitor import milliseconds
from llm_planner.ros.parameters import ADAPTATION, ENVELOPE, ROBOT, TABLE, Setting
from llm_planner.ros.patch_feed import PatchFeed, envelope_of
from llm_planner.ros.robot_topics import SIMULATOR, STATE_TOPIC
from llm_planner.ros.strip_feed import StripView

WATCH_PERIOD = 0.1  # [s, wall time] between checks for the robot's states
TOLD_EVERY = 0.1  # [s] between published versions of the constraints while they ramp


class MpcControllerNode(BaseNode):
    """Ticks when a state of the robot arrives and is due; its time is that of the states, at any simulator's pace."""

    SETTINGS = (
        Setting("rate", 100.0, "ticks a second of the robot's time [Hz]", 10.0, 500.0),
        Setting("lead", 0.02, "plans start this much after the state they come from [s], so that they arrive in time",
                0.0, 0.1),
        Setting("state_timeout", 1.0, "wall time without a newer state after which the robot is held [s]", 0.05, 10.0),
        ADAPTATION,
        ENVELOPE,
        ROBOT,
        SIMULATOR,
        STATE_TOPIC,
        TABLE,
    )  # fmt: skip

    def configure(self) -> None:
        self._period = 1.0 / self.setting("rate")
        envelope = envelope_of(self)
        self._robot = controlled_robot(self, 0.5 * self._period, envelope)
        timing = self._period, self.setting("lead"), self.setting("state_timeout")
        self._mover = self._moved = Mover(self._robot, *timing)  # of arm or base; that of the last reference
        self._below: BaseUnderArm | None = base_under(self)
        self._base: Mover | None = None  # of the base that carries the arm
        if self._below is not None:
            self._base = Mover(ControlledBase(self, envelope, carries_arm=True), *timing)
            base = self._base.robot
            self.create_subscription(base.message_type, base.topic, self._on_base_state, NEWEST_ONLY)
        self._frame = MAP_FRAME if self._below else self._robot.frame
        self._patches = PatchFeed(self, envelope, self._frame, self._could_keep)
        self._strips = StripView(self)
        self._last_told = -np.inf
        self._told: tuple[object, ...] = ()
        self._standing: SupervisorStatus | None = None
        self._tick_times: list[float] = []
        self._missed = 0
        self._constraints_topic = self.create_lifecycle_publisher(MotionConstraints, "motion_constraints", LATCHED)
        self._diagnosis = ""
        self._diagnosis_topic = self.create_lifecycle_publisher(String, "diagnosis", LATCHED)
        self._status_topic = self.create_lifecycle_publisher(MotionStatus, "motion_status", LATCHED)
        self.create_subscription(MotionReference, "motion_reference", self._on_reference, NEWEST_ONLY)
        self.create_subscription(self._robot.message_type, self._robot.topic, self._on_state, NEWEST_ONLY)
        self.every(WATCH_PERIOD, self._on_watch)
        self.report_with(self._on_diagnose)

    def on_fault(self, error: BaseException) -> None:
        """Drop the reference, brake to rest and hold."""
        if hasattr(self, "_strips"):
            self._rest()

    def _rest(self) -> None:
        for mover in (self._mover, self._base):
            if mover is not None:
                mover.supervisor.rest()

    def _on_reference(self, message: MotionReference) -> None:
        try:
            reference = reference_from_msg(message)
        except LlmPlannerError as error:
            self.get_logger().error(f"not followed: {error}", throttle_duration_sec=5.0)
            return
        if reference is None:
            self._rest()
            return
        refusal = self._follow(reference)
        if refusal:
            self.get_logger().warning(refusal, throttle_duration_sec=5.0)

    def _follow(self, reference: Reference) -> str:
        """Follow a reference of the arm or of a base; return "", or why it is refused, which brakes the robot."""
        if self._base is None or self._below is None:
            return self._mover.supervisor.follow(reference)
        arm = self._mover.supervisor.state
        refusal = self._below.interlock(reference.of_base, arm, arm and self._robot.hand(arm))
        self._moved, other = (self._base, self._mover) if reference.of_base else (self._mover, self._base)
        other.supervisor.rest()
        if refusal:
            self._moved.supervisor.rest()
        return refusal or self._moved.supervisor.follow(reference)

    def _on_state(self, message) -> None:
        began = time.perf_counter()
        try:
            state = self._robot.state(message)
            if not self.is_active or self._mover.is_early(state.time):
                return
            self._tick(state)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        elapsed = time.perf_counter() - began
        self._tick_times.append(elapsed)
        self._missed += elapsed > self._period

    def _could_keep(self, constraints) -> bool:
        """Return whether the controller can keep `constraints` from the robot's present state, by a dry run."""
        state = self._moved.supervisor.state
        if state is None:
            return True
        return self._moved.robot.controller.could_keep(state, state.time, self._of(self._moved, constraints))

    def _of(self, mover: Mover, constraints):
        """Return the constraints of an arm or a base under those of the robot, which are in its frame."""
        if self._below is None:
            return constraints
        return self._below.of_base(constraints) if mover is self._base else self._below.of_arm(constraints)

    def _tick(self, state) -> None:
        if state.time < self._mover.time:
            self._patches.started_over(state.time)
            self._last_told = -np.inf
        self._patches.keep_out(self._strips.zones)
        speed = max(self._robot.speed(state), self._below.speed() if self._below else 0.0)
        constraints = self._patches.at(state.time, speed)
        self._mover.tick(state, self._of(self._mover, self._patches.arbiter.foreseen()))
        self._tell(state.time, constraints)

    def _on_base_state(self, message) -> None:
        """Tick the base that carries the arm; it rests once the arm is held."""
        if self._mover.supervisor.status.has_failed:
            self._base.supervisor.rest()
        try:
            state = self._base.robot.state(message)
            if self.is_active and not self._base.is_early(state.time):
                self._base.tick(state, self._of(self._base, self._patches.arbiter.foreseen()))
                self._below.state = self._base.supervisor.state
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)

    def _tell(self, now: float, constraints) -> None:
        """Publish the controller's standing and the constraints if they have changed."""
        standing, feed = self._worst, self._patches
        if standing != self._standing:
            if standing.has_failed:
                self.get_logger().error(f"the robot is held: {standing.reason}")
            self._standing = standing
            self._status_topic.publish(supervisor_status_to_msg(standing, now, constraints.version, self._frame))
        told = (feed.arbiter.sources, tuple(feed.refused), feed.arbiter.conflict)
        if told == self._told[1:] and (self._told[0] == constraints.version or now < self._last_told + TOLD_EVERY):
            return
        self._told, self._last_told = (constraints.version, *told), now
        self._constraints_topic.publish(constraints_to_msg(constraints, now, self._frame, *told))

    @property
    def _worst(self) -> SupervisorStatus:
        """Standing of what has failed, else of what was moved last."""
        standings = [mover.supervisor.status for mover in (self._moved, self._mover, self._base) if mover is not None]
        return next((standing for standing in standings if standing.has_failed), standings[0])

    def _on_watch(self) -> None:
        if not self.is_active:
            return
        for mover in (self._mover, self._base):
            if mover is not None:
                mover.watch()
        if self._standing is not None and self._worst != self._standing:
            self._tell(self._mover.time, self._patches.at(self._mover.time))

    def _on_diagnose(self) -> None:
        before, diagnosis = self._diagnosis, "; ".join(self._robot.diagnosis(self._mover.time))
        self._diagnosis = diagnosis
        if self.is_active and (before or diagnosis):  # every second while there is one
            self._diagnosis_topic.publish(String(data=diagnosis))
        statistics, standing, arbiter = self._robot.controller.statistics, self._worst, self._patches.arbiter
        values = [
            ("status", standing.level.value),
            ("ticks", len(self._tick_times)),
            ("missed_deadlines", self._missed),
            *milliseconds("solve_time", self._mover.solve_times),
            *milliseconds("tick_time", self._tick_times),
            ("tracking_error_rad", f"{statistics.tracking_error:.4f}"),
            ("patches", ", ".join(arbiter.sources)),
            *self._patches.counts,
            ("diagnosis", diagnosis),
        ]
        if standing.has_failed:
            self.report(ERROR, f"the robot is held: {standing.reason}", values)
        elif standing.reason:
            self.report(WARN, f"{standing.level.value}: {standing.reason}", values)
        elif arbiter.conflict:
            self.report(WARN, arbiter.conflict, values)
        elif diagnosis:
            self.report(WARN, diagnosis, values)
        elif self._missed:
            self.report(WARN, f"{self._missed} ticks took longer than {1e3 * self._period:.0f} ms", values)
        else:
            self.report(OK, standing.level.value, values)
        self._mover.solve_times.clear()
        self._tick_times.clear()
        self._missed = 0


def main() -> None:
    run_node(MpcControllerNode, "mpc_controller")


if __name__ == "__main__":
    main()
