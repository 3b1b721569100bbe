"""Rules about speed and distance are kept by the motion itself, by the simulator's own measure."""

from dataclasses import dataclass, replace
from math import inf

import pytest

from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome
from llm_planner.scene.predicates import in_
from llm_planner.scene.propositions import NEAR_ARM, NEAR_BASE, distance_to
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()
EVERY = 0.02  # [s] between two looks at the simulator
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")'


class Filmed:
    """A world that keeps the scene every 20 ms, five times as often as the plan sees it."""

    def __init__(self, world):
        self._world = world
        self.scenes = []

    def __getattr__(self, name):
        return getattr(self._world, name)

    def follow(self, trajectory, duration):
        for _ in range(round(duration / EVERY)):
            self._world.follow(trajectory, EVERY)
            self.scenes.append(self._world.scene())


@dataclass
class Run:
    report: object
    scenes: list[Scene]

    def speeds(self, when=lambda scene: True):
        return [scene.speed for scene in self.scenes if when(scene)]


@pytest.fixture
def ran():
    """A run of that program under those rules; no other plan may take its place."""

    def make(
        text,
        *rules,
        objects="red block, blue block, green bowl, vase",
        world="tabletop",
        seed=1,
        film=Filmed,
    ):
        filmed = film(open_world(world, seed, parse_objects(objects) if objects else None))

        def planned(scene):
            constraints = tuple(Constraint(parse(rule), "so be it") for rule in rules)
            skills = LIBRARY.for_scene(scene).signatures
            return plan_program("do it", text, scene, skills, constraints=constraints)

        return Run(run_command("do it", Workcell(filmed, LIBRARY), planned), filmed.scenes)

    return make


def in_the_bowl(scene):
    return in_(scene, "red block", "green bowl")


def test_slowly_until_it_is_in_the_bowl_and_fast_afterwards(ran):
    two = INTO_THE_BOWL + '\npick("blue block")\nplace_at("left side")'
    run = ran(two, "speed(robot) < 0.1 U in(red block, green bowl)")
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert max(run.speeds(lambda scene: not in_the_bowl(scene))) < 0.1
    assert max(run.speeds(in_the_bowl)) > 0.3
    (kept,) = run.report.kept
    assert kept.holds
    assert 0 < kept.margin < 0.1
    assert run.report.rehearsal.reasons == ()


def test_a_rule_that_begins_with_a_grasp_is_kept_from_then_on(ran):
    run = ran(INTO_THE_BOWL, "G (holding(red block) -> speed(robot) < 0.1)")
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert max(run.speeds(lambda scene: scene.held == "red block")) < 0.1
    assert max(run.speeds()) > 0.3


def test_a_rule_that_begins_in_the_middle_of_a_motion_is_foreseen(ran):
    run = ran('push("blue block", "right", 0.08)', "G (moved(blue block) -> speed(robot) < 0.08)")
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert max(run.speeds()) > 0.3
    assert run.report.kept[0].holds


def test_near_a_thing_the_hand_slows_down(ran):
    run = ran(INTO_THE_BOWL, "G (near(robot, green bowl) -> speed(robot) < 0.1)")
    assert run.report.outcome is Outcome.DONE, run.report.message
    near = run.speeds(lambda scene: distance_to(scene, "green bowl") < NEAR_ARM)
    assert len(near) > 100
    assert max(near) < 0.1
    assert max(run.speeds()) > 0.3


@pytest.mark.parametrize("seed", [19, 22])
def test_the_hand_stays_away_from_the_vase(ran, seed):
    there = {"objects": "red block, green bowl, vase", "seed": seed}
    free, run = ran(INTO_THE_BOWL, **there), ran(INTO_THE_BOWL, "G !near(robot, vase)", **there)
    assert min(distance_to(scene, "vase") for scene in free.scenes) < 0.07
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert min(distance_to(scene, "vase") for scene in run.scenes) >= NEAR_ARM
    (kept,) = run.report.kept
    assert (kept.holds, kept.unit) == (True, "m")
    assert kept.margin > 0.01


BESIDE_THE_BOWL = (0.43, 0.1, 0.06)  # [m]
UNDER_WAY = 2.1  # [s] from the grasp until the hand is over the middle of the table


class Rearranged(Filmed):
    """The vase is seen beside the bowl once the hand is on its way there with the red block."""

    def __init__(self, world):
        super().__init__(world)
        self._since = inf

    def observation(self):
        seen = self._world.observation()
        return replace(seen, scene=self.shown(seen.scene))

    def shown(self, scene):
        if scene.held == "red block":
            self._since = min(self._since, scene.time + UNDER_WAY)
        if scene.time < self._since:
            return scene
        there = replace(scene.find("vase"), position=BESIDE_THE_BOWL)
        return replace(scene, objects=tuple(there if item.name == "vase" else item for item in scene.objects))


def test_a_vase_put_where_the_path_leads_is_stayed_away_from_by_the_controller(ran):
    there = {"objects": "red block, green bowl, vase", "seed": 19, "film": Rearranged}
    free, run = ran(INTO_THE_BOWL, "G !holding(vase)", **there), ran(INTO_THE_BOWL, "G !near(robot, vase)", **there)
    vase = run.report.scene_after.find("vase")
    assert vase.position == BESIDE_THE_BOWL
    assert min(distance_to(replace(scene, objects=(vase,)), "vase") for scene in free.scenes) < 0.08
    assert run.report.outcome is Outcome.DONE, run.report.message
    (kept,) = run.report.kept
    assert kept.holds
    assert kept.margin > 0.005


def test_a_mobile_robot_drives_slowly_until_it_has_been_in_a_room(ran):
    scene = open_world("rooms", 3).scene()
    first, second = [name for name in scene.building.names if name != scene.robot_room][:2]
    run = ran(
        f'go_to("{first}")\ngo_to("{second}")', f"speed(robot) < 0.3 U in(robot, {first})", objects="", world="rooms",
        seed=3,
    )  # fmt: skip
    assert run.report.outcome is Outcome.DONE, run.report.message
    arrived = next(scene.time for scene in run.scenes if scene.robot_room == first)
    assert max(run.speeds(lambda scene: scene.time < arrived)) < 0.3
    assert max(run.speeds(lambda scene: scene.time >= arrived)) > 0.5


def test_a_mobile_robot_slows_down_near_a_thing_and_not_elsewhere(ran):
    name = open_world("rooms", 3).scene().objects[0].name
    run = ran(f'go_to("{name}")', f"G (near(robot, {name}) -> speed(robot) < 0.2)", objects="", world="rooms", seed=3)
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert max(run.speeds(lambda scene: distance_to(scene, name) < NEAR_BASE)) < 0.2
    assert max(run.speeds()) > 1.0


def test_without_rules_nothing_is_slower(ran):
    run = ran(INTO_THE_BOWL)
    assert run.report.kept == ()
    assert max(run.speeds()) > 0.5
    assert run.report.duration < 12.0


def test_a_slow_hand_is_not_taken_for_a_stuck_one(ran):
    run = ran(INTO_THE_BOWL, "G speed(robot) < 0.04")
    assert run.report.outcome is Outcome.DONE, run.report.message
    assert max(run.speeds()) < 0.04
    assert run.report.kept[0].holds
