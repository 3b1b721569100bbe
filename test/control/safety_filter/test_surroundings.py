"""What is left out cannot be reached; what stays is placed as before."""

import numpy as np
import pytest

from llm_planner.control.safety_filter import distances as among
from llm_planner.control.safety_filter.bodies import Ball, FlatBase
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import arm_model

PANDA = arm_model("panda")

BODIES = {"arm": (arm_body(PANDA), 7), "base": (FlatBase(0.3, 0.5), 3), "drone": (Ball(0.2), 3)}


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_out_stays_clear_however_the_joints_move(surroundings, seed):
    around, rng = surroundings(seed), np.random.default_rng(seed)
    whole, way = among.surroundings(around.body, around.constraints.zones), rng.uniform(0.0, 0.1, 7)
    near = whole.near(around.qpos, way, 0.0)
    assert len(near.body.radii) < len(around.body.radii)
    for _ in range(50):
        qpos = (around.qpos + rng.uniform(-1.0, 1.0, 7) * way)[None]
        every, seen = whole.clearance(qpos), near.clearance(qpos)
        assert max(every, 0.0) == pytest.approx(max(min(seen, every), 0.0))
        assert every >= 0.0 or seen == pytest.approx(every)


@pytest.mark.parametrize("name", BODIES)
def test_a_part_of_a_body_is_placed_and_moved_as_in_the_whole(name):
    body, nq = BODIES[name]
    rng, some = np.random.default_rng(0), np.array([0, len(body.radii) - 1])
    part, qpos, normals = body.part(some), rng.uniform(-1.0, 1.0, (4, nq)), rng.normal(size=(2, 3))
    assert part.radii == pytest.approx(body.radii[some])
    assert part.reach == pytest.approx(body.reach[some])
    whole_placed, placed, posture = body.place(qpos), part.place(qpos), np.array([1, 3])
    assert placed.points == pytest.approx(whole_placed.points[:, :, some])
    slopes = placed.slopes(posture, np.array([0, 1]), normals)
    assert slopes == pytest.approx(whole_placed.slopes(posture, some, normals))
