"""Client of the action `execute_skill` that detects when the skill server is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionTuning
from rclpy.node import Node

from llm_planner.execution.execution_state import StartSkill
from llm_planner.ros.conversions.message_conversions import arguments_to_msg
from llm_planner.ros.conversions.motion_messages import zone_to_msg
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd, SentGoal, new_id
from llm_planner.skills.contract import SkillErrorCode, SkillResult

SILENCE_MAX = 2.0  # [s, wall time] without feedback while a skill runs; the server sends four a second
TAKEN_MAX = 4.0  # [s, wall time] for the server to accept the goal
_REFUSED = "the skill server takes no skills: it is not active"
_FAULT = "the skill server failed without a result; see what its node prints"


class SkillClient:
    """Runs one skill at a time; the skill may move the robot while `lease` names it.

    `on_result(step_id, result)` and `on_lost()` are called in the node's executor.
    """

    def __init__(self, node: Node, on_result: Callable[[str, SkillResult], None], on_lost: Callable[[], None]) -> None:
        self.phase = ""
        self._client = GoalClient(node, ExecuteSkill, "execute_skill")
        self._on_result, self._on_lost = on_result, on_lost
        self._sent: SentGoal | None = None  # goal of the running skill
        self._heard = 0.0  # [s, monotonic]

    @property
    def lease(self) -> str:
        """Id of the skill goal that may move the robot; "" if none may."""
        return str(self._sent.goal.id) if self._sent else ""

    def start(self, command: StartSkill, tuning: MotionTuning, moved: Iterable[str]) -> None:
        """Send a skill goal; a server that never answers ends it with `on_lost`.

        Args:
            command: Skill, arguments and zones of the step.
            tuning: How the person wants the step done.
            moved: Names of objects that the step moves along without grasping them.
        """
        goal = ExecuteSkill.Goal(
            id=new_id(),
            step_id=command.step_id,
            skill=command.skill,
            arguments=arguments_to_msg(command.arguments),
            zones=list(map(zone_to_msg, command.zones)),
            tuning=tuning,
            moved=sorted(moved),
        )
        self._heard, self.phase = time.monotonic(), ""
        self._sent = self._client.send(goal, TAKEN_MAX, self._on_feedback, lambda end: self._on_end(goal.id, end))

    def cancel(self) -> None:
        """Cancel the running skill; its lease ends at once, even if the request is lost."""
        if self._sent is not None:
            sent, self._sent = self._sent, None
            self._client.cancel(sent)

    def watch(self) -> None:
        """Detect a lost skill server; call a few times a second."""
        sent = self._sent
        if sent is not None and sent.is_taken and time.monotonic() - self._heard > SILENCE_MAX:
            self._lose()

    def _lose(self) -> None:
        self._sent = None
        self._on_lost()

    def _on_feedback(self, feedback: ExecuteSkill.Feedback) -> None:
        self._heard, self.phase = time.monotonic(), feedback.phase

    def _on_end(self, goal_id: str, end: GoalEnd) -> None:
        if goal_id != self.lease:
            return  # canceled
        if end.result is None and not end.was_refused:
            self._lose()
            return
        step_id, self._sent = self._sent.goal.step_id, None
        self._on_result(step_id, _result(end))


def _result(end: GoalEnd) -> SkillResult:
    if end.result is None:
        return SkillResult(SkillErrorCode.CONTROLLER_FAULT, _REFUSED)
    code, message = end.result.error_code, end.result.error_msg
    if code not in list(SkillErrorCode) or code == SkillErrorCode.UNKNOWN:
        return SkillResult(SkillErrorCode.SKILL_FAULT, message or _FAULT)
    return SkillResult(SkillErrorCode(code), message)
