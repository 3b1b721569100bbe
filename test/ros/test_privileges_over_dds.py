"""An executor with a policy file holds to it whatever it is sent, and whoever sent it."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecuteCommand, ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from rclpy.action import ActionClient
from std_msgs.msg import String

from llm_planner.ros.base_node import LATCHED, RELIABLE

Code = ExecuteCommand.Result
POLICY = """
sources: {topic: refuse, action: refuse}
rules:
  - {name: everyday work, allow: any, from: action}
  - {name: hands off, deny: pick, from: any, where: {object: mug}}
  - {name: no tours with a block, deny: go_home, from: any, while: {held: {kind: block}}, otherwise: stop}
"""
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
take the mug: pick("mug")
show me the red block: |
  pick("red block")
  go_home()
wave: go_home()
"""


@pytest.fixture(scope="module")
def bound(tmp_path_factory, start_system):
    """A system whose executor has a policy file. Its language planner has none."""
    folder = tmp_path_factory.mktemp("bound")
    policy, script = folder / "policy.yaml", folder / "programs.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    script.write_text(PROGRAMS, encoding="utf-8")
    planner = {"model": "scripted", "model_script": str(script)}
    with start_system(folder, planner, executor={"privileges": str(policy)}) as system:
        assert system.works_again()
        yield system


def test_what_the_policy_allows_is_done(bound):
    bound.reset()
    result = bound.say("put the red block in the green bowl")
    assert result.succeeded, result.message


def test_what_the_policy_denies_is_refused_and_nothing_moves(bound):
    bound.reset()
    before = bound.qpos
    result = bound.say("take the mug")
    assert result.code == Code.REFUSED
    assert "The policy policy.yaml does not let commands from action use" in result.message
    assert bound.qpos == pytest.approx(before, abs=0.02)


def test_what_the_scene_foreseen_for_a_later_step_decides_is_refused_and_nothing_moves(bound):
    bound.reset()
    before = bound.qpos
    result = bound.say("show me the red block")
    assert result.code == Code.REFUSED
    assert "use go_home() (rule 3, “no tours with a block”)" in result.message
    assert bound.qpos == pytest.approx(before, abs=0.02)
    assert bound.say("wave").succeeded


def test_the_executor_knows_by_what_way_a_command_came(bound):
    bound.reset()
    node, told = bound.client.node, []
    node.create_subscription(CommandStatus, "command_status", told.append, RELIABLE)
    publisher = node.create_publisher(String, "language_command", RELIABLE)
    bound.wait(lambda: publisher.get_subscription_count() > 0)
    publisher.publish(String(data="wave"))
    bound.wait(lambda: any(status.state == CommandStatus.ENDED for status in told))
    (ended,) = {status.message for status in told if status.state == CommandStatus.ENDED}
    assert "lets commands from topic use go_home()" in ended


def test_a_plan_that_does_not_say_where_it_comes_from_is_refused(bound):
    node, heard = bound.client.node, []
    node.create_subscription(PlanStatus, "plan_status", heard.append, LATCHED)
    client = ActionClient(node, ExecutePlan, "execute_plan")
    bound.wait(lambda: client.server_is_ready() and heard)
    plan = Plan(id="1", program="go_home()", executor=heard[-1].executor, stops=heard[-1].stops)
    sent = client.send_goal_async(ExecutePlan.Goal(plan=plan))
    bound.wait(sent.done)
    result = sent.result().get_result_async()
    bound.wait(result.done)
    assert result.result().result.error_code == ExecutePlan.Result.REFUSED
    assert "knows no source of commands called ''" in result.result().result.error_msg
