"""What a recording tells of a run: words, plans, edits, steps and their results, as facts and as events in order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.programs.values import Argument
from llm_planner.recording.reading import Heard, Recording

TOPICS = (
    "command_status", "correction_result", "plan_status", "plan", "constraint_status", "motion_constraints", "forecast",
    "model_exchange",
)  # fmt: skip
# Numbers of the messages' constants (CommandStatus, CorrectionResult, PlanStep, SkillArgument, ExecuteCommand).
ENDED, SUCCEEDED, QUESTION = 3, 1, 3
OUTCOMES = ("applied", "refused", "asked", "no correction")
STATUSES = (StepStatus.PENDING, StepStatus.RUNNING, StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)
VERDICTS = ("open", "kept", "broken", "cannot be kept any more")


@dataclass(frozen=True)
class Event:
    """Something that happened, for a person: at `time` [s since the epoch]; `is_step` where a step began."""

    time: float
    text: str
    is_step: bool = False


@dataclass
class StepFacts:
    """Step of a plan: its newest call and status, and when it began and ended [s since the epoch].

    `stamps` are the same times on the robot's clock [s], which a simulation may run slower or faster. `version` is that
    of the plan in which it got its call; 0 for the plan as it was made.
    """

    step: PlanStep
    version: int = 0
    began: float | None = None
    ended: float | None = None
    stamps: list[float] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)  # on the motion, while it ran
    speed: float = inf  # [m/s] the least limit while it ran


@dataclass
class RuleFacts:
    """Constraint of a plan, its newest verdict and margin [m or m/s], None where it is not measured."""

    words: str
    plain: str
    goal: bool
    verdict: str = "open"
    holds: bool | None = None
    margin: float | None = None


@dataclass
class EditFacts:
    """Edit of a plan: the words, the lines that describe the difference, and when it came [s since the epoch]."""

    time: float
    words: str
    difference: tuple[str, ...] = ()


@dataclass
class PlanFacts:
    """Plan of a command for the robot in a namespace, and what became of it."""

    id: str
    namespace: str = ""
    command: str = ""
    program: str = ""
    version: int = 0
    steps: dict[str, StepFacts] = field(default_factory=dict)
    rules: dict[str, RuleFacts] = field(default_factory=dict)  # by formula
    edits: dict[int, EditFacts] = field(default_factory=dict)  # by the version that each made
    refusals: list[EditFacts] = field(default_factory=list)  # of corrections; the difference is the reason
    forecast: dict[str, Any] = field(default_factory=dict)
    exchanges: list[dict[str, Any]] = field(default_factory=list)  # with the language model, about the command


@dataclass
class CommandFacts:
    """Command: the words, when they came and when it ended [s since the epoch], and how."""

    id: str
    words: str
    time: float
    ended: float | None = None
    outcome: str = ""  # "" while it is under way
    succeeded: bool = False
    asked: bool = False


class Story:
    """Gathers the facts of a run from its messages, in the order in which they came."""

    def __init__(self) -> None:
        self.commands: dict[str, CommandFacts] = {}
        self.plans: dict[str, PlanFacts] = {}
        self._namespace = ""  # of the message at hand
        self._exchanges: dict[str, list[dict[str, Any]]] = {}  # by namespace
        self._limits: dict[str, tuple[list[str], float]] = {}

    def hear(self, heard: Heard) -> list[Event]:
        """Take a message with its fields, and return what happened."""
        self._namespace, _, name = heard.topic.name.rpartition("/")
        take = getattr(self, f"_{name}", None)
        return [] if take is None else list(take(heard.message, heard.time))

    def _command_status(self, message: Any, time: float) -> Iterable[Event]:
        known = self.commands.get(message.id)
        if known is None:
            known = self.commands[message.id] = CommandFacts(message.id, message.command, time)
            yield Event(time, f"command “{message.command}”")
        if message.state == ENDED and not known.outcome:
            known.ended = time
            known.outcome, known.succeeded = message.message or "ended", message.error_code == SUCCEEDED
            known.asked = message.error_code == QUESTION
            how = "question" if known.asked else "done" if known.succeeded else "not done"
            yield Event(time, f"{how}: {known.outcome}")

    def _correction_result(self, message: Any, time: float) -> Iterable[Event]:
        words = f"“{message.words}” " if message.words else ""
        yield Event(time, f"correction {words}{OUTCOMES[message.outcome]}: {message.message}")
        for line in message.difference:
            if line not in message.message:
                yield Event(time, f"  {line}")
        plans = self._of_namespace()
        if message.outcome == 0 and plans:
            for edit in plans[-1].edits.values():
                if edit.words == message.words and not edit.difference:
                    edit.difference = tuple(message.difference)
        elif message.outcome == 1 and plans and message.words:
            plans[-1].refusals.append(EditFacts(time, message.words, (message.message,)))

    def _model_exchange(self, message: Any, time: float) -> Iterable[Event]:
        self._exchanges.setdefault(self._namespace, []).append(json.loads(message.data))
        return ()

    def _forecast(self, message: Any, time: float) -> Iterable[Event]:
        told = json.loads(message.data)
        self._plan_facts(told["plan_id"]).forecast = told
        return ()

    def _plan(self, message: Any, time: float) -> Iterable[Event]:
        facts = self._plan_facts(message.id)
        is_known, facts.command, facts.program = bool(facts.program), message.command, message.program
        for rule in message.constraints:
            facts.rules.setdefault(rule.formula, RuleFacts(rule.words, rule.plain, rule.goal))
        if not message.version and not is_known:
            rules = [rule.plain for rule in facts.rules.values() if not rule.goal]
            yield Event(time, f"plan: {', '.join(str(_step(step)) for step in message.steps) or 'nothing to do'}")
            for plain in rules:
                yield Event(time, f"  rule: {plain}")

    def _plan_status(self, message: Any, time: float) -> Iterable[Event]:
        if not message.plan_id:
            return
        facts = self._plan_facts(message.plan_id)
        facts.command = facts.command or message.command
        if message.version > facts.version and message.edits:
            newest = json.loads(message.edits[-1])
            facts.edits[message.version] = EditFacts(time, str(newest.get("words", "")))
        facts.version = message.version
        for rule in message.constraints:
            facts.rules.setdefault(rule.formula, RuleFacts(rule.words, rule.plain, rule.goal))
        stamp = message.header.stamp
        for given in message.steps:
            yield from self._take_step(facts, _step(given), time, stamp.sec + 1e-9 * stamp.nanosec)

    def _take_step(self, facts: PlanFacts, step: PlanStep, time: float, stamp: float) -> Iterable[Event]:
        known = facts.steps.get(step.id)
        if known is None or str(known.step) != str(step):
            known = facts.steps[step.id] = StepFacts(step, facts.version)
            before = StepStatus.PENDING
        else:
            before, known.step = known.step.status, step
        if step.status is before or step.status is StepStatus.PENDING:
            return
        if step.status is StepStatus.RUNNING:
            known.began, known.ended, known.stamps = time, None, [stamp]
            limits, known.speed = self._limits.get(self._namespace, ([], inf))
            known.limits = list(limits)
        else:
            known.ended, known.stamps = time, [*known.stamps[:1], stamp]
        why = f", {step.message}" if step.message else ""
        is_step = step.status is StepStatus.RUNNING
        yield Event(time, f"step {step.id} {step}: {step.status.value}{why}", is_step)

    def _constraint_status(self, message: Any, time: float) -> Iterable[Event]:
        facts = self._plan_facts(message.plan_id)
        for state in message.constraints:
            given = state.constraint
            rule = facts.rules.setdefault(given.formula, RuleFacts(given.words, given.plain, given.goal))
            verdict, before = VERDICTS[state.verdict], rule.verdict
            rule.verdict, rule.holds = verdict, bool(state.holds)
            rule.margin = None if state.robustness != state.robustness else float(state.robustness)
            if verdict != before and verdict in VERDICTS[2:]:
                yield Event(time, f"rule “{rule.words or rule.plain}” {verdict}")

    def _motion_constraints(self, message: Any, time: float) -> Iterable[Event]:
        limits = list[str]()
        for zone in message.zones:
            distance = f", and {zone.clearance:.2f} m from it" if zone.clearance else ""
            limits.append(f"keep out of the zone of {zone.name}{distance}")
        self._limits[self._namespace] = limits, message.speed
        for plan in self._of_namespace():
            for facts in plan.steps.values():
                if facts.began is not None and facts.ended is None:
                    facts.limits.extend(limit for limit in limits if limit not in facts.limits)
                    facts.speed = min(facts.speed, message.speed)
        return ()

    def _plan_facts(self, plan_id: str) -> PlanFacts:
        """Return the facts of a plan; a new one takes what the language model was asked since the last."""
        if plan_id not in self.plans:
            asked = self._exchanges.pop(self._namespace, [])
            self.plans[plan_id] = PlanFacts(plan_id, self._namespace, exchanges=asked)
        return self.plans[plan_id]

    def _of_namespace(self) -> list[PlanFacts]:
        """Return the plans of the robot that the message at hand is about, oldest first."""
        return [plan for plan in self.plans.values() if plan.namespace == self._namespace]


def story_of(recording: Recording) -> tuple[Story, list[Event]]:
    """Return the facts of a recorded run, and what happened in order."""
    story, events = Story(), list[Event]()
    for heard in recording.messages(TOPICS):
        events += story.hear(heard)
    return story, events


def _step(message: Any) -> PlanStep:
    arguments: dict[str, Argument] = {}
    for one in message.arguments:
        if one.type == 2:
            arguments[one.name] = one.point.x, one.point.y, one.point.z
        else:
            arguments[one.name] = one.number if one.type == 1 else one.word
    return PlanStep(message.id, message.skill, arguments, message.line, STATUSES[message.status], message.message)
