"""The pace of a simulation, as its states show it."""

from llm_planner.ros.observed_robots import SimulationPace


def paced(factor: float) -> SimulationPace:
    """A simulation of which a second takes 1 / factor s, seen for 10 s every 50 ms of wall time."""
    pace = SimulationPace()
    for k in range(200):
        pace.saw(factor * 0.05 * k, 0.05 * k)
    return pace


def test_a_simulation_that_keeps_up_is_not_slow():
    assert paced(1.0).told(10.0) == paced(0.5).told(10.0) == ""


def test_a_slow_one_is_said_to_be_slow_with_what_was_measured():
    told = paced(0.02).told(10.0)
    assert "too slow for the simulation, whose clock went 0.20 s in the last 10.0 s" in told
    assert "real_time_factor" in told


def test_states_that_have_just_ended_do_not_show_a_slow_computer():
    assert paced(1.0).told(11.0) == ""
    assert SimulationPace().told(5.0) == ""


def test_a_restarted_simulation_is_measured_anew():
    pace = paced(1.0)
    pace.saw(0.0, 10.0)
    assert pace.told(10.1) == ""
