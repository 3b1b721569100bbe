import numpy as np
import pytest

from llm_planner.control.adaptation.bounds import AdaptationBounds
from llm_planner.control.adaptation.servo import Servo, servo_of
from llm_planner.control.formulation import StartState
from llm_planner.control.reference import JointState
from llm_planner.errors import InputError
from llm_planner.simulation.panda import load_arm_model


def test_a_servo_pushes_where_a_joint_is_not_as_commanded() -> None:
    servo = Servo(np.array([1000.0, 500.0]), np.array([10.0, 0.0]))
    commanded = StartState(np.array([0.1, 0.2]), np.array([0.5, 0.0]), np.zeros(2))
    measured = JointState(0.0, np.array([0.09, 0.2]), np.array([0.4, 1.0]))

    np.testing.assert_allclose(servo.corrective_torque(commanded, measured), [11.0, 0.0])


def test_the_simulated_arms_servos_are_those_of_its_model() -> None:
    servo = servo_of(load_arm_model())

    assert servo.stiffness.tolist() == [6000.0] * 4 + [2500.0] * 3
    assert servo.damping.tolist() == [600.0] * 4 + [150.0] * 3


def test_a_servo_without_a_number_for_each_joint_is_refused() -> None:
    with pytest.raises(InputError, match=r"one stiffness and one damping a joint, not the shapes \(2,\) and \(3,\)"):
        Servo(np.ones(2), np.ones(3))


@pytest.mark.parametrize(("stiffness", "damping"), [(0.0, 1.0), (1.0, -1.0)])
def test_a_servo_that_does_not_push_back_is_refused(stiffness: float, damping: float) -> None:
    with pytest.raises(InputError, match="stiffness must be above 0 and its damping 0 or more"):
        Servo(np.array([stiffness]), np.array([damping]))


@pytest.mark.parametrize("name", ["payload", "reach", "viscous", "coulomb", "gain", "shift"])
def test_a_bound_that_allows_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"the bound of the adaptation's {name} must be above 0, not 0"):
        AdaptationBounds(**{name: 0.0})


def test_a_drive_that_may_give_nothing_at_all_is_refused() -> None:
    with pytest.raises(InputError, match=r"a share below 1, not 1\.5"):
        AdaptationBounds(gain=1.5)
