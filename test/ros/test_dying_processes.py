"""What happens when a process is killed under a running plan. Nodes are started again as by `llm-planner up`."""

from __future__ import annotations

import math
import os
import signal

import pytest
from llm_planner_interfaces.action import ExecuteCommand

from llm_planner.ros.client import Progress, SystemUnreachableError

Code = ExecuteCommand.Result


def kill(system, name: str) -> None:
    os.kill(system.processes.pid(name), signal.SIGKILL)


def test_when_the_skill_server_dies_the_arm_stops_by_itself(fresh):
    running = fresh.start("put the red block in the green bowl")
    killed = fresh.time
    kill(fresh, "skill_server")
    fresh.wait_until_at_rest()
    assert fresh.time - killed < 2.0
    result = fresh.finish(running)
    assert result.code == Code.SKILLS_LOST
    assert "skills is gone" in result.message
    assert fresh.works_again()
    assert any("skill_server ended (by SIGKILL); starting it again" in notice for notice in fresh.notices)


def test_when_the_controller_dies_the_arm_follows_its_last_plan_to_rest(fresh):
    running = fresh.start("put the red block in the green bowl")
    killed = fresh.time
    kill(fresh, "mpc_controller")
    fresh.wait_until_at_rest()
    assert fresh.time - killed < 2.5
    fresh.client.stop("test")
    fresh.finish(running)
    assert fresh.works_again()


def test_when_the_simulator_is_restarted_the_plan_ends_and_the_arm_stays_still(fresh):
    running = fresh.start("put the red block in the green bowl")
    killed = fresh.processes.pid("simulator")
    kill(fresh, "simulator")
    result = fresh.finish(running)
    assert result.code in (Code.STOPPED, Code.NO_SCENE, Code.SKILL_FAILED)
    assert result.message
    fresh.wait(lambda: fresh.processes.pid("simulator") != killed)
    fresh.time, before = math.inf, fresh.restarts  # its clock may go on where that of the killed one ended
    fresh.wait(lambda: fresh.restarts > before)
    at_home = fresh.qpos
    fresh.wait(lambda: fresh.age > 0.6)
    assert fresh.qpos == pytest.approx(at_home, abs=0.02)
    assert fresh.works_again()


def test_a_simulator_that_is_held_up_for_seconds_as_on_a_busy_machine_ends_no_plan(fresh):
    running = fresh.start("lift the blue block")
    os.kill(fresh.processes.pid("simulator"), signal.SIGSTOP)
    fresh.client.spin_for(2.5)
    os.kill(fresh.processes.pid("simulator"), signal.SIGCONT)
    result = fresh.finish(running)
    assert result.succeeded, result.message


def test_when_the_executor_dies_the_command_ends_and_the_next_one_works(fresh):
    running = fresh.start("put the red block in the green bowl")
    kill(fresh, "plan_executor")
    result = fresh.finish(running)
    assert result.code == Code.EXECUTOR_LOST
    assert fresh.works_again()


def test_when_the_language_planner_dies_whoever_waits_is_told(fresh):
    killed = []

    def kill_once(progress: Progress) -> None:
        if not killed:
            killed.append(progress)
            kill(fresh, "language_planner")

    with pytest.raises(SystemUnreachableError, match="the language planner fell silent"):
        fresh.client.execute("to and fro", kill_once)
    fresh.client.stop("test")
    assert fresh.works_again()


def test_a_command_that_went_to_a_planner_that_had_just_died_is_carried_out_when_it_is_back(fresh):
    kill(fresh, "language_planner")
    assert fresh.say("wave").succeeded
