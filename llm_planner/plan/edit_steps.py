"""Edits of what a plan does next: its steps ahead written as a program anew, and looked ahead over as a new plan is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from llm_planner.errors import LlmPlannerError
from llm_planner.plan.choices import Call
from llm_planner.plan.draft import Draft, EditError, StaleEditError, highest_id, is_over
from llm_planner.plan.edit_motion import with_manner
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.plan import PlanStep, StepStatus, in_base_words, still_wanted
from llm_planner.plan.prediction import predict
from llm_planner.plan.recovery import Task
from llm_planner.plan.unroll import Forecast, look_ahead
from llm_planner.privileges.policy import Verdict
from llm_planner.program.checker import check_program
from llm_planner.program.interpreter import Interpreter, SkillCall
from llm_planner.program.problems import Problem, ProgramError
from llm_planner.world.places import BEHIND
from llm_planner.world.scene import Scene


def draft_of(state: Execution) -> Draft:
    """The plan of an execution that waits; raises EditError where only its program knows what comes next."""
    if not state.plan.complete:
        raise EditError(
            "this plan decides its next steps by what it sees then, so they cannot be changed one by one; stop it and "
            "say the whole command anew"
        )
    steps, skills = state.plan.steps, state.interpreter.program.skills
    done, ahead = (tuple(step for step in steps if is_over(step) is over) for over in (True, False))
    return Draft(done, ahead, skills, max(highest_id(steps), state.last_id))


def with_steps(state: Execution, draft: Draft, scene: Scene) -> Execution:
    """Going on with the steps of `draft`. Raises EditError where they cannot be carried out from `scene` on."""
    ended = _just_ended(state, draft.ahead)
    task = ended or _interrupted(state, draft.ahead)
    ahead = tuple(step for step in draft.ahead if task is None or step.id != task.step.id)
    start = predict(scene, task.goals) if task else scene
    interpreter = _interpreter(state, ahead, start) if ahead else state.interpreter
    forecast = _foreseen(state, interpreter, start, ahead) if ahead else Forecast((), start, (), True)
    steps = tuple(
        replace(new, id=old.id, line=new.line, message=old.message)
        for old, new in zip(ahead, forecast.steps, strict=True)
    )
    _check_permitted(state, steps, start)
    promised = still_wanted(task.goals if task else (), forecast.goals)
    wanted = still_wanted(state.goals, promised)
    whole = (*draft.done, *((task.step,) if task else ()), *steps)
    text = interpreter.program.text if ahead else ""
    plan = replace(state.plan, program=text, steps=whole, complete=True, goals=wanted)
    queue = (task,) if task and not ended else ()  # what has ended is still to be judged, not done again
    after = replace(
        state, plan=plan, interpreter=interpreter, queue=queue, program_ended=not ahead, wanted=wanted,
        last_id=draft.last_id,
    )  # fmt: skip
    return with_manner(after, after.manner)


def _interrupted(state: Execution, ahead: tuple[PlanStep, ...]) -> Task | None:
    """The step that was under way, where it is still the next and the same: it goes on towards what it has promised."""
    task = state.queue[0] if state.queue else None
    same = task is not None and ahead and (task.step.id, str(task.step)) == (ahead[0].id, str(ahead[0]))
    return task if same else None


def _just_ended(state: Execution, ahead: tuple[PlanStep, ...]) -> Task | None:
    """The step whose skill has ended, while things come to rest; raises StaleEditError where it is to be another."""
    if state.run is None:
        return None
    step = state.run.step
    if str(step) not in [str(other) for other in ahead if other.id == step.id]:
        raise StaleEditError(f"step {step.id}, {step}, cannot be changed any more: it has just been done")
    return replace(state.run.task, step=step, goals=state.run.goals)


def _interpreter(state: Execution, ahead: Sequence[PlanStep], scene: Scene) -> Interpreter:
    """At the beginning of a straight-line program of these steps."""
    skills, lines = state.interpreter.program.skills, []
    for step in ahead:
        skill = skills[step.skill]
        missing = [p.name for p in skill.parameters if p.required and p.name not in step.arguments]
        unknown = [name for name in step.arguments if name not in {p.name for p in skill.parameters}]
        if missing or unknown:
            what = f"is not told {missing[0]!r}" if missing else f"has no parameter {unknown[0]!r}"
            raise EditError(f"step {step.id}, {step}, {what}; write {skill}")
        values = tuple(step.arguments.get(p.name, p.default) for p in skill.parameters)
        lines.append(Call(step.skill, values).text(skill, BEHIND))
    text = "".join(f"{line}\n" for line in lines)
    try:
        return Interpreter(check_program(text, tuple(skills.values()), scene), state.viewpoint)
    except ProgramError as error:
        raise _of_steps(error, ahead) from error


def _foreseen(state: Execution, interpreter: Interpreter, start: Scene, ahead: Sequence[PlanStep]) -> Forecast:
    try:
        return look_ahead(interpreter, start, state.viewpoint, rehearse=True, lay=state.origins)
    except ProgramError as error:
        raise _of_steps(error, ahead) from error


def _of_steps(error: ProgramError, ahead: Sequence[PlanStep]) -> EditError:
    """The same in words that speak of steps, each a line of a program that the person never saw."""

    def said(problem: Problem) -> str:
        if not 1 <= problem.line <= len(ahead):
            return problem.message
        step = ahead[problem.line - 1]
        return re.sub(
            rf"^{step.skill}\b|^", lambda found: f"{step}{'' if found[0] else ': '}", problem.message, count=1
        )

    told = dict.fromkeys(map(said, error.problems))
    return EditError(f"the rest of the plan could not be done then: {'; '.join(told)}")


def _check_permitted(state: Execution, steps: Sequence[PlanStep], scene: Scene) -> None:
    """Raises EditError for a step that the source of the plan may not have done."""
    for step in steps:
        skill = state.interpreter.program.skills[step.skill]
        call = SkillCall(step.skill, in_base_words(skill, step.arguments, state.viewpoint), step.line)
        try:
            decision = state.permit(call, scene)
        except LlmPlannerError as error:
            raise EditError(f"step {step.id}, {step}, may not be done: {error}") from error
        if decision.verdict in (Verdict.REFUSE, Verdict.STOP):
            raise EditError(f"step {step.id}, {step}, may not be done: {decision.reason}")


def check_not_taken(state: Execution, step_id: str, scene: Scene) -> None:
    """Raises StaleEditError where the step under way has changed what is in the gripper: too late for another thing."""
    task = state.queue[0] if state.queue else None
    if task is None or task.step.id != step_id or state.phase is not Phase.PAUSED or not task.goals:
        return
    if task.goals[0].held_at_start != scene.held:
        now = f"holds the {scene.held}" if scene.held else "has let it go"
        raise StaleEditError(f"step {step_id}, {task.step}, cannot be changed any more: the robot {now}")


def pending(step: PlanStep) -> PlanStep:
    """The step as one that is still to come."""
    return replace(step, status=StepStatus.PENDING)
