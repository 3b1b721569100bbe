"""Plan execution as a pure state machine: `advance(state, event)` returns the next state and the commands to carry out.

It starts one skill at a time and judges each by the scene after it, never by the skill's own result. If a step's effect
is missing, the step is tried once more, after a dropped object is picked up again. A plan is done only when the scene
shows its goals and every constraint held. A step that its source may not call, or that is predicted to break a
constraint, does not start; a step that breaks one while it runs is cancelled. The caller delivers events and carries
out commands; nothing here waits or moves.
"""

from __future__ import annotations

from dataclasses import replace

from llm_planner.execution.execution_state import (
    CancelSkill,
    Command,
    EndReason,
    Event,
    Execution,
    FailedCall,
    Finish,
    PauseRequested,
    Phase,
    ResumeRequested,
    Run,
    SceneLost,
    SceneObserved,
    SkillFinished,
    SkillServerLost,
    StartSkill,
    StopRequested,
    Task,
)
from llm_planner.execution.supervision import foreseen_trouble, not_permitted, told_broken, told_unmet, zones_of_step
from llm_planner.language.stop_words import GO_ON
from llm_planner.plans.plan import Goal, PlanStep, StepStatus, goals_of, in_base_words, still_wanted
from llm_planner.plans.prediction import predict
from llm_planner.plans.trace import event_of
from llm_planner.plans.unroll import look_ahead, lying, unmet_preconditions
from llm_planner.programs.interpreter import Finished, SkillCall
from llm_planner.programs.problems import NothingFoundError, ProgramError
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.driven_base import seen_anew
from llm_planner.scene.names import the
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult

SETTLE_TIME = 0.3  # [s] after a skill until objects are at rest: a block dropped into a bowl rocks that long
ROUNDING = 1e-6  # [s] tolerance for sums of times
MAX_ATTEMPTS = 2  # of one step, and of one call in the same scene, across plans
MAX_REPAIRS = 4  # of goals that broke after they had been achieved

Transition = tuple[Execution, tuple[Command, ...]]

# A retry cannot help: the same call fails in the same way, or somebody cancelled it.
_HOPELESS = frozenset(
    {
        SkillErrorCode.INVALID_ARGUMENT,
        SkillErrorCode.NO_FREE_SPACE,
        SkillErrorCode.CANCELED,
        SkillErrorCode.SKILL_FAULT,
    }
)


def advance(state: Execution, event: Event) -> Transition:
    """Return the next state and the commands to carry out; events that do not apply in a state change nothing."""
    if state.phase is Phase.ENDED:
        return state, ()
    match event:
        case SceneObserved(scene):
            return _observed(state, scene)
        case SkillFinished(step_id, result) if (
            state.phase is Phase.RUNNING and state.run and state.run.step.id == step_id
        ):
            ended_at = state.scene.time if state.scene else 0.0
            return replace(state, phase=Phase.SETTLING, run=replace(state.run, result=result, ended_at=ended_at)), ()
        case StopRequested(reason):
            return _interrupted(state, Finish(EndReason.STOPPED, f"Stopped: {reason}."))
        case SceneLost():
            return _interrupted(state, Finish(EndReason.SCENE_LOST, "Nothing shows me the scene any more; I stopped."))
        case SkillServerLost():
            message = f"What runs my skills is gone; the robot has stopped. Once it is back, {GO_ON}."
            return _interrupted(state, Finish(EndReason.SKILLS_LOST, message))
        case PauseRequested():
            return _paused(state)
        case ResumeRequested() if state.phase is Phase.PAUSED:
            return replace(state, phase=Phase.SETTLING if state.run else Phase.READY), ()
    return state, ()


def _observed(state: Execution, scene: Scene) -> Transition:
    watch = state.watch.see(scene)
    lies = lying(scene)
    places = {**lies, **seen_anew(state.first_places, state.scene, scene)}
    origins = {**seen_anew(state.origins, state.scene, scene), **lies}
    state = replace(state, scene=scene, origins=origins, first_places=places, watch=watch)
    if watch.broken:
        return _interrupted(state, told_broken(watch))
    if state.phase is Phase.READY:
        return _next(state, scene)
    run = state.run
    if state.phase is Phase.SETTLING and run and run.result and scene.time >= run.ended_at + SETTLE_TIME - ROUNDING:
        return _judged(state, run, run.result, scene)
    return state, ()


