"""Edits of the remaining steps of a plan, and undo.

The remaining steps are rewritten as a straight-line program, which is checked and simulated like that of a new plan. An
undo restores the previous plan exactly while the edit had no effects, and else inserts steps that revert them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llm_planner.corrections.draft import Draft, EditError, StaleEditError, is_over, with_manner
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.execution_state import Execution, Phase, Task
from llm_planner.planning.choices import Call
from llm_planner.planning.repair import MOST_DRIVES, is_drive
from llm_planner.plans.plan import PlanStep, StepStatus, in_base_words, still_wanted
from llm_planner.plans.prediction import predict
from llm_planner.plans.privileges.policy import Verdict
from llm_planner.plans.unroll import Forecast, look_ahead
from llm_planner.programs.checker import check_program
from llm_planner.programs.interpreter import Interpreter, SkillCall
from llm_planner.programs.problems import OutOfReachError, Problem, ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.places import BEHIND
from llm_planner.scene.scene import Scene

MOVED = 0.02  # [m] displacement from which an object counts as moved


def draft_of(state: Execution) -> Draft:
    """Return the plan of a paused execution as a draft; raise EditError if its program decides on later steps."""
    if not state.plan.complete:
        raise EditError(
            "this plan decides its next steps by what it sees then, so they cannot be changed one by one; stop it and "
            "say the whole command anew"
        )
    return Draft.of(state)


def with_steps(state: Execution, draft: Draft, scene: Scene) -> Execution:
    """Continue the paused execution with the steps of `draft`, the remaining ones from `scene` on.

    Raises EditError if they cannot be carried out, and StaleEditError if the step that just ended was to change.
    """
    task = ended = _just_ended(state, draft.ahead)
    if ended is None and state.queue and draft.ahead:
        first, interrupted = draft.ahead[0], state.queue[0].step
        if (interrupted.id, str(interrupted)) == (first.id, str(first)):  # unchanged, it keeps its goals
            task = state.queue[0]
    ahead = tuple(step for step in draft.ahead if task is None or step.id != task.step.id)
    start = predict(scene, task.goals) if task else scene
    ahead, last_id = _with_drives(state, ahead, start, draft.last_id)
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
    queue = (task,) if task and not ended else ()  # a step that has ended is still evaluated, but not repeated
    after = replace(
        state, plan=plan, interpreter=interpreter, queue=queue, program_ended=not ahead, wanted=wanted,
        last_id=last_id,
    )  # fmt: skip
    return with_manner(after, after.manner)


def _just_ended(state: Execution, ahead: tuple[PlanStep, ...]) -> Task | None:
    """Return the step that ended while the robot came to rest; raise StaleEditError if the edit changes it."""
    if state.run is None:
        return None
    step = state.run.step
    if str(step) not in [str(other) for other in ahead if other.id == step.id]:
        raise StaleEditError(f"step {step.id}, {step}, cannot be changed any more: it has just been done")
    return replace(state.run.task, step=step, goals=state.run.goals)


def _with_drives(
    state: Execution, ahead: tuple[PlanStep, ...], scene: Scene, last_id: int
) -> tuple[tuple[PlanStep, ...], int]:
    """Put a drive before each step whose object is out of reach then, as in a new plan; return the last id too."""
    drives = [skill for skill in state.interpreter.program.skills.values() if is_drive(skill)]
    if scene.base is None or not drives:
        return ahead, last_id
    for _ in range(MOST_DRIVES):
        try:
            _foreseen(state, _interpreter(state, ahead, scene), scene, ahead)
        except EditError as error:
            if not isinstance(error.__cause__, OutOfReachError):
                break
            call, parameter = error.__cause__.call, error.__cause__.parameter
            place = call.line - 1
            where = {drives[0].parameters[0].name: ahead[place].arguments[parameter]}
            drive = PlanStep(str(last_id + 1), drives[0].name, where, 0)
            if place and str(ahead[place - 1]) == str(drive):
                break
            ahead, last_id = (*ahead[:place], drive, *ahead[place:]), last_id + 1
        else:
            break
    return ahead, last_id


def _interpreter(state: Execution, ahead: Sequence[PlanStep], scene: Scene) -> Interpreter:
    """Return an interpreter at the start of a straight-line program of these steps."""
    skills, lines = state.interpreter.program.skills, []
    for step in ahead:
        skill = skills[step.skill]
        missing = [p.name for p in skill.parameters if p.required and p.name not in step.arguments]
        unknown = [name for name in step.arguments if name not in {p.name for p in skill.parameters}]
        if missing or unknown:
            what = f"is not told {missing[0]!r}" if missing else f"has no parameter {unknown[0]!r}"
            raise EditError(f"step {step.id}, {step}, {what}; write {skill}")
        lines.append(program_line(step, skill))
    text = "".join(f"{line}\n" for line in lines)
    try:
        return Interpreter(check_program(text, tuple(skills.values()), scene), state.viewpoint)
    except ProgramError as error:
        raise _of_steps(error, ahead) from error


def program_line(step: PlanStep, skill: Signature) -> str:
    """Write the call of a step as a line of a program, in the speaker's words."""
    values = tuple(step.arguments.get(parameter.name, parameter.default) for parameter in skill.parameters)
    return Call(step.skill, values).text(skill, BEHIND)


