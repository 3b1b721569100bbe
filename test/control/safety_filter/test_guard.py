"""The guard of a stream of plans: safe ones pass as they are, others are followed as far as it is safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.safety_filter.bodies import Ball
from llm_planner.control.safety_filter.distances import surroundings
from llm_planner.control.safety_filter.guard import Guard, GuardSettings, joined
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import JointLimits, RobotLimits
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PANDA = arm_model("panda")

TICK, PLANS = 0.004, 0.012  # [s] between steps, and between plans
LIMITS = RobotLimits(*(np.full(3, value) for value in (-5.0, 5.0, 2.0, 5.0, np.inf)))
WALL = MotionConstraints(zones=(Zone("wall", Shape.BOX, (0.1, 2.0, 2.0), Pose((0.8, 0.0, 0.0))),))
STOPPING = JointLimits(*(np.full(3, value) for value in (-5.0, 5.0, 2.0, 3.75)))
NEAREST = 0.6  # where a ball of 10 cm touches the wall


class Robot:
    """A ball that follows exactly what the guard lets through."""

    def __init__(self) -> None:
        self.guard = Guard(SafetyFilter(Ball(0.1), LIMITS))
        self.now, self.sent = 0.0, []
        self.command = formulation.hold(np.zeros(3), 0.0, 0.1, 0.08)
        self.guard.measured(self.state)

    @property
    def state(self) -> JointState:
        here = formulation.sample(self.command, self.now)
        return JointState(self.now, here.qpos, here.qvel)

    def follow(self, seconds: float, constraints: MotionConstraints, plan=lambda robot: None) -> list[JointState]:
        """Steps for a while; `plan` is asked for one every `PLANS`."""
        states = []
        for k in range(round(seconds / TICK)):
            wanted = plan(self) if k % round(PLANS / TICK) == 0 else None
            if wanted is not None:
                self.take(self.guard.hear(wanted, self.now, constraints))
            self.take(self.guard.step(self.now, constraints))
            self.now += TICK
            self.guard.measured(self.state)
            states.append(self.state)
        return states

    def take(self, command: JointTrajectory | None) -> None:
        if command is not None:
            self.sent.append(command)
            self.command = command


@pytest.fixture
def robot() -> Robot:
    return Robot()


def towards(goal: float):
    """A planner that knows no zones: full speed along x until `goal` [m], as its own last plan goes on."""

    def plan(robot: Robot) -> JointTrajectory:
        here = robot.state
        stop = here.qpos[0] + here.qvel[0] ** 2 / 4.0
        push = 2.0 if stop + 0.03 < goal and here.qvel[0] < 1.0 else 0.0 if stop < goal else -2.0
        qacc = np.array([[max(push, -here.qvel[0] / 0.02), 0.0, 0.0]])
        velocity = here.qvel + 0.02 * qacc[0]
        limits = JointLimits(np.full(3, -9.0), np.full(3, 9.0), np.full(3, 9.0), np.full(3, 2.0))
        after = StartState(here.qpos + 0.01 * (here.qvel + velocity), velocity, qacc[0])
        brake = formulation.brake(after, limits, robot.now, 0.02, 0.08)
        return formulation.integrate(
            StartState(here.qpos, here.qvel, here.qvel), np.vstack([qacc, brake.qacc]), robot.now, 0.02, 0.08
        )

    return plan


def test_safe_plans_pass_as_they_are(robot):
    plans = []

    def remembered(robot: Robot) -> JointTrajectory:
        plans.append(towards(0.4)(robot))
        return plans[-1]

    states = robot.follow(1.5, WALL, remembered)
    assert len(plans) > 100
    assert [id(command) for command in robot.sent] == [id(plan) for plan in plans]
    assert states[-1].qpos[0] == pytest.approx(0.4, abs=0.05)
    assert not robot.guard.is_stepping
    assert robot.guard.why == ""


def test_plans_whose_arrays_are_views_of_a_message_pass_as_well(robot):
    def viewed(robot: Robot) -> JointTrajectory:
        plan = towards(0.4)(robot)
        table = np.stack([plan.qpos, plan.qvel], axis=1)
        return replace(plan, qpos=table[:, 0], qvel=table[:, 1], qacc=np.asfortranarray(plan.qacc))

    states = robot.follow(0.5, WALL, viewed)
    assert states[-1].qpos[0] > 0.1
    assert robot.guard.why == ""


def test_plans_into_a_zone_are_followed_up_to_it(robot):
    states = robot.follow(2.0, WALL, towards(2.0))
    way = [state.qpos[0] for state in states]
    assert way[-1] > NEAREST - 0.01
    assert max(way) <= NEAREST + 1e-6
    assert robot.guard.is_stepping
    assert robot.guard.why == "wall"
    assert "wall" in robot.guard.filtered.binding
    assert not robot.guard.filtered.infeasible


def test_every_command_ends_at_rest_and_is_proved(robot):
    robot.follow(2.0, WALL, towards(2.0))
    safety = SafetyFilter(Ball(0.1), LIMITS)
    assert len(robot.sent) > 100
    for command in robot.sent:
        assert np.abs(command.qvel[-1]).max() < 1e-9
        # Sampled anew, from its start on: what curves between samples is bounded a little differently.
        assert safety.prove(command, command.start_time, WALL).clearance > -1e-4


def test_a_robot_that_hears_nothing_more_comes_to_rest_outside_the_zone(robot):
    robot.follow(0.9, WALL, towards(2.0))
    assert robot.state.qvel[0] > 0.3
    robot.now = formulation.end_time(robot.command) + 1.0
    assert robot.state.qpos[0] <= NEAREST + 1e-6


def test_without_a_commander_it_brakes(robot):
    robot.follow(0.6, FREE, towards(9.0))
    assert robot.state.qvel[0] > 0.8
    robot.follow(0.25, FREE)
    robot.follow(0.4, FREE)
    assert robot.state.qvel == pytest.approx(np.zeros(3), abs=1e-9)
    assert robot.guard.rests(robot.now)


def test_a_plan_goes_on_under_a_limit_that_it_still_keeps_and_is_slowed_under_one_that_it_breaks(robot):
    robot.follow(0.6, FREE, towards(9.0))
    sent = len(robot.sent)
    robot.follow(0.004, MotionConstraints(speed=1.5, version=1))
    assert len(robot.sent) == sent
    states = robot.follow(0.4, MotionConstraints(speed=0.3, version=2), towards(9.0))
    assert np.linalg.norm(states[-1].qvel) <= 0.3
    assert robot.guard.is_stepping


def test_a_zone_that_appears_too_near_is_braked_for_and_told(robot):
    robot.follow(0.9, FREE, towards(9.0))
    place = float(robot.state.qpos[0])
    near = replace(WALL, zones=(replace(WALL.zones[0], pose=Pose((place + 0.23, 0.0, 0.0))),))
    states = robot.follow(0.004, near)
    assert robot.guard.filtered.infeasible
    states = robot.follow(0.5, near, towards(9.0))
    assert -0.05 < states[-1].qvel[0] < 1e-6
    assert states[-1].qpos[0] < place + 0.2, "it stopped as soon as it could"


def standing(place: float):
    """A planner that wants to stand at x = `place`, as if it were there."""
    return lambda robot: formulation.hold(np.array([place, 0.0, 0.0]), robot.now, 0.1, 0.08)


def test_a_plan_that_begins_a_little_elsewhere_is_joined(robot):
    robot.follow(1.5, WALL, standing(0.08))
    assert robot.state.qpos == pytest.approx([0.08, 0.0, 0.0], abs=3e-3)
    assert not robot.guard.is_stepping
    assert max(np.abs(command.qacc).max() for command in robot.sent) <= 5.0 + 1e-9


def test_a_plan_that_begins_far_off_is_stepped_towards(robot):
    robot.follow(0.1, FREE, standing(0.3))
    assert robot.guard.why == "it begins elsewhere"
    assert robot.guard.is_stepping
    robot.follow(2.0, FREE, standing(0.3))
    assert robot.state.qpos == pytest.approx([0.3, 0.0, 0.0], abs=0.01)
    assert not robot.guard.is_stepping
    assert max(np.abs(command.qacc).max() for command in robot.sent) <= 5.0 + 1e-9


def test_braking_that_is_heard_late_brakes_at_once_and_never_comes_back(robot):
    robot.follow(0.3, FREE, towards(9.0))
    here = StartState(robot.state.qpos, robot.state.qvel, np.zeros(3))
    brake = formulation.brake(here, STOPPING, robot.now, 0.05, 0.08)
    robot.follow(0.04, FREE)
    states = robot.follow(0.8, FREE, lambda robot: brake)
    assert min(state.qvel[0] for state in states) > -1e-6
    assert states[-1].qpos[0] > brake.qpos[-1][0] + 0.003, "it was under way still"
    rest = next(state.time for state in states if state.qvel[0] < 1e-6)
    assert rest <= formulation.end_time(brake) + 0.1


@pytest.mark.parametrize("braking_is_heard", [True, False])
def test_a_robot_that_is_stopped_late_rests_at_once_and_goes_nowhere_from_there(robot, braking_is_heard):
    robot.follow(0.6, FREE, towards(9.0))
    here = StartState(robot.state.qpos, robot.state.qvel, np.zeros(3))
    brake = formulation.brake(here, replace(STOPPING, acceleration=np.full(3, 2.0)), robot.now, 0.05, 0.08)
    robot.follow(0.04, FREE)
    until = robot.now + 0.1 if braking_is_heard else robot.now

    def stop(robot: Robot) -> JointTrajectory:
        return brake if robot.now < until else formulation.hold(brake.qpos[-1], robot.now, 0.1, 0.08)

    began, states = robot.now, robot.follow(1.0, FREE, stop)
    assert brake.qpos[-1][0] - states[-1].qpos[0] > GuardSettings().apart, "it was to have stopped far from there"
    speeds = np.array([state.qvel[0] for state in states])
    assert (np.diff(speeds) <= 1e-9).all()
    assert next(state.time for state in states if state.qvel[0] < 1e-6) < began + 0.32


def test_a_robot_found_at_rest_stays_where_it_is_though_it_was_to_stand_a_little_elsewhere(robot):
    robot.follow(0.6, FREE, standing(0.05))
    assert robot.state.qpos == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_joined_plan_ends_where_the_plan_does(robot):
    plan = towards(0.4)(robot)
    start = StartState(np.array([0.02, -0.01, 0.0]), np.array([0.0, 0.3, 0.0]), np.zeros(3))
    motion = joined(start, plan, robot.now, 0.25)
    assert motion.qpos[0] == pytest.approx(start.qpos)
    assert motion.qvel[0] == pytest.approx(start.qvel)
    assert motion.qpos[-1] == pytest.approx(plan.qpos[-1], abs=1e-3)
    assert motion.qvel[-1] == pytest.approx(np.zeros(3), abs=1e-9)


def test_plans_with_numbers_that_are_none_move_nothing(robot):
    void = formulation.hold(np.full(3, np.nan), 0.0, 0.1, 0.08)
    robot.follow(0.3, FREE, lambda robot: replace(void, start_time=robot.now))
    assert robot.state.qpos == pytest.approx(np.zeros(3))


def test_before_any_state_nothing_passes():
    guard = Guard(SafetyFilter(Ball(0.1), LIMITS))
    assert guard.hear(formulation.hold(np.zeros(3), 0.0, 0.1, 0.08), 0.0, FREE) is None
    assert guard.step(0.0, FREE) is None
    assert guard.rests(0.0)


def test_after_a_restart_nothing_of_before_counts(robot):
    robot.follow(0.6, FREE, towards(9.0))
    robot.guard.forget()
    assert robot.guard.step(robot.now, FREE) is None
    robot.guard.measured(JointState(0.0, np.ones(3), np.zeros(3)))
    assert robot.guard.rests(1.0)


def test_a_robot_that_is_first_seen_in_motion_is_braked_from_its_speed(robot):
    moving = robot.follow(0.3, FREE, towards(9.0))[-1].qvel
    robot.guard.forget()
    robot.guard.measured(robot.state)
    command = robot.guard.step(robot.now, FREE)
    assert moving[0] > 0.3
    assert command.qvel[0] == pytest.approx(moving)
    assert np.abs(command.qacc).max() <= LIMITS.qacc_max[0]


def displaced(robot: Robot, by: float, speed: float, states: int = 3) -> None:
    """The robot is measured `by` [m] ahead of what it was sent, at `speed` [m/s], that many times in a row."""
    for k in range(states):
        way = np.array([by + k * TICK * speed, 0.0, 0.0])
        robot.guard.measured(JointState(robot.now + k * TICK, robot.state.qpos + way, np.array([speed, 0.0, 0.0])))
    robot.now += (states - 1) * TICK


def test_a_robot_pushed_away_is_held_where_it_is_measured(robot):
    robot.follow(0.5, FREE, towards(0.1))
    place = robot.state.qpos + 0.3
    for _ in range(3):
        robot.guard.measured(JointState(robot.now, place, np.zeros(3)))
    assert not robot.guard.rests(robot.now), "its driver does not know yet"
    command = robot.guard.step(robot.now, FREE)
    assert command.qpos == pytest.approx(np.tile(place, (len(command.qpos), 1)), abs=1e-3)
    assert "the robot is not where it was sent" in robot.guard.filtered.binding
    assert not robot.guard.filtered.infeasible


def test_one_state_far_off_changes_nothing(robot):
    robot.follow(0.5, FREE, towards(0.4))
    sent, place = len(robot.sent), robot.state.qpos[0]
    displaced(robot, 0.3, 1.0, states=1)
    states = robot.follow(0.2, FREE, towards(0.4))
    assert len(robot.sent) > sent
    assert np.abs(np.diff([place, *(state.qpos[0] for state in states)])).max() < 0.01
    assert robot.guard.why == ""


@pytest.mark.parametrize("speed", [1.2, 1.74])
def test_a_robot_found_too_fast_near_a_zone_is_braked_as_hard_as_it_can_be_and_that_is_told(robot, speed):
    robot.follow(2.0, WALL, towards(0.35))
    displaced(robot, 0.12, speed)
    command = robot.guard.step(robot.now, WALL)
    assert command is not None, "what was never sent is not under way"
    assert command.qacc[0][0] == pytest.approx(-STOPPING.acceleration[0], rel=0.05)
    assert robot.guard.filtered.infeasible
    assert robot.guard.filtered.slack > 0.0
    assert robot.guard.filtered.binding == ("the robot is not where it was sent",)


def test_braking_of_a_lost_robot_that_keeps_the_zone_is_told_as_feasible(robot):
    robot.follow(1.0, WALL, towards(0.1))
    displaced(robot, 0.12, 0.5)
    assert robot.guard.step(robot.now, WALL).qacc[0][0] < -2.0
    assert not robot.guard.filtered.infeasible


class DeafDriver(Robot):
    """It takes no command while `deaf`; what it follows then goes on."""

    deaf = False

    def take(self, command: JointTrajectory | None) -> None:
        if command is not None:
            self.sent.append(command)
            self.command = self.command if self.deaf else command


def test_a_driver_that_took_nothing_for_a_while_is_found_on_the_last_motion_it_took():
    robot = DeafDriver()
    robot.follow(0.6, WALL, towards(9.0))
    robot.deaf = True
    robot.follow(0.15, WALL, towards(9.0))
    robot.deaf = False
    states = robot.follow(2.0, WALL, towards(9.0))
    assert max(state.qpos[0] for state in states) <= NEAREST + 1e-6
    assert max(abs(np.diff([state.qvel[0] for state in states]))) <= 0.8 * LIMITS.qacc_max[0] * TICK + 0.01, "no leap"
    assert states[-1].qpos[0] > NEAREST - 0.01


def test_a_command_that_could_not_be_sent_is_as_if_it_had_not_been_made(robot):
    robot.follow(0.5, WALL, towards(0.4))
    plan = towards(0.4)(robot)
    assert robot.guard.hear(plan, robot.now, WALL) is plan
    robot.guard.withdraw()
    states = robot.follow(1.0, WALL, towards(0.4))
    assert states[-1].qpos[0] == pytest.approx(0.4, abs=0.05)


def test_what_is_asked_to_brake_brakes(robot):
    robot.follow(0.6, FREE, towards(9.0))
    robot.guard.brake()
    states = robot.follow(0.35, FREE)
    assert states[0].qvel[0] > 0.8
    assert states[-1].qvel == pytest.approx(np.zeros(3), abs=1e-3)


def test_a_robot_that_strays_off_its_way_keeps_that_much_more_from_zones(robot):
    robot.follow(0.3, WALL, towards(9.0))
    aside = np.array([0.0, 0.01, 0.0])
    for _ in range(3):
        robot.guard.measured(JointState(robot.now, robot.state.qpos + aside, robot.state.qvel))
    assert robot.guard.margin == pytest.approx(0.01, abs=1e-3)
    states = robot.follow(1.0, WALL, towards(9.0))
    assert max(state.qpos[0] for state in states) < NEAREST - 0.005
    states = robot.follow(6.0, WALL, towards(9.0))
    assert states[-1].qpos[0] > NEAREST - 0.005, "it is forgotten slowly"


def test_a_robot_that_is_late_on_its_way_keeps_no_more_from_zones(robot):
    robot.follow(0.4, WALL, towards(9.0))
    for k in range(30):
        late = formulation.sample(robot.command, robot.now + k * TICK - 0.02)
        robot.guard.measured(JointState(robot.now + k * TICK, late.qpos, late.qvel))
    assert robot.guard.margin < 0.005


def test_states_that_are_none_are_an_error(robot):
    with pytest.raises(InputError, match="the filter needs 3 finite joint positions"):
        robot.guard.measured(JointState(0.0, np.full(3, np.nan), np.zeros(3)))


def test_the_steps_of_a_while_come_as_one_motion_that_ends_at_rest(robot):
    plan = formulation.integrate(
        StartState(np.zeros(3), np.zeros(3), np.zeros(3)),
        np.array([[3.0, 0, 0]] * 5 + [[-3.0, 0, 0]] * 5),
        0.0,
        0.1,
        0.08,
    )
    assert robot.guard.hear(plan, 0.0, WALL) is None
    motion = robot.guard.steps(0.0, 0.24, WALL)
    assert motion.dt == pytest.approx(0.012)
    assert motion.qpos[20] == pytest.approx(formulation.sample(plan, 0.24).qpos, abs=1e-3)
    assert SafetyFilter(Ball(0.1), LIMITS).prove(motion, 0.0, WALL).safe
    assert not motion.qvel[-1].any()


def test_a_short_plan_that_first_gets_faster_is_joined_and_not_braked(robot):
    robot.follow(0.3, FREE, towards(9.0))
    begins = StartState(robot.state.qpos + 0.004, robot.state.qvel, np.zeros(3))
    braking = -begins.qvel / 0.4
    plan = formulation.integrate(begins, np.array([-braking, 2 * braking, 2 * braking, braking]), robot.now, 0.1, 0.08)
    states = robot.follow(0.8, FREE, lambda robot: plan)
    assert plan.qvel[-1] == pytest.approx(np.zeros(3), abs=1e-9)
    assert max(state.qvel[0] for state in states) > begins.qvel[0] + 0.05


def test_an_arm_pushed_against_a_zone_glides_along_it_without_chatter():
    body = arm_body(PANDA)
    hand = body.place(np.array([PANDA.home])).points[:, 0, 0]
    reach = float(np.hypot(hand[0], hand[1]))
    place = (reach * np.cos(1.0), reach * np.sin(1.0), float(hand[2]))
    vase = Zone("the vase", Shape.SPHERE, (0.05,), Pose(place), clearance=0.03)
    around, constraints = surroundings(body, [vase]), MotionConstraints(zones=(vase,))
    guard, home, turn = Guard(SafetyFilter(body, PANDA.limits)), np.array(PANDA.home), np.zeros(7)
    guard.measured(JointState(0.0, home, np.zeros(7)))
    turn[0] = 0.6  # [rad/s], on and on, through the vase
    accelerations, spare = [], []
    for now in np.arange(0.02, 3.0, TICK):
        qacc = np.concatenate([np.zeros((5, 7)), np.tile(-turn / 0.25, (5, 1))])
        guard.hear(
            formulation.integrate(StartState(home + turn * now, turn, turn), qacc, now, 0.05, 0.08), now, constraints
        )
        command = guard.step(now, constraints)
        if now > 1.5 and command is not None:
            accelerations.append(command.qacc[0])
            spare.append(around.clearance(command.qpos))
    changes = np.abs(np.diff(accelerations, axis=0)).max()
    assert len(accelerations) > 300
    assert changes < 1.0, "[rad/s^2] from step to step"
    assert min(spare) > 0.001, "it glides off the edge of what can be proved"
    assert max(spare) < 0.01, "it glides near the vase"
