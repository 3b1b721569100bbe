"""A command in the language planner, from its arrival to its end."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan
from rclpy.task import Future

from llm_planner.correction.command_answers import Asked, Meant, meant_by
from llm_planner.language.counted import CountedModel
from llm_planner.language.model import LanguageModel
from llm_planner.nodes.idempotent_requests import SharedGoal
from llm_planner.plan import plan
from llm_planner.plan.decoding.task import History
from llm_planner.plan.events import EndReason
from llm_planner.plan.repair import Remainder
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene

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
