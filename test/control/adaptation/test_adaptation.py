from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from disturbed_world import Disturbance, DisturbedWorld

from llm_planner.control import formulation
from llm_planner.control.adaptation import Adaptation, ArmRegressor
from llm_planner.control.adaptation_estimator import AdaptationBounds, Kind
from llm_planner.control.formulation import StartState
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.simulation.arm_drive import CommandQueue, RateLimiter

PANDA = arm_model("panda")

PERIOD = 0.01
DRAGGING = Disturbance(coulomb=np.eye(7)[3] * 3.0)


def swing(now: float) -> JointTrajectory:
    """A plan of a second from `now` on: every joint swings about home, from rest at time 0."""
    times = now + 0.05 * np.arange(21)
    reach, pace = np.array([0.3, 0.2, 0.3, 0.3, 0.3, 0.3, 0.3]), np.array([1.1, 0.9, 1.3, 1.5, 1.7, 1.2, 2.0])
    qvel = reach * pace * np.sin(np.outer(times, pace))
    qpos = np.array(PANDA.home) + reach * (1.0 - np.cos(now * pace))
    return formulation.integrate(StartState(qpos, qvel[0], qvel[0]), np.diff(qvel, axis=0) / 0.05, now, 0.05, 0.03)


def run(disturbance: Disturbance, adaptation: Adaptation | None, seconds: float) -> np.ndarray:
    """How far the joints are from what was planned [rad], at each tick."""
    world, errors = DisturbedWorld(disturbance, 0, []), []
    for _ in range(round(seconds / PERIOD)):
        state = world.joint_state()
        plan = swing(state.time)
        errors.append(plan.qpos[0] - state.qpos)
        world.follow(plan if adaptation is None else adaptation.adapted(plan, state), PERIOD)
    return np.array(errors)


def rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def test_the_tracking_error_under_an_unknown_payload_is_far_less_than_half() -> None:
    adaptation, payload = Adaptation(PANDA), Disturbance(payload=1.5)
    without, adapted = run(payload, None, 5.0), run(payload, adaptation, 5.0)

    assert rms(adapted) < 0.25 * rms(without)
    assert np.abs(adapted[200:]).max() < 0.4 * np.abs(without[200:]).max()
    assert [diagnosis.words(5.0) for diagnosis in adaptation.diagnoses] == [
        "about 1.5 kg more than expected hangs from the hand, since 5 s"
    ]


def test_a_joint_that_drags_is_named_and_made_up_for() -> None:
    adaptation = Adaptation(PANDA)
    without, adapted = run(DRAGGING, None, 6.0), run(DRAGGING, adaptation, 6.0)

    assert rms(adapted[300:]) < 0.5 * rms(without[300:])
    assert [(diagnosis.fault.value, diagnosis.joint) for diagnosis in adaptation.diagnoses] == [("friction", 4)]


def test_commands_to_an_arm_as_its_model_says_are_not_changed() -> None:
    adaptation, world = Adaptation(PANDA), DisturbedWorld(Disturbance(), 0, [])
    for _ in range(400):
        state = world.joint_state()
        plan = swing(state.time)
        command = adaptation.adapted(plan, state)
        np.testing.assert_array_equal(command.qpos, plan.qpos)
        world.follow(command, PERIOD)

    assert adaptation.diagnoses == ()


def test_no_joint_is_shifted_farther_than_the_operator_lets_it() -> None:
    adaptation = Adaptation(PANDA, AdaptationBounds(shift=0.0005))
    world = DisturbedWorld(Disturbance(payload=1.5), 0, [])
    shifts = []
    for _ in range(300):
        state = world.joint_state()
        plan = swing(state.time)
        command = adaptation.adapted(plan, state)
        shifts.append(np.abs(command.qpos - plan.qpos).max())
        world.follow(command, PERIOD)

    assert max(shifts) == pytest.approx(0.0005, rel=0.2)


def test_a_state_that_cannot_be_read_teaches_nothing() -> None:
    adaptation, state = Adaptation(PANDA), JointState(0.0, np.array(PANDA.home), np.zeros(7))
    broken = replace(state, time=0.01, qpos=np.full(7, np.nan))
    adaptation.adapted(swing(0.0), state)

    assert np.isfinite(adaptation.adapted(swing(0.01), broken).qpos).all()
    assert np.isfinite(adaptation.estimator.belief.theta).all()


