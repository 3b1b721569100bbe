"""What the page shows of plans, rules, motion, answers and the model, as plain values from messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import (
    CommandStatus,
    ConstraintState,
    ConstraintStatus,
    CorrectionResult,
    MotionConstraints,
    MotionStatus,
    Plan,
    PlanStatus,
)

from llm_planner.console.board import Series
from llm_planner.execution.watch import margin
from llm_planner.ltl.parser import parse
from llm_planner.ros.commands import UNDER_WAY, code_name
from llm_planner.ros.conversions.correction_messages import edit_from_text, result_from_msg
from llm_planner.ros.conversions.motion_messages import speed_limit_from_msg
from llm_planner.ros.conversions.plan_messages import steps_from_msg
from llm_planner.scene.propositions import Moment
from llm_planner.scene.scene import Scene

MEASURED = 0.2  # [s, robot time] between two samples of the rules' margins
_PLAN_STATES = {
    PlanStatus.IDLE: "idle",
    PlanStatus.RUNNING: "running",
    PlanStatus.PAUSED: "held",
    PlanStatus.SUCCEEDED: "done",
    PlanStatus.FAILED: "failed",
    PlanStatus.STOPPED: "stopped",
}
_COMMAND_STATES = {
    CommandStatus.QUEUED: "queued",
    CommandStatus.PLANNING: "planning",
    CommandStatus.EXECUTING: "executing",
    CommandStatus.ENDED: "ended",
}
_VERDICTS = {
    ConstraintState.PENDING: "pending",
    ConstraintState.SATISFIED: "satisfied",
    ConstraintState.VIOLATED: "violated",
    ConstraintState.DOOMED: "doomed",
}
_MOTION = {
    MotionStatus.TRACKING: "moving",
    MotionStatus.RESTING: "at rest",
    MotionStatus.REPLAYING: "moving",
    MotionStatus.RELAXED: "moving, limits relaxed",
    MotionStatus.BRAKING: "braking",
    MotionStatus.STOPPED: "stopped",
}
Result = ExecuteCommand.Result
_NAMED = re.compile(r" do you mean[^:?]*: ([^:?]+)\?$")  # as `language.grounding.resolution` asks
_OPTIONS = re.compile(r" \(([^()]+(?: / [^()]+)+)\)$")  # as `corrections.edits.asking` writes them


def plan_view(plan: Plan, status: PlanStatus) -> dict[str, Any]:
    """Return the plan with its steps, program and edits; raise LlmPlannerError for an invalid step or edit."""
    own = plan if plan.id == status.plan_id else Plan()
    steps = steps_from_msg(status.steps)
    return {
        "id": status.plan_id,
        "state": _PLAN_STATES.get(status.state, "idle"),
        "command": status.command,
        "message": status.message,
        "program": own.program,
        "source": own.source,
        "version": status.version,
        "complete": status.complete,
        "edits": [edit_from_text(text).words for text in status.edits],
        "steps": [
            {"id": one.id, "line": one.line, "text": str(one), "status": one.status.value, "message": one.message}
            for one in steps
        ],
    }


def rules_view(status: PlanStatus, watched: ConstraintStatus) -> list[dict[str, Any]]:
    """Return each rule and goal of the plan with what its monitor says of it."""
    states = {one.constraint.formula: one for one in watched.constraints} if watched.plan_id == status.plan_id else {}
    shown = []
    for rule in status.constraints:
        state = states.get(rule.formula)
        shown.append(
            {
                "words": rule.words or rule.plain,
                "plain": rule.plain,
                "formula": rule.formula,
                "goal": rule.goal,
                "verdict": _VERDICTS.get(state.verdict, "pending") if state else "pending",
                "holds": bool(state.holds) if state else None,
                "margin": state.robustness if state else None,
            }
        )
    return shown


def motion_view(scene: Scene, limits: MotionConstraints, status: MotionStatus) -> dict[str, Any]:
    """Return the speed, its limit and what the controller says; raise InputError for an invalid limit."""
    return {
        "speed": round(scene.speed, 3),
        "limit": speed_limit_from_msg(limits),
        "state": _MOTION.get(status.state, ""),
        "reason": status.reason or limits.conflict,
        "held": scene.held,
    }


def command_view(status: CommandStatus) -> dict[str, Any]:
    """Return a command's state, its outcome once it has ended, and the message for a person."""
    ended = status.state == CommandStatus.ENDED
    outcome = code_name(status.error_code).lower() if ended else ""
    message, options = with_options(status.message) if outcome == "question" else (status.message, [])
    return {
        "state": _COMMAND_STATES.get(status.state, ""),
        "outcome": outcome,
        "message": message,
        "options": options,
    }


