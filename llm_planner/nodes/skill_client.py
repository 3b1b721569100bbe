"""Runs skills through the action `execute_skill`, and notices when the skill server is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionTuning
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.nodes.message_conversions import arguments_to_msg
from llm_planner.nodes.motion_messages import zone_to_msg
from llm_planner.plan.events import StartSkill
from llm_planner.skills.contract import SkillErrorCode, SkillResult

SILENCE_MAX = 2.0  # wall seconds without any sign of the server while a skill runs; it gives four a second
DISCOVERY_MAX = 4.0  # wall seconds until the server is known; what is sent before would be lost


class SkillClient:
    """One skill at a time. `on_result(step_id, result)` and `on_lost()` are called from the node's executor."""

    def __init__(self, node: Node, on_result: Callable[[str, SkillResult], None], on_lost: Callable[[], None]) -> None:
        self.phase = ""
        self._client = ActionClient(node, ExecuteSkill, "execute_skill")
        self._on_result, self._on_lost = on_result, on_lost
        self._step_id = ""  # of the skill under way
        self._run = 0  # counts the skills: step ids come again with the next plan, and late results with them
        self._handle: ClientGoalHandle | None = None
        self._cancel_wanted = False
        self._heard = 0.0
        self._unsent: ExecuteSkill.Goal | None = None

    def start(self, command: StartSkill, tuning: MotionTuning, moved: Iterable[str]) -> None:
        """Send the goal: the skill is to act as `tuning` has it, and things in `moved` go with the hand.

        A server that never answers is noticed by `watch`.
        """
        self._step_id, self._handle, self._cancel_wanted = command.step_id, None, False
        self._run += 1
        self._heard, self.phase = time.monotonic(), ""
        self._unsent = ExecuteSkill.Goal(
            step_id=command.step_id,
            skill=command.skill,
            arguments=arguments_to_msg(command.arguments),
            zones=list(map(zone_to_msg, command.zones)),
            tuning=tuning,
            moved=sorted(moved),
        )
        self._send()

    def _send(self) -> None:
        """As soon as the server is known."""
        if self._unsent is None or not self._client.server_is_ready():
            return
        run, goal, self._unsent = self._run, self._unsent, None
        self._heard = time.monotonic()
        sent = self._client.send_goal_async(goal, feedback_callback=self._on_feedback)
        sent.add_done_callback(lambda future: self._on_answer(run, future))

    def cancel(self) -> None:
        """Stop the skill under way, also when the server has not answered yet."""
        self._cancel_wanted, self._unsent = True, None
        if self._handle is not None:
            self._handle.cancel_goal_async()
        self._step_id = ""

    def watch(self) -> None:
        """To be called a few times a second."""
        self._send()
        patience = SILENCE_MAX if self._unsent is None else DISCOVERY_MAX
        if self._step_id and time.monotonic() - self._heard > patience:
            self._step_id, self._unsent = "", None
            self._on_lost()

    def _on_feedback(self, message: ExecuteSkill.Impl.FeedbackMessage) -> None:
        self._heard, self.phase = time.monotonic(), message.feedback.phase

    def _on_answer(self, run: int, future: Future) -> None:
        handle = future.result()
        self._heard = time.monotonic()
        if not handle.accepted:
            self._finish(run, SkillResult(SkillErrorCode.CONTROLLER_FAULT, "the skill server is not active"))
            return
        if self._cancel_wanted or run != self._run:
            handle.cancel_goal_async()
            return
        self._handle = handle
        handle.get_result_async().add_done_callback(lambda done: self._on_done(run, done))

    def _on_done(self, run: int, future: Future) -> None:
        result = future.result().result
        self._finish(run, SkillResult(SkillErrorCode(result.error_code), result.error_msg))

    def _finish(self, run: int, result: SkillResult) -> None:
        if run == self._run and self._step_id:
            step_id, self._step_id = self._step_id, ""
            self._on_result(step_id, result)
