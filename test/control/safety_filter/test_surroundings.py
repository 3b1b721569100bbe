"""What is left out cannot be reached; what lies ahead is linearised as it changes."""

import numpy as np
import pytest

from llm_planner.control.safety_filter import distances as among
from llm_planner.control.safety_filter.bodies import Ball, FlatBase
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PANDA = arm_model("panda")

FLOOR = Zone("the floor", Shape.BOX, (2.0, 2.0, 0.1), Pose((0.0, 0.0, -0.1)))
BODIES = {"arm": (arm_body(PANDA), 7), "base": (FlatBase(0.3, 0.5), 3), "drone": (Ball(0.2), 3)}


@pytest.mark.parametrize("seed", range(10))
def test_what_is_left_out_stays_clear_however_the_joints_move(surroundings, seed):
    around, rng = surroundings(seed), np.random.default_rng(seed)
    whole, way = among.surroundings(around.body, around.constraints.zones), rng.uniform(0.0, 0.1, 7)
    near = whole.near(around.qpos, way, 0.0)
    assert 0 < len(near) < len(whole)
    for _ in range(50):
        qpos = (around.qpos + rng.uniform(-1.0, 1.0, 7) * way)[None]
        every, seen = whole.clearance(qpos), near.clearance(qpos)
        assert max(every, 0.0) == pytest.approx(max(min(seen, every), 0.0))
        assert every >= 0.0 or seen == pytest.approx(every)


def test_a_wider_margin_counts_twice_between_two_points_of_the_body():
    own, zone = (among.surroundings(arm_body(PANDA), zones) for zones in ((), (FLOOR,)))
    both = among.surroundings(Ball(0.2), (FLOOR,))
    home, high = np.array(PANDA.home), np.array([0.0, 0.0, 0.7])
    assert own.widened(0.01).clearance(home) == pytest.approx(own.clearance(home) - 0.02), "both points may be off"
    assert both.widened(0.01).clearance(high) == pytest.approx(both.clearance(high) - 0.01)
    assert len(zone.near(home, np.zeros(7), 0.5)) < len(zone)


@pytest.mark.parametrize("name", BODIES)
def test_rows_say_how_a_change_of_the_acceleration_changes_clearances_at_rest(name):
    body, nq = BODIES[name]
    rng, hold = np.random.default_rng(1), 0.001
    zones = [Zone(f"thing {k}", Shape.SPHERE, (0.1,), Pose(tuple(rng.uniform(-0.4, 0.4, 3)))) for k in range(4)]
    model = among.surroundings(body, zones).model
    qpos, qvel = rng.uniform(-0.3, 0.3, nq), rng.uniform(0.5, 0.9, nq)
    scale, step = np.full(nq, 1e5), 0.0005  # so large a scale makes every gap relevant

    def rows(change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes, needs = np.empty((2 * len(model), nq)), np.empty(2 * len(model))
        ahead = model.look_ahead(qpos, qvel, change * scale, np.full(nq, 6.0), hold, 12)
        assert len(ahead.rows(0.1, 0.002, scale, slopes, needs)) == len(needs), "each at rest and half way there"
        return slopes[::2], needs[::2]

    slopes, _ = rows(np.zeros(nq))
    for joint in range(nq):
        # Several stages of braking more and less: their number changes in steps, which the slopes leave out.
        nudge = step * np.eye(nq)[joint]
        (_, more), (_, less) = rows(nudge), rows(-nudge)
        assert (less - more) / (2 * step) == pytest.approx(slopes[:, joint], rel=0.05, abs=0.05)
    assert np.abs(slopes).max() > 2.0


@pytest.mark.parametrize("given", [(np.zeros(2), np.zeros(3)), (np.zeros(3), np.zeros((3, 1)))])
def test_arrays_of_a_model_whose_shapes_disagree_are_refused(given):
    with pytest.raises(ValueError, match="shapes that disagree"):
        among.surroundings(Ball(0.2), ()).model.near(*given, 0.0)
