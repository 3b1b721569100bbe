import numpy as np
import pytest
from disturbed_world import Disturbance, DisturbedWorld

from llm_planner.control.adaptation import ArmRegressor
from llm_planner.control.formulation import hold
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

HOME = np.array(PANDA.home)


def sag(world: World) -> np.ndarray:
    """How far the joints hang from where they are told to stay [rad]."""
    world.follow(hold(HOME, 0.0, 0.1, 0.08), 1.0)
    return HOME - world.joint_state().qpos


def test_an_arm_without_a_disturbance_moves_as_the_undisturbed_one() -> None:
    np.testing.assert_allclose(sag(DisturbedWorld(Disturbance(), 0, [])), sag(World(0, [])), atol=2e-6)


def test_a_payload_pulls_the_arm_down_by_its_weight_over_the_stiffness() -> None:
    world = DisturbedWorld(Disturbance(payload=1.5), 0, [])
    arm = world.observation().T_base_gripper.position
    hanging = sag(world)

    # Joint 2 is 0.333 m up, straight above the base; the weight's lever is how far out the hand is.
    assert hanging[1] == pytest.approx(-1.5 * 9.81 * arm[0] / 6000.0, rel=0.02)
    assert abs(hanging[0]) < 1e-5


def test_a_weak_drive_lets_the_arm_sag_by_its_own_weight() -> None:
    weak = sag(DisturbedWorld(Disturbance(gain=np.eye(7)[1] * -0.2), 0, []))

    assert abs(weak[1]) > 1e-4
    assert np.abs(np.delete(weak, 1)).max() < 0.2 * abs(weak[1])


def test_heavier_links_hang_lower_and_lighter_ones_higher() -> None:
    heavier = sag(DisturbedWorld(Disturbance(masses=1.2), 0, []))
    lighter = sag(DisturbedWorld(Disturbance(masses=0.8), 0, []))

    np.testing.assert_allclose(heavier[[1, 3]], -lighter[[1, 3]], rtol=0.05)
    assert abs(heavier[1]) > 1e-4


def effort(disturbance: Disturbance) -> np.ndarray:
    """What the drives are told at rest [Nm]."""
    world = DisturbedWorld(disturbance, 0, [])
    sag(world)
    return world.joint_state().effort


def test_drives_are_told_to_hold_the_payload_and_the_arm() -> None:
    arm = World(0, []).observation().T_base_gripper.position

    assert (effort(Disturbance(payload=1.5)) - effort(Disturbance()))[1] == pytest.approx(
        -1.5 * 9.81 * arm[0], rel=0.02
    )
    np.testing.assert_allclose(
        effort(Disturbance()), ArmRegressor(PANDA).nominal_torque(HOME, 0 * HOME, 0 * HOME), atol=0.2
    )


def test_a_weak_drive_is_told_more() -> None:
    weak, sound = effort(Disturbance(gain=np.eye(7)[1] * -0.2)), effort(Disturbance())

    assert weak[1] == pytest.approx(sound[1] / 0.8, rel=0.02)
    np.testing.assert_allclose(np.delete(weak, 1), np.delete(sound, 1), atol=0.05)


def test_friction_is_that_of_the_joints() -> None:
    world = DisturbedWorld(Disturbance(viscous=np.arange(7.0), coulomb=np.full(7, 2.0)), 0, [])

    assert world.model.dof_damping[:7].tolist() == list(range(7))
    assert world.model.dof_frictionloss[:7].tolist() == [2.0] * 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"payload": -1.0}, "a payload must weigh 0 kg or more, not -1"),
        ({"masses": 0.0}, "masses must be scaled by more than 0, not 0"),
        ({"viscous": np.zeros(6)}, "viscous needs 7 numbers, one a joint of this arm, or one for all"),
        ({"coulomb": np.full(7, -1.0)}, "coulomb needs numbers of 0.0 or more, one a joint or one for all"),
        ({"gain": -1.0}, "gain needs numbers of -0.9 or more"),
    ],
)
def test_a_disturbance_that_no_arm_has_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DisturbedWorld(Disturbance(**wrong), 0, [])  # type: ignore[arg-type]
