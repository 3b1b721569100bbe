"""An arm on a mobile base: where it stands, what its base keeps off, and that arm and base take turns."""

from __future__ import annotations

from dataclasses import replace
from math import dist

import numpy as np
import pytest

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.motion import JointTrajectory, MotionReference
from llm_planner.robots.robot_model import tucked_footprint
from llm_planner.scene.driven_base import driven_to, fixed_places, in_map, within_reach
from llm_planner.scene.geometry import distance_to_box, upright_pose
from llm_planner.scene.scene import Scene
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.mobile_arm import driving_route, floor_of, parking, zones_in_map

SKILLS = load_skills(learned=False)
OBJECTS = parse_objects("red block, blue bowl, mug")


@pytest.fixture
def world() -> TwoTables:
    return TwoTables(0, OBJECTS, arm=arm_model("mobile_ur5e"))


def table_under(scene: Scene, name: str) -> str:
    x, y = fixed_places(scene)[name][:2]
    tables = [item for item in in_map(scene).objects if item.kind == "table"]
    return next(table.name for table in tables if distance_to_box((x, y), table) == 0.0)


def other_table(scene: Scene, name: str) -> str:
    return {"left table": "right table", "right table": "left table"}[table_under(scene, name)]


def test_the_base_parks_where_the_arm_reaches(world):
    scene = world.scene()
    for name in scene.names:
        assert within_reach(driven_to(scene, parking(scene, name).pose), name)


def test_the_base_parks_off_the_table_and_faces_it(world):
    scene = world.scene()
    table = in_map(scene).find("left table")
    pose = parking(scene, "left table").pose
    assert distance_to_box(pose.position[:2], table) == pytest.approx(BASE_RADIUS + 0.07)


def test_the_route_keeps_off_tables_and_walls(world):
    scene = world.scene()
    there = driven_to(scene, parking(scene, "left table").pose)
    tables = [item for item in in_map(scene).objects if item.kind == "table"]
    route = [pose.position[:2] for pose in driving_route(there, "right table")]
    assert min(distance_to_box(place, table) for place in route for table in tables) > BASE_RADIUS + 0.05


def test_a_load_widens_the_footprint(world):
    scene = world.scene()
    held = replace(scene.find("blue bowl"), position=(0.40, 0.0, 0.42))
    carrying = replace(scene.with_object(held), held="blue bowl")
    assert floor_of(carrying).extent.radius > floor_of(scene).extent.radius
    assert floor_of(carrying).extent.bottom < tucked_footprint("mobile_ur5e").bottom


def test_a_table_with_something_tall_on_it_is_passed_with_the_whole_footprint(world):
    scene = world.scene()
    name = table_under(scene, "mug")
    tall = replace(scene.find("mug"), size=(0.1, 0.1, 1.0))

    def clearance(of: Scene) -> float:
        table = in_map(of).find(name)
        return next(one.radius for one in floor_of(of).obstacles("room") if one.center == table.position[:2])

    wider = tucked_footprint("mobile_ur5e").radius - BASE_RADIUS
    assert clearance(scene.with_object(tall)) == pytest.approx(clearance(scene) + wider)


def test_a_thing_on_the_floor_cannot_be_parked_at(world):
    scene = world.scene()
    fallen = replace(scene.find("mug"), position=(0.0, 0.0, -0.6))
    with pytest.raises(SkillError, match="the mug lies on no table"):
        parking(scene.with_object(fallen), "mug")


def test_rules_that_close_the_room_are_told(world):
    scene = world.scene()
    closed = Zone("the room", Shape.BOX, (5.0, 5.0, 1.0), upright_pose(0.0, 0.0, 0.0))
    with pytest.raises(SkillError, match="finds no free place and way"):
        parking(scene, "left table", (closed,))


def test_it_fetches_and_delivers(world):
    episode, goal = Episode(world), other_table(world.scene(), "red block")
    for name, what in (("approach", "red block"), ("pick", "red block"), ("approach", goal), ("place_on", goal)):
        result = episode.run(SKILLS.find(name), {"object": what})
        assert result.code is SkillErrorCode.SUCCEEDED, result.message
    assert table_under(world.scene(), "red block") == goal


def test_an_approach_to_what_is_within_reach_moves_nothing(world):
    episode = Episode(world)
    episode.run(SKILLS.find("approach"), {"object": "red block"})
    before = world.base_state().qpos
    assert episode.run(SKILLS.find("approach"), {"object": "red block"}).code is SkillErrorCode.SUCCEEDED
    assert np.abs(world.base_state().qpos - before).max() < 1e-3


