"""What a skill call leads the robot through, before anything moves."""

from dataclasses import replace
from itertools import groupby, pairwise
from math import dist

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.plans.plan import PlanStep
from llm_planner.plans.trace import MotionForecast, event_of, forecasts_of, foresee_motion, letter
from llm_planner.scene.places import Rectangle
from llm_planner.scene.propositions import Moment, distance_to, parse_proposition
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills
from llm_planner.skills.paths import MotionPath, Waypoint

SKILLS = {skill.name: skill for skill in load_skills().signatures}
# kitchen | lab | office over one long hall: doors along it lie on one line, which no way may follow into a room.
ROOMS = (
    Room("kitchen", Rectangle(0.0, 4.0, 4.0, 8.0)),
    Room("lab", Rectangle(4.0, 8.0, 4.0, 8.0)),
    Room("office", Rectangle(8.0, 12.0, 4.0, 8.0)),
    Room("hall", Rectangle(0.0, 12.0, 0.0, 4.0)),
    Room("cellar", Rectangle(20.0, 22.0, 0.0, 4.0)),
)
DOORS = (
    Door(("kitchen", "hall"), (2.0, 4.0)),
    Door(("office", "hall"), (10.0, 4.0)),
    Door(("kitchen", "lab"), (4.0, 6)),
)
IN_ROOMS = [parse_proposition(f"in(robot, {room.name})") for room in ROOMS]


def thing(name, x, y, size, bottom=0.0):
    return SceneObject(name, name.split()[-1], "", (x, y, bottom + size[2] / 2), IDENTITY, size)


@pytest.fixture
def house():
    parcel = thing("parcel", 1.0, 7.0, (0.3, 0.3, 0.3))
    return Scene(3.0, (parcel,), robot=Pose((2.0, 6.0, 0.0)), building=Building(ROOMS, DOORS))


@pytest.fixture
def table():
    items = (
        thing("red block", 0.45, 0.3, (0.04, 0.04, 0.04)),
        thing("red bowl", 0.45, -0.3, (0.128, 0.128, 0.045)),
        thing("vase", 0.5, 0.0, (0.07, 0.07, 0.14)),
    )
    return Scene(0.0, items, robot=Pose((0.307, 0.0, 0.487)))


def go(scene, name, *arguments, every_point=True):
    skill = SKILLS[name]
    values = {parameter.name: value for parameter, value in zip(skill.parameters, arguments, strict=True)}
    origins = {item.name: item.position for item in scene.objects}
    return foresee_motion(skill, values, scene, origins, every_point)


def letters(passage, *texts):
    propositions = [parse_proposition(text) for text in texts]
    return [sorted(one) for one in changes(letter(moment, propositions) for moment in passage.moments({}))]


def changes(seen):
    return tuple(one for one, _ in groupby(seen))


@pytest.mark.parametrize("every_point", [True, False])
def test_a_drive_passes_the_rooms_along_its_way_and_no_other(house, every_point):
    passage = go(house, "go_to", "office", every_point=every_point)
    rooms = letters(passage, *map(str, IN_ROOMS))
    assert rooms == [["in(robot, kitchen)"], ["in(robot, hall)"], ["in(robot, office)"]]


def test_the_length_of_a_drive_is_that_of_its_route(house):
    passage = go(house, "go_to", "office", every_point=False)
    assert passage.way.metres == pytest.approx(2.0 + 8.0 + 2.0)
    assert passage.scenes[-1].robot.position[:2] == (10.0, 6.0)
    assert passage.scenes[-1].time == pytest.approx(3.0 + passage.seconds)


def test_times_rise_along_the_way(house):
    times = [scene.time for scene in go(house, "go_to", "office").scenes]
    assert times == sorted(times)


def test_no_way_is_an_error(house):
    with pytest.raises(InputError, match="no doors lead from the kitchen to the cellar"):
        go(house, "go_to", "cellar")


