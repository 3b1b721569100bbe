"""A task with two right ways: a vase stands between the low hand and its goal, and one goes round it left or right.

The demonstrator throws a coin. Where vase, start and goal are is drawn anew each time; a way through the middle, the
mean of the two, ends in the vase.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.learning.demonstrations import FINISHED, Finished, RecordedRun, put_hand
from llm_planner.learning.recording import Recording
from llm_planner.programs.values import Argument
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import Observation
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.world import World
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.footprints import is_upright
from llm_planner.skills.hand_geometry import Aim, HandPose, comfortable_yaw
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.skill import LearnedMotion, LearnedRun
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripted import ScriptedRun
from llm_planner.skills.skill_code import Mover

PANDA = arm_model("panda")

VASE = "vase"
ARGUMENTS: Mapping[str, Argument] = {"object": VASE}
OBSERVE, GOAL = ("hand", "thing:object"), ()
HEIGHT, OPENING = 0.05, 0.02  # [m] of the grip point over the table, between the fingertips
TIMEOUT = 12.0  # [s]
WITHIN, MOVED = 0.015, 0.005  # [m] of the hand from its goal; of the vase from where it stood
SPARE = 0.02  # [m] of reach that is kept
LEFT, RIGHT = 1, -1  # ways, as seen from the start; 0 is neither
Point = tuple[float, float]


@dataclass(frozen=True)
class Setting:
    """Where all is [m]; `along` [rad] is the direction from the vase to the goal, in the base frame."""

    seed: int
    vase: Point
    along: float
    start: HandPose
    goal: HandPose
    scale: float

    def beside(self, forward: float, left: float) -> Point:
        """The point so far from the vase, along the way and to the left of it [m]."""
        return _ahead(_ahead(self.vase, self.along, forward), self.along + math.pi / 2, left)

    def seen_from_vase(self, x: float, y: float) -> Point:
        """The inverse of `beside`."""
        dx, dy, c, s = x - self.vase[0], y - self.vase[1], math.cos(self.along), math.sin(self.along)
        return c * dx + s * dy, c * dy - s * dx

    def open(self) -> Episode:
        """The world, with the hand at its start."""
        world = World(self.seed, [ObjectSpec(VASE, "vase", "", self.scale)])
        world.shift(VASE, self.vase, 0.0)
        put_hand(world, self.start, OPENING)
        return Episode(world)


def draw_setting(seed: int) -> Setting:
    """One in which the arm reaches both ways round."""
    rng = np.random.default_rng((seed, 1))
    while True:
        radius, azimuth = rng.uniform(0.4, 0.65), rng.uniform(-0.6, 0.6)
        vase = (radius * math.cos(azimuth), radius * math.sin(azimuth))
        along = rng.uniform(-math.pi, math.pi)
        goal = _ahead(vase, along, rng.uniform(0.19, 0.26))
        start = _ahead(vase, along + math.pi + rng.uniform(-0.3, 0.3), rng.uniform(0.19, 0.26))
        # The hand is slim across the direction in which its fingers close: that lies along the way.
        yaw = comfortable_yaw(*vase, along + math.pi / 2)
        hands = HandPose(*start, HEIGHT, yaw), HandPose(*goal, HEIGHT, yaw)
        setting = Setting(seed, vase, along, *hands, float(rng.uniform(0.8, 1.0)))
        corners = [setting.beside(forward, side * 0.11) for forward in (-0.17, 0.17) for side in (LEFT, RIGHT)]
        if all(_reached(*point) for point in (start, goal, *corners)):
            return setting


def go_round(setting: Setting, side: int, rng: np.random.Generator) -> Mover:
    """The demonstrator: low past the vase on that side, by two corners that are never quite the same."""
    before, after, aside = rng.uniform(0.15, 0.17), rng.uniform(0.15, 0.17), rng.uniform(0.085, 0.11)

    def script(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
        arm.aim = Aim(setting.goal, heading=setting.along)
        forward, _ = setting.seen_from_vase(arm.grip.x, arm.grip.y)
        left = [corner for corner in (-before, after) if corner > forward]
        corners = [HandPose(*setting.beside(corner, side * aside), HEIGHT, setting.goal.yaw) for corner in left]
        yield from arm.move("round", [Leg(grip) for grip in (*corners, setting.goal)], straight=True)

    return script


@dataclass(frozen=True)
class Trial:
    """How it ended: `near` [m] the goal, the vase `moved` [m] and still `stands`; by which `way`, along which
    `places`."""

    near: float
    moved: float
    stands: bool
    way: int
    places: tuple[Point, ...]

    @property
    def kept(self) -> bool:
        """Whether the vase stands where it stood."""
        return self.stands and self.moved < MOVED

    @property
    def succeeded(self) -> bool:
        return self.kept and self.near < WITHIN


def demonstrated(seed: int) -> tuple[Trial, Recording]:
    """One demonstration in a setting of its own, left or right by chance."""
    rng = np.random.default_rng((seed, 2))
    return shown(draw_setting(seed), int(rng.choice([LEFT, RIGHT])), rng)


def shown(setting: Setting, side: int, rng: np.random.Generator) -> tuple[Trial, Recording]:
    """How the demonstrator goes round on that side."""
    script, episode = go_round(setting, side, rng), setting.open()
    began = episode.observe()
    arm = Arm(began, ArmSettings())
    run = ScriptedRun("go_round", arm, script(arm, ARGUMENTS), TIMEOUT)
    written = RecordedRun(run, OBSERVE, GOAL, Decision(script, ArmSettings(), ARGUMENTS, began), ARGUMENTS)
    trial = play(setting, episode, written)
    finished = Finished(written, episode.observe(), arm.width)
    for _ in range(FINISHED):
        episode.advance(finished, episode.observe())
    return trial, Recording("go round the vase", written.pieces[0].columns(), trial.succeeded, setting.seed)


def tried(setting: Setting, motion: LearnedMotion) -> Trial:
    """One trial of a learned motion, from the setting's start."""
    script = go_round(setting, LEFT, np.random.default_rng(0))  # only says where the goal is
    episode = setting.open()
    began = episode.observe()
    decision = Decision(script, ArmSettings(), ARGUMENTS, began)
    run = LearnedRun("go_round", motion, decision, ARGUMENTS, lambda seen: _near(setting, seen), TIMEOUT, began)
    return play(setting, episode, run)


