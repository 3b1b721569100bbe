"""`--rule FORMULA` beside the words of a command: checked at once, and kept like a rule in the words."""

from __future__ import annotations

import json

import pytest

from llm_planner.cli.main import main

PUT = ("plan", "--objects", "red block, plate, vase", "put the red block on the plate", "--json")


def planned(capsys, *rules):
    status = main([*PUT, *(part for rule in rules for part in ("--rule", rule))])
    return status, json.loads(capsys.readouterr().out)


def test_a_plan_keeps_the_rules(capsys):
    rules = ["G !moved(vase)", "G speed(robot) < 0.2"]
    status, report = planned(capsys, *rules)
    assert (status, [one["formula"] for one in report["constraints"]]) == (0, rules)


def test_a_rule_that_no_plan_keeps_is_refused(capsys):
    status, report = planned(capsys, "G !holding(red block)")
    assert (status, report["outcome"]) == (1, "refused")
    assert "the robot never holds the red block" in report["message"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("G !over(robot", "--rule 'G !over(robot': "),
        ("moved(vase)", "--rule 'moved(vase)' is about the first moment only: write G (moved(vase)) for what must"),
        ("G !over(robot, vsae)", "vsae"),
    ],
)
def test_a_wrong_rule_is_told_with_what_is_wrong(rule, message, capsys):
    status, report = planned(capsys, rule)
    assert status == 1
    assert message in report["message"]
