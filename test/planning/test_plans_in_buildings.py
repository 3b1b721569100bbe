"""Plans for a mobile robot: what its skills are expected to change, and what is judged in the end."""

from dataclasses import replace
from math import dist

import pytest

from llm_planner.errors import LlmPlannerError, QuestionError
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_command, plan_program
from llm_planner.plans.plan import Outcome, StepStatus, goals_of, still_wanted
from llm_planner.plans.prediction import predict
from llm_planner.scene.furniture import docked
from llm_planner.scene.propositions import distance_to
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.floor_paths import walking_route
from llm_planner.skills.library import load_skills

LIBRARY = load_skills()


@pytest.fixture
def world():
    return open_world("rooms", 3, parse_things("red parcel, mug, Anna, Ben, dock"), rooms=8)


@pytest.fixture
def after(world):
    """The scene that calls should lead to, each as (skill, arguments)."""

    def foresee(*calls):
        scene = world.scene()
        for name, arguments in calls:
            scene = predict(scene, goals_of(LIBRARY.find(name).manifest.signature, "1", arguments, scene, {}))
        return scene

    return foresee


def fetch(name, room):
    return (
        ("go_to", {"destination": name}), ("pick_up", {"object": name}), ("go_to", {"destination": room}),
    )  # fmt: skip


@pytest.fixture
def steps_of(listed_model):
    """The steps planned for a command that is read so."""

    def steps(world, said, result):
        scene = world.scene()
        found = plan_command(said, scene, LIBRARY.for_scene(scene).signatures, listed_model({said: result}))
        return [str(step) for step in found.plan.steps]

    return steps


def planned(world, text):
    scene = world.scene()
    return plan_program("do it", text, scene, LIBRARY.for_scene(scene).signatures)


def test_going_to_a_room_leads_to_its_middle(after, world):
    scene = after(("go_to", {"destination": "lobby"}))
    assert scene.robot.position[:2] == world.building.find("lobby").area.center
    assert scene.robot_room == "lobby"


def test_going_to_a_person_leads_beside_them(after):
    scene = after(("go_to", {"destination": "Anna"}))
    assert 0.4 < dist(scene.robot.position[:2], scene.find("Anna").position[:2]) < 0.9
    assert scene.robot_room == scene.building.room_at(*scene.find("Anna").position[:2])


def test_following_leads_to_a_distance_behind_whom_it_follows(after):
    scene = after(("go_to", {"destination": "Anna"}), ("follow", {"object": "Anna", "seconds": 20.0, "distance": 1.5}))
    assert distance_to(scene, "Anna") == pytest.approx(1.5, abs=0.1)


def test_following_what_is_not_there_leads_nowhere(after, world):
    assert after(("follow", {"object": "dragon", "seconds": 20.0, "distance": 1.5})) == world.scene()


def test_docking_leads_into_the_dock_turned_as_it_is(after):
    scene = after(("dock", {"station": "dock"}))
    assert docked(scene, "dock")


def test_a_plan_may_end_in_the_dock(world):
    program = 'go_to("mug")\npick_up("mug")\ngo_to("lobby")\ndrop_off()\ndock("dock")'
    report = run_command("tidy up and charge", Workcell(world, LIBRARY), lambda scene: planned(world, program))
    assert (report.outcome, report.message) == (
        Outcome.DONE, "The gripper is empty; the mug lies in the lobby; the robot stands in the dock.",
    )  # fmt: skip


def test_a_plan_may_follow_somebody_who_walks(world):
    program = 'go_to("Anna")\nfollow("Anna", 15, 1.2)'
    walking: list[str] = []

    def walk(state):
        following = any(step.skill == "follow" and step.status is StepStatus.RUNNING for step in state.plan.steps)
        if following and not walking:
            walking.append("Anna")
            world.walk("Anna", walking_route(world.scene(), "Anna", ["hall", "lobby"]))

    report = run_command("follow Anna", Workcell(world, LIBRARY), lambda scene: planned(world, program), on_change=walk)
    assert (report.outcome, report.message) == (Outcome.DONE, "The robot is 1.2 m from Anna.")
    assert walking


def test_what_is_held_comes_along_and_is_left_behind_on_the_floor(after):
    carried = after(*fetch("mug", "lobby"))
    assert carried.held == "mug"
    assert carried.find("mug").position[:2] == carried.robot.position[:2]
    left = after(*fetch("mug", "lobby"), ("drop_off", {}))
    assert left.held == ""
    assert left.building.room_at(*left.find("mug").position[:2]) == "lobby"
    assert left.find("mug").position[2] == pytest.approx(left.find("mug").size[2] / 2)


def test_where_the_robot_was_is_no_goal_once_it_has_gone_on(world):
    scene, go_to = world.scene(), LIBRARY.find("go_to").manifest.signature
    first = goals_of(go_to, "1", {"destination": "mug"}, scene, {})
    second = goals_of(go_to, "2", {"destination": "lobby"}, scene, {})
    assert still_wanted(first, second) == second
    lies = goals_of(LIBRARY.find("drop_off").manifest.signature, "1", {}, after_drop(scene), {})
    assert still_wanted(lies, first) == (*lies, *first), "a thing does not move because somebody goes to it"


