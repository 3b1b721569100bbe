"""Move objects until a reward program is fulfilled, by strokes of closed fingers or by carrying the held object.

A sampling-based planner finds the motion during execution, so there is no `plan`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from llm_planner import Arm, Leg, Pose, Scene, Script, SkillError, SkillErrorCode
from llm_planner.programs.reward_program import RewardProgram, check_reward
from llm_planner.robots.motion import MotionReference
from llm_planner.skills.contract import Arguments
from llm_planner.skills.hand_geometry import grip_of, into_reach
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.rewards.hand_model import HandModel, hand_of, pose_of
from llm_planner.skills.rewards.hand_motions import draw_strokes, free_motions, hand_keeps_out, push_motions
from llm_planner.skills.rewards.planner import GAIN_LEAST, MotionPlanner, Motions, PlanClock, Pursuit, Tally, shortfalls
from llm_planner.skills.rewards.sampling import Array, Plan, SamplingSettings, controls_at, first_plan

SEED = 0  # of the sampler: equal scenes lead to equal motions
STROKES_MAX = 14
BATCHES = (3, 20)  # batches sampled before a stroke is made: the least number, and the limit of a search
BATCH = 14  # strokes in a batch
HAND_IDLE = 5  # consecutive steps without predicted gain (GAIN_LEAST) that end a stroke
STROKE_TIME = 6.0  # [s] longest stroke
FREE_TIME = 25.0  # [s] longest motion that pushes nothing
BACK = 0.012  # [m] that the hand backs off before it rises
SETTLE = 0.3  # [s] until objects have come to rest
INSIDE = 0.6  # share of a tolerance within which a motion stops


@dataclass
class _Run:
    """State of one execution; `barred` explains for a person which zones prevent further motion, "" if none."""

    arm: Arm
    program: RewardProgram
    tally: Tally
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    barred: str = ""

    @property
    def scene(self) -> Scene:
        return self.arm.scene

    def planner(self, model: HandModel, motions: Motions) -> MotionPlanner:
        keep_out = hand_keeps_out(model, self.arm.observation.zones)
        return MotionPlanner(self.program, model, motions, self.rng, keep_out)

    def done(self, share: float = 1.0) -> bool:
        return not shortfalls(self.program, self.scene, self.tally.start, share)

    def may_begin(self, stroke: Array) -> bool:
        """Return whether zones leave a path to the start of the stroke; if not, set `barred`."""
        try:
            _approach(self.arm, stroke)
        except SkillError as error:
            self.barred = str(error)
            return False
        return True

    def seen(self, reference: MotionReference) -> Script:
        """Execute one reference and add the resulting scene to the tally."""
        yield reference
        self.tally.see(self.scene)

    def watched(self, script: Script) -> Script:
        """Run a script and add the scene after each step to the tally."""
        for reference in script:
            yield from self.seen(reference)


def move(arm: Arm, arguments: Arguments) -> Script:
    """Move objects until the reward program `rewards` is fulfilled.

    Raises SkillError (EFFECT_MISSING) that lists the unfulfilled wishes.
    """
    program = check_reward(str(arguments["rewards"]), arm.scene)
    run = _Run(arm, program, Tally(program, arm.scene))
    movers = [name for name in program.movers if name != arm.scene.held]
    if arm.scene.held or not movers:
        yield from _freely(run)
    else:
        yield from run.watched(arm.fingers("close", 0.0))
        yield from _strokes(run)
    left = shortfalls(program, arm.scene, run.tally.start)
    if left:
        why = [run.barred] if run.barred else []
        raise SkillError(SkillErrorCode.EFFECT_MISSING, "; ".join([*map(str, left), *why]))


def _strokes(run: _Run) -> Script:
    """Search a stroke, execute it and rise, until the program is fulfilled or no stroke is found."""
    arm = run.arm
    for _ in range(STROKES_MAX):
        if run.done():
            return
        model = HandModel(run.scene, run.program.movers, 0.0)
        planner = run.planner(model, push_motions(model))
        found: list[Array] = []
        yield from _searched(run, planner, found)
        if not found:
            return
        try:
            yield from run.watched(arm.move("approach", _approach(arm, found[0])))
        except SkillError:  # the approach is blocked; that of another stroke may be free
            yield from run.watched(arm.retreat())
            continue
        yield from _planned(run, planner, Plan(arm.observation.time, found[0]), "push", STROKE_TIME)
        yield from run.watched(_rise(run))


def _searched(run: _Run, planner: MotionPlanner, found: list[Array]) -> Script:
    """Search one batch per step while the hand holds still, and put the best stroke with a gain into `found`."""
    arm, barred = run.arm, set[int]()
    arm.phase, best = "search", np.inf
    for batch in range(BATCHES[1]):
        strokes = draw_strokes(run.program, run.scene, BATCH, planner.motions.sampling, run.rng)
        if len(strokes):
            waited = planner.waited(run.scene, hand_of(arm.observation.T_base_gripper), run.tally.start)
            priced = planner.tried(strokes, run.scene, run.tally.start)
            index = int(np.argmin(priced.costs))
            barred.update(priced.barred(waited))
            if priced.costs[index] < min(best, waited - GAIN_LEAST):
                best, found[:] = float(priced.costs[index]), [strokes[index]]
        if found and batch + 1 >= BATCHES[0]:
            if run.may_begin(found[0]):
                return
            best, found[:] = np.inf, []
        yield from run.seen(arm.hold())
    run.barred = planner.keep_out.told(sorted(barred)) or run.barred


def _approach(arm: Arm, stroke: Array) -> list[Leg]:
    """Plan the path to the start of the stroke; raises SkillError (NO_FREE_SPACE) if zones block it."""
    return arm.travel(grip_of(pose_of(stroke[0])), arm.cruise_height())


def _planned(run: _Run, planner: MotionPlanner, plan: Plan, phase: str, time_limit: float) -> Script:
    """Execute a plan, improving the rest ten times a second (receding horizon) until there is no gain."""
    arm, goes_on = run.arm, True
    clock = PlanClock(arm.observation.time)
    time = plan.time
    arm.phase, until, pursuit = phase, time + time_limit, Pursuit(time, HAND_IDLE)
    while goes_on and time < until and not run.done(INSIDE):
        plan, stayed, barred = planner.improved(plan, run.scene, run.tally.start, time)
        goes_on, run.barred = pursuit.goes_on(time, stayed, plan.cost), planner.keep_out.told(barred)
        clock.keep(planner.speed(plan), arm.observation.speed_limit)
        yield from run.seen(_hand_reference(arm, plan, planner.motions.sampling, clock.pace))
        time = clock.tick(arm.observation.time)
    yield from _rest(run, pose_of(controls_at(plan, np.array([time]), planner.motions.sampling)[0]))


def _hand_reference(arm: Arm, plan: Plan, sampling: SamplingSettings, pace: float) -> MotionReference:
    times = plan.time + pace * PATH_DT * np.arange(0.0, round(sampling.horizon / PATH_DT) + 1)
    poses = tuple(pose_of(hand) for hand in controls_at(plan, times, sampling))
    return MotionReference(arm.observation.time, PATH_DT, poses, arm.width)


def _freely(run: _Run) -> Script:
    """Move the hand, with the object it may hold, from the current pose."""
    arm = run.arm
    model = HandModel(run.scene, (), arm.observation.gripper_width)
    planner = run.planner(model, free_motions(model))
    hand = hand_of(arm.observation.T_base_gripper)
    plan = first_plan(arm.observation.time, hand, planner.motions.sampling)
    yield from _planned(run, planner, plan, "move", FREE_TIME)


def _rise(run: _Run) -> Script:
    """Back off from the nearest pushed object, so that it does not stick to the fingers, then rise."""
    arm, grip = run.arm, run.arm.hand
    pushed = [arm.find(name).position for name in run.program.movers]
    x, y, _ = min(pushed, key=lambda place: math.dist(place[:2], (grip.x, grip.y)))
    share = BACK / max(math.dist((x, y), (grip.x, grip.y)), BACK)
    away = replace(grip, x=grip.x + share * (grip.x - x), y=grip.y + share * (grip.y - y))
    back = into_reach(away, arm.shape)
    arm.grip = grip
    yield from arm.move("rise", [Leg(back), Leg(into_reach(back.raised(arm.cruise_height()), arm.shape))])


def _rest(run: _Run, pose: Pose) -> Script:
    """Hold still until objects have come to rest."""
    arm = run.arm
    until = arm.observation.time + SETTLE
    while arm.observation.time < until - 1e-6:
        yield from run.seen(MotionReference(arm.observation.time, PATH_DT, (pose,), arm.width))
