"""Commands of the language planner from arrival to end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from rclpy.node import Node
from rclpy.task import Future

from llm_planner.corrections.command_planner import Asked, Meant, meant_by
from llm_planner.execution.execution_state import EndReason
from llm_planner.language.model import CountedModel, LanguageModel
from llm_planner.language.program_synthesis import clean_command
from llm_planner.language.stop_words import is_go_on
from llm_planner.planning.planned import Planned, PlanningSettings, Remainder
from llm_planner.planning.planning import formal_rules, plan_command, plan_program, read_rules
from llm_planner.planning.search.task import History
from llm_planner.plans import plan
from llm_planner.programs.signatures import Signature
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.idempotent_requests import SharedGoal
from llm_planner.ros.node_table import LISTENER
from llm_planner.ros.other_systems import is_claimed, is_known
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene

NOTHING = Remainder(plan.Plan("", ""), EndReason.DONE, (), History())
_CONSTANTS = (name for name in dir(type(ExecuteCommand.Result)) if name.isupper() and not name.startswith("_"))
_NAMES = {getattr(ExecuteCommand.Result, name): name for name in _CONSTANTS}
UNDER_WAY = (PlanStatus.RUNNING, PlanStatus.PAUSED)  # states of a plan
SHOWN = 200  # [characters] of a command in messages
AGENTS, CONSOLE = "mcp", "console"  # the sources that a goal may name; that of the console only from its node
FORMULA = "ltl:"  # begins a rule that is a formula
RULES_MAX = 16  # that a goal may bring
CLIENT_MAX = 10.0  # [s, wall time] without a trace of the node that wants a command, after which that is canceled


def code_name(code: int) -> str:
    """Return the name of a constant of `ExecuteCommand.action`, for the journal."""
    return _NAMES.get(code, str(code))


@dataclass
class Command:
    """Command and its state in the language planner.

    Attributes:
        goal: Action goal, with the `request`; None for a command from a topic.
        only_plan: Whether it is a preview: it is planned, and nothing moves.
        asked: Open question that the command may answer.
        meant: What the command asks for: its own text, or the earlier command that it completes.
        model: Counter of language model requests for the command; None before the first.
        is_recorded: Whether the journal records the command and its end.
        left: What there was to do when its first plan was made.
        ended: Result of its last plan.
        repairs: Number of plans that continued after a failure.
        feedback: Last published feedback.
        status: Last published status.
        client_seen: When the node that wants it was last known to run [s, monotonic].
        client_is_here: Whether that node runs on this machine.
    """

    text: str
    goal: SharedGoal | None
    only_plan: bool = False
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: int = CommandStatus.QUEUED
    plan: Plan = field(default_factory=Plan)
    asked: Asked | None = None
    request: ExecuteCommand.Goal = field(init=False)
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
    client_seen: float = field(default_factory=time.monotonic)
    client_is_here: bool = False

    def __post_init__(self) -> None:
        self.request = ExecuteCommand.Goal() if self.goal is None else self.goal.request
        self.meant = Meant(self.text)

    def asks(self, model: LanguageModel) -> LanguageModel:
        """Wrap `model` to count its usage for this command."""
        self.model = CountedModel(model)
        return self.model

    @property
    def cost(self) -> str:
        """Suffix for the final message with the language model's usage; "" if there was none."""
        usage = self.model.usage if self.model else None
        return f" (language model: {usage})" if usage and usage.requests else ""

    @property
    def source(self) -> str:
        """Source of the command, which decides its privileges; the text of a command cannot change it."""
        if self.goal is None:
            return "topic"
        is_of_console = self.request.source == CONSOLE == self.goal.sender
        # A correction of a plan that has ended has its source.
        is_corrected = self.goal.sender == LISTENER and self.request.source in (CONSOLE, "topic")
        return self.asker or (self.request.source if is_of_console or is_corrected else "action")

    @property
    def asker(self) -> str:
        """Who is asked what is unclear, since an answer completes only an own command: "" for people, or agents."""
        return AGENTS if self.request.source == AGENTS else ""

    @property
    def goes_on(self) -> bool:
        """Whether the command takes up the rest of an earlier one."""
        return is_go_on(self.text) and not self.request.program

    def planned(
        self,
        scene: Scene,
        skills: Sequence[Signature],
        model: LanguageModel,
        viewpoint: Viewpoint,
        settings: PlanningSettings,
    ) -> Planned:
        """Plan the words, or the program that came with them; raises as `plan_command`. Takes seconds."""
        rules, program = self.request.rules, self.request.program
        checks.items("rules", rules, RULES_MAX)
        formulas = [rule.removeprefix(FORMULA) for rule in rules if rule.startswith(FORMULA)]
        words = [rule for rule in rules if not rule.startswith(FORMULA)]
        read = read_rules(words, scene, model, viewpoint, settings)
        settings = replace(settings, rules=(*formal_rules(formulas, scene), *read))
        if program:
            words = clean_command(self.text)
            return plan_program(words, program, scene, skills, viewpoint, settings, settings.rules)
        if not model.is_large:  # a large one receives its earlier questions and resolves answers to them itself
            self.meant = meant_by(self.text, self.asked, scene, viewpoint)
        return plan_command(self.meant.command, scene, skills, self.meant.model(model), viewpoint, settings)

    @property
    def shown(self) -> str:
        """Text of the command, shortened for messages."""
        return self.text if len(self.text) <= SHOWN else self.text[:SHOWN] + "…"

    def over(self, how: str) -> str:
        """Return the message for an end during planning; `how` is "Stopped" or "Canceled"."""
        return f"{how}." if self.repairs else f"{how} before anything moved."

    @property
    def result(self) -> ExecuteCommand.Result:
        plan = self.plan if self.only_plan else Plan()
        return ExecuteCommand.Result(error_code=self.code, error_msg=self.message, plan_id=self.plan.id, plan=plan)

    def is_abandoned(self, node: Node) -> bool:
        """Return whether the node that wants the command is gone, as `node` sees it; call about once a second.

        The kernel tells at once of a process of this machine, DDS after half a minute of another one.
        """
        client = self.request.client
        was_here, self.client_is_here = self.client_is_here, bool(client) and is_claimed(node, client)
        if not client or self.client_is_here or is_known(node, client):
            self.client_seen = time.monotonic()
        return (was_here and not self.client_is_here) or time.monotonic() - self.client_seen > CLIENT_MAX

    def repeat_feedback(self) -> None:
        """Repeat the last feedback, so that the sender sees that the planner is alive."""
        if self.goal is not None and self.goal.is_active:
            self.goal.publish_feedback(self.feedback)


def foreseen(planned: Planned) -> str:
    """Say what a plan that is only previewed would do."""
    said = f" It would say: {' '.join(planned.told)}" if planned.told else ""
    return f"The plan may run: {planned.plan.listing or 'nothing has to be done'}. Nothing has moved.{said}"
