from __future__ import annotations

import math

import numpy as np

from llm_planner.programs.reward_program import check_reward
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.hand_geometry import grip_of, hand_slices, room
from llm_planner.skills.rewards.hand_model import pose_of
from llm_planner.skills.rewards.hand_motions import GAP, SPEED, draw_strokes
from llm_planner.skills.rewards.sampling import SamplingSettings

PANDA = arm_model("panda")

SCENE = open_world("tabletop", 1, parse_objects("red block, vase, green bowl, mug")).scene()
SETTINGS = SamplingSettings(horizon=1.0, knots=6)


def drawn(text: str, count: int = 40, scene: Scene = SCENE) -> np.ndarray:
    return draw_strokes(check_reward(text, scene), scene, count, SETTINGS, np.random.default_rng(0))


def test_every_stroke_begins_where_the_hand_fits_and_reaches() -> None:
    strokes = drawn("reach(tilt('vase') >= 80)")
    assert len(strokes) > 20
    for stroke in strokes:
        grip = grip_of(pose_of(stroke[0]))
        low, high = PANDA.shape.radius_range(grip.z)
        assert low <= math.hypot(grip.x, grip.y) <= high
        assert grip.z >= DEFAULT_HAND.tip
        assert room(hand_slices(grip, 0.0, DEFAULT_HAND), SCENE)[0] >= GAP


def test_strokes_go_straight_on_and_no_faster_than_a_push() -> None:
    for stroke in drawn("reach(moved('mug') >= 0.1)"):
        steps = np.diff(stroke[:, :2], axis=0)
        assert np.linalg.norm(steps, axis=1).max() <= SPEED * SETTINGS.horizon / (SETTINGS.knots - 1) + 1e-9
        moving = steps[np.linalg.norm(steps, axis=1) > 1e-9]
        along = moving / np.linalg.norm(moving, axis=1)[:, None]
        assert np.allclose(along, along[0])
        assert np.ptp(stroke[:, 2]) == 0.0


def test_strokes_start_beside_each_thing_that_is_to_be_moved_and_beside_no_other() -> None:
    text = "reach(distance('red block', 'vase') <= 0.1); keep(moved('vase') <= 0.01)"
    near = {"red block": 0, "vase": 0, "mug": 0}
    for stroke in drawn(text, 60):
        nearest = min(near, key=lambda name: math.dist(stroke[0, :2], SCENE.find(name).position[:2]))
        near[nearest] += 1
    assert near["red block"] > 0
    assert near["mug"] == 0


def test_where_the_hand_fits_nowhere_nothing_is_drawn() -> None:
    block = SceneObject("block", "block", "", (0.9, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))
    scene = Scene(0.0, (block,), robot=Pose((0.3, 0.0, 0.4), (1.0, 0.0, 0.0, 0.0)))
    assert drawn("reach(progress('block', 'top') >= 0.1)", 10, scene).shape == (0, 6, 6)
