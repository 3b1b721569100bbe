"""The controller as a node, on the beat of the robot's states.

For an arm: `motion_reference` and `joint_states` to `joint_command`; for a mobile base: `odom` to `cmd_vel`.
"""

from __future__ import annotations

import time

import numpy as np
from llm_planner_interfaces.msg import MotionReference

from llm_planner.control.mpc import Status
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.controlled_robots import CONTROLLED
from llm_planner.nodes.message_conversions import reference_from_msg
from llm_planner.nodes.settings import ROBOT, Setting, one_of
from llm_planner.nodes.shell import NEWEST_ONLY, OK, WARN, ShellNode, run_node

REST_PERIOD = 0.1  # [s] between commands while nothing moves
LEAP = 0.8  # [s] between two states after which what was planned before is void: more than any reference is valid for


class MpcControllerNode(ShellNode):
    """One tick for each state of the robot when due; time is that of the states, so it keeps any simulator's pace."""

    SETTINGS = (
        Setting("rate", 100.0, "ticks a second of the robot's time [Hz]", 10.0, 500.0),
        Setting("lead", 0.02, "plans start this much after the state they come from [s], so that they arrive in time",
                0.0, 0.1),
        ROBOT,
    )  # fmt: skip

    def configure(self) -> None:
        self._period = 1.0 / self.setting("rate")
        self._lead = self.setting("lead")
        self._robot = one_of(self, ROBOT, CONTROLLED)(self, time_limit=0.5 * self._period)
        self._controller = self._robot.controller
        self._reference = None
        self._last_tick = self._last_sent = -np.inf
        self._solve_times: list[float] = []
        self._tick_times: list[float] = []
        self._missed = 0
        self.create_subscription(MotionReference, "motion_reference", self._on_reference, NEWEST_ONLY)
        self.create_subscription(self._robot.message_type, self._robot.topic, self._on_state, NEWEST_ONLY)
        self.every(1.0, self._on_diagnose)

    def _on_reference(self, message: MotionReference) -> None:
        self._reference = reference_from_msg(message)

    def _on_state(self, message) -> None:
        began = time.perf_counter()
        try:
            state = self._robot.state(message)
            if self._last_tick > -np.inf and not 0.0 <= state.time - self._last_tick <= LEAP:
                self._start_over()
            if not self.is_active or state.time < self._last_tick + 0.9 * self._period:
                return
            self._tick(state)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        elapsed = time.perf_counter() - began
        self._tick_times.append(elapsed)
        self._missed += elapsed > self._period

    def _start_over(self) -> None:
        """The robot's clock went back or leapt: it was restarted, and what was wanted of it before is void."""
        self.get_logger().warning("the robot's clock went back or leapt; the controller starts over")
        self._controller.reset()
        self._reference = None
        self._last_tick = self._last_sent = -np.inf

    def _tick(self, state) -> None:
        if self._reference is not None and state.time > self._reference.start_time + self._reference.valid_for:
            self._reference = None
        was_resting = self._controller.statistics.status is Status.HOLDING
        plan = self._controller.step(state, self._reference, state.time + self._lead)
        self._last_tick = state.time
        statistics = self._controller.statistics
        if statistics.solve_time:
            self._solve_times.append(statistics.solve_time)
        resting = was_resting and statistics.status is Status.HOLDING
        if not resting or state.time >= self._last_sent + REST_PERIOD:
            self._robot.send(plan, state)
            self._last_sent = state.time

    def _on_diagnose(self) -> None:
        statistics = self._controller.statistics
        values = [
            ("status", statistics.status.value),
            ("ticks", len(self._tick_times)),
            ("missed_deadlines", self._missed),
            *_milliseconds("solve_time", self._solve_times),
            *_milliseconds("tick_time", self._tick_times),
            ("tracking_error_rad", f"{statistics.tracking_error:.4f}"),
        ]
        if statistics.status is Status.FALLBACK:
            self.report(WARN, f"replaying the last feasible plan: {statistics.message}", values)
        elif self._missed:
            self.report(WARN, f"{self._missed} ticks took longer than {1e3 * self._period:.0f} ms", values)
        else:
            self.report(OK, statistics.status.value, values)
        self._solve_times.clear()
        self._tick_times.clear()
        self._missed = 0


def _milliseconds(name: str, durations: list[float]) -> list[tuple[str, str]]:
    if not durations:
        return []
    median, worst = 1e3 * float(np.median(durations)), 1e3 * max(durations)
    return [(f"{name}_median_ms", f"{median:.3f}"), (f"{name}_max_ms", f"{worst:.3f}")]


def main() -> None:
    run_node(MpcControllerNode, "mpc_controller")


if __name__ == "__main__":
    main()
