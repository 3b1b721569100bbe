"""Clients of the actions `execute_plan` and `execute_skill` that detect when the server is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan, ExecuteSkill
from llm_planner_interfaces.msg import MotionTuning, Plan, PlanStatus
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.execution.execution_state import StartSkill
from llm_planner.language.stop_words import GO_ON
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.conversions.motion_messages import zone_to_msg
from llm_planner.ros.conversions.plan_messages import arguments_to_msg
from llm_planner.ros.heartbeat_monitor import HeartbeatMonitor
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd, SentGoal, SharedGoal, new_id
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.reserved import WAIT

EXECUTOR_LOST = f"The plan executor does not answer; the robot stops by itself. Once it is back, {GO_ON}."
_RESTARTED = f"The plan executor was restarted under the plan; the robot has stopped; {GO_ON}."
STATUS_LATE, STATUS_LOST = 1.0, 3.0  # [s, wall time] without a plan status, sent twice a second: silent; lost
PLAN_TAKEN_MAX = 8.0  # [s, wall time] for the executor to accept a plan; it may wait for a scene first
PHASE_MAX = 200  # letters
FEEDBACK_LOST = 2.0  # [s, wall time] without feedback while a skill runs; the server sends four a second
SKILL_TAKEN_MAX = 4.0  # [s, wall time] for the skill server to accept a goal
PREPARED_MAX = 5.0  # [s, wall time] a plan waits for what carries it out
STARTED_MAX = 60.0  # [s, wall time] since the start of this node, until which a plan waits in any case
NOT_BEGUN = "No plan was begun, since {} does not answer; see what its node prints, and say it again once it is up."
_INACTIVE = "the skill server takes no skills: it is not active"
_FAULT = "the skill server failed without a result; see what its node prints"

OnStatus = Callable[[PlanStatus], None]
OnEnd = Callable[[ExecutePlan.Result], None]  # the error code may be any of `ExecuteCommand.action`


class PlanClient:
    """Client of the action `execute_plan` for one plan at a time.

    `on_stop()` reports every stop of the robot, `on_word()` every status of the executor. All callbacks run in the
    node's executor. The `on_end` of a plan is called once.
    """

    def __init__(self, node: Node, on_stop: Callable[[], None], on_word: Callable[[], None]) -> None:
        self.status = PlanStatus()  # newest
        self._on_stop, self._on_word = on_stop, on_word
        self._client = GoalClient(node, ExecutePlan, "execute_plan")
        self._silence = HeartbeatMonitor()
        self._sent: SentGoal | None = None  # goal of the running plan
        self._on_end: OnEnd | None = None  # callback of the running plan
        node.create_subscription(PlanStatus, "plan_status", self._on_plan_status, LATCHED)

    def is_heard(self) -> bool:
        """Return whether the executor is alive and accepts plans."""
        return self._silence.seconds < STATUS_LOST and self._client.is_ready

    @property
    def is_silent(self) -> bool:
        """Whether status messages of the executor are missing, so that it may be gone."""
        return self._silence.seconds > STATUS_LATE

    def start(self, plan: Plan, on_status: OnStatus, on_end: OnEnd) -> None:
        """Send the plan until the executor accepts it; a dead executor ends it with EXECUTOR_LOST."""

        def ended(end: GoalEnd) -> None:
            if self._sent is sent:
                self._finish(end.result or _lost(EXECUTOR_LOST))

        self._on_end, self._sent = on_end, None
        sent = self._sent = self._client.send(
            ExecutePlan.Goal(plan=plan),
            PLAN_TAKEN_MAX,
            lambda feedback: on_status(feedback.status) if self._on_end is on_end else None,
            ended,
        )

    def cancel(self) -> None:
        """Cancel the running plan, even if the executor has not answered yet."""
        if self._sent is not None:
            self._client.cancel(self._sent)

    def watch(self) -> None:
        """End the plan if the executor has gone silent; call a few times a second."""
        self._silence.look(time.monotonic())
        if self._silence.seconds > STATUS_LOST and self._on_end is not None:
            self.cancel()  # in case the executor is alive after all
            self._finish(_lost(EXECUTOR_LOST))

    def _on_plan_status(self, status: PlanStatus) -> None:
        before, self.status = self.status, status
        self._silence.heard()
        if before.executor not in (0, status.executor):
            self._finish(_lost(_RESTARTED))
        elif before.executor and status.stops != before.stops:
            self._on_stop()
        self._on_word()

    def _finish(self, result: ExecutePlan.Result) -> None:
        on_end, self._on_end, self._sent = self._on_end, None, None
        if on_end is not None:
            on_end(result)


def _lost(message: str) -> ExecutePlan.Result:
    return ExecutePlan.Result(error_code=ExecuteCommand.Result.EXECUTOR_LOST, error_msg=message)


class PlanStart:
    """Lets a plan begin once all that carries it out is there; `lacking()` names what is not, "" if nothing."""

    def __init__(self, node: Node, lacking: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._lacking, self._clock = node, lacking, clock
        self._began, self._next = clock(), Future()

    async def wait(self, goal: SharedGoal, is_over: Callable[[], bool]) -> str:
        """Wait until the plan of `goal` may begin, and tell its sender for what; return what is still missing.

        The wait ends early if the goal is cancelled or `is_over()`.
        """
        deadline = max(self._clock() + PREPARED_MAX, self._began + STARTED_MAX)
        while lacking := self._lacking():
            if self._clock() > deadline or goal.is_cancel_requested or is_over():
                break
            goal.publish_feedback(ExecutePlan.Feedback(status=PlanStatus(message=f"waiting for {lacking}")))
            await self._next
        return lacking

    def watch(self) -> None:
        """Look again whether plans may begin; call a few times a second."""
        past, self._next = self._next, Future(executor=self._node.executor)
        past.set_result(None)


class SkillClient:
    """Client of the action `execute_skill` for one skill at a time, which may move the robot while `lease` names it.

    `on_result(step_id, result)`, `on_lost()`, and `on_wait()` when `waits` changes, are called in the node's executor.
    """

    def __init__(
        self,
        node: Node,
        on_result: Callable[[str, SkillResult], None],
        on_lost: Callable[[], None],
        on_wait: Callable[[], None],
    ) -> None:
        self._client = GoalClient(node, ExecuteSkill, "execute_skill")
        self._on_result, self._on_lost, self._on_wait = on_result, on_lost, on_wait
        self._sent: SentGoal | None = None  # goal of the running skill
        self._phase = ""
        self._silence = HeartbeatMonitor()

    @property
    def is_ready(self) -> bool:
        """Whether a skill server is known."""
        return self._client.is_ready

    @property
    def lease(self) -> str:
        """Id of the skill goal that may move the robot; "" if none may."""
        return str(self._sent.goal.id) if self._sent else ""

    @property
    def waits(self) -> str:
        """Phase of the running skill if it waits for another robot: "wait for the hall"; otherwise ""."""
        return self._phase if self._sent and self._phase.startswith(WAIT) else ""

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
        self._phase = ""
        self._silence.heard()
        self._sent = self._client.send(goal, SKILL_TAKEN_MAX, self._on_feedback, lambda end: self._on_end(goal, end))

    def cancel(self) -> None:
        """Cancel the running skill; its lease ends at once, even if the request is lost."""
        if self._sent is not None:
            sent, self._sent = self._sent, None
            self._client.cancel(sent)

    def watch(self) -> None:
        """Detect a lost skill server; call a few times a second."""
        self._silence.look(time.monotonic())
        sent = self._sent
        if sent is not None and sent.is_taken and self._silence.seconds > FEEDBACK_LOST:
            self._lose()

    def _lose(self) -> None:
        self._sent = None
        self._on_lost()

    def _on_feedback(self, feedback: ExecuteSkill.Feedback) -> None:
        self._silence.heard()
        before, self._phase = self.waits, feedback.phase[:PHASE_MAX]
        if self.waits != before:
            self._on_wait()

    def _on_end(self, goal: ExecuteSkill.Goal, end: GoalEnd) -> None:
        if goal.id != self.lease:
            return  # canceled
        if end.result is None and not end.was_refused:
            self._lose()
            return
        self._sent = None
        self._on_result(goal.step_id, _skill_result(end))


def _skill_result(end: GoalEnd) -> SkillResult:
    if end.result is None:
        return SkillResult(SkillErrorCode.CONTROLLER_FAULT, _INACTIVE)
    code, message = end.result.error_code, end.result.error_msg
    if code not in list(SkillErrorCode) or code == SkillErrorCode.UNKNOWN:
        return SkillResult(SkillErrorCode.SKILL_FAULT, message or _FAULT)
    return SkillResult(SkillErrorCode(code), message)