def after_drop(scene):
    return replace(scene, held="mug")


def test_a_thing_stays_where_it_was_dropped_when_the_robot_goes_on(world):
    program = 'go_to("mug")\npick_up("mug")\ngo_to("hall")\ndrop_off()\ngo_to("Anna")\ngo_to("lobby")'
    report = run_command("bring it", Workcell(world, LIBRARY), lambda scene: planned(world, program))
    assert (report.outcome, report.message) == (
        Outcome.DONE, "The gripper is empty; the mug lies in the hall; the robot is at the lobby.",
    )  # fmt: skip
    assert world.scene().robot_room == "lobby"


def test_what_somebody_carries_off_meanwhile_is_brought_again(world):
    program = 'go_to("mug")\npick_up("mug")\ngo_to("hall")\ndrop_off()\ngo_to("lobby")'
    taken: list[str] = []

    def take_away(state):
        dropped = any(step.skill == "drop_off" and step.status is StepStatus.DONE for step in state.plan.steps)
        if dropped and not taken:
            taken.append("mug")
            world.lay_out(put(world.scene(), "mug", "office"))

    report = run_command(
        "bring it", Workcell(world, LIBRARY), lambda scene: planned(world, program), on_change=take_away
    )
    assert report.outcome is Outcome.DONE
    assert room_of(world.scene(), "mug") == "hall"
    assert taken


def put(scene, name, room):
    x, y = scene.building.find(room).area.center
    lies = [replace(o, position=(x, y, o.position[2])) if o.name == name else o for o in scene.objects]
    return replace(scene, objects=tuple(lies))


def room_of(scene, name):
    return scene.building.room_at(*scene.find(name).position[:2])


def test_a_program_can_visit_everybody(world):
    report = run_command(
        "visit all",
        Workcell(world, LIBRARY),
        lambda scene: planned(world, 'for person in objects("person"):\n    go_to(person)\n    look()\nwait(1)'),
    )
    assert report.outcome is Outcome.DONE
    assert [str(step) for step in report.plan.steps] == ['go_to("Anna")', "look()", 'go_to("Ben")', "look()", "wait(1)"]


def test_a_person_is_told_of_without_an_article():
    conditions = LIBRARY.find("pick_up").manifest.signature.preconditions
    assert [condition.explain({"object": "Anna"}, "mug") for condition in conditions] == [
        "the robot still carries the mug; put it down first",
        "Anna is nothing that can be picked up",
        "Anna is in another room; go there first",
    ]


@pytest.mark.parametrize(
    ("program", "question"),
    [
        (
            'go_to("kitchin")',
            'there is no "kitchin" here .*the rooms are: .*hall.*; in them are: red parcel, mug, dock, Anna',
        ),
        ('pick_up("mug")', "the mug is in another room; go there first"),
        ('go_to("Anna")\npick_up("Anna")', "Anna is nothing that can be picked up"),
        ("drop_off()", "nothing is in the gripper"),
        ("go_to(3)", "destination must be a room, a person or an object, not 3"),
        ('go_to(position("mug"))', "destination must be a room, a person or an object, not a point"),
        ('pick("mug")', "pick"),
    ],
)
def test_what_cannot_work_is_told_before_anything_moves(world, program, question):
    with pytest.raises(LlmPlannerError, match=f"(?i){question}"):
        planned(world, program)


@pytest.mark.parametrize(
    ("words", "result", "end"),
    [
        ("by the lobby, the mug to ben", 'sequence(in("lobby"), and(holding("mug"), near("ben")))',
         ['go_to("Ben")', "drop_off()"]),
        ("the mug to ben and charge", 'visit(and(holding("mug"), near("ben"))); dock',
         ['go_to("Ben")', "drop_off()", 'dock("dock")']),
        ("the mug and the parcel to ben",
         'visit(and(holding("mug"), near("ben")), and(holding("parcel"), near("ben")))',
         ['go_to("Ben")', "drop_off()"]),
    ],
)  # fmt: skip
def test_what_a_goal_brings_to_a_person_is_handed_over(world, steps_of, words, result, end):
    steps = steps_of(world, words, result)
    assert steps[-len(end) :] == end
    assert steps.count("drop_off()") == steps.count('pick_up("mug")') + steps.count('pick_up("red parcel")')


def test_a_thing_is_carried_to_the_room_that_was_named_and_to_no_thing_in_it(steps_of):
    world = open_world("rooms", 13, parse_things("red parcel, blue parcel, Anna"), rooms=10)
    result = 'sequence(is_in("blue", "storage"), is_in(each("parcels"), "storage"))'
    steps = steps_of(world, "both parcels to the storage, the blue one first", result)
    assert steps[-2:] == ['go_to("storage")', "drop_off()"]


def test_a_plan_that_lacks_what_was_said_is_a_question(world, steps_of):
    with pytest.raises(QuestionError, match=r"says “half a minute”, but no step has it\. The steps: 1 go_to"):
        steps_of(world, "go to the lobby and wait half a minute there", 'go("lobby")')