def _cancel(state: Execution) -> tuple[Command, ...]:
    return (CancelSkill(state.run.step.id),) if state.run and state.phase is Phase.RUNNING else ()


def _interrupted(state: Execution, end: Finish) -> Transition:
    ended, commands = _finish(state, end)
    return ended, (*_cancel(state), *commands)


def _paused(state: Execution) -> Transition:
    """Pause: a running skill is cancelled and its step starts again later, a finished one is judged later."""
    if state.phase is not Phase.RUNNING or state.run is None:
        return replace(state, phase=Phase.PAUSED), ()
    step = replace(state.run.step, status=StepStatus.PENDING)
    task = replace(state.run.task, step=step, goals=state.run.evidence)
    waiting = replace(_shown(state, step), phase=Phase.PAUSED, run=None, queue=(task, *state.queue))
    return waiting, _cancel(state)


def _finish(state: Execution, end: Finish) -> Transition:
    """End the plan: the running step has failed, those ahead are skipped."""
    steps = []
    for step in state.plan.steps:
        if step.status is StepStatus.RUNNING:
            step = replace(step, status=StepStatus.FAILED, message=end.message)
        elif step.status is StepStatus.PENDING:
            step = replace(step, status=StepStatus.SKIPPED)
        steps.append(step)
    plan = replace(state.plan, steps=tuple(steps), complete=True, goals=state.goals)
    return replace(state, plan=plan, phase=Phase.ENDED, run=None, queue=(), end=end), (end,)


def _next(state: Execution, scene: Scene) -> Transition:
    """Start the next queued step, else the program's next call, else judge the whole plan."""
    if state.queue:
        return _start(replace(state, queue=state.queue[1:]), state.queue[0], scene)
    if state.program_ended:
        return _concluded(state, scene)
    interpreter = state.interpreter.fork()
    try:
        call = interpreter.advance(scene)
    except ProgramError as error:
        reason = EndReason.QUESTION if isinstance(error, NothingFoundError) else EndReason.FAILED
        return _finish(state, Finish(reason, f"I cannot go on: {error.problems[0].message}."))
    state = replace(state, interpreter=interpreter)
    if isinstance(call, Finished):
        return _concluded(replace(state, program_ended=True), scene)
    return _start(*_foreseen(state, call, scene), scene)


def _foreseen(state: Execution, call: SkillCall, scene: Scene) -> tuple[Execution, Task]:
    """Return the step for the program's next call; if it differs from the forecast, forecast the rest again."""
    pending = [step for step in state.plan.steps if step.status is StepStatus.PENDING]
    if pending and (pending[0].skill, pending[0].arguments) == (call.skill, call.arguments):
        return state, Task(pending[0])
    past = tuple(step for step in state.plan.steps if step.status is not StepStatus.PENDING)
    number = 1 + sum(step.id.isdigit() for step in past)
    step = PlanStep(str(number), call.skill, call.arguments, call.line)
    after = predict(scene, _promises(state, step, scene))
    ahead = look_ahead(state.interpreter, after, state.viewpoint, number + 1)
    plan = replace(state.plan, steps=(*past, step, *ahead.steps), complete=ahead.complete)
    return replace(state, plan=plan), Task(step)


def _skill(state: Execution, step: PlanStep) -> Signature:
    return state.interpreter.program.skills[step.skill]


def _promises(state: Execution, step: PlanStep, scene: Scene) -> tuple[Goal, ...]:
    skill = _skill(state, step)
    values = in_base_words(skill, step.arguments, state.viewpoint)
    return goals_of(skill, step.id, values, scene, state.origins)


