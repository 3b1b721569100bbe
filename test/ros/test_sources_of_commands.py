"""Where a command comes from decides its privileges, and who may answer its question."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecuteCommand

from llm_planner.ros.commands import Command
from llm_planner.ros.idempotent_requests import SharedGoal


def goal(source, sender="other"):
    return SharedGoal(ExecuteCommand.Goal(command="go home", source=source), sender)


def test_a_command_of_the_topic():
    assert (Command("go home", None).source, Command("go home", None).asker) == ("topic", "")


@pytest.mark.parametrize("claimed", ["", "topic", "operator", "console", "mcp ", "MCP"])
def test_a_goal_cannot_claim_another_source(claimed):
    command = Command("go home", goal(claimed))
    assert (command.source, command.asker) == ("action", "")


@pytest.mark.parametrize("sender", ["", "other", "left/console", "/left/console", "console2"])
def test_only_the_node_console_may_claim_to_be_the_console(sender):
    assert Command("go home", goal("console", sender)).source == "action"


def test_a_goal_of_the_console():
    command = Command("go home", goal("console", "console"))
    assert (command.source, command.asker) == ("console", "")


def test_the_console_does_not_have_its_source_without_asking_for_it():
    assert Command("go home", goal("", "console")).source == "action"


@pytest.mark.parametrize(
    ("claimed", "source"), [("topic", "topic"), ("console", "console"), ("mcp", "mcp"), ("", "action"), ("x", "action")]
)
def test_a_correction_of_a_plan_that_has_ended_has_the_source_of_that_plan(claimed, source):
    assert Command("no, the blue one", goal(claimed, "correction_listener")).source == source


def test_a_goal_of_an_agent():
    command = Command("go home", goal("mcp"))
    assert (command.source, command.asker) == ("mcp", "mcp")
