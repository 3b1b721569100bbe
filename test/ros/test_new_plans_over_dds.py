"""Plans that may not go on, or whose steps fail, are made anew: real planner and executor, and a pretended robot."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llm_planner_interfaces.action import ExecuteCommand, ExecuteSkill
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.action import ActionServer

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.unroll import lying
from llm_planner.ros.base_node import NEWEST_ONLY
from llm_planner.ros.client import SystemClient
from llm_planner.ros.conversions.motion_messages import zone_from_msg
from llm_planner.ros.conversions.plan_messages import arguments_from_msg
from llm_planner.ros.conversions.scene_messages import scene_to_msg
from llm_planner.ros.node_table import NODES
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject
from llm_planner.skills.library import load_skills

Code = ExecuteCommand.Result
TIMEOUT = 60.0  # [s] of wall time: generous, because the machine may be busy
SCRIPT = """
tidy up:
  programs: |
    pick("red block")
    place_in("green bowl")
  readings:
    task: tidy up
    constraints:
      - {formula: "F G !in(blue block, green bowl)", words: no blue block in the bowl in the end}
clear away:
  programs: |
    pick("red block")
    place_in("green bowl")
  readings:
    task: clear away
    constraints:
      - {formula: "F G !in(blue block, green bowl)", words: no blue block in the bowl in the end}
      - {formula: "G !holding(blue block)", words: hands off the blue block}
      - {formula: "G !moved(green bowl)", words: leave the bowl where it is}
both at once:
  - - |
      pick("red block")
      place_in("green bowl")
      pick("blue block")
      place_at("middle")
    - |
      pick("blue block")
      place_at("middle")
      pick("red block")
      place_in("green bowl")
round it:
  programs: |
    pick("red block")
    place_in("green bowl")
  readings:
    task: round it
    constraints:
      - {formula: "G !near(robot, blue block)", words: stay away from the blue block}