def rehearsal_view(command: dict[str, Any], mode: str) -> dict[str, str]:
    """Return the verdict of planning and rehearsal on the newest command; `mode` is the parameter `rehearsal`."""
    if command["state"] == "planning":
        return {"verdict": "wait", "text": "being planned and rehearsed"}
    if command["outcome"] == "question":
        return {"verdict": "ask", "text": command["message"]}
    if command["outcome"] == "refused":
        return {"verdict": "block", "text": command["message"]}
    if mode == "off":
        return {"verdict": "none", "text": "plans are not rehearsed: the parameter rehearsal is off"}
    how = "in the model and in a copy of the simulation" if mode == "full" else "in the model"
    return {"verdict": "allow", "text": f"rehearsed {how}: nothing speaks against this plan"}


def answer_view(result: CorrectionResult) -> dict[str, Any]:
    """Return the answer to a correction; raise InputError for an invalid one."""
    answer = result_from_msg(result)
    message, options = with_options(answer.message)
    changes = "; ".join(answer.difference)
    return {
        "text": message.replace(changes, "").strip("; ") or "changed:",
        "outcome": answer.outcome.value,
        "difference": list(answer.difference),
        "options": options if answer.outcome.value == "question" else [],
    }


def with_options(message: str) -> tuple[str, list[str]]:
    """Split the options "(a / b)" off a question; those of "Which do you mean: a, b or c?" also stay in it."""
    found = _OPTIONS.search(message)
    if found:
        return message[: found.start()], found[1].split(" / ")
    named = _NAMED.search(message)
    options = re.split(r", | or ", named[1]) if named else []
    return message, options if len(options) > 1 else []


def model_view(planner: DiagnosticStatus | None, listener: DiagnosticStatus | None, planning: str) -> dict[str, Any]:
    """Return which model reads commands and corrections, and what it does; `planning` is the command being planned."""

    def said(status: DiagnosticStatus | None) -> dict[str, str]:
        return {one.key: one.value for one in status.values} if status else {}

    commands, corrections = said(planner), said(listener)
    if planner is not None and planner.level != DiagnosticStatus.OK:
        doing = planner.message
    elif planning:
        doing = f"plans “{planning}”"
    elif corrections.get("waiting", "0") != "0":
        doing = "reads a correction"
    else:
        doing = "idle" if planner is not None else "not heard of"
    return {"commands": commands.get("model", ""), "corrections": corrections.get("model", ""), "doing": doing}


def trouble_view(statuses: Sequence[DiagnosticStatus]) -> list[str]:
    """Return what nodes report as an error, a line each."""
    return [f"{one.name.rsplit('/', 1)[-1]}: {one.message}" for one in statuses if one.level == DiagnosticStatus.ERROR]


class RuleMargins:
    """Margins of the rules of the running plan over the run."""

    def __init__(self) -> None:
        self._series, self._of = Series(MEASURED), ("", ())

    def view(self, scene: Scene, status: PlanStatus) -> dict[str, Any] | None:
        """Add the margins in this scene; return those of the run, None if there is none or the last is too recent."""
        rules = tuple(one.formula for one in status.constraints if not one.goal)
        if (status.plan_id, rules) != self._of:
            self._series, self._of = Series(MEASURED), (status.plan_id, rules)
        if not rules or status.state not in UNDER_WAY:
            return None
        origins = {name: (at.x, at.y, at.z) for name, at in zip(status.things, status.origins, strict=False)}
        moment = Moment(scene, origins)
        if not self._series.add(scene.time, [round(margin(parse(rule), moment), 4) for rule in rules]):
            return None
        return {"rules": rules, "times": self._series.times, "values": self._series.values}
