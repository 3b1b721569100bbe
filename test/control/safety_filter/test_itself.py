"""An arm that is led into itself brakes before it touches, and works as before where it does not."""

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.motion_constraints import FREE
from llm_planner.control.reach_map import Touches
from llm_planner.control.safety_filter.distances import ITSELF, surroundings
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.motion import JointState

ROBOTS = ("panda", "ur5e", "xarm7")
TICK = 0.012  # [s]


def touching(touches: Touches, qpos: np.ndarray) -> list[tuple[str, str]]:
    """Links that touch one another in the simulator's model; the table is no part of the arm."""
    return [pair for pair in touches.at(qpos) if "the table" not in pair]


def folded(arm: ArmModel, touches: Touches, count: int) -> list[np.ndarray]:
    """Postures inside the limits in which the arm touches itself."""
    rng, found = np.random.default_rng(0), list[np.ndarray]()
    while len(found) < count:
        qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max)
        if touching(touches, qpos):
            found.append(qpos)
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_an_arm_that_is_led_into_itself_brakes_before_it_touches(name):
    arm = arm_model(name)
    touches, safety = Touches(arm), SafetyFilter(arm_body(arm), arm.limits)
    for goal in folded(arm, touches, 4):
        guard, home = Guard(safety), np.array(arm.home)
        guard.measured(JointState(0.0, home, np.zeros(arm.nq)))
        command, causes = formulation.hold(home, 0.0, 0.1, 0.08), set[str]()
        for now in np.arange(0.0, 4.0, TICK):
            here = formulation.sample(command, now)
            command = guard.accelerate(25.0 * (goal - here.qpos) - 10.0 * here.qvel, now, FREE) or command
            causes.update(guard.filtered.binding)
            assert not guard.filtered.infeasible
            assert not touching(touches, formulation.sample(command, now + TICK).qpos), name
        assert ITSELF in causes
        assert np.abs(formulation.sample(command, 4.0).qpos - home).max() > 0.3, "it went as far as it could"


@pytest.mark.parametrize("name", ROBOTS)
def test_every_posture_that_touches_is_one_for_the_filter_as_well(name):
    arm = arm_model(name)
    touches, around = Touches(arm), surroundings(arm_body(arm), ())
    assert around.clearance(np.array(arm.home)) > 0.0
    assert max(around.clearance(qpos) for qpos in folded(arm, touches, 60)) < 0.0


def test_a_plan_that_folds_the_arm_is_not_proved():
    arm = arm_model("ur5e")
    home, goal = np.array(arm.home), folded(arm, Touches(arm), 1)[0]
    stages = 200
    qacc = np.repeat([1.0, -1.0], stages // 2)[:, None] * (goal - home) / (stages // 2 * 0.05) ** 2
    start = formulation.StartState(home, np.zeros(arm.nq), np.zeros(arm.nq))
    plan = formulation.integrate(start, qacc, 0.0, 0.05, 0.08)
    assert SafetyFilter(arm_body(arm), arm.limits).prove(plan, 0.0, FREE).why == ITSELF
