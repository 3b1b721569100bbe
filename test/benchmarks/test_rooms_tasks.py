"""The tasks by which planning in buildings is measured, and how their runs are judged."""

from __future__ import annotations

from dataclasses import replace

import bench_rooms
import pytest
import rooms_judge
import rooms_tasks

from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Pose, Room, Scene
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

ROOMS = ("hall", "lab", "vault")  # in a row
BUILDING = Building(
    tuple(Room(name, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, name in enumerate(ROOMS)),
    (Door(("hall", "lab"), (4, 2)), Door(("lab", "vault"), (8, 2))),
)
LIBRARY = load_skills()


def scene_in(room: str) -> Scene:
    return Scene(0.0, (), robot=Pose((*BUILDING.find(room).area.center, 0.0)), building=BUILDING)


def task(goals: dict[str, str], rules: dict[str, str]):
    clauses = [[rooms_tasks.Clause(words, formula) for words, formula in part.items()] for part in (goals, rules)]
    return rooms_tasks.RoomsTask(0, "", tuple(clauses[0]), tuple(clauses[1]))


VAULT = {"go to the vault": "F in(robot, vault)"}
NO_LAB = {"never enter the lab": "G !in(robot, lab)"}
BACK = {"come back": "G (in(robot, lab) -> F in(robot, hall))"}


def test_a_task_is_drawn_again_from_its_seed():
    scene = open_world("rooms", 3, rooms=9).scene()
    assert rooms_tasks.draw_task(scene, 3, 4) == rooms_tasks.draw_task(scene, 3, 4)


@pytest.mark.parametrize("rules", [1, 2, 3, 4, 5])
def test_a_task_says_each_of_its_goals_and_rules(rules):
    drawn = rooms_tasks.draw_task(open_world("rooms", rules).scene(), rules, rules)
    assert len(drawn.rules) == rules
    assert all(clause.words in drawn.command for clause in (*drawn.goals, *drawn.rules))


def test_about_one_task_in_ten_is_impossible():
    tasks = [rooms_tasks.draw_task(open_world("rooms", seed).scene(), seed, 1 + seed % 5) for seed in range(60)]
    assert 2 <= sum(not drawn.possible for drawn in tasks) <= 12


@pytest.mark.parametrize(
    ("rules", "possible"),
    [({}, True), (BACK, True), (NO_LAB, False), ({"only from there": "!in(robot, lab) W in(robot, vault)"}, False)],
)
def test_what_can_be_done_is_searched_for(rules, possible):
    assert rooms_tasks.can_be_done(task(VAULT, rules), scene_in("hall")) is possible


def test_a_building_in_which_nothing_fits_is_told():
    scene = open_world("rooms", 0).scene()
    elsewhere = tuple(item for item in scene.objects if scene.building.room_at(*item.position[:2]) != "hall")
    walled = replace(scene, objects=elsewhere, building=replace(scene.building, doors=()))
    with pytest.raises(ValueError, match="no task with 1 rules fits the building of seed 0; take another seed"):
        rooms_tasks.draw_task(walled, 0, 1)


def test_a_run_is_judged_by_what_was_recorded():
    scenes = [scene_in(room) for room in ("hall", "lab", "vault")]
    assert rooms_judge.judge(task(VAULT, NO_LAB), scenes, True) == rooms_judge.Judged(
        ("never enter the lab",), True, 8.0
    )
    assert rooms_judge.judge(task(VAULT, {}), scenes[:2], True).reached is False


def test_a_run_that_was_given_up_has_broken_only_what_cannot_be_kept_any_more():
    scenes = [scene_in(room) for room in ("hall", "lab")]
    assert rooms_judge.judge(task(VAULT, BACK), scenes, finished=False).broken == ()
    assert rooms_judge.judge(task(VAULT, BACK), scenes, finished=True).broken == ("come back",)
    assert rooms_judge.judge(task(VAULT, NO_LAB), scenes, finished=False).broken == ("never enter the lab",)


def test_the_straight_program_does_the_goals_as_they_are_mentioned():
    program = bench_rooms.straight_program(["F (in(robot, lab) & F near(robot, Anna))", "F in(mug, vault)"])
    assert program.splitlines() == [
        'go_to("lab")', 'go_to("Anna")', 'go_to("mug")', 'pick_up("mug")', 'go_to("vault")', "drop_off()"
    ]  # fmt: skip


def test_with_a_perfect_reader_tasks_are_done_and_impossible_ones_refused():
    figures = bench_rooms.main(["--model", "truth", "--tasks", "6", "--seed", "15", "--planners", "planner"])["planner"]
    assert figures["safe, of the finished"]["share"] == figures["impossible ones refused"]["share"] == 1.0
    assert figures["complete"]["share"] == 1.0
    assert 1.0 <= figures["metres driven / shortest"]["mean"] <= 1.15
    assert figures["kinds"]["refused rightly"] >= 1


def test_intervals_hold_the_share():
    share = bench_rooms._share(9, 10)
    assert share["low"] < share["share"] == 0.9 < share["high"] < 1.0
    assert bench_rooms._share(0, 0)["of"] == 0
