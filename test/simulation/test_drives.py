"""How closely the simulated drives follow what is commanded."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.control.formulation import StartState, integrate, sample
from llm_planner.simulation.worlds import open_world


@pytest.mark.parametrize(("robot", "most"), [("panda", 5e-5), ("ur5e", 5e-5), ("xarm7", 6e-4)])
def test_a_joint_follows_a_changing_velocity_despite_friction(robot: str, most: float) -> None:
    world = open_world(objects=(), robot=robot)
    home, limits = np.array(world.arm.home), world.limits
    faster = np.tile(0.4 * limits.qacc_max, (10, 1)) * np.resize([1.0, -1.0], len(home))
    qacc = np.concatenate([faster, -faster, -faster, faster])
    plan = integrate(StartState(home, np.zeros_like(home), np.zeros_like(home)), qacc, 0.0, 0.02, 0.08)
    off = []
    for _ in range(80):
        world.follow(plan, 0.01)
        off.append(np.abs(world.joint_state().qpos - sample(plan, world.time).qpos).max())

    assert max(off) < most
