"""How long a stop waits for the robot to come to rest: in the robot's time, as long as it is heard of."""

from llm_planner.ros.stop_client import REST_MAX, RestWatch


def test_a_slow_simulation_gets_the_time_that_it_needs():
    rest = RestWatch(0.0)
    for k in range(100):  # 20 s of wall time, in which the robot's clock goes 1 s
        rest.see(0.01 * k, 0.5, 0.2 * k)
        assert rest.waits(0.2 * k)
    rest.see(1.01, 0.0, 20.2)
    assert not rest.waits(20.2)


def test_a_robot_that_keeps_moving_in_its_own_time_is_not_waited_for():
    rest = RestWatch(0.0)
    rest.see(5.0, 0.5, 0.1)
    rest.see(5.0 + REST_MAX, 0.5, 0.9)
    assert not rest.waits(1.0)
    assert rest.speed == 0.5


def test_a_robot_that_is_not_heard_of_or_whose_clock_stands_is_not_waited_for():
    rest = RestWatch(0.0)
    assert rest.waits(REST_MAX - 0.1)
    assert not rest.waits(REST_MAX)
    rest.see(5.0, 0.5, 2.1)
    rest.see(5.0, 0.5, 2.1 + REST_MAX)
    assert not rest.waits(2.2 + REST_MAX)


def test_an_arm_at_rest_says_nothing_of_the_base_below_it():
    rest = RestWatch(0.0)
    rest.see(1.0, 0.0, 0.1)
    assert rest.waits(0.1, ["joint_states", "odom"])
    rest.see(1.0, 0.3, 0.2, "odom")
    assert rest.waits(0.2, ["joint_states", "odom"])
    rest.see(1.1, 0.0, 0.3, "odom")
    assert not rest.waits(0.3, ["joint_states", "odom"])
