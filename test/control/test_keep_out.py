"""Zones and speeds that the controller keeps, on an arm that does exactly what it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from llm_planner.control.formulation import Bounds
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController, Status
from llm_planner.control.qp_solver import NoSolution
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.carried import Carried
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.robots.robot_model import RobotModel
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.hand_geometry import HandPose

PANDA = arm_model("panda")

LEFT, RIGHT = HandPose(0.5, 0.3, 0.15, 0.0).pose(), HandPose(0.5, -0.3, 0.15, 0.0).pose()
VASE = Zone("the vase", Shape.SPHERE, (0.05,), Pose((0.5, 0.0, 0.15)), 0.03)


def there(pose: Pose) -> Callable[[float], MotionReference]:
    return lambda now: MotionReference(now, 0.05, (pose,), 0.03)


class Watch:
    """The bare distances and the speed that a robot really had."""

    def __init__(self) -> None:
        self.model = RobotModel(PANDA.collision_spec)

    def clearance(self, qpos: np.ndarray, zone: Zone, *solids: int) -> float:
        """What the nearest of `solids`, else of all links, has to spare [m]."""
        self.model.watch((zone,))
        solids = solids or ((self.model.point,) if zone.subject is Subject.GRIPPER else tuple(self.model.links))
        pairs = np.array([(solid, 0) for solid in solids])
        return float(self.model.nearness(self.model.postures(qpos[None]), pairs).distance.min()) - zone.clearance

    def speed(self, robot: Any) -> float:
        """Of the gripper point [m/s]."""
        return float(np.linalg.norm(robot.qvel @ self.model.point_jacobian(self.model.postures(robot.qpos[None]))[0]))


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def run(robot: Any, reference: Any, seconds: float, constraints: MotionConstraints, look: Any) -> list[float]:
    """What `look` saw of the robot after each tick."""
    seen = []
    for _ in range(round(seconds / 0.01)):
        robot.tick(reference(robot.now), constraints)
        seen.append(look(robot))
    return seen


@pytest.mark.parametrize(
    "zone",
    [
        VASE,
        Zone("the mug", Shape.CYLINDER, (0.04, 0.06), Pose((0.5, 0.0, 0.06)), 0.04),
        Zone("the box", Shape.BOX, (0.05, 0.08, 0.1), Pose((0.5, 0.0, 0.1), (0.0, 0.0, 0.3827, 0.9239)), 0.02),
        Zone("the point", Shape.SPHERE, (0.02,), Pose((0.5, 0.0, 0.15)), 0.12, Subject.GRIPPER),
    ],
)
def test_a_reference_straight_through_a_zone_is_followed_round_it(robot: Any, watch: Watch, zone: Zone) -> None:
    constraints = MotionConstraints(zones=(zone,))
    run(robot, there(RIGHT), 2.0, constraints, lambda robot: None)
    clearances = run(robot, there(LEFT), 2.5, constraints, lambda robot: watch.clearance(robot.qpos, zone))
    assert 0.0 < min(clearances) < 0.06


def test_without_the_zone_the_same_reference_goes_through_it(robot: Any, watch: Watch) -> None:
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    assert min(run(robot, there(LEFT), 2.5, FREE, lambda robot: watch.clearance(robot.qpos, VASE))) < -0.02


def test_an_arm_that_a_zone_grows_over_moves_away_in_a_fifth_of_a_second(robot: Any, watch: Watch) -> None:
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    grown = Zone("the vase", Shape.SPHERE, (0.05,), Pose((0.5, -0.12, 0.15)), 0.12)
    assert watch.clearance(robot.qpos, grown) < -0.03
    clearances = run(
        robot, there(RIGHT), 1.0, MotionConstraints(zones=(grown,)), lambda robot: watch.clearance(robot.qpos, grown)
    )
    assert min(clearances[25:]) > -0.001


def test_a_zone_out_of_reach_changes_nothing(robot: Any) -> None:
    far = MotionConstraints(zones=(Zone("the lamp", Shape.SPHERE, (0.1,), Pose((3.0, 0.0, 0.5))),))
    free = robot.controller.step(robot.state, there(LEFT)(0.0), 0.0)
    robot.controller.reset()
    assert robot.controller.step(robot.state, there(LEFT)(0.0), 0.0, far).qpos == pytest.approx(free.qpos, abs=1e-12)


def test_a_speed_that_falls_in_motion_is_kept_within_a_quarter_of_a_second(robot: Any, watch: Watch) -> None:
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    fast = run(robot, there(LEFT), 0.5, MotionConstraints(speed=0.5), watch.speed)
    slow = run(robot, there(LEFT), 1.5, MotionConstraints(speed=0.15), watch.speed)
    assert 0.45 < max(fast) <= 0.5
    assert max(slow[25:]) <= 0.15
    assert max(slow[25:75]) > 0.14, "as fast as it may"


def test_a_share_of_the_joint_speeds_is_kept(robot: Any) -> None:
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    before = len(robot.velocities)
    run(robot, there(LEFT), 1.5, MotionConstraints(joint_share=0.3), lambda robot: None)
    assert 0.2 < np.max(robot.velocities[before:]) <= 0.3 * 0.75 + 1e-6


def test_what_the_gripper_holds_keeps_out_too(robot: Any, watch: Watch) -> None:
    held = Carried(Shape.BOX, (0.02, 0.02, 0.1), Pose((0.0, 0.0, 0.08)))
    zone = Zone("the book", Shape.BOX, (0.1, 0.1, 0.02), Pose((0.5, 0.0, 0.02)))
    constraints = MotionConstraints(zones=(zone,))
    run(robot, there(HandPose(0.5, 0.0, 0.3, 0.0).pose()), 2.0, FREE, lambda robot: None)
    watch.model.carry(held)
    robot.controller.carry(held)
    down = there(HandPose(0.5, 0.0, 0.1, 0.0).pose())
    clearances = run(
        robot, down, 2.0, constraints, lambda robot: watch.clearance(robot.qpos, zone, watch.model.carried)
    )
    watch.model.carry(None)
    assert 0.0 < min(clearances) < 0.03, "its lower end is 18 cm below the gripper point"


def test_the_statistics_name_the_zone_that_holds_the_arm_back_and_what_is_not_kept(robot: Any) -> None:
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    robot.tick(there(LEFT)(robot.now), MotionConstraints(zones=(VASE,)))
    statistics = robot.controller.statistics
    assert statistics.binding == ("the vase",)
    assert statistics.keep_out_slack == 0.0
    assert not statistics.relaxed

    grown = Zone("the vase", Shape.SPHERE, (0.05,), Pose((0.5, -0.12, 0.15)), 0.12)
    robot.tick(there(RIGHT)(robot.now), MotionConstraints(zones=(grown,)))
    assert robot.controller.statistics.keep_out_slack > 0.03
    assert robot.controller.statistics.relaxed


def test_a_stop_beside_a_zone_keeps_out_of_it_and_ends_at_rest(robot: Any, watch: Watch) -> None:
    constraints = MotionConstraints(speed=0.6, zones=(VASE,))
    run(robot, there(RIGHT), 2.0, FREE, lambda robot: None)
    run(robot, there(LEFT), 0.45, constraints, lambda robot: None)
    assert watch.speed(robot) > 0.3
    seen = run(
        robot, lambda now: None, 1.1, constraints, lambda robot: (watch.clearance(robot.qpos, VASE), watch.speed(robot))
    )
    assert min(clearance for clearance, _ in seen) > 0.0
    assert max(speed for _, speed in seen[40:]) < 0.1, "as soon as it can"
    assert not robot.qvel.any()


def test_a_stop_whose_program_has_no_answer_just_brakes(arm: ArmKinematics) -> None:
    class Hopeless:
        def solve(self, bounds: Bounds) -> np.ndarray:
            raise NoSolution("given up")

    controller = MpcController(kinematics=arm, solver=Hopeless())
    moving = JointState(0.0, np.array(PANDA.home), np.full(7, 0.2))
    plan = controller.step(moving, None, 0.0, MotionConstraints(zones=(VASE,)))
    assert controller.statistics.status is Status.BRAKING
    assert controller.statistics.message == "given up"
    assert plan.qvel[-1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("zone", [VASE, replace(VASE, subject=Subject.GRIPPER, clearance=0.1)], ids=["links", "point"])
def test_in_physics_no_link_comes_nearer_than_it_may_while_limits_change(zone: Zone, watch: Watch) -> None:
    world, controller, nearest = open_world("tabletop", 0, ()), MpcController(), np.inf
    for side, seconds, speed in ((RIGHT, 1.6, 0.6), (LEFT, 1.6, 0.6), (RIGHT, 1.6, 0.25)):
        constraints, end = MotionConstraints(speed=speed, zones=(zone,)), world.time + seconds
        while world.time < end:
            plan = controller.step(world.joint_state(), there(side)(world.time), world.time, constraints)
            world.follow(plan, 0.01)
            nearest = min(nearest, watch.clearance(world.joint_state().qpos, zone))
    assert 0.0 < nearest < 0.03