def test_what_a_mobile_robot_carries_comes_along_and_stays_where_it_is_put_down(house):
    loaded = go(house, "pick_up", "parcel").scenes[-1]
    assert loaded.held == "parcel"
    there = go(loaded, "go_to", "office").scenes[-1]
    put = go(there, "drop_off")
    assert letters(put, "holding(parcel)", "in(parcel, office)") == [["holding(parcel)"], ["in(parcel, office)"]]


def test_that_a_call_ended_well_shows_for_one_moment(house):
    assert letters(go(house, "go_to", "lab"), "did(go_to, lab)") == [[], ["did(go_to, lab)"], []]


def test_a_skill_without_arguments_is_named_with_the_room_in_which_it_was_done(house):
    assert event_of(SKILLS["look"], {}, house) == ("look", "kitchen")
    assert event_of(SKILLS["go_home"], {}, replace(house, building=None)) == ("go_home",)


def test_a_pick_reaches_the_object_closes_and_lifts(table):
    passage = go(table, "pick", "red block")
    seen = letters(passage, "near(robot, red block)", "holding(red block)")
    assert seen == [[], ["near(robot, red block)"], ["holding(red block)", "near(robot, red block)"]]
    after = passage.scenes[-1]
    assert after.find("red block").position[2] > 0.14 + 0.02
    assert after.robot.position[2] > after.find("red block").position[2] - 0.04


def test_a_hand_travels_above_everything(table):
    passage = go(go(table, "pick", "red block").scenes[-1], "place_in", "red bowl")
    over = [scene for scene in passage.scenes if abs(scene.robot.position[1]) < 0.03]
    assert over
    for scene in over:
        assert scene.find("red block").position[2] - 0.02 > 0.14


def test_a_hand_swings_about_its_base_and_not_along_a_line(table):
    passage = go(go(table, "pick", "red block").scenes[-1], "place_in", "red bowl")
    middle = min(passage.scenes, key=lambda scene: abs(scene.robot.position[1]))
    assert middle.robot.position[0] > 0.5  # a straight line would pass at 0.45


def test_what_is_put_down_leaves_the_hand_where_it_will_lie(table):
    passage = go(go(table, "pick", "red block").scenes[-1], "place_in", "red bowl")
    assert letters(passage, "holding(red block)", "in(red block, red bowl)") == [
        ["holding(red block)"],
        ["in(red block, red bowl)"],
    ]


def test_a_push_goes_along_with_the_thing(table):
    passage = go(table, "push", "red block", "right", 0.1)
    assert passage.scenes[-1].find("red block").position[1] == pytest.approx(0.2)
    assert min(distance_to(scene, "red block") for scene in passage.scenes) < 0.03
    assert letters(passage, "moved(red block)") == [[]]  # its origin is not known here


def test_moving_is_judged_by_where_a_thing_lay_when_the_plan_began(table):
    passage = go(table, "push", "red block", "right", 0.1)
    moved = [
        letter(m, [parse_proposition("moved(red block)")]) for m in passage.moments({"red block": (0.45, 0.3, 0.02)})
    ]
    assert changes(moved) == (frozenset(), frozenset({"moved(red block)"}))


def test_a_pushed_thing_is_seen_wherever_it_slides_through(table):
    block = thing("red block", 0.45, 0.3, (0.04, 0.04, 0.04))
    passage = go(replace(table, objects=(block,)), "push", "red block", "right", 0.3)
    seen = letters(passage, "at(red block, left side)", "at(red block, middle)")
    assert seen == [
        ["at(red block, left side)"],
        ["at(red block, left side)", "at(red block, middle)"],
        ["at(red block, middle)"],
    ]
    ways = [scene.find("red block").position[1] for scene in passage.scenes]
    assert ways == sorted(ways, reverse=True)
    assert max(a - b for a, b in pairwise(ways)) < 0.021


def test_a_thing_in_the_way_of_a_push_is_foreseen_to_be_moved(table):
    origins = {item.name: item.position for item in table.objects}
    near = replace(table, objects=(*table.objects[:2], thing("vase", 0.45, 0.1, (0.07, 0.07, 0.14))))
    origins["vase"] = near.find("vase").position
    vase = [parse_proposition("moved(vase)")]
    seen = [letter(moment, vase) for moment in go(near, "push", "red block", "right", 0.2).moments(origins)]
    assert changes(seen) == (frozenset(), frozenset({"moved(vase)"}))


