"""Rehearsal of a plan in a copy of the physics simulation, which shows what a symbolic forecast omits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from llm_planner.errors import LlmPlannerError
from llm_planner.execution.execution import SETTLE_TIME
from llm_planner.execution.execution_state import EndReason, Execution, start_execution
from llm_planner.execution.watch import check_watchable
from llm_planner.planning.in_process import execute
from llm_planner.planning.planned import Planned
from llm_planner.planning.rehearsal import Advice, Finding, Rehearsal
from llm_planner.programs.reward_program import check_reward
from llm_planner.scene.geometry import UPRIGHT, rotation_matrix
from llm_planner.scene.names import the
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.episode import Episode, EpisodeSettings, EpisodeWorld
from llm_planner.skills.library import SkillLibrary

MakeWorld = Callable[[Scene], EpisodeWorld]  # makes a world laid out like the scene; raises LlmPlannerError


def rehearse_in_simulation(
    start: Execution, scene: Scene, library: SkillLibrary, make_world: MakeWorld, out_of_time: Callable[[], bool]
) -> Rehearsal:
    """Rehearse the plan that `start` is about to execute in a simulated copy of `scene`; nothing real moves.

    Returns:
        BLOCK if a constraint is broken or missed. ASK if a skill fails, an object falls over, time runs out, or the
        scene cannot be copied.
    """
    try:
        world = make_world(scene)
        check_watchable((one.constraint for one in start.watch.watched), world.observation().scene)
    except LlmPlannerError as error:
        return Rehearsal(Advice.ASK, (Finding(0, f"this cannot be rehearsed in simulation: {error}", sure=False),))
    episode = Episode(world, settings=EpisodeSettings(settle_time=SETTLE_TIME))
    before = episode.observe().scene
    state = execute(start, episode, library, stop_requested=out_of_time)
    after = episode.observe().scene
    meant = _tipped(state, before)
    stood = [item.name for item in before.objects if _is_upright(item) and item.name not in meant]
    fallen = [item.name for item in after.objects if item.name in stood and not _is_upright(item)]
    falls = (Finding(0, f"in simulation {the(name)} fell over", sure=True) for name in fallen)
    findings = (*_ended_badly(state), *falls)
    is_blocked = state.end is not None and state.end.reason in (EndReason.REPLAN, EndReason.BROKEN)
    verdict = Advice.BLOCK if is_blocked else Advice.ASK if findings else Advice.ALLOW
    return Rehearsal(verdict, findings, seconds=after.time - before.time)


def _ended_badly(state: Execution) -> tuple[Finding, ...]:
    assert state.end is not None
    reason, seconds = state.end.reason, state.scene.time if state.scene else 0.0
    if reason is EndReason.DONE:
        return ()
    line = 0 if state.program_ended else state.interpreter.line
    if reason is EndReason.STOPPED:
        message = f"the rehearsal in simulation was not finished in the time given to it; it came to {seconds:.0f} s"
        return (Finding(line, message, sure=False),)
    return (Finding(line, f"in simulation, after {seconds:.1f} s: {state.end.message}", True, state.end.trace),)


def _tipped(state: Execution, before: Scene) -> frozenset[str]:
    """Return the objects that the plan's reward programs tilt: these are meant to fall."""
    skills = state.interpreter.program.skills
    named: set[str] = set()
    for step in state.plan.steps:
        for parameter in skills[step.skill].parameters:
            if parameter.type == "rewards":
                program = check_reward(str(step.arguments[parameter.name]), before)
                named |= {str(wish.arguments[0]) for wish in program.wishes if wish.term.name == "tilt"}
    return frozenset(named)


def _is_upright(item: SceneObject) -> bool:
    """Return whether an object stands; a block stands on any of its sides."""
    ups = rotation_matrix(item.orientation)[2]  # of the object's own axes
    return (max(map(abs, ups)) if item.kind == "block" else ups[2]) >= UPRIGHT


def full_rehearsal(
    library: SkillLibrary, make_world: MakeWorld, viewpoint: Viewpoint, wall_time: float, clock: Callable[[], float]
) -> Callable[[Planned, Scene], Rehearsal]:
    """Return a function that rehearses a plan in simulation too, for about `wall_time` [s] at most."""

    def rehearse_fully(planned: Planned, scene: Scene) -> Rehearsal:
        start = start_execution(planned.plan, planned.interpreter, viewpoint, scene, planned.permit)
        end = clock() + wall_time
        return both(planned.rehearsal, rehearse_in_simulation(start, scene, library, make_world, lambda: clock() > end))

    return rehearse_fully


def both(symbolic: Rehearsal, simulated: Rehearsal) -> Rehearsal:
    """Merge a symbolic and a simulated rehearsal; the worse verdict wins.

    Symbolic doubts that only physics can settle are replaced by the result of the simulation.
    """
    findings = (*(item for item in symbolic.findings if not item.settled_by_physics), *simulated.findings)
    doubted = Advice.ASK if any(not item.settled_by_physics for item in symbolic.findings) else Advice.ALLOW
    first = symbolic.verdict if symbolic.verdict is Advice.BLOCK else doubted
    verdict = max(first, simulated.verdict, key=[Advice.ALLOW, Advice.ASK, Advice.BLOCK].index)
    return replace(symbolic, verdict=verdict, findings=findings, seconds=simulated.seconds)
