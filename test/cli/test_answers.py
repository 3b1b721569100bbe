"""One report is printed whatever happens, interrupts included."""

import json
import signal

import pytest

from llm_planner.cli.answers import INTERRUPTED, failure
from llm_planner.cli.answers import answer as answer_command
from llm_planner.cli.terminal import show_report
from llm_planner.execution.watch import ConstraintResult
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome


def answer(command, make, as_json):
    return answer_command(command, lambda command: make(), failure(Report), show_report, as_json)


def done():
    print("a library says hello")
    return Report("go", Outcome.DONE, "The mug stands.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_is_one_json_object_too(number, capsys):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert answer("go", lambda: signal.raise_signal(number) or done(), as_json=True) == INTERRUPTED == 130
    report = json.loads(capsys.readouterr().out)
    assert (report["command"], report["outcome"], report["message"]) == ("go", "failed", "interrupted")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers


def test_a_person_is_told_of_an_interrupt(capsys):
    assert answer("go", lambda: signal.raise_signal(signal.SIGTERM) or done(), as_json=False) == INTERRUPTED
    assert "interrupted" in capsys.readouterr().out


def test_what_libraries_print_goes_to_standard_error(capsys):
    assert answer("go", done, as_json=True) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["message"] == "The mug stands."
    assert shown.err == "a library says hello\n"


def test_a_person_is_told_by_how_much_each_rule_was_kept(capsys):
    def carried_out():
        rule = Constraint(parse("G !near(robot, vase)"), "stay away from the vase")
        return Report("go", Outcome.DONE, "The mug stands.", kept=(ConstraintResult(rule, True, 0.028, "m"),))

    assert answer("go", carried_out, as_json=False) == 0
    assert "kept with 2.8 cm to spare: “stay away from the vase”" in capsys.readouterr().out
