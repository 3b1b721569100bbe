"""A plan as it would be in the middle of being carried out, if every step did what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llm_planner.errors import InputError
from llm_planner.plan.events import PauseRequested, SceneObserved, SkillFinished
from llm_planner.plan.execution import SETTLE_TIME, advance
from llm_planner.plan.execution_state import Execution, Phase, start_execution
from llm_planner.plan.plan import Plan
from llm_planner.plan.prediction import predict
from llm_planner.program.checker import check_program
from llm_planner.program.interpreter import Interpreter
from llm_planner.program.signatures import Signature
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.world.places import Viewpoint
from llm_planner.world.scene import Scene

STEP_TIME = 5.0  # [s] that a step is taken to last
_DONE = SkillResult(SkillErrorCode.SUCCEEDED)


def midway(
    plan: Plan, scene: Scene, skills: Sequence[Signature], viewpoint: Viewpoint, step: str = "", holding: str = ""
) -> Execution:
    """The execution of `plan`, made for `scene`, while the step of that id runs; held before the first where it is "".

    `holding` is then in the gripper, where it says so. Raises InputError for a step or thing that there is not, for a
    thing that no step has spoken of by then, and as `check_program`.
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
    return _holding(state, holding) if holding else state


def _spoken_of(plan: Plan, step: str) -> list[str]:
    """What the steps up to that one are about."""
    ids = [item.id for item in plan.steps]
    values = (value for item in plan.steps[: ids.index(step) + 1] for value in item.arguments.values())
    return list(dict.fromkeys(value for value in values if isinstance(value, str)))


def _holding(state: Execution, name: str) -> Execution:
    """With that in the gripper, as in the middle of a step that takes it."""
    assert state.scene is not None
    return replace(state, scene=replace(state.scene, held=name))