wave: go_home()
"""


def thing(name, x, y, size=(0.04, 0.04, 0.04)):
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, size[2] / 2), IDENTITY, size)


TABLE = Scene(
    0.0,
    (
        thing("red block", 0.55, 0.25),
        thing("blue block", 0.35, -0.25),
        thing("green bowl", 0.55, -0.3, (0.128, 0.128, 0.045)),
    ),
)


class PretendedRobot:
    """Publishes a scene and does what skills promise. `mishaps` are by the number of the skill started, from 1: a
    function of the scene before and the one promised that gives the scene after, and an error code."""

    def __init__(self, client: SystemClient) -> None:
        self._client = client
        self._skills = {skill.name: skill for skill in load_skills().signatures}
        self._origins = {}
        self._began = time.monotonic()
        self._scene = TABLE
        self._run = 0
        self._publisher = client.node.create_publisher(SceneMsg, "scene", NEWEST_ONLY)
        client.node.create_timer(0.05, self._publish)
        self._server = ActionServer(client.node, ExecuteSkill, "execute_skill", self._execute)
        self.lay_out({})

    def lay_out(self, mishaps, table: Scene = TABLE) -> None:
        """The table as it was, and what will go wrong."""
        self._scene, self._run, self._origins = table, self._run + 1, {}
        self.started, self.zones, self._mishaps = [], [], mishaps
        self._client.spin_for(0.5)

    @property
    def scene(self) -> Scene:
        return self._scene

    def _publish(self) -> None:
        self._scene = replace(self._scene, time=time.monotonic() - self._began)
        self._publisher.publish(scene_to_msg(self._scene, "panda_link0", "tabletop", self._run))

    def _execute(self, goal) -> ExecuteSkill.Result:
        request, before = goal.request, self._scene
        arguments = arguments_from_msg(request.arguments)
        self.started.append((request.skill, *arguments.values()))
        self.zones.append([zone_from_msg(zone) for zone in request.zones])
        self._origins |= lying(before)
        promised = predict(before, goals_of(self._skills[request.skill], "", arguments, before, self._origins))
        mishap = self._mishaps.get(len(self.started), lambda before, after: (after, ExecuteSkill.Result.SUCCEEDED))
        self._scene, code = mishap(before, promised)
        succeeded = code == ExecuteSkill.Result.SUCCEEDED
        (goal.succeed if succeeded else goal.abort)()
        return ExecuteSkill.Result(error_code=code, error_msg="" if succeeded else "it did not work")


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SystemClient, PretendedRobot]]:
    folder: Path = tmp_path_factory.mktemp("anew")
    script = folder / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = own_network(random.Random())
    journal = {"journal": str(folder / "journal.sqlite")}
    planner = {"model": "scripted", "model_script": str(script)}
    options = NodeOptions({"plan_executor": journal, "language_planner": {**planner, **journal}})
    entries = [entry for entry in NODES if entry.name in ("plan_executor", "language_planner")]
    with NodeProcesses(entries, options, folder / "nodes.log", environment):
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        pretended = PretendedRobot(client)
        client.wait_for_system(TIMEOUT)
        client.wait_until(lambda: client.execute("wave", lambda progress: None).succeeded, TIMEOUT)
        yield client, pretended
        client.close()


def somebody_puts_the_blue_block_into_the_bowl(before, promised):
    x, y, _ = promised.find("green bowl").position
    inside = replace(promised.find("blue block"), position=(x + 0.04, y, 0.03))
    objects = tuple(inside if item.name == inside.name else item for item in promised.objects)
    return replace(promised, objects=objects), ExecuteSkill.Result.SUCCEEDED


def test_a_plan_that_the_scene_has_overtaken_is_made_anew_and_finished(robot):
    client, pretended = robot
    pretended.lay_out({2: somebody_puts_the_blue_block_into_the_bowl})
    told = []
    result = client.execute("tidy up", lambda progress: told.append(progress.message))
    assert result.succeeded, result.message
    assert pretended.started[:3] == [("pick", "red block"), ("place_in", "green bowl"), ("pick", "blue block")]
    assert "planning anew: After every step this is still not so: “no blue block in the bowl in the end”." in told


def test_where_nothing_is_left_to_do_the_person_is_told_why_and_the_robot_rests(robot):
    client, pretended = robot
    pretended.lay_out({2: somebody_puts_the_blue_block_into_the_bowl})
    result = client.execute("clear away", lambda progress: None)
    assert result.code == Code.REPLAN
    unmet = "After every step this is still not so: “no blue block in the bowl in the end”."
    assert result.message.startswith(f"{unmet} I found no plan with pick")
    assert len(pretended.started) == 2
    assert client.execute("wave", lambda progress: None).succeeded


def fails(before, promised):
    return before, ExecuteSkill.Result.UNREACHABLE


def test_where_a_step_fails_for_good_another_branch_is_taken(robot):
    client, pretended = robot
    pretended.lay_out({1: fails, 2: fails})
    result = client.execute("both at once", lambda progress: None)
    assert result.succeeded, result.message
    assert pretended.started == [
        ("pick", "red block"),
        ("pick", "red block"),
        ("pick", "blue block"),
        ("place_at", "middle"),
        ("pick", "red block"),
        ("place_in", "green bowl"),
    ]


def test_what_fails_again_on_every_branch_ends_the_command_with_the_rest_done(robot):
    client, pretended = robot
    pretended.lay_out(dict.fromkeys((1, 2, 5, 6), fails))
    result = client.execute("both at once", lambda progress: None)
    assert result.code == Code.SKILL_FAILED
    assert result.message == 'Step 4, pick("red block"), failed: it did not work.'
    assert pretended.started[-1] == ("pick", "red block")
    assert ("place_at", "middle") in pretended.started


def test_what_the_rules_forbid_goes_with_each_skill(robot):
    client, pretended = robot
    pretended.lay_out({}, replace(TABLE, robot=Pose((0.307, 0.0, 0.487))))
    result = client.execute("round it", lambda progress: None)
    assert result.succeeded, result.message
    told = [[(zone.name, zone.clearance) for zone in zones] for zones in pretended.zones]
    assert told == [[("the blue block", 0.1)], [("the blue block", 0.1)]]
    pretended.lay_out({})
    assert client.execute("wave", lambda progress: None).succeeded
    assert pretended.zones == [[]]
