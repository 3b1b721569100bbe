"""Who may do what on the network: derived from the table of the graph, denied where it says nothing."""

from __future__ import annotations

from datetime import datetime
from fnmatch import fnmatchcase
from xml.etree import ElementTree as ET

import pytest

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.node_table import CLIENT, NODES, enclave
from llm_planner.ros.security import Grant, Role, Topics, governance_xml, grants, permissions_xml

THEN = datetime(2026, 1, 1)
OTHERS = [("driver", Role.ROBOT), ("eyes", Role.PERCEPTION), ("button", Role.PEER), ("me", Role.OPERATOR)]
OURS = {entry.name for entry in NODES}


class Enclave:
    """Decides as DDS Security does (section 9.4.1.3): the first rule that fits, else the default."""

    def __init__(self, grant: Grant, namespace: str = "left") -> None:
        self.root = ET.fromstring(permissions_xml(grant, namespace, 7, THEN, THEN))
        self._grant = self.root.find("permissions/grant")

    def may(self, action: str, topic: str) -> bool:
        for rule in self._grant:
            named = rule.findall(f"{action}/topics/topic")
            if rule.tag in ("allow_rule", "deny_rule") and any(fnmatchcase(topic, each.text) for each in named):
                return rule.tag == "allow_rule"
        return self._grant.findtext("default") == "ALLOW"


USUAL = Topics()


def writers(topic: str, others=(), topics: Topics = USUAL) -> set[str]:
    return {grant.node for grant in grants(topics, others) if Enclave(grant).may("publish", topic)}


@pytest.mark.parametrize(
    ("topic", "who"),
    [
        ("rt/left/joint_command", {"safety_filter"}),
        ("rt/left/cmd_vel", {"safety_filter"}),
        ("rt/left/joint_command_wanted", {"mpc_controller"}),
        ("rt/left/cmd_vel_wanted", {"mpc_controller"}),
        ("rt/left/motion_reference", {"skill_server"}),
        ("rt/left/plan_status", {"plan_executor"}),
        ("rt/left/motion_patch", {"plan_executor"}),
        ("rq/left/execute_skill/_action/send_goalRequest", {"plan_executor"}),
        ("rq/left/execute_plan/_action/send_goalRequest", {"language_planner"}),
        ("rq/left/execute_command/_action/send_goalRequest", {CLIENT, "console", "correction_listener"}),
        ("rq/left/preview_command/_action/send_goalRequest", {CLIENT}),
        ("rq/left/edit_planRequest", {"correction_listener"}),
        ("rr/left/stopReply", {"plan_executor"}),
        ("rq/left/safety_filter/set_parametersRequest", set()),
        ("rq/left/safety_filter/change_stateRequest", set()),
        ("rt/right/joint_command", set()),
        ("rt/joint_command", set()),
    ],
)
def test_what_moves_the_robot_has_one_writer(topic, who):
    assert writers(topic) == who


def test_with_a_robot_of_its_own_there_is_no_simulator_and_commands_still_have_one_writer():
    topics = Topics(frozenset({"/franka/joint_states"}), frozenset({"/arm/joint_trajectory"}))
    assert writers("rt/arm/joint_trajectory", OTHERS, topics) == {"safety_filter"}
    assert writers("rt/left/joint_command", OTHERS, topics) == {"driver"}  # which nobody of ours reads
    assert writers("rt/franka/joint_states", OTHERS, topics) == {"driver"}
    assert writers("rt/left/scene", OTHERS, topics) == {"eyes"}
    assert not OURS & {"simulator"} & {grant.node for grant in grants(topics, OTHERS)}


def test_the_robot_yaml_of_an_arm_names_what_its_driver_has():
    topics = Topics.of(arm_model("fr3"))
    assert writers("rt/left/fr3_arm_controller/joint_trajectory", OTHERS, topics) == {"safety_filter"}
    assert writers("rt/left/franka_gripper/joint_states", OTHERS, topics) == {"driver"}
    goal = "rq/left/franka_gripper/gripper_action/_action/send_goalRequest"
    assert writers(goal, OTHERS, topics) == {"gripper"}
    assert "gripper" not in {grant.node for grant in grants()}


def test_a_robot_has_its_own_topics_but_may_not_pose_as_one_of_ours():
    driver = next(Enclave(grant) for grant in grants(Topics(), OTHERS) if grant.node == "driver")
    assert driver.may("publish", "rt/controller_manager/activity")
    assert driver.may("subscribe", "rt/left/joint_command")
    assert driver.may("publish", "rt/left/joint_states")
    for topic in ("rt/left/joint_command", "rt/left/plan_status", "rq/left/edit_planRequest", "rr/left/stopReply"):
        assert not driver.may("publish", topic)
    assert not driver.may("publish", "rq/left/safety_filter/set_parametersRequest")


def test_everybody_who_is_known_may_stop_the_robot_but_for_nodes_that_never_do():
    may = writers("rq/left/stopRequest", OTHERS)
    assert may == {"language_planner", "correction_listener", CLIENT, *(name for name, _ in OTHERS)}


def test_a_peer_looks_and_an_operator_acts():
    found = {grant.node: Enclave(grant) for grant in grants(Topics(), OTHERS)}
    for name in ("button", "me"):
        assert found[name].may("subscribe", "rt/left/plan_status")
        assert found[name].may("subscribe", "rt/left/joint_states")
        assert not found[name].may("publish", "rt/left/joint_command")
    for topic in ("rt/left/motion_patch", "rt/left/language_command", "rq/left/safety_filter/set_parametersRequest"):
        assert found["me"].may("publish", topic)
        assert not found["button"].may("publish", topic)


@pytest.mark.parametrize(("namespace", "name"), [("", "/camera"), ("left", "/left/camera"), ("/a/b/", "/a/b/camera")])
def test_an_enclave_is_named_as_its_node(namespace, name):
    assert enclave(namespace, "camera") == name
    grant = next(grant for grant in grants() if grant.node == "camera")
    found = Enclave(grant, namespace).root.find("permissions/grant")
    assert found.get("name") == name
    assert found.findtext("subject_name") == f"CN={name}"


def test_permissions_have_the_order_that_the_schema_wants():
    for grant in grants(Topics(), OTHERS):
        found = Enclave(grant).root.find("permissions/grant")
        tags = [child.tag for child in found]
        rules = ["deny_rule", "allow_rule"] if grant.node == "driver" else ["allow_rule"]
        assert tags == ["subject_name", "validity", *rules, "default"]
        for rule in found.iter("allow_rule"):
            assert [child.tag for child in rule] == ["domains", "publish", "subscribe"]
            assert rule.findtext("domains/id") == "7"
        assert found.findtext("validity/not_before") == "2026-01-01T00:00:00"


def test_governance_admits_nobody_without_certificate_and_protects_every_topic():
    rule = ET.fromstring(governance_xml()).find("domain_access_rules/domain_rule")
    assert rule.findtext("allow_unauthenticated_participants") == "false"
    assert rule.findtext("enable_join_access_control") == "true"
    topics = rule.findall("topic_access_rules/topic_rule")
    assert [each.findtext("topic_expression") for each in topics] == ["*"]
    assert topics[0].findtext("enable_write_access_control") == "true"
