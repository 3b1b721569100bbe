import mujoco
import numpy as np
import pytest

from llm_planner.control.adaptation import ArmRegressor
from llm_planner.control.adaptation_estimator import Kind, Layout
from llm_planner.robots.arm_model import arm_model

PANDA = arm_model("panda")

RNG = np.random.default_rng(0)
QPOS = np.array(PANDA.home) + RNG.normal(0.0, 0.2, 7)
QVEL, QACC = RNG.normal(0.0, 0.5, 7), RNG.normal(0.0, 2.0, 7)
NOTHING = np.zeros(28)


def torque_of(payload: float, place: tuple[float, float, float]) -> np.ndarray:
    """What MuJoCo's inverse dynamics asks of an arm with a point mass in its hand."""
    spec = PANDA.make()
    for part in (spec.actuator("gripper"), spec.equality("fingers"), spec.tendon("gripper_width")):
        spec.delete(part)
    for name in PANDA.fingers:
        spec.delete(spec.joint(name))
    body = spec.body("panda_hand").add_body(pos=spec.site("gripper").pos + np.array(place))
    body.mass, body.ipos, body.inertia, body.explicitinertial = payload, np.zeros(3), np.full(3, 1e-9), True
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = QPOS, QVEL, QACC
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse + data.qfrc_gravcomp


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (0.003, -0.002, 0.004)])
def test_the_columns_of_a_payload_are_what_a_small_body_in_the_hand_takes(
    regressor: ArmRegressor, place: tuple[float, float, float]
) -> None:
    extra = torque_of(1.5, place) - torque_of(1e-9, place)

    rows = regressor.rows(QPOS, QVEL, QACC, NOTHING)

    np.testing.assert_allclose(rows[:, :4] @ (1.5 * np.array([1.0, *place])), extra, atol=1e-3)


def test_the_nominal_torque_is_that_of_the_arms_inverse_dynamics(regressor: ArmRegressor) -> None:
    np.testing.assert_allclose(regressor.nominal_torque(QPOS, QVEL, QACC), torque_of(1e-9, (0.0, 0.0, 0.0)), atol=1e-5)


def test_friction_drives_and_pushes_have_columns_of_their_own(regressor: ArmRegressor) -> None:
    rows, layout = regressor.rows(QPOS, QVEL, QACC, NOTHING), regressor.layout

    np.testing.assert_allclose(rows[:, layout.of(Kind.VISCOUS)], np.diag(QVEL))
    np.testing.assert_allclose(rows[:, layout.of(Kind.COULOMB)].diagonal(), np.tanh(QVEL / 0.02))
    nominal = regressor.nominal_torque(QPOS, QVEL, QACC)
    np.testing.assert_allclose(rows[:, layout.of(Kind.GAIN)], -np.diag(nominal))
    lifted_by_10_newton = rows[:, layout.of(Kind.PUSH)] @ [0.0, 0.0, 10.0]
    at_rest = regressor.rows(QPOS, np.zeros(7), np.zeros(7), NOTHING)
    np.testing.assert_allclose(lifted_by_10_newton, -at_rest[:, 0] * 10.0 / 9.81, rtol=1e-3)


def test_a_weak_drive_is_told_more_until_it_gives_what_the_motion_takes(regressor: ArmRegressor) -> None:
    theta, drives = np.zeros(28), regressor.layout.of(Kind.GAIN)
    theta[0], theta[drives] = 1.5, -0.2
    taken = regressor.nominal_torque(QPOS, QVEL, QACC) + 1.5 * regressor.rows(QPOS, QVEL, QACC, NOTHING)[:, 0]

    told = regressor.nominal_torque(QPOS, QVEL, QACC) + regressor.rows(QPOS, QVEL, QACC, theta) @ theta

    np.testing.assert_allclose(0.8 * told, taken)


def test_a_joint_at_rest_says_nothing_of_its_friction(regressor: ArmRegressor) -> None:
    rows = regressor.rows(QPOS, np.zeros(7), QACC, NOTHING)

    assert not rows[:, regressor.layout.of(Kind.COULOMB)].any()


def test_every_unknown_is_in_one_group_but_mass_and_centre_go_together() -> None:
    layout = Layout(7)
    indices = np.concatenate([group.index for group in layout.groups()])

    assert sorted(indices) == list(range(layout.size)) == list(range(28))
    assert [len(group.index) for group in layout.groups()] == [4, *[1] * 21, 3]
    assert layout.filled(dict.fromkeys(Kind, 2.0)).tolist() == [2.0] * 28
