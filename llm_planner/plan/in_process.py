"""The whole path in one process, with no ROS: a plan, the skills, the controller and a world, as fast as they go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llm_planner.errors import LlmPlannerError
from llm_planner.plan.events import Command, SceneObserved, SkillFinished, StartSkill, StopRequested
from llm_planner.plan.execution import SETTLE_TIME, Transition, advance
from llm_planner.plan.execution_state import Execution, Phase, start_execution
from llm_planner.plan.plan import Outcome
from llm_planner.plan.planning import Planned, outcome_of
from llm_planner.plan.report import Report
from llm_planner.skills.contract import Observation
from llm_planner.skills.episode import Controller, Episode, EpisodeSettings, EpisodeWorld
from llm_planner.skills.library import SkillLibrary
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene

MakePlan = Callable[[Scene], Planned]


@dataclass(frozen=True)
class Workcell:
    """What a plan needs to be carried out in this process."""

    world: EpisodeWorld
    library: SkillLibrary
    controller: Controller | None = None


def run_command(
    command: str,
    workcell: Workcell,
    make_plan: MakePlan,
    viewpoint: Viewpoint = BEHIND,
    on_change: Callable[[Execution], None] = lambda state: None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Report:
    """Plan for the scene as it is, carry the plan out, and report what the scene shows in the end.

    `on_change` hears of every change of the plan; `stop_requested` is asked ten times a simulated second. Raises
    nothing that `outcome_of` can tell: a command without a plan is a report too.
    """
    episode = Episode(workcell.world, workcell.controller, EpisodeSettings(settle_time=SETTLE_TIME))
    before = episode.observe().scene
    try:
        planned = make_plan(before)
    except LlmPlannerError as error:
        outcome, message = outcome_of(error)
        return Report(command, outcome, message, scene_before=before, scene_after=before)
    state = execute(planned, episode, workcell.library, viewpoint, on_change, stop_requested)
    after = episode.observe().scene
    outcome = state.end.reason.outcome if state.end else Outcome.FAILED
    message = state.end.message if state.end else "the plan did not end"
    return Report(command, outcome, message, state.plan, before, after, after.time - before.time, planned.confidence)


def execute(
    planned: Planned,
    episode: Episode,
    library: SkillLibrary,
    viewpoint: Viewpoint = BEHIND,
    on_change: Callable[[Execution], None] = lambda state: None,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Execution:
    """Run a plan to its end; the state returned is in `Phase.ENDED`."""

    def stopped(observation: Observation) -> bool:
        return stop_requested()

    state, commands = advance(
        start_execution(planned.plan, planned.interpreter, viewpoint), SceneObserved(episode.observe().scene)
    )
    on_change(state)
    while state.phase is not Phase.ENDED:
        start = _start_of(commands)
        result = episode.run(library.find(start.skill), start.arguments, stopped)
        if stop_requested():
            state, commands = advance(state, StopRequested())
        else:
            state, _ = advance(state, SkillFinished(start.step_id, result))
            state, commands = _judged(state, episode)
        on_change(state)
    return state


def _judged(state: Execution, episode: Episode) -> Transition:
    """Show the scene until things have come to rest in it; a skill that could not start has let no time pass."""
    state, commands = advance(state, SceneObserved(episode.observe().scene))
    if state.phase is Phase.SETTLING:
        episode.settle()
        state, commands = advance(state, SceneObserved(episode.observe().scene))
    return state, commands


def _start_of(commands: tuple[Command, ...]) -> StartSkill:
    """In one process skills end before the next event, so a running plan always asks for exactly one start."""
    (start,) = (command for command in commands if isinstance(command, StartSkill))
    return start
