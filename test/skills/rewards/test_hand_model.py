"""The model that rollouts of an arm run in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.programs.reward_terms import Start, outlines_of, still
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.scene import Pose, Scene
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.rewards.hand_model import HAND_JOINTS, HandModel, hand_of, hand_rotation, pose_of
from llm_planner.skills.rewards.sampling import Array, Rolled

SCENE = open_world("tabletop", 1, parse_objects("red block, vase, green bowl")).scene()


def beside(name: str, away: float, height: float) -> Array:
    """A closed hand on the robot's side of a thing."""
    x, y, _ = SCENE.find(name).position
    return np.array([x - away, y, height, 0.0, 0.0, 0.0])


def pushed(model: HandModel, start: Array, by: float) -> Rolled:
    controls = np.tile(start, (1, 100, 1))
    controls[0, :, 0] += np.linspace(0.0, by, 100)
    return model.rollouts.run(model.state(SCENE, start), controls)


def test_a_pose_and_the_joints_of_the_hand_are_the_same_thing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        hand = rng.uniform(-1.2, 1.2, len(HAND_JOINTS))
        assert hand_of(pose_of(hand)) == pytest.approx(hand)
        assert hand_rotation(hand[3:]) == pytest.approx(np.array(rotation_matrix(pose_of(hand).orientation)))


def test_the_hand_goes_where_it_is_told() -> None:
    model = HandModel(SCENE, (), 0.0)
    rolled = pushed(model, np.array([0.4, 0.0, 0.3, 0.2, 0.1, -0.1]), 0.1)
    assert rolled.qpos[0, -1, :6] == pytest.approx([0.5, 0.0, 0.3, 0.2, 0.1, -0.1], abs=0.01)


def test_what_may_move_is_pushed_and_what_may_not_stands() -> None:
    start = beside("red block", 0.06, 0.0135)
    name = ("red block", "robot")
    free, fixed = HandModel(SCENE, ["red block"], 0.0), HandModel(SCENE, (), 0.0)
    for model, least, most in ((free, 0.05, 0.15), (fixed, 0.0, 1e-9)):
        rolled = pushed(model, start, 0.15)
        futures = model.futures(rolled, model.state(SCENE, start)[1 : 1 + rolled.qpos.shape[2]], name, Start(SCENE), 5)
        block = futures.courses["red block"].position[0, :, 0]
        assert least <= block[-1] - block[0] <= most
        assert block.shape == (21,)
        assert futures.courses["robot"].position[0, 0] == pytest.approx(start[:3])
        assert futures.dt == pytest.approx(0.05)


def test_a_tall_thing_pushed_high_falls_and_pushed_low_slides() -> None:
    tilts = []
    for height in (0.10, 0.0135):
        model, start = HandModel(SCENE, ["vase"], 0.0), beside("vase", 0.075, height)
        rolled = pushed(model, start, 0.16)
        futures = model.futures(rolled, rolled.qpos[:, 0], ("vase",), Start(SCENE), 5)
        tilts.append(np.degrees(np.arccos(futures.courses["vase"].rotation[0, -1, 2, 2])))
    assert tilts[0] > 60.0
    assert tilts[1] < 20.0


def test_what_is_held_goes_along_with_the_hand() -> None:
    block = SCENE.find("red block")
    held = replace(SCENE, held="red block", robot=Pose(block.position, (1.0, 0.0, 0.0, 0.0)))
    model, start = HandModel(held, (), 0.04), hand_of(Pose(block.position, (1.0, 0.0, 0.0, 0.0)))
    controls = np.tile(start, (1, 100, 1))
    controls[0, :, 2] += 0.2
    controls[0, :, 4] += 0.5
    rolled = model.rollouts.run(model.state(held, start), controls)
    futures = model.futures(rolled, start, ("red block",), Start(held), 5)
    assert futures.courses["red block"].position[0, -1, 2] == pytest.approx(block.position[2] + 0.2, abs=0.01)
    tilt = np.arccos(futures.courses["red block"].rotation[0, -1, 2, 2])
    assert tilt == pytest.approx(0.5, abs=0.02)


def test_a_scene_at_rest_is_measured_as_in_the_model() -> None:
    scene: Scene = SCENE
    now = still(scene, ("vase",), Start(scene))
    assert now.courses["vase"].position[0, 0] == pytest.approx(scene.find("vase").position)
    assert outlines_of(scene)["green bowl"].round
    assert not outlines_of(scene)["red block"].round
