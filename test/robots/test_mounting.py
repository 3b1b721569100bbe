"""An arm whose base is tilted on a pedestal, and one that hangs above the table."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from llm_planner.control.reach_map import DownwardReach, straight_down
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import TABLE_FRAME, ArmKinematics, Mounting, arm_model
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.predicates import in_
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "robots"
MOUNTED = [str(EXAMPLES / name) for name in ("ur5e_pedestal", "ur5e_gantry")]
UPRIGHT = "ur5e"


def test_a_mounting_turns_about_fixed_axes_as_in_a_urdf() -> None:
    rows = np.array(rotation_matrix(Mounting(rpy=(math.pi / 2, 0.0, math.pi / 2)).pose().orientation))

    assert rows @ (0.0, 0.0, 1.0) == pytest.approx((1.0, 0.0, 0.0))  # by roll to -y, by yaw to x


@pytest.mark.parametrize("robot", MOUNTED)
def test_the_hand_is_where_the_same_joints_take_it_from_the_base(robot: str) -> None:
    arm = arm_model(robot)
    base = arm.mounting.pose()
    upright = ArmKinematics(arm_model(UPRIGHT).fixed_fingers_spec().compile())
    mounted = ArmKinematics(arm.fixed_fingers_spec().compile())
    qpos = np.random.default_rng(0).uniform(arm.limits.qpos_min, arm.limits.qpos_max)

    expected = base.position + np.array(rotation_matrix(base.orientation)) @ upright.forward(qpos)[0]

    assert mounted.forward(qpos)[0] == pytest.approx(expected, abs=1e-5)
    assert (arm.base, arm.frame) == ("base_link", TABLE_FRAME)


@pytest.mark.parametrize("robot", [*MOUNTED, "so_arm"])
def test_the_filter_has_the_hand_where_the_controller_has_it(robot: str) -> None:
    arm = arm_model(robot)
    kinematics, body = ArmKinematics(arm.fixed_fingers_spec().compile()), arm_body(arm)
    qpos = np.random.default_rng(1).uniform(arm.limits.qpos_min, arm.limits.qpos_max, (50, arm.nq))

    seen = body.place(qpos).points[:, :, 0].T

    assert seen == pytest.approx(np.array([kinematics.forward(row)[0] for row in qpos]), abs=1e-4)


@pytest.mark.parametrize("robot", MOUNTED)
def test_the_stated_reach_is_reached(robot: str) -> None:
    arm = arm_model(robot)
    reach, home = DownwardReach(arm), np.array(arm.home)
    for height, nearest, farthest in arm.shape.profile:
        for radius in (nearest, farthest):
            assert reach.settle(straight_down(radius, 0.0, height, 0.0), home) is not None, (height, radius)


@pytest.mark.parametrize("robot", MOUNTED)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_mounted_arm_puts_a_block_into_a_bowl(robot: str, seed: int) -> None:
    world = open_world(objects=parse_objects("red block, green bowl"), seed=seed, robot=robot)
    episode, library = Episode(world), load_skills(learned=False)

    for skill, arguments in (("pick", {"object": "red block"}), ("place_in", {"object": "green bowl"})):
        result = episode.run(library.find(skill), arguments)
        assert result.code is SkillErrorCode.SUCCEEDED, f"{skill}: {result.message}"

    assert in_(world.scene(), "red block", "green bowl")
    assert not world.limit_watch.exceeded
