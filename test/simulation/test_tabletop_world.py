"""The physics of the tabletop: what rests stays, what is grasped is held, what is pushed moves."""

import mujoco
import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import KINDS, parse_objects
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world

PANDA = arm_model("panda")


def stand_still(world: World, seconds: float, width: float = 0.08) -> None:
    qpos = np.tile(world.joint_state().qpos, (2, 1))
    world.follow(JointTrajectory(world.time, 1.0, qpos, np.zeros((2, 7)), np.zeros((1, 7)), width), seconds)


def positions(scene: Scene) -> np.ndarray:
    return np.array([item.position for item in scene.objects])


def drop(world: World, name: str, position: tuple[float, float, float]) -> None:
    """Puts an object somewhere by hand: the beginning of a test, not a motion of the robot."""
    start = world.model.joint(name).qposadr[0]
    world.data.qpos[start : start + 7] = [*position, 1, 0, 0, 0]
    mujoco.mj_forward(world.model, world.data)


def test_an_unknown_world_is_answered_with_the_worlds():
    with pytest.raises(InputError, match="no world 'kitchen'; the worlds are: tabletop"):
        open_world("kitchen")


def test_the_same_seed_gives_the_same_world_to_the_last_digit():
    scenes = [open_world(seed=5).scene() for _ in range(2)]
    assert scenes[0] == scenes[1]
    assert open_world(seed=6).scene() != scenes[0]


def test_a_reset_world_is_as_good_as_a_new_one():
    world = open_world(seed=1)
    stand_still(world, 0.3, width=0.0)
    world.reset(5)
    assert world.scene() == open_world(seed=5).scene()
    assert world.time == 0.0


def test_the_scene_holds_what_was_asked_for():
    world = open_world(objects=parse_objects("red block, green bowl, mug"))
    assert world.scene().names == ("red block", "green bowl", "mug")
    assert world.scene().held == ""
    assert [item.size for item in world.scene().objects] == [KINDS[k].size for k in ("block", "bowl", "mug")]


@pytest.mark.parametrize("seed", range(8))
def test_objects_start_at_rest_on_the_table_and_stay_for_five_seconds(seed: int):
    world = open_world(seed=seed, objects=parse_objects("red block, blue bowl, green block, mug, vase, plate"))
    before = world.scene()
    heights = [KINDS[item.kind].size[2] / 2 for item in before.objects]
    assert positions(before)[:, 2] == pytest.approx(heights, abs=1e-3)
    stand_still(world, 5.0)
    assert positions(world.scene()) == pytest.approx(positions(before), abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_nothing_penetrates_at_the_start(seed: int):
    world = open_world(seed=seed)
    mujoco.mj_forward(world.model, world.data)
    for contact in world.data.contact[: world.data.ncon]:
        bodies = {world.model.body(world.model.geom_bodyid[geom]).name for geom in contact.geom}
        assert "world" in bodies, f"{bodies} touch"
        assert contact.dist > -1e-3


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.fixed])
def test_nothing_falls_through_the_table(kind: str):
    world = open_world(objects=parse_objects(kind))
    drop(world, kind, (0.45, 0.1, 0.3))
    stand_still(world, 2.0)
    item = world.scene().find(kind)
    assert item.position[2] >= 0.4 * min(item.size)
    assert item.position[:2] == pytest.approx((0.45, 0.1), abs=0.1)


@pytest.mark.parametrize("name", ["red block", "mug", "vase", "blue bowl", "plate"])
def test_a_grasped_object_is_lifted_and_carried_by_friction(name: str, hand):
    world = open_world(seed=3, objects=parse_objects("red block, blue bowl, mug, vase, plate"))
    fingers, before = hand(world), np.array(world.scene().find(name).position)
    fingers.grasp(name)
    assert world.scene().held == name
    fingers.move(np.array([0.5, -0.2, 0.3]), seconds=1.0)
    fingers.move(np.array([0.45, 0.25, 0.3]), seconds=1.0)
    assert world.scene().held == name
    assert world.scene().find(name).position[2] > before[2] + 0.1
    fingers.wait(width=0.08)
    assert world.scene().held == ""


