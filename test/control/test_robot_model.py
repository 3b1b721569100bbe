"""Distances of a robot from zones and their gradients, against closed forms and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llm_planner.control.controlled_robot import base_spec
from llm_planner.control.keep_out import KeepOutSettings, select
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.carried import Carried
from llm_planner.robots.robot_model import RobotModel
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

PANDA = arm_model("panda")

TURNED = (0.0, 0.0, math.sin(0.4), math.cos(0.4))
SHAPES = {
    Shape.SPHERE: (0.08,),
    Shape.CAPSULE: (0.04, 0.1),
    Shape.CYLINDER: (0.06, 0.1),
    Shape.BOX: (0.05, 0.1, 0.15),
}


@pytest.fixture(scope="module")
def model() -> RobotModel:
    return RobotModel(PANDA.collision_spec)


def random_postures(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.7 * PANDA.limits.qpos_min, 0.7 * PANDA.limits.qpos_max, (count, 7))


def pairs_of(model: RobotModel, *solids: int) -> np.ndarray:
    return np.array([(solid, zone) for solid in solids for zone in range(len(model.zones))])


def test_the_point_and_its_jacobian_are_those_of_the_arm(model: RobotModel, arm: ArmKinematics) -> None:
    postures = model.postures(random_postures(5))
    for k, qpos in enumerate(postures.qpos):
        position, _, jacobian = arm.jacobian(qpos)
        assert postures.point[k] == pytest.approx(position)
        assert model.point_jacobian(postures)[k] == pytest.approx(jacobian[:3].T, abs=1e-9)


def test_what_stands_on_the_table_or_only_turns_is_left_out(model: RobotModel) -> None:
    names = {model.model.geom(solid).name for solid in model.links}
    assert {"link2_upper", "link4", "link7", "hand", "fingers"} <= names
    assert not names & {"link0", "link1"}


@pytest.mark.parametrize("shape", Shape)
def test_the_gradient_is_that_of_the_distance(model: RobotModel, shape: Shape) -> None:
    model.watch((Zone("thing", shape, SHAPES[shape], Pose((0.5, 0.3, 0.4), TURNED)),))
    pairs, qpos, step = pairs_of(model, *model.links), random_postures(6), 1e-6
    near = model.nearness(model.postures(qpos), pairs)
    for joint in range(7):
        ahead = model.nearness(model.postures(qpos + step * np.eye(7)[joint]), pairs).distance
        behind = model.nearness(model.postures(qpos - step * np.eye(7)[joint]), pairs).distance
        clear = near.distance > 0.005
        assert clear.sum() > 20
        slope = (ahead - behind) / (2 * step)
        assert near.gradient[..., joint][clear] == pytest.approx(slope[clear], abs=2e-3)


def test_the_distance_of_the_gripper_point_is_that_of_a_point(model: RobotModel) -> None:
    zone = Zone("ball", Shape.SPHERE, (0.08,), Pose((0.5, 0.3, 0.4)), subject=Subject.GRIPPER)
    model.watch((zone,))
    postures = model.postures(random_postures(6))
    distances = np.linalg.norm(postures.point - zone.pose.position, axis=1) - 0.08
    assert model.nearness(postures, pairs_of(model, model.point)).distance[:, 0] == pytest.approx(distances, abs=1e-6)


def test_the_lower_bound_is_below_every_distance_and_speaks_only_of_those_concerned(model: RobotModel) -> None:
    solids = [Zone(shape.value, shape, size, Pose((0.5, 0.3, 0.4), TURNED)) for shape, size in SHAPES.items()]
    model.watch((*solids, Zone("for the point", Shape.SPHERE, (0.1,), Pose((0.5, 0.0, 0.4)), subject=Subject.GRIPPER)))
    postures = model.postures(random_postures(20))
    bound = model.at_least(postures)
    exact = model.nearness(postures, pairs_of(model, *model.links)).distance.reshape(20, len(model.links), 5)
    assert (bound[:, model.links, :4] <= exact[..., :4] + 1e-9).all()
    assert np.isinf(bound[:, model.links, 4]).all()
    assert np.isfinite(bound[:, model.point, 4]).all()
    assert np.isinf(bound[:, model.carried]).all(), "nothing is carried"


def test_what_is_carried_goes_with_the_gripper_point(model: RobotModel, arm: ArmKinematics) -> None:
    model.carry(Carried(Shape.SPHERE, (0.03,), Pose((0.0, 0.0, 0.2))))
    model.watch((Zone("ball", Shape.SPHERE, (0.05,), Pose((0.4, 0.0, 0.0))),))
    qpos = np.array(PANDA.home)
    position, rotation = arm.forward(qpos)
    distance = model.nearness(model.postures(qpos[None]), pairs_of(model, model.carried)).distance[0, 0]
    model.carry(None)
    assert distance == pytest.approx(np.linalg.norm(position + 0.2 * rotation[:, 2] - (0.4, 0.0, 0.0)) - 0.08)


def test_there_may_be_more_zones_than_there_was_room_for(model: RobotModel) -> None:
    model.carry(Carried(Shape.SPHERE, (0.03,), Pose((0.0, 0.0, 0.2))))
    zones = tuple(Zone(f"ball {k}", Shape.SPHERE, (0.05,), Pose((0.5, 0.1 * k, 0.4))) for k in range(40))
    model.watch(zones)
    near = model.nearness(model.postures(random_postures(3)), pairs_of(model, model.carried))
    model.carry(None)
    assert near.distance.shape == (3, 40)
    assert len(np.unique(near.distance)) == 120


def test_a_base_is_a_disc() -> None:
    base = RobotModel(base_spec)
    base.watch((Zone("ball", Shape.SPHERE, (0.1,), Pose((2.0, 1.0, 0.15))),))
    near = base.nearness(base.postures(np.array([(1.0, 1.0, 0.7)])), pairs_of(base, *base.links))
    assert near.distance[0, 0] == pytest.approx(1.0 - 0.22 - 0.1)
    assert np.linalg.norm(near.gradient[0, 0]) == pytest.approx(1.0), "it slides straight away"


def test_only_what_comes_near_has_rows_and_keeps_its_place(model: RobotModel) -> None:
    nothing = np.zeros((0, 2), dtype=np.int64)
    model.watch(
        (
            Zone("at the hand", Shape.SPHERE, (0.05,), Pose((0.45, 0.0, 0.45))),
            Zone("far", Shape.SPHERE, (0.05,), Pose((0.0, -0.9, 0.2))),
        )
    )
    settings, home = KeepOutSettings(pairs=3), model.postures(np.array([PANDA.home]))
    pairs = select(model, settings, nothing, home)
    assert 1 <= len(pairs) <= 3
    assert set(pairs[:, 1]) == {0}
    assert select(model, settings, pairs[::-1], home).tolist() == pairs[::-1].tolist()
    assert len(select(model, KeepOutSettings(heed=0.0, margin=0.0), nothing, home)) < len(pairs)


def test_a_zone_that_is_gone_has_no_place(model: RobotModel) -> None:
    model.watch(())
    assert len(select(model, KeepOutSettings(), np.array([[5, 3]]), model.postures(np.array([PANDA.home])))) == 0
