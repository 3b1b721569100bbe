"""Motions for a reward program under zones and a speed limit: what they cost, how slow they are, how they end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.arm import SLOWER
from llm_planner.skills.arm_paths import REST, distances
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.rewards.hand_model import HandModel
from llm_planner.skills.rewards.hand_motions import hand_keeps_out
from llm_planner.skills.rewards.planner import DEEP, ENTERED, KeepOut, PlanClock, Priced, top_speed
from llm_planner.skills.rewards.sampling import Plan, SamplingSettings

LIBRARY = load_skills()
TOGETHER = "reach(gap('red block', 'blue block') <= 0.005)"


def ball(x: float, y: float, z: float = 0.0, clearance: float = 0.1, name: str = "the vase") -> Zone:
    return Zone(name, Shape.SPHERE, (0.01,), Pose((x, y, z)), clearance, Subject.GRIPPER)


class Pushed(Episode):
    """Carries one reward program out under zones and a speed limit, and remembers where the hand was."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.hands = [world.observation().T_base_gripper.position]

    def achieve(self, rewards: str, keep: MotionConstraints) -> SkillResult:
        def look(observation: object) -> bool:
            self.hands.append(self.world.observation().T_base_gripper.position)
            return False

        skill = LIBRARY.find("achieve")
        return self.run(skill, {"rewards": rewards}, look, keep.zones, lambda now, speed: keep)

    def closest(self, zone: Zone) -> float:
        return float(distances(zone, np.array(self.hands)).min())

    @property
    def speed(self) -> float:
        return float(np.linalg.norm(np.diff(self.hands, axis=0), axis=1).max()) / self.settings.skill_period


def table() -> Pushed:
    return Pushed(open_world("tabletop", 2, parse_objects("red block, blue block, vase")))


def test_a_motion_that_enters_a_zone_costs_more_than_any_that_does_not_and_the_more_the_deeper() -> None:
    keep_out = KeepOut((ball(0.5, 0.0), ball(0.0, 0.5)))
    way = np.linspace((0.3, 0.0, 0.0), (0.3, 0.2, 0.0), 5)
    into = np.linspace((0.3, 0.0, 0.0), (0.45, 0.0, 0.0), 5)
    deeper = np.linspace((0.3, 0.0, 0.0), (0.5, 0.0, 0.0), 5)
    costs = keep_out.trespass(np.array([way, into, deeper]))
    assert costs[0].tolist() == [0.0, 0.0]
    assert ENTERED < costs[1, 0] < costs[2, 0]
    assert costs[1, 0] == pytest.approx(ENTERED + DEEP * (0.06 + 0.0225) / 5)
    assert costs[:, 1].tolist() == [0.0, 0.0, 0.0]


def test_what_is_held_is_kept_out_of_zones_for_the_whole_robot() -> None:
    world = open_world("tabletop", 0, parse_objects("vase, red block"))
    zone = Zone("the press", Shape.SPHERE, (0.01,), Pose((0.5, 0.0, 0.0)), 0.1, Subject.ROBOT)
    empty = hand_keeps_out(HandModel(world.scene(), (), 0.0), (zone,))
    assert Episode(world).run(LIBRARY.find("pick"), {"object": "vase"}).code is SkillErrorCode.SUCCEEDED
    laden = hand_keeps_out(HandModel(world.scene(), (), 0.0), (zone,))
    assert empty.gap(zone) == pytest.approx(0.1 + 0.105 + REST)
    assert laden.gap(zone) > 0.1 + world.scene().find("vase").size[2] / 2


def test_a_zone_bars_a_motion_only_where_nothing_is_gained_without_it() -> None:
    free, trespass = np.array([0.2, 0.5, 1.0]), np.array([[0.0, 11.0], [0.0, 0.0], [0.0, 0.0]])
    assert Priced(free, trespass).barred(0.8) == ()  # the second gains something
    assert Priced(free, trespass).barred(0.5) == (1,)
    assert Priced(free, trespass).barred(0.2) == ()  # nothing would be gained anyway


