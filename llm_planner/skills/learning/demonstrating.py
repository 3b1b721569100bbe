"""Demonstrations: a scripted skill in drawn worlds, disturbed on the way and begun anew from wherever that left it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.control.inverse_kinematics import InverseKinematics
from llm_planner.control.limits import JointLimits
from llm_planner.simulation.panda import HOME_QPOS, PANDA_LIMITS, ArmKinematics
from llm_planner.simulation.world import World
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.gripper_shape import OPENING_MAX, Grip, hand_slices, room
from llm_planner.skills.learned.decision import Decision
from llm_planner.skills.learning.cases import Case
from llm_planner.skills.learning.recording import Recording
from llm_planner.skills.learning.shoves import shove_thing
from llm_planner.skills.learning.showing import Finished, Piece, ShownRun
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.motion import Leg
from llm_planner.skills.reach import into_reach
from llm_planner.skills.scripted import ScriptedRun
from llm_planner.skills.scripts import ScriptFunction

FINISHED = 4  # skill periods that the end is shown for
SHOVES_MAX = 3
SHOVED_AFTER = (0.2, 4.0)  # [s]
ASTRAY = (0.02, 0.10)  # [m] that a hand is led off its way
_LIMITS = JointLimits(PANDA_LIMITS.qpos_min, PANDA_LIMITS.qpos_max, PANDA_LIMITS.qvel_max, PANDA_LIMITS.qacc_max)
ROOM = 0.01  # [m] around a hand that is put somewhere
AZIMUTH = 0.9  # [rad] to either side, where hands begin


@dataclass(frozen=True)
class Show:
    """What is demonstrated: the skill's script, and what a policy is to see and be told of it."""

    name: str
    script: ScriptFunction
    timeout: float
    observe: tuple[str, ...]
    goal: tuple[str, ...]
    settings: ArmSettings


def demonstrate(show: Show, case: Case, library: SkillLibrary, seed: int) -> list[Recording]:
    """One episode, as the undisturbed pieces of it that led to success; none where it failed."""
    rng = np.random.default_rng((seed, 2))
    world = World(seed, case.objects)
    episode = Episode(world)
    for name, arguments in case.before:
        if episode.run(library.find(name), arguments).code is not SkillErrorCode.SUCCEEDED:
            return []
    if not case.before:
        begin_anywhere(world, rng)
    pieces = _shown(show, case.arguments, episode, rng)
    return [Recording(show.name, piece.columns(), True, seed) for piece in pieces if len(piece.actions) > 1]


def _shown(show: Show, arguments: Mapping[str, Argument], episode: Episode, rng: np.random.Generator) -> list[Piece]:
    began = episode.observe()
    decision = Decision(show.script, show.settings, arguments, began)
    pieces: list[Piece] = []
    for shove in range(SHOVES_MAX + 1):
        last = shove == SHOVES_MAX or rng.random() < 0.3
        until = math.inf if last else episode.world.time + rng.uniform(*SHOVED_AFTER)
        arm = Arm(episode.observe(), show.settings, began)
        run = ScriptedRun(show.name, arm, show.script(arm, arguments), show.timeout)
        shown = ShownRun(run, show.observe, show.goal, decision, arguments)
        result = _until(episode, shown, until)
        pieces += shown.pieces
        if result is None:
            _disturb(episode, began, show.settings, arguments, rng)
            continue
        if result.code is not SkillErrorCode.SUCCEEDED:
            return []
        finished = Finished(shown, episode.observe(), arm.width)
        for _ in range(FINISHED):
            episode.advance(finished, episode.observe())
        return pieces
    return []


def _until(episode: Episode, run: ShownRun, until: float) -> SkillResult | None:
    """The result of the run, or None where time [s] was up first."""
    while episode.world.time < until:
        result = episode.advance(run, episode.observe())
        if result is not None:
            return result
    return None


def _disturb(
    episode: Episode, began: Observation, settings: ArmSettings, arguments: Mapping[str, Argument],
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """A thing is moved, or the hand is led astray, its fingers too where they hold nothing."""
    world, observation = episode.world, episode.observe()
    assert isinstance(world, World)
    names = [item.name for item in observation.scene.objects if item.name in arguments.values()]
    if rng.random() < 0.4 and shove_thing(world, names, rng):
        return
    arm = Arm(observation, settings, began)
    if not observation.scene.held and rng.random() < 0.3:
        arm.width = rng.uniform(0.0, OPENING_MAX)
    run = ScriptedRun("astray", arm, _astray(arm, rng), 5.0)
    while episode.advance(run, episode.observe()) is None:
        pass


def _astray(arm: Arm, rng: np.random.Generator) -> Script:
    angle, way = rng.uniform(0, 2 * math.pi), rng.uniform(*ASTRAY)
    up = rng.uniform(-0.3, 1.0) * way
    here = arm.grip
    z = min(max(here.z + up, min(here.z, 0.03)), arm.settings.cruise_max)
    there = Grip(here.x + way * math.cos(angle), here.y + way * math.sin(angle), z, here.yaw + rng.uniform(-0.3, 0.3))
    if room(hand_slices(there, arm.width), arm.scene, {arm.scene.held})[0] < ROOM:
        there = here.raised(max(z, here.z + 0.03))
    yield from arm.move("astray", [Leg(into_reach(there))], stop_early=True)


def begin_anywhere(world: World, rng: np.random.Generator) -> None:
    """The hand somewhere over the table, where it is free, open by any width; at home where no place was found."""
    solver = InverseKinematics(ArmKinematics(), _LIMITS)
    scene = world.scene()
    for _ in range(20):
        radius, azimuth, width = rng.uniform(0.32, 0.72), rng.uniform(-AZIMUTH, AZIMUTH), rng.uniform(0, OPENING_MAX)
        x, y, z = radius * math.cos(azimuth), radius * math.sin(azimuth), rng.uniform(0.02, 0.42)
        grip = into_reach(Grip(x, y, z, azimuth + rng.uniform(-1.2, 1.2)))
        if room(hand_slices(grip, width), scene)[0] < ROOM:
            continue
        solution = solver.solve(grip.pose(), np.array([azimuth, *HOME_QPOS[1:]]))
        if solution.converged:
            world.pose_arm(solution.qpos, width)
            return
