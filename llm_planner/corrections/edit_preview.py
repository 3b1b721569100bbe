"""Preview of a correction: the edit that words are read as, its difference to the plan, and whether it is accepted.

`midway` gives the execution of a plan at one of its steps, under the assumption that every step before succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.editing import edited
from llm_planner.corrections.edits import Clarify, Edit, Level
from llm_planner.corrections.situation import Situation
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution import SETTLE_TIME, advance
from llm_planner.execution.execution_state import (
    Execution,
    PauseRequested,
    Phase,
    SceneObserved,
    SkillFinished,
    start_execution,
)
from llm_planner.planning.report import constraint_json, step_json
from llm_planner.plans.plan import Outcome, Plan
from llm_planner.plans.prediction import predict
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult

FORMAT_VERSION = 1
Read = Callable[[str, Situation], Edit]
_NO_CORRECTION = "That is no correction; nothing changes."
_NOT_OF_THE_PLAN = (Level.MEMORY, Level.DIALOGUE)


@dataclass(frozen=True)
class EditAnswer:
    """Preview of what some words do to a plan; `plan` is the plan after the edit.

    `edit` is None if the words cannot be read. `outcome` is done if the edit is accepted or nothing changes.
    """

    words: str
    outcome: Outcome
    message: str
    edit: Edit | None = None
    difference: tuple[str, ...] = ()
    plan: Plan | None = None

    def to_json(self) -> dict[str, Any]:
        """Convert to plain values; all keys are always present."""
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
    """Preview what `words` would change now; `situation` describes `state`, which stays unchanged."""
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


STEP_TIME = 5.0  # [s] assumed duration of a step
_DONE = SkillResult(SkillErrorCode.SUCCEEDED)


def midway(
    plan: Plan, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint, step: str = "", holding: str = ""
) -> Execution:
    """Simulate a plan, made for `scene`, up to one of its steps; all steps before it succeed.

    Args:
        plan: Plan to simulate.
        scene: Scene at the start.
        skills: Skills that the plan may call.
        viewpoint: Where the person stands.
        step: Id of the step that runs at the end; "" for a plan paused before its first step.
        holding: Object that the gripper then holds; "" to leave this to the simulation.

    Raises:
        InputError: The step or object does not exist, or no step so far names the object; also as `check_program`.
    """
    if step and step not in {item.id for item in plan.steps}:
        raise InputError(f"no step is called {step!r}; the steps are: {plan.listing}")
    if holding and holding not in scene.names:
        raise InputError(f"there is no {holding!r} to be held; the scene holds: {', '.join(scene.names)}")
    if holding and step and holding not in _spoken_of(plan, step):
        takes = ", ".join(_spoken_of(plan, step)) or "nothing"
        raise InputError(f"{holding!r} is in no step up to step {step}; what can be held then is: {takes}")
    interpreter = Interpreter(check_program(plan.program, tuple(skills), scene), viewpoint)
    state = start_execution(plan, interpreter, viewpoint, scene)
    if not step:
        return replace(advance(state, PauseRequested())[0], scene=scene)
    state, _ = advance(state, SceneObserved(scene))
    while state.run is not None and state.run.step.id != step:
        after = replace(predict(scene, state.run.goals), time=scene.time + STEP_TIME)
        state, _ = advance(state, SkillFinished(state.run.step.id, _DONE))
        scene = replace(after, time=after.time + SETTLE_TIME)
        state, _ = advance(state, SceneObserved(scene))
    if state.phase is Phase.ENDED or state.run is None:
        told = state.end.message if state.end else "it ends before"
        raise InputError(f"the plan does not come to step {step}: {told}")
    assert state.scene is not None
    return replace(state, scene=replace(state.scene, held=holding or state.scene.held))


def _spoken_of(plan: Plan, step: str) -> list[str]:
    ids = [item.id for item in plan.steps]
    values = (value for item in plan.steps[: ids.index(step) + 1] for value in item.arguments.values())
    return list(dict.fromkeys(value for value in values if isinstance(value, str)))
