"""Conversions of edits, the situation that corrections are read against, tunings and results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from geometry_msgs.msg import Vector3 as Vector3Msg
from llm_planner_interfaces.msg import CorrectionResult, MotionTuning, PlanStatus
from std_msgs.msg import Header

from llm_planner.corrections.edit_json import edit_from_json, edit_json
from llm_planner.corrections.edits import Answer, Clarify, Edit, Outcome
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError
from llm_planner.plans.plan import Plan
from llm_planner.programs.signatures import Signature
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.plan_messages import constraints_from_msgs, steps_from_msg
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.skills.tuning import Tuning

_OUTCOMES = checks.members(Outcome, CorrectionResult)
NESTING_MAX = 8  # of an edit's JSON; valid edits nest 4 deep
EDITS_MAX = 100
OFFSET_MAX = 1.0  # [m]
_STRING, _BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"'), re.compile(r"[\[\]{}]")


def edit_to_text(edit: Edit) -> str:
    return json.dumps(edit_json(edit), ensure_ascii=False)


def edit_from_text(text: str) -> Edit:
    """Parse an edit from JSON; raise InputError if it is invalid."""
    checks.text("an edit", text)
    depth = _nesting(text)
    if depth > NESTING_MAX:
        raise InputError(f"an edit nests {depth} deep ({text[:40]!a}…); none needs more than {NESTING_MAX}")
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"an edit is written in JSON; {text!r:.80} is not: {error}") from error
    return edit_from_json(values)


def _nesting(text: str) -> int:
    """Return the nesting depth of a JSON text without parsing it."""
    deepest = depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def tuning_to_msg(tuning: Tuning, step_id: str, executor: int, header: Header) -> MotionTuning:
    x, y, z = tuning.offset
    offset = Vector3Msg(x=float(x), y=float(y), z=float(z))
    return MotionTuning(header=header, executor=executor, step_id=step_id, offset=offset, higher=float(tuning.higher))


def tuning_from_msg(message: MotionTuning) -> Tuning:
    """Convert a tuning; raise InputError for an offset or height beyond `OFFSET_MAX`."""
    seconds(message.header.stamp, "motion_tuning.header.stamp")
    checks.text("motion_tuning.step_id", message.step_id, checks.NAME_MAX)
    offset = checks.point("motion_tuning.offset", message.offset, OFFSET_MAX)
    return Tuning(offset, checks.number("motion_tuning.higher", message.higher, -OFFSET_MAX, OFFSET_MAX))


def situation_from_msg(
    message: PlanStatus,
    scene: Scene,
    skills: Mapping[str, Signature],
    viewpoint: Viewpoint,
    asked: Clarify | None = None,
) -> Situation:
    """Build the situation that a correction is read against.

    Args:
        message: Status of the plan.
        scene: Current scene.
        skills: Signatures of the skills for the scene, by name.
        viewpoint: Where the speaker stands.
        asked: Open question, if any.

    Raises:
        InputError, FormulaError: As `checked_status`.
    """
    told = checked_status(message)
    return Situation(told.plan, scene, skills, viewpoint, message.version, told.origins, told.edits, asked)


@dataclass(frozen=True)
class PlanSnapshot:
    """Content of `plan_status`: the plan, the original places of its objects [m], and the edits applied to it."""

    plan: Plan
    origins: Mapping[str, Vector3]
    edits: tuple[Edit, ...]


def checked_status(message: PlanStatus) -> PlanSnapshot:
    """Validate and convert a plan status.

    Raises:
        InputError: The state is unknown, `things` and `origins` differ in number, or a step or edit is invalid.
        FormulaError: A constraint is unreadable.
    """
    if message.state > PlanStatus.STOPPED:
        raise InputError(f"plan_status.state is {message.state}; the highest is {PlanStatus.STOPPED}")
    for field in ("plan_id", "lease"):
        checks.text(f"plan_status.{field}", getattr(message, field), checks.NAME_MAX)
    checks.text("plan_status.message", message.message)
    checks.items("plan_status.things", message.things)
    checks.as_many("plan_status.things", message.things, "plan_status.origins", message.origins)
    checks.unique("plan_status.things", message.things)
    places = (checks.point(f"plan_status.origins[{k}]", place) for k, place in enumerate(message.origins))
    checks.items("plan_status.edits", message.edits, EDITS_MAX)
    command = checks.text("plan_status.command", message.command)
    steps, constraints = steps_from_msg(message.steps), constraints_from_msgs(message.constraints)
    return PlanSnapshot(
        Plan(command, "", steps, message.complete, constraints),
        dict(zip(message.things, places, strict=True)),
        tuple(map(edit_from_text, message.edits)),
    )


def result_to_msg(answer: Answer, words: str, user: str, header: Header) -> CorrectionResult:
    return CorrectionResult(
        header=header,
        words=words,
        user=user,
        edit=edit_to_text(answer.edit) if answer.edit else "",
        outcome=getattr(CorrectionResult, answer.outcome.name),
        message=answer.message,
        difference=list(answer.difference),
    )


def result_from_msg(message: CorrectionResult) -> Answer:
    """Convert the result of a correction; raise InputError for an unknown outcome or an invalid edit."""
    if message.outcome not in _OUTCOMES:
        raise InputError(f"correction_result.outcome is {message.outcome}; the highest is {max(_OUTCOMES)}")
    return Answer(
        _OUTCOMES[message.outcome],
        checks.text("correction_result.message", message.message),
        edit_from_text(message.edit) if message.edit else None,
        checks.texts("correction_result.difference", message.difference),
    )
