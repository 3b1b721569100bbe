"""Answers to "why this step?" and "what was the model asked?" from a recording; every sentence states what is there."""

from __future__ import annotations

import json
from datetime import datetime
from math import inf

from llm_planner.errors import InputError
from llm_planner.plans.plan import StepStatus
from llm_planner.recording.reading import Recording
from llm_planner.recording.story import PlanFacts, RuleFacts, StepFacts, Story


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
        others = [one for one in story.commands.values() if one.id not in {plan.id for plan in plans}]
        told = [(_began(story, plan), _overview(story, plan)) for plan in plans]
        told += [
            (
                one.time,
                f"“{one.words}”\n  {'the robot asked' if one.asked else 'no plan'}: {one.outcome or 'not ended'}",
            )
            for one in others
        ]
        return "\n\n".join(text for _, text in sorted(told))
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


def _began(story: Story, plan: PlanFacts) -> float:
    command = story.commands.get(plan.id)
    return command.time if command else 0.0


def _overview(story: Story, plan: PlanFacts) -> str:
    lines = [f"“{plan.command}”"]
    for facts in plan.steps.values():
        step = facts.step
        why = f", {step.message}" if step.message and step.status is StepStatus.FAILED else ""
        edited = f" (by “{plan.edits[facts.version].words}”)" if facts.version in plan.edits else ""
        lines.append(f"  {step.id}  {step}{edited}: {step.status.value}{why}")
    refused = [f"refused “{one.words}”: {'; '.join(one.difference)}" for one in plan.refusals]
    return "\n".join([*lines, *(f"  {line}" for line in (*refused, *_ended(story, plan)))])


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
    return told + [
        f"“{one.words}” was refused: {'; '.join(one.difference)}" for one in plan.refusals if one.time <= until
    ]


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
    limits = [*facts.limits, *([f"at most {facts.speed:.2f} m/s"] if facts.speed < inf else [])]
    limits = [f"limits in force: {'; '.join(limits)}"] if limits else []
    return [f"began at {began}; {facts.step.status.value}{took}{judged}{why}", *limits]


def _ended(story: Story, plan: PlanFacts) -> list[str]:
    command = story.commands.get(plan.id)
    if command is None or not command.outcome:
        return ["the recording ends before the command did"]
    return [f"the command {'succeeded' if command.succeeded else 'did not succeed'}: {command.outcome}"]
