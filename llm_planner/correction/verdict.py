"""What would become of words said in the middle of a plan: the edit, what it changes, and whether it may be made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llm_planner.correction.edit_json import edit_json
from llm_planner.correction.situation import Situation
from llm_planner.errors import LlmPlannerError
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import Clarify, Edit, Level
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.plan import Outcome, Plan
from llm_planner.plan.report import constraint_json, step_json

FORMAT_VERSION = 1
Read = Callable[[str, Situation], Edit]
_NO_CORRECTION = "That is no correction; nothing changes."
_NOT_OF_THE_PLAN = (Level.MEMORY, Level.DIALOGUE)


@dataclass(frozen=True)
class EditAnswer:
    """`edit` is None where the words could not be read; `plan` is as it would be after it. `outcome` is done where it
    may be made, or nothing is to be changed."""

    words: str
    outcome: Outcome
    message: str
    edit: Edit | None = None
    difference: tuple[str, ...] = ()
    plan: Plan | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values; the keys are always all there."""
        plan, refused = self.plan, self.outcome in (Outcome.REFUSED, Outcome.FAILED)
        return {
            "version": FORMAT_VERSION,
            "words": self.words,
            "outcome": self.outcome.value,
            "message": self.message,
            "edit": self.edit and edit_json(self.edit),
            "difference": list(self.difference),
            "verdict": {"accepted": self.outcome is Outcome.DONE, "reasons": [self.message] if refused else []},
            "steps": [] if plan is None else list(map(step_json, plan.steps)),
            "constraints": [] if plan is None else list(map(constraint_json, plan.constraints)),
        }


def answer_words(words: str, state: Execution, situation: Situation, read: Read) -> EditAnswer:
    """What would become of `words` now; nothing moves, and `state` stays as it is."""
    try:
        edit = read(words, situation)
    except LlmPlannerError as error:
        return EditAnswer(words, Outcome.FAILED, str(error), plan=state.plan)
    if not edit.operations:
        return EditAnswer(words, Outcome.DONE, _NO_CORRECTION, edit, plan=state.plan)
    if question := next((one.question for one in edit.operations if isinstance(one, Clarify)), ""):
        return EditAnswer(words, Outcome.QUESTION, question, edit, plan=state.plan)
    if edit.level in _NOT_OF_THE_PLAN and len(edit.operations) == 1 and not situation.edits:
        return EditAnswer(words, Outcome.DONE, "Understood; the plan itself stays as it is.", edit, plan=state.plan)
    try:
        after = edited(state, edit)
    except LlmPlannerError as error:
        return EditAnswer(words, Outcome.REFUSED, str(error), edit, plan=state.plan)
    told = "; ".join(after.difference) or f"{edit.level.value if edit.level else ''}: at once"
    return EditAnswer(words, Outcome.DONE, told, edit, after.difference, after.state.plan)
