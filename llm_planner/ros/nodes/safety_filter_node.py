"""Node of the safety filter between a commander and the robot.

For an arm, it filters `joint_command_wanted` to `joint_command`; for a mobile base, `cmd_vel_wanted` to `cmd_vel`; for
an arm on a mobile base both, of which only one may move. It reads `motion_patch` itself and trusts no other node's
reading. Each command ends at rest, so the robot stops if this node dies. This node brakes if the commander dies or
sends invalid numbers, and after a fault of its own.

A command begins `lead` after the robot's present time. The node drops a command that it cannot send within the lead,
and sends none while no states arrive; meanwhile the robot follows a proved motion to rest.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from llm_planner.control.safety_filter.command_timing import RobotClock
from llm_planner.errors import LlmPlannerError
from llm_planner.ros.arm_context import BaseUnderArm, base_under
from llm_planner.ros.base_node import ERROR, NEWEST_ONLY, OK, WARN, BaseNode, run_node
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.ros.filtered_robots import OUT_OF_ORDER, FilteredArm, FilteredBaseUnderArm, filtered_robot
from llm_planner.ros.heartbeat_monitor import milliseconds
from llm_planner.ros.parameters import CMD_VEL_TIMEOUT, ENVELOPE, ROBOT, STAMPED_CMD_VEL, TABLE, Setting
from llm_planner.ros.patch_feed import PatchFeed, envelope_of
from llm_planner.ros.robot_topics import OUTPUT_SETTINGS, STATE_TOPIC
from llm_planner.ros.strip_feed import StripOwner

LATER = 0.05  # [s] delay of changing limits against the controller, which may comply by itself
REST_PERIOD = 0.1  # [s] between processed states while the robot is at rest
LATE = 1.5  # periods between two steps beyond which the second counts as late


class SafetyFilterNode(BaseNode):
    """Passes commands that are proved safe on at once; steps at its own rate while it holds something back."""

    SETTINGS = (
        Setting("rate", 250.0, "steps a second while something is held back [Hz]", 50.0, 1000.0),
        Setting("real_time_priority", 20, "SCHED_FIFO priority, where the system permits it; 0 for none", 0, 99),
        Setting("lead", 0.02, "a step begins this much after the robot's present time [s]", 0.0, 0.1),
        *OUTPUT_SETTINGS,
        STAMPED_CMD_VEL,
        CMD_VEL_TIMEOUT,
        ENVELOPE,
        ROBOT,
        STATE_TOPIC,
        TABLE,
    )  # fmt: skip

    def configure(self) -> None:
        self._period, self._lead = 1.0 / self.setting("rate"), self.setting("lead")
        self._robot = filtered_robot(self, self._on_wanted, self._in_time)
        self._below: BaseUnderArm | None = base_under(self)
        self._base: FilteredBaseUnderArm | None = None
        if self._below is not None and isinstance(self._robot, FilteredArm):
            self._base = FilteredBaseUnderArm(self, self._below, self._robot, self._brake)
            arm, below = self._robot, self._below
            arm.refusal = lambda: below.interlock(False, arm.here, arm.here and arm.hand(arm.here))
        frame = MAP_FRAME if self._below else self._robot.frame
        self._patches = PatchFeed(self, envelope_of(self), frame, lambda constraints: True)
        self._strips = StripOwner(self)
        self._time, self._robot_clock = -np.inf, RobotClock()
        self._constraints = None
        self._fault = ""
        self._last_step = np.inf
        self._count_anew()
        self._steps = self.create_timer(self._period, self._on_step, clock=self._steady)
        self._steps.cancel()
        self.create_subscription(self._robot.message_type, self._robot.topic, self._on_state, NEWEST_ONLY)
        self.report_with(self._on_diagnose)
        self._scheduling = self._schedule()

    def _on_state(self, message) -> None:
        try:
            time_of = seconds(message.header.stamp, f"{self._robot.topic}.header.stamp")
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        idle = self._robot.guard.rests(self._now()) and (self._base is None or self._base.rests())
        if self._time - OUT_OF_ORDER < time_of < self._time + (REST_PERIOD if idle else 1e-6):
            if time_of > self._time:  # or commands between two states that are looked at would count as stale
                self._robot_clock.heard(time_of, time.monotonic())
            return
        try:
            state = self._robot.state(message)
            if state.time < self._time:
                self._robot.guard.forget()
                self._robot_clock.forget()
                self._patches.started_over(state.time)
            self._time = state.time
            self._robot_clock.heard(state.time, time.monotonic())
            self._robot.measured(state)
            now, guard = self._now(), self._robot.guard
            self._patches.keep_out(self._strips.update(lambda zone: guard.keeps_out(zone, now)))
            self._constrain(state)
        except LlmPlannerError as error:
            self._brake(str(error))
            return
        if self._steps.is_canceled() and not self._robot.guard.rests(self._now()):
            self._step()

    def _constrain(self, state) -> None:
        """Update the constraints in force, for an arm on a base only once that has been measured."""
        base = self._below
        keep = self._patches.at(state.time - LATER, max(self._robot.speed(state), base.speed() if base else 0.0))
        if self._base is not None:
            self._base.keep = keep
        if base is None or base.state is not None:
            self._constraints = base.of_arm(keep) if base else keep

    def _on_wanted(self, message) -> None:
        if not self.is_active or self._constraints is None:
            return
        if not self._robot_clock.is_known(time.monotonic()):
            return  # the command is stale, or the robot is silent
        began = time.perf_counter()
        try:
            passes = self._robot.hear(message, self._now(), self._constraints)
        except LlmPlannerError as error:
            self._brake(f"not followed: {error}")
            return
        self._passed += passes
        self._held_back += not passes
        self._times.append(time.perf_counter() - began)
        if not passes and self._steps.is_canceled():
            self._last_step = np.inf
            self._steps.reset()
            self._step()

    def _on_step(self) -> None:
        now = time.monotonic()
        self._late += now - self._last_step > LATE * self._period
        self._last_step, self._ticks = now, self._ticks + 1
        self._step()
        if not self._robot.why or self._robot.guard.rests(self._now()):
            self._steps.cancel()

    def _step(self) -> None:
        if not self.is_active or self._constraints is None or not self._robot_clock.is_known(time.monotonic()):
            return
        began = time.perf_counter()
        try:
            self._robot.step(self._now(), self._constraints)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        if self._robot.why:
            self._times.append(time.perf_counter() - began)
            self._note(self._robot.guard.filtered)

    def _note(self, filtered) -> None:
        self._changed += filtered.changed
        self._infeasible += filtered.infeasible
        self._binding.update(filtered.binding)
        self._slack = max(self._slack, filtered.slack)

    def on_fault(self, error: BaseException) -> None:
        """Brake after a fault in a callback; should braking fail, the present proved motion still ends at rest."""
        if getattr(self, "_robot", None) is not None:  # None before `configure`
            self._brake(f"a fault in this node: {type(error).__name__}: {error}")

    def _brake(self, why: str) -> None:
        """Log the reason `why` and bring the robot to rest."""
        self.get_logger().error(f"{why}; the robot brakes", throttle_duration_sec=5.0)
        self._fault = why
        self._robot.guard.brake()
        self._step()
        if self._base is not None:
            self._base.brake()

    def _now(self) -> float:
        """Return when a command sent now begins, in the robot's time [s]."""
        return self._robot_clock.now(time.monotonic()) + self._lead

    def _in_time(self, begins: float) -> bool:
        """Return whether a command that begins at `begins` [s] is in time; count it as dropped if not."""
        is_in_time = self._robot_clock.now(time.monotonic()) <= begins
        self._dropped += not is_in_time
        return is_in_time

    def _on_diagnose(self) -> None:
        if self._base is not None:
            self._note(self._base.filtered)
        self._scheduling = self._schedule()  # the middleware starts threads when needed
        what = ", ".join(sorted(self._binding))
        values = [
            ("passed", self._passed),
            ("held_back", self._held_back),
            ("steps", self._ticks),
            ("late_steps", self._late),
            ("scheduling", self._scheduling),
            ("changed", self._changed),
            ("infeasible", self._infeasible),
            ("dropped_late", self._dropped),
            ("margin_mm", f"{1e3 * self._robot.margin:.1f}"),
            ("slack_mm", f"{1e3 * self._slack:.2f}"),
            ("binding", what),
            ("strips", ", ".join(sorted(self._strips.reservation.held))),
            ("holds", "something" if self._robot.holds else "nothing"),
            ("patches", ", ".join(self._patches.arbiter.sources)),
            *self._patches.counts,
            *milliseconds("filter_time", self._times),
        ]
        if self._fault:
            self.report(ERROR, f"{self._fault}; the robot was braked", values)
        elif self._infeasible:
            self.report(ERROR, f"not everything can be kept, the robot brakes: {what}", values)
        elif self._changed:
            self.report(WARN, f"held back: {what}", values)
        else:
            self.report(OK, "all that was wanted is safe", values)
        self._count_anew()

    def _count_anew(self) -> None:
        """Reset the counters for the next second."""
        self._passed = self._held_back = self._ticks = self._late = self._changed = self._infeasible = 0
        self._dropped, self._fault = 0, ""
        self._slack = 0.0
        self._times: list[float] = []
        self._binding: set[str] = set()

    def _schedule(self) -> str:
        """Run in real time, but never a process that does other work too: that would displace every other program."""
        return _scheduled(self.setting("real_time_priority") if self.has_own_process else 0)


def _scheduled(priority: int) -> str:
    """Run this process in real time if the system permits it; return how it is scheduled.

    The calling thread, which steps, gets `priority`. The middleware's threads get one less: they hold locks that a step
    needs, so an ordinary process that displaced them would delay the step as well.
    """
    if not priority:
        return "ordinary"
    stepping = threading.get_native_id()
    try:
        for thread in (int(folder.name) for folder in Path("/proc/self/task").iterdir()):
            rank = os.sched_param(priority if thread == stepping else max(1, priority - 1))
            with suppress(ProcessLookupError):  # it has ended
                os.sched_setscheduler(thread, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, rank)
    except OSError:
        return "ordinary: SCHED_FIFO is not permitted; see ulimit -r"
    return f"SCHED_FIFO {priority}"


def main() -> None:
    run_node(SafetyFilterNode, "safety_filter")


if __name__ == "__main__":
    main()
