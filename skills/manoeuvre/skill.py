"""Drive until a reward program is fulfilled: to a position, a heading or around an object in the current room.

A sampling-based planner finds the motion during execution, so there is no `plan`.
"""

import numpy as np

from llm_planner import Base, InputError, Script, SkillError, SkillErrorCode
from llm_planner.programs.reward_program import check_reward
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.geometry import upright_pose
from llm_planner.skills.base import VALID_FOR
from llm_planner.skills.contract import Arguments
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.rewards.base_motions import BaseModel, base_keeps_out, base_motions, base_of
from llm_planner.skills.rewards.planner import MotionPlanner, Motions, PlanClock, Pursuit, Tally, shortfalls
from llm_planner.skills.rewards.sampling import Plan, controls_at, first_plan

SEED = 0  # of the sampler: equal scenes lead to equal motions
INSIDE = 0.6  # share of a tolerance within which the motion stops
BASE_IDLE = 15  # consecutive steps without predicted gain (GAIN_LEAST) that end the motion
STOPPING = 0.6  # [s] until the base has come to rest


def move(base: Base, arguments: Arguments) -> Script:
    """Drive the base until the reward program `rewards` is fulfilled.

    Raises SkillError (EFFECT_MISSING) that lists the unfulfilled wishes.
    """
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
    pursuit, clock = Pursuit(time, BASE_IDLE), PlanClock(time)
    while goes_on and shortfalls(program, base.scene, tally.start, INSIDE):
        plan, stayed, entered = planner.improved(plan, base.scene, tally.start, time)
        goes_on, barred = pursuit.goes_on(time, stayed, plan.cost), planner.keep_out.told(entered)
        clock.keep(planner.speed(plan), base.observation.speed_limit)
        yield _base_reference(base, plan, motions, clock.pace)
        tally.see(base.scene)
        time = clock.tick(base.observation.time)
    rest = controls_at(plan, np.array([time]), motions.sampling)[0]
    until = base.observation.time + STOPPING
    while base.observation.time < until - 1e-6:
        pose = upright_pose(*rest.tolist())
        yield MotionReference(base.observation.time, PATH_DT, (pose,), base.width, VALID_FOR)
        tally.see(base.scene)
    left = shortfalls(program, base.scene, tally.start)
    if left:
        why = [barred] if barred else []
        raise SkillError(SkillErrorCode.EFFECT_MISSING, "; ".join([*map(str, left), *why]))


def _base_reference(base: Base, plan: Plan, motions: Motions, pace: float) -> MotionReference:
    times = plan.time + pace * PATH_DT * np.arange(0.0, round(motions.sampling.horizon / PATH_DT) + 1)
    poses = tuple(upright_pose(*row) for row in controls_at(plan, times, motions.sampling).tolist())
    return MotionReference(base.observation.time, PATH_DT, poses, base.width, VALID_FOR)