class Driving:
    """Skill that sends the base to a place in the map for some seconds, whatever stands there."""

    name = phase = "drive"

    def __init__(self, x: float, y: float, seconds: float) -> None:
        self._goal, self._seconds, self._until = upright_pose(x, y, 0.0), seconds, 0.0

    def start(self, arguments, observation):
        self._until = observation.time + self._seconds
        return self

    def step(self, observation):
        if observation.time > self._until:
            return SkillResult(SkillErrorCode.SUCCEEDED)
        return MotionReference(observation.time, 0.1, (self._goal,), 0.08, of_base=True)


def touched(world: TwoTables) -> bool:
    """Return whether a part of the robot touches something that stands fixed."""
    root = world.model.body("mobile base").id
    bodies = world.model.geom_bodyid[world.data.contact.geom[:, :2]]
    of_robot = world.model.body_rootid[bodies] == root
    return bool((of_robot.any(axis=1) & ~of_robot.all(axis=1)).any())


def test_the_filter_keeps_the_base_off_a_table_that_it_is_sent_into(world):
    table = in_map(world.scene()).find("left table")
    Episode(world).run(Driving(*table.position[:2], 6.0), {})
    place = world.base_state().qpos[:2].tolist()
    assert distance_to_box((place[0], place[1]), table) > BASE_RADIUS
    assert not touched(world)


def test_the_filter_keeps_the_tucked_arm_off_a_wall(world):
    Episode(world).run(Driving(5.0, 0.0, 6.0), {})
    x, _, _ = world.base_state().qpos
    assert x + tucked_footprint("mobile_ur5e").radius < 2.6
    assert not touched(world)


def test_without_the_filter_the_base_runs_into_the_table(world):
    x, y, _ = in_map(world.scene()).find("left table").position
    hits = 0
    for _ in range(40):
        here = world.base_state().qpos
        way = np.array([x - here[0], y - here[1], 0.0])
        velocities = np.tile(0.5 * way / np.linalg.norm(way), (2, 1))
        plan = JointTrajectory(world.time, 1.0, np.tile(here, (2, 1)), velocities, np.zeros((1, 3)), 0.08)
        world.base.follow(plan, 0.1)
        hits += touched(world)
    assert hits


def test_the_base_does_not_drive_before_the_arm_is_tucked(world):
    episode = Episode(world)
    episode.run(SKILLS.find("approach"), {"object": "red block"})
    episode.run(SKILLS.find("reach"), {"object": "red block"})
    before = world.base_state().qpos
    result = episode.run(Driving(0.0, 0.0, 2.0), {})
    assert result.code is SkillErrorCode.CONTROLLER_FAULT
    assert "tucked" in result.message
    assert np.abs(world.base_state().qpos - before).max() < 2e-3


def test_a_stop_on_the_way_brings_the_base_to_rest(world):
    episode = Episode(world)

    def is_driving(observation):
        return np.abs(world.base_state().qvel).max() > 0.3

    result = episode.run(SKILLS.find("approach"), {"object": "red block"}, is_driving)
    assert result.code is SkillErrorCode.CANCELED
    assert np.abs(world.base_state().qvel).max() < 0.03


def test_the_zones_of_a_skill_stay_in_the_room_while_the_base_drives(world):
    seen = []

    class Noted(Driving):
        def step(self, observation):
            seen.extend(zones_in_map(observation.scene, observation.zones))
            return super().step(observation)

    ball = Zone("the ball", Shape.SPHERE, (0.1,), upright_pose(1.0, 0.5, 0.3))
    Episode(world).run(Noted(0.3, 0.3, 1.0), {}, zones=(ball,))
    first, last = seen[0].pose, seen[-1].pose
    assert last.position == pytest.approx(first.position, abs=1e-6)
    assert last.orientation == pytest.approx(first.orientation, abs=1e-6)


def test_before_it_drives_the_base_turns_where_it_stands(world):
    begun, places = world.scene().base.pose.position, []

    def noted(observation):
        places.append(observation.scene.base.pose.position)
        return len(places) > 10

    Episode(world).run(SKILLS.find("approach"), {"object": "red block"}, noted)
    assert max(dist(place, begun) for place in places) < 0.02


def test_a_speed_limit_holds_for_the_hand_in_a_turn_too(world):
    limit, speeds = 0.2, []

    def noted(observation):
        speeds.append(observation.scene.speed)
        return len(speeds) > 80

    Episode(world).run(
        SKILLS.find("approach"), {"object": "red block"}, noted, in_force=lambda now, speed: MotionConstraints(limit)
    )
    assert 0.5 * limit < max(speeds) < 1.1 * limit


def test_only_an_arm_that_drives_has_the_skill_approach(world):
    assert "approach" in SKILLS.for_scene(world.scene()).skills
    assert "approach" not in SKILLS.for_scene(replace(world.scene(), base=None)).skills
    assert "go_to" not in SKILLS.for_scene(world.scene()).skills
