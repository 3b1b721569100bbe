"""Training worlds, what goes wrong in them, and demonstrations as they are recorded."""

import math
import shutil

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.cases import CASES, Case, draw_case
from llm_planner.learning.demonstrations import (
    begin_anywhere,
    demonstrate,
    place_wanted,
    put_hand,
    shove_hand,
    shove_thing,
)
from llm_planner.learning.evaluating import evaluate
from llm_planner.learning.report import wilson
from llm_planner.learning.training_task import demonstrators, learnable, open_training_task
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.share import share_folder
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.world import World
from llm_planner.skills.hand_geometry import Aim, HandPose
from llm_planner.skills.learned.features import frame_of

SKILLS = share_folder("skills")
BLOCK = Case((ObjectSpec("red block", "block", "red", 0.9),), {"object": "red block"})


@pytest.fixture
def task(tmp_path):
    return open_training_task(SKILLS, tmp_path, "pick")


def test_an_unknown_training_world_is_refused_with_what_there_is():
    with pytest.raises(InputError, match="no training world 'moon'; there are: reach, pick"):
        draw_case("moon", 0)


@pytest.mark.parametrize("world", CASES)
def test_a_case_is_drawn_from_its_seed_alone(world):
    assert draw_case(world, 3) == draw_case(world, 3)
    assert any(draw_case(world, seed) != draw_case(world, 3) for seed in range(4, 8))


def test_things_come_in_all_sizes():
    scales = [item.scale for seed in range(50) for item in draw_case("pick", seed).objects]
    assert min(scales) < 0.85
    assert max(scales) > 1.15


def test_towers_stand():
    drawn = [(seed, draw_case(name, seed)) for name in ("pick", "place_on") for seed in range(12)]
    towered = [(seed, case) for seed, case in drawn if any(len(tower) > 1 for tower in case.towers)]
    assert towered
    for seed, case in towered:
        world = World(seed, case.objects)
        case.prepare(world)
        placed = {name: world.scene().find(name).position for tower in case.towers for name in tower}
        for _ in range(200):
            world._mujoco.mj_step(world.model, world.data)
        for name, place in placed.items():
            assert math.dist(world.scene().find(name).position, place) < 0.004, (seed, name)


def test_every_skill_that_can_be_learned_has_its_world():
    for name in learnable(SKILLS):
        assert open_training_task(SKILLS, SKILLS, name).contract.world in CASES


def test_hands_begin_in_many_places_and_touch_nothing():
    rng, places = np.random.default_rng(0), []
    for _ in range(6):
        world = World(0, BLOCK.objects)
        before = world.scene().find("red block").position
        begin_anywhere(world, ["red block"], rng)
        places.append(world.gripper_pose().position)
        assert world.scene().find("red block").position == pytest.approx(before, abs=1e-3)
    assert max(math.dist(a, b) for a in places for b in places) > 0.1


@pytest.mark.parametrize(("x", "there"), [(0.5, True), (1.5, False)])
def test_a_hand_is_put_where_the_arm_reaches_only(x: float, there: bool):
    world, place = World(0, BLOCK.objects), (x, 0.1, 0.3)
    assert put_hand(world, HandPose(*place, 0.2), 0.03) is there
    assert (math.dist(world.gripper_pose().position, place) < 0.002) is there


def test_a_shoved_thing_lies_near_where_it_was():
    world = World(0, BLOCK.objects)
    before = world.scene().find("red block").position
    assert shove_thing(world, ["red block"], np.random.default_rng(0))
    assert 0.009 < math.dist(world.scene().find("red block").position, before) < 0.05


def test_a_drawer_is_shoved_by_being_opened_a_little():
    world = World(0, (ObjectSpec("drawer", "drawer", ""),))
    world.slide_part("drawer", 0.05)
    assert shove_thing(world, ["drawer"], np.random.default_rng(0))
    assert 0.0 < abs(world.scene().find("drawer").state - 0.05) <= 0.031


def test_a_button_stands_fast():
    world = World(0, (ObjectSpec("button", "button", ""),))
    assert not shove_thing(world, ["button"], np.random.default_rng(0))