def play(setting: Setting, episode: Episode, run: SkillRun) -> Trial:
    """The run to its end, or until the vase no longer stands where it stood, judged by the simulator's state."""
    began, places, result = episode.observe(), list[Point](), None
    stood, seen = began.scene.find(VASE).position, began
    while result is None and math.dist(seen.scene.find(VASE).position, stood) < MOVED:
        places.append(seen.T_base_gripper.position[:2])
        result = episode.advance(run, seen)
        seen = episode.observe()
    if result is not None:
        episode.settle()
        seen = episode.observe()
    vase, near = seen.scene.find(VASE), math.dist(seen.T_base_gripper.position, setting.goal.pose().position)
    return Trial(near, math.dist(vase.position, stood), is_upright(vase), _way(setting, places), tuple(places))


def _near(setting: Setting, seen: Observation) -> bool:
    return math.dist(seen.T_base_gripper.position, setting.goal.pose().position) < WITHIN


def _way(setting: Setting, places: list[Point]) -> int:
    """On which side the hand passed the vase; 0 where it did not get past."""
    for forward, left in (setting.seen_from_vase(*place) for place in places):
        if forward > 0.0:
            return LEFT if left > 0.0 else RIGHT
    return 0


def _ahead(point: Point, angle: float, way: float) -> Point:
    return point[0] + way * math.cos(angle), point[1] + way * math.sin(angle)


def _reached(x: float, y: float) -> bool:
    low, high = PANDA.shape.radius_range(HEIGHT)
    return abs(math.atan2(y, x)) < 1.2 and low + SPARE <= math.hypot(x, y) <= high - SPARE
