"""What a recording tells of a run: words, plans, edits, steps and their results, as facts and as lines to read.

`explained` answers "why this step?" from these facts; every sentence states a recorded one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from llm_planner.errors import InputError
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
    """Plan of a command, and what became of it."""

    id: str
    command: str = ""
    program: str = ""
    version: int = 0
    steps: dict[str, StepFacts] = field(default_factory=dict)
    rules: dict[str, RuleFacts] = field(default_factory=dict)  # by formula
    edits: dict[int, EditFacts] = field(default_factory=dict)  # by the version that each made
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
        self._exchanges: list[dict[str, Any]] = []
        self._limits: list[str] = []

    def hear(self, heard: Heard) -> list[Event]:
        """Take a message with its fields, and return what happened."""
        take = getattr(self, f"_{heard.topic.name.rpartition('/')[2]}", None)
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
        if message.outcome == 0 and self.plans:
            newest = list(self.plans.values())[-1]
            for edit in newest.edits.values():
                if edit.words == message.words and not edit.difference:
                    edit.difference = tuple(message.difference)

    def _model_exchange(self, message: Any, time: float) -> Iterable[Event]:
        self._exchanges.append(json.loads(message.data))
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
            known.began, known.ended, known.stamps, known.limits = time, None, [stamp], list(self._limits)
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
        self._limits = []
        for zone in message.zones:
            distance = f", and {zone.clearance:.2f} m from it" if zone.clearance else ""
            self._limits.append(f"keep out of the zone of {zone.name}{distance}")
        if message.speed != float("inf"):
            self._limits.append(f"at most {message.speed:.2f} m/s")
        for plan in self.plans.values():
            for facts in plan.steps.values():
                if facts.began is not None and facts.ended is None:
                    facts.limits.extend(limit for limit in self._limits if limit not in facts.limits)
        return ()

    def _plan_facts(self, plan_id: str) -> PlanFacts:
        """Return the facts of a plan; a new one takes what the language model was asked since the last."""
        if plan_id not in self.plans:
            self.plans[plan_id] = PlanFacts(plan_id, exchanges=self._exchanges)
            self._exchanges = []
        return self.plans[plan_id]


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


def explained(story: Story, step_id: str = "") -> str:
    """Explain a step of the newest plan that has it, or, without a step, every step of every plan in short.

    Raises:
        InputError: The run has no plan, or no such step; the message names the steps.
    """
    plans = [plan for plan in story.plans.values() if plan.steps]
    if not plans:
        said = "; ".join(f"“{one.words}”: {one.outcome or 'not ended'}" for one in story.commands.values())
        raise InputError(f"nothing was carried out in this run, so there is no step to explain. {said}".strip())
    if not step_id:
        return "\n\n".join(_overview(story, plan) for plan in plans)
    with_step = [plan for plan in plans if step_id in plan.steps]
    if not with_step:
        known = "; ".join(f"{', '.join(plan.steps)} of “{plan.command}”" for plan in plans)
        raise InputError(f"there is no step {step_id!r} in this run; the steps are: {known}")
    return _of_step(story, with_step[-1], with_step[-1].steps[step_id])


def exchanged(recording: Recording) -> str:
    """Return what language models were asked and replied in a run: of servers the messages as they were sent."""
    shown = []
    for heard in recording.messages(["model_exchange"]):
        told = json.loads(heard.message.data)
        usage = f" ({told['usage']})" if told.get("usage") else ""
        about = f" of “{told['command']}”" if told.get("command") else ""
        lines = [f"{_clock(heard.time)}  {told['model']}, {told['asks']}{about}{usage}"]
        for message in told.get("messages", ()):
            lines += [f"--- {message['role']}", str(message["content"])]
        for reply in told["replies"]:
            lines += ["--- reply", reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)]
        lines += ["--- error", told["error"]] if told.get("error") else []
        shown.append("\n".join(lines))
    return "\n\n".join(shown) or "no exchange with a language model was recorded"


def _clock(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%H:%M:%S")


def _overview(story: Story, plan: PlanFacts) -> str:
    lines = [f"“{plan.command}”"]
    for facts in plan.steps.values():
        step = facts.step
        why = f", {step.message}" if step.message and step.status is StepStatus.FAILED else ""
        edited = f" (by “{plan.edits[facts.version].words}”)" if facts.version in plan.edits else ""
        lines.append(f"  {step.id}  {step}{edited}: {step.status.value}{why}")
    return "\n".join([*lines, *(f"  {line}" for line in _ended(story, plan))])


def _of_step(story: Story, plan: PlanFacts, facts: StepFacts) -> str:
    parts = [
        ("Understood", _understood(plan, facts)),
        ("Rules", [_rule(rule) for rule in plan.rules.values()] or ["none"]),
        ("Edits", _edits(plan, facts) or ["none before or during this step"]),
        ("Foreseen", _foreseen(plan, facts)),
        ("Happened", [*_happened(facts), *_ended(story, plan)]),
    ]
    lines = [f"Step {facts.step.id}: {facts.step}"]
    for title, told in parts:
        lines += [f"  {title if not number else '':<11} {line}" for number, line in enumerate(told)]
    return "\n".join(lines)


def _understood(plan: PlanFacts, facts: StepFacts) -> list[str]:
    edit = plan.edits.get(facts.version)
    if edit is not None:
        return [f"you corrected “{plan.command}” by “{edit.words}”, which put this step into the plan"]
    told = [f"you said “{plan.command}”"]
    readings = [one for one in plan.exchanges if one.get("asks") == "reading" and one.get("replies")]
    if readings:
        best = readings[-1]["replies"][0]
        if best.get("task") and best["task"] != plan.command:
            told.append(f"the model {readings[-1].get('model', '')} took this for the task: “{best['task']}”")
    lines = plan.program.splitlines()
    if 0 < facts.step.line <= len(lines):
        told.append(f"line {facts.step.line} of the program asks for the step: {lines[facts.step.line - 1].strip()}")
    return told


def _rule(rule: RuleFacts) -> str:
    kind = "goal" if rule.goal else "rule"
    words = f" (from “{rule.words}”)" if rule.words else ""
    if rule.holds is None:
        return f"{kind}: {rule.plain}{words}; nothing was recorded of whether it was kept"
    state = rule.verdict if rule.verdict != "open" else "held" if rule.holds else "not held"
    margin = "" if rule.margin is None else f", margin {rule.margin:.3g}"
    return f"{kind}: {rule.plain}{words}; at last {state}{margin}"


def _edits(plan: PlanFacts, facts: StepFacts) -> list[str]:
    until = float("inf") if facts.ended is None else facts.ended
    told = []
    for version, edit in plan.edits.items():
        if edit.time <= until:
            when = "this step is from " if version == facts.version else ""
            difference = f": {'; '.join(edit.difference)}" if edit.difference else ""
            told.append(f"{when}“{edit.words}”{difference}")
    return told


def _foreseen(plan: PlanFacts, facts: StepFacts) -> list[str]:
    told = []
    steps = plan.forecast.get("steps", [])
    foreseen = next((one for one in steps if (one["id"], one["call"]) == (facts.step.id, str(facts.step))), None)
    if foreseen is None:
        told.append("nothing: an edit made the step" if facts.version else "no forecast of this step was recorded")
    else:
        told += foreseen["effects"]
        told.append(foreseen["doubt"] or f"about {foreseen['seconds']:g} s, {foreseen['metres']:g} m of motion")
    rehearsal = plan.forecast.get("rehearsal")
    if rehearsal:
        branches = f"{rehearsal['branches']} branch{'es' if rehearsal['branches'] != 1 else ''} followed"
        told += [f"the rehearsal of the plan: {rehearsal['verdict']}, {branches}", *rehearsal["reasons"]]
    return told


def _happened(facts: StepFacts) -> list[str]:
    if facts.began is None:
        return [f"the step never began (it was {facts.step.status.value} at last)"]
    began = _clock(facts.began)
    took = f" after {facts.stamps[1] - facts.stamps[0]:.1f} s" if len(facts.stamps) == 2 else ""
    why = f": {facts.step.message}" if facts.step.message else ""
    judged = ", as the scene showed its effect" if facts.step.status is StepStatus.DONE else ""
    limits = [f"limits in force: {'; '.join(facts.limits)}"] if facts.limits else []
    return [f"began at {began}; {facts.step.status.value}{took}{judged}{why}", *limits]


def _ended(story: Story, plan: PlanFacts) -> list[str]:
    command = story.commands.get(plan.id)
    if command is None or not command.outcome:
        return ["the recording ends before the command did"]
    return [f"the command {'succeeded' if command.succeeded else 'did not succeed'}: {command.outcome}"]
