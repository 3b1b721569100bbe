"""Each response of each service and action is lost once: the outcome and the exit status are those without the loss."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.srv import ResetWorld

from llm_planner.cli.main import main
from llm_planner.ros.idempotent_requests import ServiceCaller

INJECTION = Path(__file__).parents[2] / "benchmarks" / "fault_injection"
ACTIONS = ("execute_command", "execute_plan", "execute_skill")
PICK = "put the red block in the green bowl"
Code = ExecuteCommand.Result


class Faults:
    """Orders faults of the processes, which happen once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        python_path = os.pathsep.join([str(INJECTION), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.variables = {"LLM_PLANNER_FAULTS": str(folder), "PYTHONPATH": python_path}

    def order(self, fault: str) -> None:
        (self._folder / fault).touch()

    def happened(self, fault: str) -> bool:
        return not (self._folder / fault).exists()


@pytest.fixture(scope="module")
def faults(tmp_path_factory) -> Faults:
    return Faults(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def faulty(start_system, faults, tmp_path_factory) -> Iterator:
    """A system whose faults can be ordered."""
    folder = tmp_path_factory.mktemp("faulty")
    script = folder / "programs.yaml"
    script.write_text(f"{PICK}: |\n  pick('red block')\n  place_in('green bowl')\nwave: go_home()\n", encoding="utf-8")
    planner = {"model": "scripted", "model_script": str(script)}
    with start_system(folder, planner, faults.variables) as running:
        yield running


@pytest.fixture
def robot(faulty):
    """It with a fresh table."""
    faulty.reset()
    return faulty


@pytest.fixture
def command_line(faulty, capsys, monkeypatch) -> Callable[..., tuple[int, str]]:
    """`llm-planner ...` beside the system: its exit status, and what it printed."""
    for name, value in faulty.environment.items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(words)
        printed = capsys.readouterr()
        return status, " ".join((printed.out + printed.err).split())

    return run


@pytest.mark.parametrize("response", [f"{action}.{kind}" for action in ACTIONS for kind in ("goal", "result")])
def test_a_command_ends_as_without_the_loss(robot, faults, command_line, response):
    faults.order(f"drop {response}")
    status, printed = command_line("say", "wave")
    assert (status, "Done: " in printed) == (0, True), printed
    assert faults.happened(f"drop {response}")


@pytest.mark.parametrize(
    "response", ["stop", "execute_skill.goal", "execute_skill.result", "execute_skill.cancel", "execute_plan.goal"]
)
def test_a_stop_brings_the_arm_to_rest_as_without_the_loss(robot, faults, command_line, response):
    before_it_moves = response.endswith("goal")
    if before_it_moves:
        faults.order(f"drop {response}")
    submission = robot.start(PICK)
    if not before_it_moves:
        faults.order(f"drop {response}")
    assert command_line("stop") == (0, "Stopped.")
    assert robot.finish(submission).code == Code.STOPPED
    robot.wait(lambda: faults.happened(f"drop {response}"))
    robot.client.spin_for(0.5)  # what was seen last may be old: nothing was heard while the command line was served
    robot.wait(lambda: robot.speed < 0.01)
    at_rest = robot.qpos
    later = robot.time + 1.0
    robot.wait(lambda: robot.time > later)
    assert robot.qpos == pytest.approx(at_rest, abs=0.01)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_command_is_canceled_as_without_the_loss(robot, faults, action):
    submission = robot.start(PICK)
    faults.order(f"drop {action}.cancel")
    submission.cancel()
    assert robot.finish(submission).code == Code.CANCELED
    robot.wait(lambda: robot.speed < 0.01)
    assert faults.happened(f"drop {action}.cancel")


def test_a_correction_is_applied_as_without_the_loss(robot, faults, command_line):
    submission = robot.start(PICK)
    faults.order("drop edit_plan")
    status, printed = command_line("correct", "slower")
    assert (status, "Done: " in printed) == (0, True), printed
    assert faults.happened("drop edit_plan")
    robot.wait(lambda: len(robot.plan.edits) == 1)
    robot.client.stop("the test is over")
    robot.finish(submission)


def test_the_world_is_laid_out_anew_once(robot, faults):
    caller = ServiceCaller(robot.client.node, ResetWorld, "reset_world")
    faults.order("drop reset_world")
    before = robot.restarts
    answer = caller.call(ResetWorld.Request(seed=3, objects=["red block"]), 10.0, "no answer")
    robot.wait(answer.done)
    assert faults.happened("drop reset_world")
    assert answer.result().error_code == ResetWorld.Response.DONE
    robot.wait(lambda: len(robot.scene.objects) == 1)
    robot.client.spin_for(0.5)
    assert robot.restarts == before + 1


@pytest.mark.parametrize("hook", ["start", "step"])
def test_a_skill_that_raises_is_never_done(robot, faults, command_line, hook):
    faults.order(f"raise skill.{hook}")
    status, printed = command_line("say", "wave")
    assert faults.happened(f"raise skill.{hook}")
    assert status == 1
    assert f"the skill go_home failed by a fault of its own: KeyError: 'injected into {hook}'" in printed
    assert command_line("say", "wave")[0] == 0


def test_a_skill_that_raises_when_its_effect_is_there_already_is_not_done_either(robot, faults):
    submission = robot.start(PICK)
    robot.wait(lambda: robot.scene.held == "red block")
    faults.order("raise skill.step")
    result = robot.finish(submission)
    assert faults.happened("raise skill.step")
    assert (result.code, "by a fault of its own" in result.message) == (Code.SKILL_FAILED, True), result


def test_a_skill_that_cannot_tell_its_phase_does_its_work(robot, faults):
    faults.order("raise skill.phase")
    assert robot.say(PICK).succeeded  # it takes seconds, and the phase is looked at four times in each
    assert faults.happened("raise skill.phase")
