"""Planning and execution in one process without ROS: plan, skills, controller and world run as fast as they can.

`accept` is the executor's own check of a received plan: it is checked and rehearsed again, so that nothing unchecked
moves. `full_rehearsal` executes a plan in a copy of the simulation, which shows what a symbolic forecast omits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.control.constraint_arbiter import ConstraintArbiter
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.execution.execution import SETTLE_TIME, Transition, advance
from llm_planner.execution.execution_state import (
    EndReason,
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
from llm_planner.execution.watch import RunLog, check_watchable
from llm_planner.planning.planned import DEFAULTS, Planned, PlanningSettings
from llm_planner.planning.planning import outcome_of, plan_program
from llm_planner.planning.rehearsal import Advice, Finding, Rehearsal, rehearse
from llm_planner.planning.repair import MOST_REPAIRS, plan_remainder, remainder_of, unrepaired
from llm_planner.planning.report import Report
from llm_planner.plans.manner import moved_along
from llm_planner.plans.plan import Outcome, Plan
from llm_planner.programs.reward_program import check_reward
from llm_planner.programs.signatures import Signature
from llm_planner.robots.motion import Observation
from llm_planner.scene.geometry import UPRIGHT, rotation_matrix
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.episode import Episode, EpisodeSettings, EpisodeWorld
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
    """Return the state in which a received plan begins, or continues where `unfinished` has ended.

    The policy in `settings` applies now and at every step. Doubts of the rehearsal were settled before the plan was
    sent.

    Raises:
        InputError: The rehearsal blocks the plan. Other errors are those of `plan_program`.
    """
    planned = plan_program(shown.command, shown.program, scene, skills, viewpoint, settings)
    if unfinished is None:
        plan = replace(planned.plan, constraints=shown.constraints)
        return _sure(start_execution(plan, planned.interpreter, viewpoint, scene, planned.permit), scene)
    return go_on(unfinished, planned, scene)


def go_on(unfinished: Execution, planned: Planned, scene: Scene) -> Execution:
    """Return the state in which `planned` continues where `unfinished` has ended; raises InputError as `accept`."""
    return _sure(continue_execution(unfinished, planned.plan, planned.interpreter), scene)


def _sure(state: Execution, scene: Scene) -> Execution:
    rehearsal = rehearse(state, scene, max_scenes=0)  # only the nominal branch can block
    if rehearsal.verdict is Advice.BLOCK:
        raise InputError(f"The plan may not run: {' '.join(rehearsal.reasons)}")
    return state


MakePlan = Callable[[Scene], Planned]
Repair = Callable[[Execution, Scene], Planned]  # plans the rest; raises LlmPlannerError if there is no plan
Steer = Callable[[Execution], Execution]  # called at 10 Hz simulated time; returns the state, edited or not
PATIENCE = 600.0  # [s] simulated time that a paused plan waits


@dataclass(frozen=True)
class Workcell:
    """World and skills that execute a plan in this process."""

    world: EpisodeWorld
    library: SkillLibrary


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
    """Plan for the current scene, execute the plan, and report what the scene shows at the end.

    Args:
        on_change: Receives every change of the state.
        stop_requested: Called at 10 Hz simulated time; True stops the plan.
        repair: Plans the rest of an ended plan, up to `MOST_REPAIRS` times; default: `plan_remainder`.
        steer: May pause and edit the plan.

    Returns:
        The report, also for a command without a plan: errors that `outcome_of` can describe are not raised.
    """
    episode = Episode(workcell.world, settings=EpisodeSettings(settle_time=SETTLE_TIME))
    before = episode.observe().scene
    try:
        planned = make_plan(before)
        start = start_execution(planned.plan, planned.interpreter, viewpoint, before, planned.permit)
    except LlmPlannerError as error:
        outcome, message = outcome_of(error)
        return Report(command, outcome, message, scene_before=before, scene_after=before)

    def plan_rest(state: Execution, scene: Scene) -> Planned:
        left = remainder_of(state, planned.tree, planned.replanner)
        return plan_remainder(left, scene, workcell.library.for_scene(scene).signatures, viewpoint)

    log = RunLog()
    state = execute(start, episode, workcell.library, on_change, stop_requested, repair or plan_rest, log, steer)
    after = episode.observe().scene
    outcome = state.end.reason.outcome if state.end else Outcome.FAILED
    message = state.end.message if state.end else "the plan did not end"
    duration, rehearsal = after.time - before.time, planned.rehearsal
    kept, confidence = log.kept(state.watch), planned.confidence
    return Report(command, outcome, message, state.plan, before, after, duration, confidence, rehearsal, kept)


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
    """Execute a plan from `start` to its end; the returned state is in `Phase.ENDED`.

    `repair` plans the rest of an ended plan; without it the first plan is the only one. `log` records every scene.
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
    """Drives the execution's state machine with an episode and sends the rules' limits to the controller."""

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
            start = next((command for command in commands if isinstance(command, StartSkill)), None)
            state, commands = self._step(state, start) if start else self._waited(state)  # waits while it is paused
            self.on_change(state)
        return state

    def _seen(self, state: Execution, scene: Scene) -> Transition:
        """Advance with a scene, log it, and apply the limits of the rules."""
        state, commands = advance(state, SceneObserved(scene))
        self.log.see(state.watch, scene)
        for patch in self.rules.patches(state, scene.time):
            self.board.offered(patch, scene.time)
        return state, commands

    def _step(self, state: Execution, start: StartSkill) -> Transition:
        """Run one skill with its constraints monitored; whatever ends or pauses the plan stops it."""

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
        """Return the state after a scene and the person's intervention, if any."""
        if self.stop_requested():
            return advance(state, StopRequested())[0]
        state, _ = self._seen(state, scene)
        steered = self.steer(state)
        if steered is not state:
            self.on_change(steered)
        return steered

    def _waited(self, state: Execution) -> Transition:
        """Wait without motion until a paused plan may continue."""
        since = self.episode.world.time
        while state.phase is Phase.PAUSED:
            self.episode.settle()
            state = self._looked(state, self.episode.observe().scene)
            if self.episode.world.time > since + PATIENCE:
                state, _ = advance(state, StopRequested(f"nobody let it go on for {PATIENCE:.0f} s"))
        return self._judged(state)

    def _judged(self, state: Execution) -> Transition:
        """Observe the scene until objects are at rest; a skill that could not start has taken no time."""
        state, commands = self._seen(state, self.episode.observe().scene)
        if state.phase is Phase.SETTLING:
            self.episode.settle()
            state, commands = self._seen(state, self.episode.observe().scene)
        return state, commands


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
