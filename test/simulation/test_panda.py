import mujoco
import numpy as np
import pytest

from llm_planner.robots.arm_model import arm_model

PANDA = arm_model("panda")


def test_the_arm_alone_has_seven_joints_with_the_limits_of_the_model():
    model = PANDA.fixed_fingers_spec().compile()
    assert model.nq == model.nv == model.nu == 7
    assert np.allclose(model.jnt_range, np.column_stack([PANDA.limits.qpos_min, PANDA.limits.qpos_max]))
    assert np.allclose(model.actuator_forcerange[:, 1], PANDA.limits.torque_max)
    assert [model.joint(k).name for k in range(7)] == list(PANDA.joints)


def test_the_gripper_pushes_with_the_force_that_is_documented():
    model = PANDA.make().compile()
    assert model.actuator("gripper").forcerange.tolist() == [-PANDA.gripper.force, PANDA.gripper.force]


def test_stretched_up_the_flange_stands_at_the_manufacturers_height():
    # d1 + d3 + d5 = 0.333 + 0.316 + 0.384 m, then a7 = 0.088 m forward and down the flange and the hand.
    position, rotation = PANDA.kinematics().forward(np.zeros(7))
    assert position == pytest.approx([0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107 - 0.1034], abs=1e-6)
    assert rotation[:, 2] == pytest.approx([0.0, 0.0, -1.0], abs=1e-6)


def test_at_home_the_gripper_points_straight_down_in_front_of_the_base():
    pose = PANDA.kinematics().pose(np.array(PANDA.home))
    assert pose.position == pytest.approx((0.307, 0.0, 0.487), abs=1e-3)
    assert np.abs(pose.orientation) == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-3)


def test_the_jacobian_is_the_derivative_of_the_forward_kinematics():
    arm, qpos, step = PANDA.kinematics(), np.array(PANDA.home) + 0.1, 1e-6
    position, rotation, jacobian = arm.jacobian(qpos)
    for joint in range(7):
        moved, turned = arm.forward(qpos + step * np.eye(7)[joint])
        skew = (turned - rotation) @ rotation.T / step
        numeric = np.concatenate([(moved - position) / step, [skew[2, 1], skew[0, 2], skew[1, 0]]])
        assert jacobian[:, joint] == pytest.approx(numeric, abs=1e-4)


def test_every_link_has_a_physically_possible_inertia():
    model = PANDA.fixed_fingers_spec().compile()
    for inertia in model.body_inertia[1:]:
        assert inertia.min() > 0
        assert inertia.sum() >= 2 * inertia.max() - 1e-9
    assert mujoco.mj_getTotalmass(model) == pytest.approx(18.0, abs=1.0)
