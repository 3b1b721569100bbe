"""A command in the language planner, from its arrival to its end.

Hands plans to the executor through the action `execute_plan`, and notices when the executor is gone.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.corrections.command_answers import Asked, Meant, meant_by
from llm_planner.execution.execution_state import EndReason
from llm_planner.language.model import CountedModel, LanguageModel
from llm_planner.language.stop_words import GO_ON
from llm_planner.planning.planned import Remainder
from llm_planner.planning.search.task import History
from llm_planner.plans import plan
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.heartbeat_monitor import HeartbeatMonitor
from llm_planner.ros.idempotent_requests import GoalClient, GoalEnd, SentGoal, SharedGoal
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene

NOTHING = Remainder(plan.Plan("", ""), EndReason.DONE, (), History())
_CODES = type(ExecuteCommand.Result)
_NAMES = {getattr(_CODES, name): name for name in dir(_CODES) if name.isupper() and not name.startswith("_")}
SHOWN = 200  # characters of a command that are repeated to people


def code_name(code: int) -> str:
    """Return the name of a constant of `ExecuteCommand.action`, for the journal."""
    return _NAMES.get(code, str(code))


@dataclass
class Command:
    """`goal` is None for a command that came by the topic. `status` and `feedback` are what was told of it last.

    `asked` is the question that it may answer, `meant` what it asks for: itself, or what it completes. `model` has
    counted what was asked of a language model for it, None where nothing was. `is_recorded`: the journal has it, or is
    about to, and hears of its end. `left` is what there was to do at first, `ended` how its last plan did, and
    `repairs` how many others have gone on.
    """

    text: str
    goal: SharedGoal | None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: int = CommandStatus.QUEUED
    plan: Plan = field(default_factory=Plan)
    asked: Asked | None = None
    meant: Meant = field(init=False)
    model: CountedModel | None = None
    is_recorded: bool = True
    left: Remainder = NOTHING
    ended: ExecutePlan.Result = field(default_factory=ExecutePlan.Result)
    repairs: int = 0
    feedback: ExecuteCommand.Feedback = field(default_factory=ExecuteCommand.Feedback)
    code: int = ExecuteCommand.Result.UNKNOWN
    message: str = ""
    status: CommandStatus = field(default_factory=CommandStatus)
    done: Future = field(default_factory=Future)

    def __post_init__(self) -> None:
        self.meant = Meant(self.text)

    def read(self, scene: Scene, viewpoint: Viewpoint, model: LanguageModel) -> Meant:
        """What it asks for; a large model is told what it has asked, and sees that by itself. Raises as `meant_by`."""
        if not model.is_large:
            self.meant = meant_by(self.text, self.asked, scene, viewpoint)
        return self.meant

    def asks(self, model: LanguageModel) -> LanguageModel:
        """The model, counted for this command."""
        self.model = CountedModel(model)
        return self.model

    @property
    def cost(self) -> str:
        """What a language model took for it, as the end of its message; "" for one that costs nothing."""
        usage = self.model.usage if self.model else None
        return f" (language model: {usage})" if usage and usage.requests else ""

    @property
    def model_name(self) -> str:
        """The language model that is to read it; "" for the planner's own."""
        return "" if self.goal is None else str(self.goal.request.model)

    @property
    def source(self) -> str:
        """How it came, which is what privileges are given by; nothing that is said can change it."""
        return "topic" if self.goal is None else "action"

    @property
    def shown(self) -> str:
        """Its words, shortened where they are very many."""
        return self.text if len(self.text) <= SHOWN else self.text[:SHOWN] + "…"

    def over(self, how: str) -> str:
        """That it is over while a plan is being made, for a person; `how` is "Stopped" or "Canceled"."""
        return f"{how}." if self.repairs else f"{how} before anything moved."

    @property
    def result(self) -> ExecuteCommand.Result:
        """How it ended, once it has."""
        return ExecuteCommand.Result(error_code=self.code, error_msg=self.message, plan_id=self.plan.id)

    def repeat_feedback(self) -> None:
        """Whoever sent the command sees by it that we live."""
        if self.goal is not None and self.goal.is_active:
            self.goal.publish_feedback(self.feedback)


SILENCE_MAX = 3.0  # wall seconds without a plan status (two a second are sent) after which the executor is lost
EXECUTOR_LOST = f"The plan executor does not answer; the robot stops by itself. Once it is back, {GO_ON}."
SILENT = 1.0
TAKEN_MAX = 8.0  # wall seconds until the executor has taken a plan; it may wait for a scene first
_RESTARTED = f"The plan executor was restarted under the plan; the robot has stopped; {GO_ON}."

UNDER_WAY = (PlanStatus.RUNNING, PlanStatus.PAUSED)

OnStatus = Callable[[PlanStatus], None]
OnEnd = Callable[[ExecutePlan.Result], None]  # whose code may be any of `ExecuteCommand.action`


class PlanClient:
    """One plan at a time. `on_stop()` tells of a stop by whatever way, `on_word()` of every word of the executor.

    All calls back come from the node's executor; a plan's `on_end` comes once.
    """

    def __init__(self, node: Node, on_stop: Callable[[], None], on_word: Callable[[], None]) -> None:
        self.status = PlanStatus()  # the newest
        self._on_stop, self._on_word = on_stop, on_word
        self._client = GoalClient(node, ExecutePlan, "execute_plan")
        self._silence = HeartbeatMonitor()
        self._sent: SentGoal | None = None  # the plan under way
        self._on_end: OnEnd | None = None  # of it
        node.create_subscription(PlanStatus, "plan_status", self._on_plan_status, LATCHED)

    def is_heard(self) -> bool:
        """Whether the executor lives and takes plans."""
        return self._silence.seconds < SILENCE_MAX and self._client.is_ready

    @property
    def is_silent(self) -> bool:
        """Whether the executor has missed a word: it may be gone."""
        return self._silence.seconds > SILENT

    def start(self, plan: Plan, on_status: OnStatus, on_end: OnEnd) -> None:
        """Send the plan, until the executor has taken it. One that dies or never answers is noticed."""
        self._on_end, self._sent = on_end, None
        sent = self._sent = self._client.send(
            ExecutePlan.Goal(plan=plan),
            TAKEN_MAX,
            lambda feedback: on_status(feedback.status) if self._on_end is on_end else None,
            lambda end: self._finish(_result(end)) if self._sent is sent else None,
        )

    def cancel(self) -> None:
        """Stop the plan under way, also when the executor has not answered yet."""
        if self._sent is not None:
            self._client.cancel(self._sent)

    def watch(self) -> None:
        """To be called a few times a second."""
        self._silence.look(time.monotonic())
        if self._silence.seconds > SILENCE_MAX and self._on_end is not None:
            self.cancel()  # should it live after all, it does not go on with what nobody waits for
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


def _result(end: GoalEnd) -> ExecutePlan.Result:
    return end.result if end.result is not None else _lost(EXECUTOR_LOST)


def _lost(message: str) -> ExecutePlan.Result:
    return ExecutePlan.Result(error_code=ExecuteCommand.Result.EXECUTOR_LOST, error_msg=message)
