"""Whatever a reward program asks of a mobile base in its room: where it stands, what it faces, how it goes round."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.errors import InputError
from llm_planner.rewards.base_motions import BaseModel, base_keeps_out, base_motions, base_of
from llm_planner.rewards.cost import Tally, shortfalls
from llm_planner.rewards.keeping import PlanClock
from llm_planner.rewards.planner import MotionPlanner, Motions
from llm_planner.rewards.program import check_reward
from llm_planner.rewards.pursuit import Pursuit
from llm_planner.rewards.sampling import Plan, controls_at, first_plan
from llm_planner.simulation.rooms.base import base_pose
from llm_planner.skills.arm import Script
from llm_planner.skills.base import VALID_FOR, Base
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.motion import PATH_DT

SEED = 0  # of the samples: the same scenes lead to the same motion
IDLE = 15  # steps in a row that promise less than that end it
INSIDE = 0.6  # share of a tolerance within which it stops
STOPPING = 0.6  # [s] until the base has come to rest


def manoeuvre(base: Base, arguments: Mapping[str, Argument]) -> Script:
    """Leaves the base as the reward program `rewards` asks; raises SkillError (EFFECT_MISSING) saying what is not."""
    program = check_reward(str(arguments["rewards"]), base.scene)
    tally, goes_on = Tally(program, base.scene), True
    try:
        motions, keep_out = base_motions(base.scene), base_keeps_out(base.observation.zones)
    except InputError as error:
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, str(error)) from error
    planner = MotionPlanner(program, BaseModel(base.scene), motions, np.random.default_rng(SEED), keep_out)
    base.phase = "manoeuvre"
    body, time = base_of(base.observation.T_base_gripper), base.observation.time
    plan, barred = first_plan(time, body, motions.sampling), ""
    pursuit, clock = Pursuit(time, IDLE), PlanClock(time)
    while goes_on and shortfalls(program, base.scene, tally.start, INSIDE):
        plan, stayed, entered = planner.improved(plan, base.scene, tally.start, time)
        goes_on, barred = pursuit.goes_on(time, stayed, plan.cost), planner.keep_out.told(entered)
        clock.keep(planner.speed(plan), base.observation.speed_limit)
        yield _reference(base, plan, motions, clock.pace)
        tally.see(base.scene)
        time = clock.tick(base.observation.time)
    rest = controls_at(plan, np.array([time]), motions.sampling)[0]
    until = base.observation.time + STOPPING
    while base.observation.time < until - 1e-6:
        pose = base_pose(*rest.tolist())
        yield MotionReference(base.observation.time, PATH_DT, (pose,), base.width, VALID_FOR)
        tally.see(base.scene)
    left = shortfalls(program, base.scene, tally.start)
    if left:
        why = [barred] if barred else []
        raise SkillError(SkillErrorCode.EFFECT_MISSING, "; ".join([*map(str, left), *why]))


def _reference(base: Base, plan: Plan, motions: Motions, pace: float) -> MotionReference:
    times = plan.time + pace * PATH_DT * np.arange(0.0, round(motions.sampling.horizon / PATH_DT) + 1)
    poses = tuple(base_pose(*row) for row in controls_at(plan, times, motions.sampling).tolist())
    return MotionReference(base.observation.time, PATH_DT, poses, base.width, VALID_FOR)
