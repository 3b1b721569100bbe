"""Where ROS messages meet edits, what they are read against, and how a step is to be done."""

from __future__ import annotations

import json
from collections.abc import Mapping

from geometry_msgs.msg import Vector3
from llm_planner_interfaces.msg import CorrectionResult, MotionTuning, PlanStatus
from std_msgs.msg import Header

from llm_planner.correction.dialogue import Answer, Outcome
from llm_planner.correction.edit_json import edit_from_json, edit_json
from llm_planner.correction.situation import Situation
from llm_planner.errors import InputError
from llm_planner.nodes.plan_messages import constraint_from_msg, step_from_msg
from llm_planner.plan.edits import Clarify, Edit
from llm_planner.plan.plan import Plan
from llm_planner.program.signatures import Signature
from llm_planner.skills.tuning import Tuning
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene

_OUTCOMES = {
    Outcome.APPLIED: CorrectionResult.APPLIED,
    Outcome.REFUSED: CorrectionResult.REFUSED,
    Outcome.QUESTION: CorrectionResult.QUESTION,
    Outcome.NOTHING: CorrectionResult.NOTHING,
}


def edit_to_text(edit: Edit) -> str:
    return json.dumps(edit_json(edit), ensure_ascii=False)


def edit_from_text(text: str) -> Edit:
    """Raises InputError that names what is wrong."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"an edit is written in JSON; {text!r:.80} is not: {error}") from error
    return edit_from_json(values)


def tuning_to_msg(tuning: Tuning, step_id: str, executor: int, header: Header) -> MotionTuning:
    x, y, z = tuning.offset
    offset = Vector3(x=float(x), y=float(y), z=float(z))
    return MotionTuning(header=header, executor=executor, step_id=step_id, offset=offset, higher=float(tuning.higher))


def tuning_from_msg(message: MotionTuning) -> Tuning:
    return Tuning((message.offset.x, message.offset.y, message.offset.z), message.higher)


def situation_from_msg(
    message: PlanStatus,
    scene: Scene,
    skills: Mapping[str, Signature],
    viewpoint: Viewpoint,
    asked: Clarify | None = None,
) -> Situation:
    """What a correction is read against. Raises as `edit_from_text`, `step_from_msg` and `constraint_from_msg`."""
    constraints = tuple(map(constraint_from_msg, message.constraints))
    plan = Plan(message.command, "", tuple(map(step_from_msg, message.steps)), message.complete, constraints)
    lay = zip(message.things, message.origins, strict=True)
    origins = {name: (point.x, point.y, point.z) for name, point in lay}
    edits = tuple(map(edit_from_text, message.edits))
    return Situation(plan, scene, skills, viewpoint, message.version, origins, edits, asked)


def result_to_msg(answer: Answer, words: str, user: str, header: Header) -> CorrectionResult:
    return CorrectionResult(
        header=header,
        words=words,
        user=user,
        edit=edit_to_text(answer.edit) if answer.edit else "",
        outcome=_OUTCOMES[answer.outcome],
        message=answer.message,
        difference=list(answer.difference),
    )


def result_from_msg(message: CorrectionResult) -> Answer:
    """Raises as `edit_from_text`."""
    outcome = next(outcome for outcome, number in _OUTCOMES.items() if number == message.outcome)
    return Answer(
        outcome, message.message, edit_from_text(message.edit) if message.edit else None, tuple(message.difference)
    )