def test_a_shoved_hand_is_pushed_off_its_place():
    world = World(0, BLOCK.objects)
    before = world.gripper_pose().position
    shove_hand(world, np.random.default_rng(0))
    for _ in range(120):
        world._mujoco.mj_step(world.model, world.data)
    assert math.dist(world.gripper_pose().position, before) > 0.01


def test_a_demonstration_ends_done_and_is_in_pieces_where_it_was_disturbed(task):
    recordings = demonstrate(task, BLOCK, demonstrators(SKILLS), 3)
    assert recordings
    for recording in recordings:
        task.format.check(recording)
    assert recordings[-1].columns["action"][-1, 5] == 1.0
    assert sum(recording.columns["action"][:, 5].sum() for recording in recordings) == 4


def test_the_same_seed_demonstrates_the_same(task):
    first, second = (demonstrate(task, BLOCK, demonstrators(SKILLS), 5) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        for column, values in one.columns.items():
            np.testing.assert_array_equal(values, other.columns[column])


def test_a_wanted_place_lies_between_the_poses_around_its_time():
    poses = (HandPose(0.4, 0.0, 0.2, 0.0).pose(), HandPose(0.4, 0.0, 0.1, 0.0).pose())
    frame = frame_of(Aim(HandPose(0.4, 0.0, 0.0, 0.0)))
    reference = MotionReference(0.0, 0.1, poses, 0.04)
    assert place_wanted(reference, 0.05, frame)[2] == pytest.approx(0.15)
    assert place_wanted(reference, 9.0, frame)[2] == pytest.approx(0.1)


@pytest.mark.parametrize("perturbed", [False, True])
def test_a_trial_is_decided_by_the_scene(perturbed):
    library = demonstrators(SKILLS)
    seen: list[Observation] = []
    trial = evaluate(library.find("pick"), BLOCK, library, 1, perturbed, seen.append)
    assert trial.done is (seen[-1].scene.held == "red block")
    assert bool(trial.shoved) <= perturbed


def test_demonstrations_and_trials_are_of_the_arm_that_is_asked_for(tmp_path):
    task, library = open_training_task(SKILLS, tmp_path, "reach", "ur5e"), demonstrators(SKILLS)
    assert task.format.robot_type == "ur5e"
    assert demonstrate(task, BLOCK, library, 5)
    seen: list[Observation] = []
    assert evaluate(library.find("reach"), BLOCK, library, 1, False, seen.append, task.arm).succeeded
    assert {observation.scene.arm for observation in seen} == {"ur5e"}


def test_one_policy_by_sight_serves_all_arms(tmp_path):
    with pytest.raises(InputError, match="serves all arms; leave --robot ur5e out"):
        open_training_task(SKILLS, tmp_path, "pick_by_sight", "ur5e")


def test_a_case_in_which_the_skill_refuses_to_begin_does_not_count():
    library = demonstrators(SKILLS)
    case = Case((ObjectSpec("red bowl", "bowl", "red"),), {"object": "red bowl"}, ())
    trial = evaluate(
        library.find("push"),
        Case(case.objects, {"object": "red bowl", "direction": "top", "distance": 0.3}),
        library,
        2,
        False,
    )
    assert trial.valid or not trial.done


def test_a_trial_that_a_shove_made_impossible_is_left_out():
    case = draw_case("pick", 900_000_117)
    trial = evaluate(demonstrators(SKILLS).find("pick"), case, demonstrators(SKILLS), 900_000_117, True)
    assert (trial.shoved, trial.succeeded, trial.valid) == ("hand", False, False)


def test_wilsons_interval_is_the_textbooks():
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.490, 0.943), abs=1e-3)


def test_a_skill_without_a_training_world_is_trained_on_calls_that_make_sense(tmp_path):
    for skill in ("pick", "place_in"):
        shutil.copytree(SKILLS / skill, tmp_path / skill)
    manifest = tmp_path / "place_in" / "skill.yaml"
    manifest.write_text(manifest.read_text().replace("  world: place_in\n", ""))
    case = open_training_task(tmp_path, tmp_path / "work", "place_in").draw_case(0)
    ((first, held),) = case.before
    assert (first, case.arguments["object"]) == ("pick", "red bowl")
    assert held["object"] in {item.name for item in case.objects} - {"red bowl"}