def _start(state: Execution, task: Task, scene: Scene) -> Transition:
    if task.goals and all(goal.holds(scene) for goal in task.goals):  # it became true while the robot was stopped
        return _next(_done(state, task, task.goals), scene)
    skill, step = _skill(state, task.step), task.step
    values = in_base_words(skill, step.arguments, state.viewpoint)
    reasons = unmet_preconditions(skill, values, scene)
    if reasons:
        return _not_startable(state, task, scene, f"{step.skill} cannot start: {'; '.join(reasons)}")
    if sum(failed.is_like(step, scene) for failed in state.failures) >= MAX_ATTEMPTS:
        return _failed(state, step, f"{step.skill} has failed {MAX_ATTEMPTS} times with things lying as they do now")
    goals, watch = task.goals or _promises(state, step, scene), state.watch
    zones = zones_of_step(watch, scene, predict(scene, goals)) if watch.watched else ()
    decision = state.permit(SkillCall(step.skill, values, step.line), scene)
    trouble = not_permitted(decision, step)
    trouble = trouble or foreseen_trouble(watch, skill, step, values, scene, state.origins, zones)
    if trouble is not None:
        return _finish(state, trouble)
    step = replace(step, status=StepStatus.RUNNING)
    run = Run(replace(task, step=step), goals, scene, zones)
    start = StartSkill(step.id, step.skill, values, zones)
    return replace(_shown(state, step), phase=Phase.RUNNING, run=run), (start,)


def _not_startable(state: Execution, task: Task, scene: Scene, reason: str) -> Transition:
    """Recover once from a step whose object is gone from the gripper, else fail."""
    recovery = _pick_again(state, task, scene)
    if recovery and task.attempt < MAX_ATTEMPTS:
        again = replace(task, attempt=task.attempt + 1)
        return _next(replace(state, queue=(*recovery, again, *state.queue), phase=Phase.READY), scene)
    return _failed(state, task.step, reason)


def _failed(state: Execution, step: PlanStep, reason: str) -> Transition:
    state = _shown(state, replace(step, status=StepStatus.FAILED, message=reason))
    return _finish(state, Finish(EndReason.FAILED, f"Step {step.id} failed: {reason}.", step_id=step.id))


def _shown(state: Execution, step: PlanStep) -> Execution:
    """Update `step` in the plan, or insert it before the steps ahead."""
    if any(item.id == step.id for item in state.plan.steps):
        return replace(state, plan=state.plan.with_step(step))
    past = [item for item in state.plan.steps if item.status is not StepStatus.PENDING]
    ahead = [item for item in state.plan.steps if item.status is StepStatus.PENDING]
    return replace(state, plan=replace(state.plan, steps=(*past, step, *ahead)))


def _judged(state: Execution, run: Run, result: SkillResult, scene: Scene) -> Transition:
    """Judge the step by the scene: it is done if its effects hold, unless the skill crashed.

    The report of the skill decides for a step whose effects held before it began, or that has none.
    """
    missing = [goal for goal in run.goals if not goal.holds(scene)]
    succeeded = result.code is SkillErrorCode.SUCCEEDED
    state = replace(state, run=None, phase=Phase.READY)
    if not missing and (succeeded or run.evidence) and result.code is not SkillErrorCode.SKILL_FAULT:
        return _achieved(state, run, scene)
    shown = ", ".join(goal.sentence(state.viewpoint) for goal in missing)
    reason = result.message if not succeeded else f"afterwards the scene does not show that {shown}"
    return _missed(state, run, scene, result.code, reason or f"{run.step.skill} ended with {result.code.name}")


def _achieved(state: Execution, run: Run, scene: Scene) -> Transition:
    """Mark the step as done, an event that constraints may refer to."""
    skill = _skill(state, run.step)
    event = event_of(skill, in_base_words(skill, run.step.arguments, state.viewpoint), scene)
    state = replace(_done(state, run.task, run.goals), watch=state.watch.see(scene, event))
    return _finish(state, told_broken(state.watch)) if state.watch.broken else _next(state, scene)


def _done(state: Execution, task: Task, goals: tuple[Goal, ...]) -> Execution:
    """Mark the step as done; a recovery step restores other steps' goals and adds none."""
    wanted = still_wanted(state.goals, goals) if task.from_program else state.goals
    return _shown(replace(state, goals=wanted), replace(task.step, status=StepStatus.DONE, message=""))


