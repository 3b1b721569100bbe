"""Requests for more: steps that the planner writes, for the scene as it will be when their turn comes."""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.correction.building_order import after, skip_this, start
from llm_planner.correction.errands import errands_ahead, has_begun, meant, next_place
from llm_planner.correction.references import AlreadySoError, UnclearError
from llm_planner.correction.requests import Request, When
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.errors import LlmPlannerError, SoAlreadyError
from llm_planner.language.grounding.amounts import amounts_in
from llm_planner.plan.edits import Insert, Move, Operation
from llm_planner.plan.plan import goals_of, in_base_words
from llm_planner.world.scene import Scene


def add(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """The steps of the command, next or at the end; raises UnclearError with what the planner has against it."""
    if not request.text:
        raise UnclearError("What should I do besides? Please say it as a command.")
    before = _place(request, situation)
    try:
        steps = sources.write_steps(request.text, scene_before(before, situation))
    except SoAlreadyError as error:
        raise AlreadySoError(str(error)) from error
    except LlmPlannerError as error:
        raise UnclearError(str(error)) from error
    if request.when is When.NEXT and not request.target and all(step.skill == "wait" for step in steps):
        before = next((step.id for step in situation.ahead), "")  # to wait is for now
    added = tuple(Insert(step.skill, dict(step.arguments), before) for step in steps)
    if planned := _as_planned(added, situation):
        return (Move(planned, before),)
    if _is_next_already(added, situation):
        return skip_this(situation)
    if more := _more_of_it(added, situation):
        return more
    _check_said(request.text, added)
    return added


def _as_planned(added: tuple[Insert, ...], situation: Situation) -> tuple[str, ...]:
    """The steps of the errand ahead that is the same, which then changes its place only: "run the parcel to the lab
    before you see to the mug"; of more than one step, for a wave or a wait may be wanted twice."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in errands_ahead(situation):
        same = [(step.skill, dict(step.arguments)) for step in errand] == calls
        if same and len(calls) > 1 and not has_begun(errand):
            return tuple(step.id for step in errand)
    return ()


def _more_of_it(added: tuple[Insert, ...], situation: Situation) -> tuple[Insert, ...]:
    """Where one step is added several times that is planned once: "and press the button twice" is once more, after
    that."""
    calls = [(one.skill, dict(one.arguments)) for one in added]
    for errand in errands_ahead(situation):
        planned = [(step.skill, dict(step.arguments)) for step in errand]
        if len(planned) == 1 < len(added) and not has_begun(errand) and calls == planned * len(calls):
            return tuple(replace(one, before=after((errand,), situation)) for one in added[1:])
    return ()


def _is_next_already(added: tuple[Insert, ...], situation: Situation) -> bool:
    """Whether it is the way that is next in the plan: "go to the kitchen", said while the robot follows or waits, ends
    that."""
    now, left = situation.running, errands_ahead(situation)
    if now is None or "seconds" not in now.arguments or len(added) != 1 or len(left) < 2:
        return False
    (way,), following = added, left[1][0]
    return (way.skill, dict(way.arguments)) == (following.skill, dict(following.arguments))


def _check_said(text: str, added: tuple[Insert, ...]) -> None:
    """Raise UnclearError where an amount was said and none of the steps has it."""
    values = [value for insert in added for value in insert.arguments.values() if isinstance(value, float)]
    for said, amount in amounts_in(text):
        if not any(math.isclose(amount.value, value, abs_tol=1e-3) for value in values):
            raise UnclearError(f"I found no way to do “{text}” with {said}. Please say it in another way.")


def _place(request: Request, situation: Situation) -> str:
    if request.when is When.END:
        return after(meant(request.target, situation), situation) if request.target else ""
    if request.target:
        return start(meant(request.target, situation), situation)
    return next_place(situation)


def scene_before(step_id: str, situation: Situation) -> Scene:
    """The scene as it should be when the step's turn comes, or after all steps for ""."""
    from llm_planner.plan.prediction import predict  # which loads MuJoCo

    scene = situation.scene
    origins = {item.name: item.position for item in scene.objects}
    for step in situation.ahead:
        if step.id == step_id:
            break
        skill = situation.skills[step.skill]
        values = in_base_words(skill, step.arguments, situation.viewpoint)
        scene = replace(predict(scene, goals_of(skill, step.id, values, scene, origins)), time=scene.time + 1.0)
        origins.update({item.name: item.position for item in scene.objects if item.name != scene.held})
    return scene
