"""The whole path in one process, with no ROS: a plan, the skills, the controller and a world, as fast as they go.

The executor's own look at a plan that it was sent: checked and rehearsed again, so that nothing unchecked moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution import SETTLE_TIME, Transition, advance
from llm_planner.execution.execution_state import (
    Command,
    Execution,
    Phase,
    SceneObserved,
    SkillFinished,
    StartSkill,
    StopRequested,
    continue_execution,
    start_execution,
)
from llm_planner.execution.motion_rules import MotionRules
from llm_planner.execution.watch import RunLog
from llm_planner.planning.planned import DEFAULTS, Planned, PlanningSettings
from llm_planner.planning.planning import outcome_of, plan_program
from llm_planner.planning.rehearsal import Advice, rehearse
from llm_planner.planning.repair import MOST_REPAIRS, plan_remainder, remainder_of, unrepaired
from llm_planner.planning.report import Report
from llm_planner.plans.manner import moved_along
from llm_planner.plans.plan import Outcome, Plan
from llm_planner.programs.signatures import Signature
from llm_planner.robots.motion import Observation
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.episode import Controller, Episode, EpisodeSettings, EpisodeWorld
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.tuning import TunedSkill


def accept(
    shown: Plan,
    scene: Scene,
    skills: Sequence[Signature],
    viewpoint: Viewpoint,
    settings: PlanningSettings = DEFAULTS,
    unfinished: Execution | None = None,
) -> Execution:
    """The state in which the plan begins, or goes on where `unfinished` has ended.

    The source in `settings` is held to its policy now, and again at every step. What the rehearsal doubts has been
    asked before the plan was sent; what it blocks raises InputError. Raises also as `plan_program`.
    """
    planned = plan_program(shown.command, shown.program, scene, skills, viewpoint, settings)
    if unfinished is None:
        plan = replace(planned.plan, constraints=shown.constraints)
        return _sure(start_execution(plan, planned.interpreter, viewpoint, scene, planned.permit), scene)
    return go_on(unfinished, planned, scene)


def go_on(unfinished: Execution, planned: Planned, scene: Scene) -> Execution:
    """The state in which `planned` goes on where `unfinished` has ended; raises InputError as `accept`."""
    return _sure(continue_execution(unfinished, planned.plan, planned.interpreter), scene)


def _sure(state: Execution, scene: Scene) -> Execution:
    rehearsal = rehearse(state, scene, max_scenes=0)  # only the sure branch can block
    if rehearsal.verdict is Advice.BLOCK:
        raise InputError(f"The plan may not run: {' '.join(rehearsal.reasons)}")
    return state


MakePlan = Callable[[Scene], Planned]
Repair = Callable[[Execution, Scene], Planned]  # a plan for what is left; raises LlmPlannerError where there is none
Steer = Callable[[Execution], Execution]  # asked ten times a simulated second; gives the state, edited or as it is
PATIENCE = 600.0  # [s] of simulated time that a held plan waits for whoever holds it


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
    repair: Repair | None = None,
    steer: Steer = lambda state: state,
) -> Report:
    """Plan for the scene as it is, carry the plan out, and report what the scene shows in the end.

    `on_change` hears of every change of the plan; `stop_requested` is asked ten times a simulated second; `repair` is
    asked up to `MOST_REPAIRS` times where a plan has ended and another may go on (`plan_remainder` where it is left
    out); `steer` may hold and edit the plan. Raises nothing that `outcome_of` can tell: a command without a plan is a
    report too.
    """
    episode = Episode(workcell.world, workcell.controller, EpisodeSettings(settle_time=SETTLE_TIME))
    before = episode.observe().scene
    try:
        planned = make_plan(before)
        start = start_execution(planned.plan, planned.interpreter, viewpoint, before, planned.permit)
    except LlmPlannerError as error:
        outcome, message = outcome_of(error)
        return Report(command, outcome, message, scene_before=before, scene_after=before)
    repair = repair or _remainder(workcell.library, viewpoint, planned)
    log = RunLog()
    state = execute(start, episode, workcell.library, on_change, stop_requested, repair, log, steer)
    after = episode.observe().scene
    outcome = state.end.reason.outcome if state.end else Outcome.FAILED
    message = state.end.message if state.end else "the plan did not end"
    duration, rehearsal = after.time - before.time, planned.rehearsal
    kept, confidence = log.kept(state.watch), planned.confidence
    return Report(command, outcome, message, state.plan, before, after, duration, confidence, rehearsal, kept)


def _remainder(library: SkillLibrary, viewpoint: Viewpoint, planned: Planned) -> Repair:
    def repair(state: Execution, scene: Scene) -> Planned:
        left = remainder_of(state, planned.tree, planned.replanner)
        return plan_remainder(left, scene, library.for_scene(scene).signatures, viewpoint)

    return repair


def execute(
    start: Execution,
    episode: Episode,
    library: SkillLibrary,
    on_change: Callable[[Execution], None] = lambda state: None,
    stop_requested: Callable[[], bool] = lambda: False,
    repair: Repair | None = None,
    log: RunLog | None = None,
    steer: Steer = lambda state: state,
) -> Execution:
    """Carry a plan out from its `start` to its end, repairs and all; the state returned is in `Phase.ENDED`.

    Without `repair` the first plan is the only one. `log` is told of every scene.
    """
    run = _Run(episode, library, on_change, stop_requested, log or RunLog(), steer)
    state = run.to_the_end(start)
    for _ in range(MOST_REPAIRS):
        if repair is None or state.end is None or not state.end.may_go_on:
            break
        scene = episode.observe().scene
        try:
            going_on = go_on(state, repair(state, scene), scene)
        except LlmPlannerError as error:
            message = unrepaired(state.end.reason, state.end.message, error)
            return replace(state, end=replace(state.end, message=message))
        state = run.to_the_end(going_on)
    return state


@dataclass(frozen=True)
class _Run:
    """Drives the state machine of `plan.execution` with an episode; the controller hears what the rules ask for."""

    episode: Episode
    library: SkillLibrary
    on_change: Callable[[Execution], None]
    stop_requested: Callable[[], bool]
    log: RunLog
    steer: Steer
    rules: MotionRules = field(default_factory=MotionRules)
    board: ConstraintArbiter = field(default_factory=ConstraintArbiter)

    def to_the_end(self, state: Execution) -> Execution:
        state, commands = self._seen(state, self.episode.observe().scene)
        self.on_change(state)
        while state.phase is not Phase.ENDED:
            start = _start_of(commands)
            state, commands = self._step(state, start) if start else self._waited(state)
            self.on_change(state)
        return state

    def _seen(self, state: Execution, scene: Scene) -> Transition:
        """The next state, logged; what its rules ask of the motion is in force from now on."""
        state, commands = advance(state, SceneObserved(scene))
        self.log.see(state.watch, scene)
        for patch in self.rules.patches(state, scene.time):
            self.board.offered(patch, scene.time)
        return state, commands

    def _step(self, state: Execution, start: StartSkill) -> Transition:
        """One skill, under the eyes of the constraints; whatever ends or holds the plan meanwhile stops it."""

        def interrupted(observation: Observation) -> bool:
            nonlocal state
            state = self._looked(state, observation.scene)
            return state.phase is not Phase.RUNNING

        skill, in_force = self.library.find(start.skill), self.board.at
        moved = moved_along(state.run.goals) if state.run else frozenset()
        tuned = TunedSkill(skill, lambda: state.manner.tuning_of(start.step_id), moved)
        result = self.episode.run(tuned, start.arguments, interrupted, start.zones, in_force)
        if self.stop_requested():
            state, _ = advance(state, StopRequested())
        state, _ = advance(state, SkillFinished(start.step_id, result))
        return self._judged(state)

    def _looked(self, state: Execution, scene: Scene) -> Execution:
        """After one look at the scene, and whatever the person wants at that moment."""
        if self.stop_requested():
            return advance(state, StopRequested())[0]
        state, _ = self._seen(state, scene)
        steered = self.steer(state)
        if steered is not state:
            self.on_change(steered)
        return steered

    def _waited(self, state: Execution) -> Transition:
        """Held: nothing moves, until it may go on."""
        since = self.episode.world.time
        while state.phase is Phase.PAUSED:
            self.episode.settle()
            state = self._looked(state, self.episode.observe().scene)
            if self.episode.world.time > since + PATIENCE:
                state, _ = advance(state, StopRequested(f"nobody let it go on for {PATIENCE:.0f} s"))
        return self._judged(state)

    def _judged(self, state: Execution) -> Transition:
        """Show the scene until things have come to rest in it; a skill that could not start has let no time pass."""
        state, commands = self._seen(state, self.episode.observe().scene)
        if state.phase is Phase.SETTLING:
            self.episode.settle()
            state, commands = self._seen(state, self.episode.observe().scene)
        return state, commands


def _start_of(commands: tuple[Command, ...]) -> StartSkill | None:
    """The skill that is to run; None while the plan is held."""
    return next((command for command in commands if isinstance(command, StartSkill)), None)