def test_the_hand_goes_along_with_the_thing_that_is_named_whatever_else_is_shoved(table):
    first = thing("a vase", 0.45, 0.1, (0.07, 0.07, 0.14))
    passage = go(replace(table, objects=(first, *table.objects[:1])), "push", "red block", "right", 0.2)
    assert max(abs(scene.robot.position[1]) for scene in passage.scenes) > 0.3  # behind the block


def test_what_is_picked_up_is_moved_from_the_moment_it_is_held(table):
    seen = letters(go(table, "pick", "vase"), "holding(vase)", "moved(vase)")
    assert seen == [[], ["holding(vase)", "moved(vase)"]]


def test_without_a_measured_hand_the_way_begins_above_the_first_place(table):
    blind = replace(table, robot=None)
    passage = go(blind, "pick", "red block")
    assert passage.scenes[0].robot.position[:2] == pytest.approx((0.45, 0.3), abs=0.01)
    assert go(blind, "open_gripper").scenes[-1].robot is None


def test_going_home_ends_at_the_resting_posture(table):
    away = replace(table, robot=Pose((0.5, 0.3, 0.1)))
    assert go(away, "go_home").scenes[-1].robot.position == pytest.approx((0.307, 0.0, 0.487))


@pytest.mark.parametrize("seed", range(20))
def test_points_along_a_way_are_close_together(table, seed):
    rng = np.random.default_rng(seed)
    start = Pose((float(rng.uniform(0.3, 0.6)), float(rng.uniform(-0.3, 0.3)), 0.3))
    scenes = go(replace(table, robot=start), "pick", "red block").scenes
    for a, b in pairwise(scenes):
        assert np.linalg.norm(np.subtract(a.robot.position, b.robot.position)) <= 0.021


def test_a_moment_without_events_shows_none():
    assert letter(Moment(Scene(0.0, ())), [parse_proposition("did(look, lab)")]) == frozenset()


@pytest.mark.parametrize("seed", [3, 4])
def test_a_mobile_robot_stops_where_it_was_foreseen_to(seed):
    world, library = open_world("rooms", seed), load_skills()
    episode = Episode(world)
    for item in world.scene().objects[:6]:
        foreseen = go(world.scene(), "go_to", item.name).scenes[-1].robot.position
        assert episode.run(library.find("go_to"), {"destination": item.name}).code is SkillErrorCode.SUCCEEDED
        assert world.scene().robot.position[:2] == pytest.approx(foreseen[:2], abs=0.05)


def test_a_way_that_ends_with_a_rest_never_comes_to_its_end_after_the_call():
    points = tuple(Waypoint((x, 0.0, 0.0)) for x in (0.0, 1.2, 2.4, 2.4))
    way, seconds = MotionPath(points, 2.4), 14.8  # 14.8 * 2.4 / 2.4 > 14.8
    times = MotionForecast(Scene(0.0, ()), Scene(0.0, ()), way, seconds).times()
    assert times[-2:] == (seconds, seconds)
    assert list(times) == sorted(times)


def test_the_ways_of_the_steps_ahead_follow_one_another_up_to_one_that_is_not_foreseen(table):
    steps = [
        PlanStep("1", "pick", {"object": "red block"}, 1),
        PlanStep("2", "place_in", {"object": "red bowl"}, 2),
        PlanStep("3", "fly", {}, 3),
        PlanStep("4", "go_home", {}, 4),
    ]
    (first, reaching), (second, carrying) = ((step, one.way) for step, one in forecasts_of(steps, SKILLS, table, {}))
    assert (first.id, second.id) == ("1", "2")
    assert reaching.points[0].position == table.robot.position
    assert min(dist(point.position, (0.45, 0.3, 0.02)) for point in reaching.points) < 0.02
    assert carrying.points[0].position == pytest.approx(reaching.points[-1].position)
    assert min(dist(point.position[:2], (0.45, -0.3)) for point in carrying.points) < 0.01