def test_a_held_block_does_not_slip_while_the_arm_swings(hand):
    world = open_world(seed=3, objects=parse_objects("red block"))
    fingers = hand(world)
    fingers.grasp("red block")
    gaps = []
    for y in (-0.25, 0.25, -0.25, 0.25):
        fingers.move(np.array([0.5, y, 0.25]), seconds=1.0)
        gaps.append(np.linalg.norm(np.array(world.scene().find("red block").position) - world.gripper_pose().position))
    assert world.limit_watch.qvel_ratio.max() > 0.4  # it was a fast motion
    assert max(gaps) < 0.004


def test_closing_on_nothing_holds_nothing():
    world = open_world(seed=3)
    stand_still(world, 0.7, width=0.0)
    assert world.gripper_width() == pytest.approx(0.0, abs=1e-3)
    assert world.scene().held == ""


def test_the_gripper_opens_and_closes_at_its_own_speed():
    world = open_world(seed=3)
    stand_still(world, 0.2, width=0.0)
    assert world.gripper_width() == pytest.approx(0.04, abs=0.006)


def test_a_stack_stands_and_its_upper_block_falls_when_the_lower_one_is_taken_away():
    world = open_world(objects=parse_objects("red block, blue block"))
    drop(world, "red block", (0.45, 0.2, 0.02))
    drop(world, "blue block", (0.45, 0.2, 0.061))
    stand_still(world, 3.0)
    assert world.scene().find("blue block").position[2] == pytest.approx(0.06, abs=2e-3)
    drop(world, "red block", (0.45, -0.2, 0.02))
    world.data.qvel[9:] = 1e-3  # as a hand would disturb both
    stand_still(world, 1.0)
    assert world.scene().find("blue block").position[2] == pytest.approx(0.02, abs=2e-3)


def test_a_sleeping_block_is_pushed_by_the_closed_fingers(hand):
    world = open_world(seed=3, objects=parse_objects("red block"))
    x, y, _ = world.scene().find("red block").position
    fingers, side = hand(world), -np.sign(y)  # push towards the middle
    fingers.move(np.array([x, y - 0.07 * side, 0.15]), seconds=2.0, width=0.0)
    fingers.move(np.array([x, y - 0.07 * side, 0.02]))
    fingers.move(np.array([x, y + 0.06 * side, 0.02]), seconds=2.0)
    moved = world.scene().find("red block").position
    assert (moved[1] - y) * side == pytest.approx(0.06 + 0.02 + 0.015, abs=0.01)


def test_four_blocks_fit_into_a_bowl():
    blocks = ("red block", "blue block", "green block", "pink block")
    world = open_world(objects=parse_objects("gray bowl, " + ", ".join(blocks)))
    drop(world, "gray bowl", (0.5, 0.0, KINDS["bowl"].size[2] / 2))
    for name, (dx, dy, z) in zip(
        blocks, [(0.0, 0.021, 0.03), (0.0, -0.021, 0.03), (0.021, 0.0, 0.075), (-0.021, 0.0, 0.075)], strict=True
    ):
        drop(world, name, (0.5 + dx, dy, z))
    stand_still(world, 3.0)
    bowl = np.array(world.scene().find("gray bowl").position)
    for name in blocks:
        offset = np.array(world.scene().find(name).position) - bowl
        assert np.hypot(*offset[:2]) < 0.064


def test_joints_follow_a_smooth_trajectory_and_stay_inside_every_limit(hand):
    world = open_world(seed=0)
    arm = hand(world)
    for target in ([0.35, -0.3, 0.25], [0.6, 0.3, 0.2], [0.4, 0.0, 0.4]):
        arm.move(np.array(target), seconds=1.8)
        assert world.gripper_pose().position == pytest.approx(target, abs=1e-3)
    assert not world.limit_watch.exceeded, str(world.limit_watch)
    assert world.limit_watch.qacc_ratio.max() > 0.1


def test_a_limit_that_is_broken_is_noticed():
    world, home = open_world(seed=0), np.array(PANDA.home)
    jump = np.vstack([home, home + 0.02])
    world.follow(JointTrajectory(0.0, 0.002, jump, np.zeros((2, 7)), np.zeros((1, 7)), 0.08), 0.1)
    assert world.limit_watch.exceeded


def test_an_observation_shows_the_arm_at_home():
    seen = open_world(seed=0).observation()
    assert seen.qpos == pytest.approx(PANDA.home, abs=1e-3)
    assert seen.gripper_width == pytest.approx(0.08, abs=1e-3)
    assert seen.T_base_gripper.position == pytest.approx((0.307, 0.0, 0.487), abs=2e-3)
    assert len(PANDA.limits.qpos_min) == len(seen.qpos)