def told_to_swing(regressor: ArmRegressor, told: Callable[[np.ndarray], np.ndarray]) -> Adaptation:
    """Adaptation that was shown two seconds of a swing with 1.5 kg in the hand; `told` of the effort (7,) is told."""
    adaptation, theta = Adaptation(PANDA), np.zeros(regressor.layout.size)
    theta[0] = 1.5
    for tick in range(200):
        plan = swing(PERIOD * tick)
        motion = plan.qpos[0], plan.qvel[0], plan.qacc[0]
        effort = regressor.nominal_torque(*motion) + regressor.rows(*motion, theta) @ theta
        adaptation.adapted(plan, JointState(plan.start_time, plan.qpos[0], plan.qvel[0], told(effort)))
    return adaptation


def test_drives_that_are_told_more_than_their_model_says_teach_something(regressor: ArmRegressor) -> None:
    adaptation = told_to_swing(regressor, lambda effort: effort)

    assert adaptation.estimator.belief.theta[0] == pytest.approx(1.5, abs=0.1)


def test_a_drive_at_its_limit_teaches_nothing(regressor: ArmRegressor) -> None:
    adaptation = told_to_swing(regressor, lambda effort: np.append(effort[:6], 12.5))

    assert adaptation.estimator.belief.groups == ()


@pytest.mark.parametrize("effort", [np.zeros(0), np.full(7, np.nan)])
def test_a_driver_that_does_not_tell_the_effort_teaches_nothing(regressor: ArmRegressor, effort: np.ndarray) -> None:
    assert told_to_swing(regressor, lambda _: effort).estimator.belief.groups == ()


def test_states_after_a_gap_or_of_an_earlier_clock_teach_nothing_and_do_no_harm() -> None:
    adaptation = Adaptation(PANDA)
    for now in (0.0, 1.0, 2.0, 1.5, 0.2):
        state = JointState(now, swing(now).qpos[0] - 0.001, swing(now).qvel[0], np.full(7, 11.0))
        np.testing.assert_array_equal(adaptation.adapted(swing(now), state).qpos, swing(now).qpos)

    assert adaptation.estimator.belief.groups == ()


def late(disturbance: Disturbance, seconds: float) -> tuple[Adaptation, list[str]]:
    """A driver that gets each command 0 to 50 ms after it was to begin, and catches up; also all that was said."""
    world, adaptation, said = DisturbedWorld(disturbance, 0, []), Adaptation(PANDA), []
    limiter, rng = RateLimiter(world.limits, world.joint_state().qpos), np.random.default_rng(3)
    queue, on_the_way = CommandQueue(formulation.hold(world.joint_state().qpos, 0.0, 0.1, 0.03)), []
    for _ in range(round(seconds / PERIOD)):
        now, state = world.time, world.joint_state()
        on_the_way.append((now + PERIOD * rng.integers(0, 6), adaptation.adapted(swing(now), state)))
        for _, command in [post for post in on_the_way if post[0] <= now]:
            queue.add(command, now)
        on_the_way = [post for post in on_the_way if post[0] > now]
        world.follow(limiter.advance(queue.at, now, PERIOD), PERIOD)
        said += [diagnosis.words(0.0) for diagnosis in adaptation.diagnoses]
    return adaptation, said


def test_commands_that_come_late_are_taken_for_no_fault_of_the_arm() -> None:
    adaptation, said = late(Disturbance(), 8.0)

    assert said == []
    assert not adaptation.estimator.belief.theta.any()


def test_a_payload_is_weighed_however_late_commands_come() -> None:
    adaptation, _ = late(Disturbance(payload=1.4), 5.0)

    assert [group.kind for group in adaptation.estimator.belief.groups] == [Kind.MASS]
    assert adaptation.estimator.belief.theta[0] == pytest.approx(1.4, abs=0.1)


def test_an_arm_that_is_held_back_is_not_taken_for_a_heavy_one() -> None:
    adaptation, world = Adaptation(PANDA), DisturbedWorld(Disturbance(), 0, [])
    home = formulation.hold(world.joint_state().qpos, 0.0, 0.1, 0.03)
    for tick in range(800):
        state = world.joint_state()
        adaptation.adapted(swing(state.time), state)
        world.follow(home if tick % 200 < 100 else _from_here(state), PERIOD)

    assert adaptation.diagnoses == ()
    assert not adaptation.estimator.belief.theta.any()


def _from_here(state: JointState) -> JointTrajectory:
    """Another commander's wish: joints go on from where they are and slow down."""
    start = StartState(state.qpos, state.qvel, state.qvel)
    return formulation.integrate(start, np.full((10, 7), 0.5), state.time, 0.05, 0.03)


def test_a_reset_forgets_what_was_learnt() -> None:
    adaptation = Adaptation(PANDA)
    run(Disturbance(payload=1.5), adaptation, 4.0)
    adaptation.reset()
    state = JointState(0.0, np.array(PANDA.home), np.zeros(7))

    assert adaptation.diagnoses == ()
    np.testing.assert_array_equal(adaptation.adapted(swing(0.0), state).qpos, swing(0.0).qpos)