def test_what_bars_a_motion_is_told_once_by_name() -> None:
    keep_out = KeepOut((ball(0.5, 0.0), ball(0.4, 0.0), ball(0.0, 0.5, name="the mug", clearance=0.05)))
    told = "what would bring it nearer leads where the robot has to keep "
    assert keep_out.told((0, 1)) == f"{told}10 cm from the vase"
    assert keep_out.told((0, 2)) == f"{told}10 cm from the vase and 5 cm from the mug"
    assert keep_out.told(()) == ""


def test_a_plan_faster_than_the_limit_is_played_slower() -> None:
    clock, settings = PlanClock(10.0), SamplingSettings(horizon=1.0, knots=3)
    plan = Plan(10.0, np.array([[0.0, 0.0, 7.0], [0.1, 0.0, 0.0], [0.1, 0.05, 0.0]]))
    assert top_speed(plan, settings, 2) == pytest.approx(0.2)
    assert clock.tick(10.5) == pytest.approx(10.5)
    clock.keep(0.2, 0.1)
    assert clock.tick(11.5) == pytest.approx(10.5 + SLOWER / 2)
    clock.keep(0.2, math.inf)
    assert clock.tick(12.0) == pytest.approx(11.0 + SLOWER / 2)


def test_where_the_hand_went_is_forbidden_it_pushes_from_elsewhere() -> None:
    free = table()
    assert free.achieve(TOGETHER, MotionConstraints()).code is SkillErrorCode.SUCCEEDED
    lowest = min(free.hands, key=lambda hand: hand[2])
    zone = ball(*lowest, clearance=0.03)
    kept = table()
    assert kept.achieve(TOGETHER, MotionConstraints(zones=(zone,))).code is SkillErrorCode.SUCCEEDED
    assert free.closest(zone) < 0.01
    assert kept.closest(zone) >= 0.03 - 0.001


def test_a_goal_that_only_a_zone_leads_to_ends_the_pursuit_with_its_name() -> None:
    pushed = table()
    x, y, z = pushed.world.observation().scene.find("vase").position
    zone = ball(x, y, z, clearance=0.15)
    result = pushed.achieve("reach(tilt('vase') >= 80)", MotionConstraints(zones=(zone,)))
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert "tilt('vase') >= 80 was asked for, and it is 0" in result.message
    assert result.message.endswith("leads where the robot has to keep 15 cm from the vase")
    assert pushed.world.time < 5.0
    assert pushed.closest(zone) >= 0.15


def test_a_speed_limit_makes_a_push_slower_and_not_shorter() -> None:
    pushed = table()
    result = pushed.achieve(TOGETHER, MotionConstraints(speed=0.06))
    assert result.code is SkillErrorCode.SUCCEEDED
    assert pushed.speed <= 0.062


def test_a_base_keeps_out_of_zones_too_and_says_which_of_them_it_would_have_to_enter() -> None:
    world = open_world("rooms", 1, parse_things("plant, parcel, Anna"))
    x, y, _ = world.scene().robot.position  # type: ignore[union-attr]
    ax, ay, _ = world.scene().find("Anna").position
    zone = Zone(
        "the plant", Shape.SPHERE, (0.1,), Pose((ax, ay, 0.0)), math.dist((x, y), (ax, ay)) - 0.2, Subject.GRIPPER
    )
    shown: list[tuple[float, ...]] = []

    def look(observation: Observation) -> bool:
        shown.append(observation.T_base_gripper.position)
        return False

    rewards = {"rewards": "reach(distance('robot', 'Anna') <= 0.8)"}
    result = Episode(world).run(LIBRARY.find("manoeuvre"), rewards, look, (zone,))
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert "leads where the robot has to keep" in result.message
    assert "from the plant" in result.message
    assert float(distances(zone, np.array(shown)).min()) > zone.clearance