def _foreseen(state: Execution, interpreter: Interpreter, start: Scene, ahead: Sequence[PlanStep]) -> Forecast:
    try:
        return look_ahead(interpreter, start, state.viewpoint, rehearse=True, lay=state.origins)
    except ProgramError as error:
        raise _of_steps(error, ahead) from error


def _of_steps(error: ProgramError, ahead: Sequence[PlanStep]) -> EditError:
    """Reword a program error in terms of steps, because the person never sees the lines of the program."""

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
    """Raise EditError for a step that the source of the plan is not permitted to do."""
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
    """Raise StaleEditError if the step under way has already changed what the gripper holds."""
    task = state.queue[0] if state.queue else None
    if task is None or task.step.id != step_id or state.phase is not Phase.PAUSED or not task.goals:
        return
    if task.goals[0].held_at_start != scene.held:
        now = f"holds the {scene.held}" if scene.held else "has let it go"
        raise StaleEditError(f"step {step_id}, {task.step}, cannot be changed any more: the robot {now}")


def undone(state: Execution, scene: Scene) -> Execution:
    """Undo the last edit; raise EditError if there is none or its effects cannot be reverted."""
    before = state.before
    if before is None:
        raise EditError("there is nothing to take back: this plan has not been edited")
    if _steps_as_planned(state) == _steps_as_planned(before):
        return _as_wanted(state, before)
    begun, then = ([task.step.id for task in one.queue] for one in (state, before))
    if _ended(state) == _ended(before) and begun in ([], then):  # no other step has begun
        plan = replace(before.plan, constraints=state.plan.constraints)
        same = replace(
            state, plan=plan, interpreter=before.interpreter, queue=before.queue, wanted=before.wanted,
            program_ended=before.program_ended,
        )  # fmt: skip
        return _as_wanted(same, before)
    return _as_wanted(_made_good(state, before, scene), before)


def _steps_as_planned(state: Execution) -> list[tuple[str, str]]:
    return [(step.id, str(step)) for step in state.plan.steps]


def _ended(state: Execution) -> list[str]:
    return [step.id for step in state.plan.steps if is_over(step)]


def _as_wanted(state: Execution, before: Execution) -> Execution:
    """Restore the manner and rules of `before`, and keep what lessons have changed in single steps since."""
    manner = replace(before.manner, taught=state.manner.taught)
    return _with_rules_of(with_manner(state, manner), before)


def _with_rules_of(state: Execution, before: Execution) -> Execution:
    """Restore the rules of `before`; rules in both states keep their monitors."""
    kept = [one.formula for one in before.plan.constraints]
    now = [one.formula for one in state.plan.constraints]
    watch = state.watch
    for formula in now:
        if formula not in kept:
            watch = watch.without_rule(formula)
    lifted = [one for one in before.plan.constraints if one.formula not in now]
    for rule in lifted:
        assert state.scene is not None
        watch = watch.with_rule(rule, state.scene)
    order = {formula: place for place, formula in enumerate(kept)}
    watched = tuple(sorted(watch.watched, key=lambda one: order[one.constraint.formula]))
    plan = replace(state.plan, constraints=before.plan.constraints)
    return replace(state, plan=plan, watch=replace(watch, watched=watched))


def _made_good(state: Execution, before: Execution, scene: Scene) -> Execution:
    """Return the plan before the edit, preceded by steps that put back what the edit has moved."""
    draft, known = draft_of(state), {step.id: str(step) for step in before.plan.steps}
    since = [step for step in draft.done if step.id not in set(_ended(before)) and step.status is StepStatus.DONE]
    strange = any(known.get(step.id) != str(step) for step in since)
    over = set() if strange else {step.id for step in since}  # a step that was done differently is repeated as planned
    rest = tuple(
        replace(step, status=StepStatus.PENDING)
        for step in before.plan.steps
        if not is_over(step) and step.id not in over
    )
    calls = _puts_back(since, before, scene, draft) if strange else ()
    backwards = [PlanStep("", skill, arguments, 0, message="put back") for skill, arguments in calls]
    steps, last = list[PlanStep](), draft.last_id
    for step in (*backwards, *rest):  # ids are never reused
        is_new = not step.id or any(step.id == done.id for done in draft.done)
        last += is_new
        steps.append(replace(step, id=str(last)) if is_new else step)
    return with_steps(state, replace(draft, ahead=tuple(steps), last_id=last), scene)


def _puts_back(
    since: list[PlanStep], before: Execution, scene: Scene, draft: Draft
) -> Iterator[tuple[str, dict[str, Argument]]]:
    """Yield the calls that return every object moved since the edit to its position at that time."""
    then = before.scene or scene
    if scene.building is not None:
        raise EditError("what has been carried through the building since cannot be taken back; say where it is to go")
    moved = [
        item.name
        for item in then.objects
        if item.name in scene.names
        and max(abs(p - q) for p, q in zip(item.position, scene.find(item.name).position, strict=True)) > MOVED
    ]
    for name in sorted(moved, key=lambda name: name != scene.held):  # the held object first
        if "place_at" not in draft.skills or "pick" not in draft.skills:
            raise EditError("this robot has no skills to put back what has been moved since")
        x, y, _ = before.origins.get(name, then.find(name).position)
        if name != scene.held:
            yield "pick", {"object": name}
        yield "place_at", {"place": (x, y, 0.0)}
    if not moved:
        told = ", ".join(f"{step.id} {step}" for step in since)
        raise EditError(f"what has been done since cannot be taken back: {told}")
