"""Where a command comes from decides its privileges, and who may answer its question."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecuteCommand

from llm_planner.ros.commands import Command
from llm_planner.ros.idempotent_requests import SharedGoal


def goal(source):
    return SharedGoal(ExecuteCommand.Goal(command="go home", source=source))


def test_a_command_of_the_topic():
    assert (Command("go home", None).source, Command("go home", None).asker) == ("topic", "")


@pytest.mark.parametrize("claimed", ["", "topic", "operator", "console", "mcp ", "MCP"])
def test_a_goal_cannot_claim_another_source(claimed):
    command = Command("go home", goal(claimed))
    assert (command.source, command.asker) == ("action", "")


def test_a_goal_of_an_agent():
    command = Command("go home", goal("mcp"))
    assert (command.source, command.asker) == ("mcp", "mcp")
