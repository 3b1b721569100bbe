"""The tool server as an agent starts it: a real process, a real client of the SDK, the running system."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client, StdioServerParameters, stdio_client

from llm_planner.ros.run_feed import RunFeed

ARGUMENTS = ["-m", "llm_planner.cli.main", "mcp"]


@pytest.fixture
def with_agent(fresh):
    """Lets `talk(call)` use the tools; `call(name, **arguments)` gives the structured result."""

    def run(talk):
        environment = {**os.environ, **fresh.environment}
        server = StdioServerParameters(command=sys.executable, args=ARGUMENTS, env=environment)

        async def main():
            async with Client(stdio_client(server)) as client:

                async def call(name, **arguments):
                    return (await client.call_tool(name, arguments)).structured_content

                return await talk(call)

        return anyio.run(main)

    return run


def position(system, name):
    system.client.spin_for(0.5)
    return system.scene.find(name).position


def test_a_preview_moves_nothing_and_execute_does_what_it_showed(fresh, with_agent):
    before = fresh.qpos

    async def talk(call):
        previewed = await call("plan", command="put the red block in the green bowl")
        fresh.client.spin_for(1.0)
        moved = fresh.qpos
        return previewed, moved, await call("execute", command="put the red block in the green bowl", wait_seconds=120)

    previewed, moved, executed = with_agent(talk)
    assert previewed["outcome"] == "planned"
    assert moved == pytest.approx(before, abs=0.02)
    assert executed["outcome"] == "done", executed
    assert [step["call"] for step in executed["steps"]] == [step["call"] for step in previewed["steps"]]
    assert position(fresh, "red block")[:2] == pytest.approx(position(fresh, "green bowl")[:2], abs=0.07)


def test_a_program_keeps_the_rules_and_is_corrected_and_stopped(fresh, with_agent):
    async def talk(call):
        await call("add_rule", rule="G !holding(mug)")  # a formula needs no model
        refused = await call("execute", program='pick("mug")')
        begun = await call("execute", program='pick("red block")\nplace_at("right side")', wait_seconds=0)
        while (begun := await call("status", wait_seconds=0.5))["message"] in ("sent", "planning", "executing"):
            pass
        await call("correct", words="slower")
        corrected = await call("correct", words="faster")  # the edited plan is still the agent's
        return refused, begun, corrected, await call("stop"), await call("status", wait_seconds=30)

    refused, begun, corrected, stopped, ended = with_agent(talk)
    assert refused["outcome"] == "refused"
    assert begun["outcome"] == "running"
    assert corrected["outcome"] == "applied"
    assert stopped["outcome"] == "stopped"
    assert ended["outcome"] == "stopped"
    fresh.wait_until_at_rest()


def test_a_persons_run_is_only_stopped(fresh, with_agent):
    running = fresh.start("to and fro")

    async def talk(call):
        return await call("correct", words="slower"), await call("status"), await call("stop")

    corrected, status, stopped = with_agent(talk)
    assert corrected is None  # an error of the tool
    assert "commanded by a person (action)" in status["message"]
    assert stopped["outcome"] == "stopped"
    assert not fresh.finish(running).succeeded


def test_the_run_of_an_agent_that_is_killed_is_stopped(fresh):
    """As a process that is killed ends: nobody can say goodbye."""
    feed = RunFeed(fresh.client.node, print)
    script = (
        "import anyio, os, sys; from mcp import Client, StdioServerParameters, stdio_client\n"
        "async def main():\n"
        f"    server = StdioServerParameters(command=sys.executable, args={ARGUMENTS!r}, env=dict(os.environ))\n"
        "    async with Client(stdio_client(server)) as client:\n"
        "        await client.call_tool('execute', {'command': 'to and fro', 'wait_seconds': 100})\n"
        "anyio.run(main)\n"
    )
    environment = {**os.environ, **fresh.environment}
    agent = subprocess.Popen([sys.executable, "-c", script], env=environment, start_new_session=True)
    try:
        fresh.wait(lambda: feed.run.is_under_way and feed.run.source == "mcp" and fresh.speed > 0.1)
    finally:
        os.killpg(agent.pid, signal.SIGKILL)
        agent.wait()
    fresh.wait(lambda: not feed.run.is_under_way)
    fresh.wait_until_at_rest()
