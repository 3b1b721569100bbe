"""The same hostile texts from an agent: as a sentence, as a program and as a rule of the tool server, 0 get through."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
import yaml

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client

from llm_planner.errors import LlmPlannerError
from llm_planner.mcp.robot import SOURCE
from llm_planner.mcp.server import make_server
from llm_planner.mcp.tools import Tools
from llm_planner.planning.planned import PlanningSettings
from llm_planner.ros.client import CommandResult, ExecuteCommand
from llm_planner.ros.commands import Command
from llm_planner.ros.idempotent_requests import SharedGoal
from llm_planner.scene.places import BEHIND

HERE = Path(__file__).parent
CASES = yaml.safe_load((HERE / "hostile.yaml").read_text(encoding="utf-8"))
TWINS = yaml.safe_load((HERE / "harmless.yaml").read_text(encoding="utf-8"))


@dataclass
class Sent:
    result: CommandResult
    is_done: bool = True

    def cancel(self):
        pass


class PlanningRobot:
    """Plans as the language planner does with what comes from an agent; `moved` has the programs that would run."""

    def __init__(self, scene, skills, policy, model):
        self.seen, self.known, self.model = scene, skills, model
        self.settings = PlanningSettings(policy=policy)
        self.moved = []

    def scene(self):
        return self.seen

    def remarks(self):
        return []

    def submit(self, words, on_progress, *, program="", rules=(), only_plan=False):
        goal = ExecuteCommand.Goal(command=words, program=program, rules=list(rules), source=SOURCE)
        command = Command(words, SharedGoal(goal), only_plan)
        settings = PlanningSettings(policy=self.settings.policy, source=command.source)
        try:
            planned = command.planned(self.seen, self.known, self.model, BEHIND, settings)
        except LlmPlannerError as error:
            return Sent(CommandResult(ExecuteCommand.Result.REFUSED, str(error)))
        if not only_plan:
            self.moved.append(planned.plan.program)
        return Sent(CommandResult(ExecuteCommand.Result.SUCCEEDED, "", planned.plan if only_plan else None))


def written(value):
    if isinstance(value, dict) and "surrogate" in value:
        return bytes.fromhex(value["surrogate"]).decode("utf-8", "surrogateescape")
    if isinstance(value, dict) and "repeat" in value:
        before, after = value["N"] * value["times"], value["M"] * value["times"]
        return value["repeat"].replace("N", before).replace("M", after)
    return value if isinstance(value, str) else str(value)


def tried(robot, calls):
    """Whether each call was refused, by the robot, the server or the SDK."""

    async def main():
        refused = []
        async with Client(make_server(robot, Tools(robot, 60.0))) as client:
            for name, arguments in calls:
                try:
                    refused.append((await client.call_tool(name, arguments)).is_error)
                except Exception:  # it cannot even be sent
                    refused.append(True)
        return refused

    return anyio.run(main)


def robot_of(case, table, skills, policy_of, obedient):
    """Its policy lists agents, unless the case is hostile by the source that it claims."""
    policy = policy_of("topic" if "source" in case else SOURCE, skills)
    return PlanningRobot(table(case.get("things")), skills, policy, obedient(program_of(case)))


def program_of(case):
    return written(case.get("obeys", case["given"]))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_nothing_hostile_gets_through_the_tools(case, table, skills, policy_of, obedient):
    robot, words = robot_of(case, table, skills, policy_of, obedient), written(case["given"])
    calls = [("execute", {"command": words}), ("add_rule", {"rule": words})]
    if "source" in case or program_of(case) != "go_home()":  # hostile by its words alone
        calls.append(("execute", {"program": program_of(case)}))
    assert all(tried(robot, calls))
    assert robot.moved == []


def test_harmless_twins_pass_as_programs_of_an_agent(table, skills, policy_of, obedient):
    twins = [case for case in TWINS if case["gate"] in ("program", "privileged")]
    robots = [robot_of(case, table, skills, policy_of, obedient) for case in twins]
    for robot, case in zip(robots, twins, strict=True):
        tried(robot, [("execute", {"program": program_of(case)})])
    assert sum(len(robot.moved) for robot in robots) >= 10