def _missed(state: Execution, run: Run, scene: Scene, code: SkillErrorCode, reason: str) -> Transition:
    task = run.task
    if code is not SkillErrorCode.CANCELED:
        state = replace(state, failures=(*state.failures, FailedCall(run.step, run.began)))
    if task.attempt < MAX_ATTEMPTS and code not in _HOPELESS:
        step = replace(run.step, status=StepStatus.PENDING, message=f"trying again: {reason}")
        again = replace(task, step=step, attempt=task.attempt + 1, goals=run.evidence)
        state, restored = _restored(_shown(state, step), scene, run.goals)
        recovery = _pick_again(state, again, scene, run.held_at_start)
        return _next(replace(state, queue=(*restored, *recovery, again, *state.queue)), scene)
    state = _shown(state, replace(run.step, status=StepStatus.FAILED, message=reason))
    still = f" The robot still holds {the(scene.held)}." if scene.held else ""
    message = f"Step {run.step.id}, {run.step}, failed: {reason}.{still}"
    crashed = code is SkillErrorCode.SKILL_FAULT  # no other plan continues on its own after a crash
    return _finish(state, Finish(EndReason.FAILED, message, step_id="" if crashed else run.step.id))


def _restored(state: Execution, scene: Scene, besides: tuple[Goal, ...] = ()) -> tuple[Execution, tuple[Task, ...]]:
    """Return steps that restore achieved goals that broke, in plan order: a tower is built from below.

    Goals in `besides` are skipped: another step restores them.
    """
    tasks: tuple[Task, ...] = ()
    for goal in state.goals:
        if goal not in besides and not goal.holds(scene) and state.repairs < MAX_REPAIRS:
            more = _redo(state, goal, scene)
            state = replace(state, repairs=state.repairs + bool(more))
            tasks += more
    return state, tasks


def _concluded(state: Execution, scene: Scene) -> Transition:
    """Conclude after the program's end: done if every goal holds, else restore the broken goals."""
    broken = [goal for goal in state.goals if not goal.holds(scene)]
    if not broken and state.watch.unmet:
        return _finish(state, told_unmet(state.watch))
    if not broken:
        told = "; ".join(goal.sentence(state.viewpoint) for goal in state.goals) or (
            "every step is done" if state.plan.steps else "" if state.told else "nothing had to be done"
        )
        shown = f"{told[0].upper()}{told[1:]}." if told else ""
        return _finish(state, Finish(EndReason.DONE, " ".join(filter(None, (state.told, shown)))))
    state, tasks = _restored(state, scene)
    if tasks:
        return _next(replace(state, queue=tasks, phase=Phase.READY), scene)
    told = "; ".join(goal.sentence(state.viewpoint) for goal in broken)
    undone = Finish(EndReason.REPLAN, f"Every step is done, but the scene does not show that {told}.")
    return _finish(replace(state, wanted=state.goals), undone)


def _pick_again(state: Execution, task: Task, scene: Scene, held: str = "") -> tuple[Task, ...]:
    """Return the step that picks a lost object up again before `task`, or () if a lost object is not the cause.

    The lost object is the one that was `held`, or else the last one that a goal wants in the gripper.
    """
    wants = {condition.atom.predicate for condition in _skill(state, task.step).preconditions}
    names = [name for goal in state.goals if goal.atom.predicate == "held" for name in goal.objects]
    lost = held or next(reversed(names), "")
    if scene.held or "holding" not in wants or not lost:
        return ()
    return _pick(state, lost, f"{task.step.id}.{task.attempt}", task.step.line, scene)


def _redo(state: Execution, goal: Goal, scene: Scene) -> tuple[Task, ...]:
    """Return the steps that restore `goal`, broken at the end of the plan, or () if there is no simple way.

    A robot that drives would have to go there first, which takes a new plan.
    """
    step = next((item for item in state.plan.steps if item.id == goal.step_id), None)
    if scene.building or scene.base or step is None or goal.atom.arguments[:1] != (HELD,) or scene.held:
        return ()
    again = replace(step, id=f"{step.id}r{state.repairs + 1}", status=StepStatus.PENDING, message="done again")
    pick = _pick(state, goal.held_at_start, f"{again.id}.0", step.line, scene)
    return (*pick, Task(again, from_program=False, goals=(goal,))) if pick else ()


def _pick(state: Execution, name: str, step_id: str, line: int, scene: Scene) -> tuple[Task, ...]:
    """Return a step of the first skill that grasps an object, if the object is still there."""
    skills = state.interpreter.program.skills.values()
    taking = [skill for skill in skills if skill.fills_gripper and len(skill.parameters) == 1]
    if not taking or name not in scene.names:
        return ()
    step = PlanStep(step_id, taking[0].name, {taking[0].parameters[0].name: name}, line, message="picked up again")
    return (Task(step, from_program=False),)
