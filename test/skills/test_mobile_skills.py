"""The skills of a mobile robot, in the simulated building."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.robots.motion import MotionReference
from llm_planner.scene.free_space import shortest_route
from llm_planner.scene.propositions import distance_to
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.base import Base, BaseSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()
SUCCEEDED = SkillErrorCode.SUCCEEDED


@pytest.fixture
def world():
    return open_world("rooms", 3, rooms=9)


@pytest.fixture
def do(world):
    """Runs a skill in the world."""
    episode = Episode(world)

    def run(name, **arguments):
        return episode.run(LIBRARY.for_scene(world.scene()).find(name), arguments)

    return run


def things(world, kind=None):
    fixed = ("person", "plant")
    return [i.name for i in world.scene().objects if (i.kind == kind if kind else i.kind not in fixed)]


def room_of(world, name):
    return world.building.room_at(*world.scene().find(name).position[:2])


def test_each_robot_is_offered_its_own_skills(world):
    mobile = LIBRARY.for_scene(world.scene())
    arm = LIBRARY.for_scene(open_world("tabletop").scene())
    assert sorted(mobile.skills) == [
        "dock", "drop_off", "follow", "go_to", "look", "manoeuvre", "pick_up", "wait",
    ]  # fmt: skip
    assert "pick" in arm.skills
    assert set(arm.skills) & set(mobile.skills) == {"wait"}
    assert {skill.name for skill in mobile} == {signature.name for signature in mobile.signatures}


def test_it_goes_to_every_room_by_the_shortest_way(world, do):
    for room in world.building.rooms:
        start, began = world.scene().robot.position[:2], world.time
        wanted = shortest_route(world.building, start, room.area.center).length
        assert do("go_to", destination=room.name).code is SUCCEEDED
        assert math.dist(world.scene().robot.position[:2], room.area.center) < 0.3
        assert world.time - began < wanted / 0.7 + 5.0
    assert not world.limit_watch.exceeded, "it has hit something"


def test_the_way_is_hardly_longer_than_the_shortest(world):
    for room in world.building.rooms:
        base = Base(world.observation(), BaseSettings())
        way = base.floor.way(base.position, room.area.center)
        length = sum(math.dist(a, b) for a, b in pairwise(way))
        assert length <= 1.15 * shortest_route(world.building, base.position, room.area.center).length


def test_it_visits_people_up_to_arms_length(world, do):
    for person in things(world, "person"):
        assert do("go_to", destination=person).code is SUCCEEDED
        assert distance_to(world.scene(), person) < 0.7
        assert world.scene().robot_room == room_of(world, person)


def test_it_fetches_a_thing(world, do):
    name = things(world)[0]
    assert do("go_to", destination=name).code is SUCCEEDED
    assert do("pick_up", object=name).code is SUCCEEDED
    assert world.scene().held == name
    assert do("go_to", destination="lobby").code is SUCCEEDED
    assert do("drop_off").code is SUCCEEDED
    assert (world.scene().held, room_of(world, name)) == ("", "lobby")


def test_several_things_find_their_place_in_one_room(world, do):
    for name in things(world)[:4]:
        for call, arguments in (
            ("go_to", {"destination": name}), ("pick_up", {"object": name}),
            ("go_to", {"destination": "hall"}), ("drop_off", {}),
        ):  # fmt: skip
            assert do(call, **arguments).code is SUCCEEDED, (call, name)
        assert room_of(world, name) == "hall"
    assert not world.limit_watch.exceeded, "it has hit something"


def test_to_go_to_what_it_carries_it_need_not_move(world, do):
    name = things(world)[0]
    do("go_to", destination=name)
    do("pick_up", object=name)
    before = world.scene().robot
    assert do("go_to", destination=name).code is SUCCEEDED
    assert world.scene().robot.position == pytest.approx(before.position, abs=1e-3)


def test_looking_turns_once_around(world, do):
    before = world.joint_state().qpos
    assert do("look").code is SUCCEEDED
    after = world.joint_state().qpos
    assert after[2] - before[2] == pytest.approx(2 * math.pi, abs=0.1)
    assert after[:2] == pytest.approx(before[:2], abs=0.02)


def test_waiting_takes_its_time_and_moves_nothing(world, do):
    began, before = world.time, world.joint_state().qpos
    assert do("wait", seconds=2.5).code is SUCCEEDED
    assert 2.5 <= world.time - began < 3.0
    assert world.joint_state().qpos == pytest.approx(before, abs=1e-6)


def refusal(world, do, skill, **arguments):
    before = world.time
    result = do(skill, **arguments)
    assert result.code is not SUCCEEDED
    assert world.time == before, "nothing moves"
    return result


def test_what_is_in_another_room_is_not_picked_up(world, do):
    name = next(name for name in things(world) if room_of(world, name) != "hall")
    result = refusal(world, do, "pick_up", object=name)
    assert result.code is SkillErrorCode.PRECONDITION_FAILED
    assert f"the {name} is in another room; go there first" in result.message


def test_people_are_not_picked_up(world, do):
    person = things(world, "person")[0]
    do("go_to", destination=person)
    assert f"{person} is nothing that can be picked up" in refusal(world, do, "pick_up", object=person).message


def test_hands_that_are_full_or_empty_are_told(world, do):
    assert "the robot carries nothing" in refusal(world, do, "drop_off").message
    first, second = things(world)[:2]
    do("go_to", destination=first)
    do("pick_up", object=first)
    assert f"the robot still carries the {first}" in refusal(world, do, "pick_up", object=second).message


def test_a_destination_that_is_not_there_is_told_with_the_choices(world, do):
    result = refusal(world, do, "go_to", destination="cellar")
    assert result.code is SkillErrorCode.INVALID_ARGUMENT
    assert "go_to cannot take 'cellar' as destination; choose one of:" in result.message
    assert all(name in result.message for name in (*world.building.names, *world.scene().names))


def test_waiting_is_bounded(world, do):
    assert "from 0 to 600 s for seconds, not -1" in refusal(world, do, "wait", seconds=-1).message


def test_a_base_that_is_held_up_says_so(world):
    """Told to drive, it does not move: nobody steps it."""
    library = LIBRARY.for_scene(world.scene())
    seen = world.observation()
    run = library.find("go_to").start({"destination": "lobby"}, seen)
    for k in range(200):
        outcome = run.step(replace(seen, time=0.1 * k))
        if not hasattr(outcome, "poses"):
            break
    assert outcome.code is SkillErrorCode.UNREACHABLE
    assert "m short during 'drive': something is in the way" in outcome.message


def test_who_has_to_wait_for_the_base_sends_it_no_farther(world):
    seen = world.observation()
    run = LIBRARY.for_scene(seen.scene).find("go_to").start({"destination": "lobby"}, seen)
    references = [run.step(replace(seen, time=0.1 * k)) for k in range(20)]
    assert len(references[0].poses) > 1
    assert len(references[-1].poses) == 1
    assert math.dist(references[-1].poses[0].position, seen.T_base_gripper.position) < 0.5


def errors_of(script):
    with pytest.raises(SkillError) as caught:
        list(script)
    return caught.value


def test_a_thing_that_has_gone_is_told(world):
    base = Base(world.observation(), BaseSettings())
    with pytest.raises(SkillError, match="the dragon is no longer in the scene"):
        base.find("dragon")


def test_where_there_is_no_building_nothing_drives():
    base = Base(open_world("tabletop").observation(), BaseSettings())
    with pytest.raises(SkillError, match="there is no building here to drive in"):
        list(base.drive("drive", (0.0, 0.0)))


def test_a_place_outside_cannot_be_reached(world):
    with pytest.raises(SkillError, match=r"there is no way there: the point \(99\.00, 0\.00\) lies outside"):
        list(Base(world.observation(), BaseSettings()).drive("drive", (99.0, 0.0)))


def crowded(world, room):
    """The room full of plants: one every half a metre."""
    seen, area = world.observation(), world.building.find(room).area
    plant = next(item for item in seen.scene.objects if item.kind == "plant")
    spots = [(x, y) for x in np.arange(area.x_min, area.x_max, 0.5) for y in np.arange(area.y_min, area.y_max, 0.5)]
    plants = [replace(plant, name=f"plant {k}", position=(*spot, 0.45)) for k, spot in enumerate(spots)]
    return replace(seen, scene=replace(seen.scene, objects=(*seen.scene.objects, *plants)))


def test_a_room_that_is_full_has_no_place_to_stand(world):
    run = LIBRARY.find("go_to").start({"destination": "lobby"}, crowded(world, "lobby"))
    result = run.step(crowded(world, "lobby"))
    assert (result.code, result.message) == (SkillErrorCode.NO_FREE_SPACE, "there is no space to stand in the lobby")


def test_a_person_in_a_crowd_cannot_be_approached(world):
    person = things(world, "person")[0]
    seen = crowded(world, room_of(world, person))
    result = LIBRARY.find("go_to").start({"destination": person}, seen).step(seen)
    assert result.message == f"there is no space to stand beside {person}"


def test_a_full_room_has_no_space_to_put_things_down(world, do):
    name = things(world)[0]
    do("go_to", destination=name)
    do("pick_up", object=name)
    do("go_to", destination="lobby")
    seen = crowded(world, "lobby")
    result = LIBRARY.find("drop_off").start({}, seen).step(seen)
    assert result.message == f"there is no space in the lobby to put the {name} down"


class LimpFingers:
    """The world, but for fingers that do not close."""

    def __init__(self, world):
        self.world = world

    def __getattr__(self, name):
        return getattr(self.world, name)

    def follow(self, trajectory, duration):
        self.world.follow(replace(trajectory, gripper_width=float("nan")), duration)


def test_fingers_that_close_on_nothing_are_told(world, do):
    name = things(world)[0]
    do("go_to", destination=name)
    result = Episode(LimpFingers(world)).run(LIBRARY.find("pick_up"), {"object": name})
    assert result.code is SkillErrorCode.NO_GRASP
    assert f"the fingers closed without taking hold of the {name}" in result.message


def test_fingers_that_do_not_open_are_told(world, do):
    name = things(world)[0]
    do("go_to", destination=name)
    do("pick_up", object=name)
    result = Episode(LimpFingers(world)).run(LIBRARY.find("drop_off"), {})
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert f"there was no space to put the {name} down" in result.message


@pytest.mark.parametrize("limit", [0.0, 1e-12])
def test_at_a_speed_of_nothing_the_base_stands_and_the_skill_waits(world, limit):
    scene = world.scene()
    elsewhere = next(name for name in scene.building.names if name != scene.robot_room)
    run = LIBRARY.for_scene(scene).find("go_to").start({"destination": elsewhere}, world.observation())
    for step in range(600):
        seen = world.observation()
        outcome = run.step(replace(seen, time=seen.time + 0.1 * step, speed_limit=limit))
        assert isinstance(outcome, MotionReference), outcome
        assert math.dist(outcome.poses[-1].position, seen.T_base_gripper.position) < 0.3
