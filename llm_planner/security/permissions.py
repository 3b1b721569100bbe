"""Who may do what on the network, as the files of DDS Security 1.1 say it (OMG formal/2018-04-01, section 9.4).

The permissions of our nodes are those of `nodes.graph_table` and no others; a node that is not ours plays a `Role`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from xml.etree import ElementTree as ET

from llm_planner.nodes.graph_table import EVERY_NODE, GRAPH, LIFECYCLE, Endpoints
from llm_planner.nodes.node_table import CLIENT, NODES, enclave

SCHEMA = "http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_{}.xsd"
DISCOVERY_TOPIC = "ros_discovery_info"  # on which every ROS process says which nodes it has
DOMAIN_MAX = 232  # of the ports that domains are mapped to, the last that fit
PROTECTION = {  # as sros2 has it: who is who and who may what is checked, and everything is encrypted
    "allow_unauthenticated_participants": "false",
    "enable_join_access_control": "true",
    "discovery_protection_kind": "ENCRYPT",
    "liveliness_protection_kind": "ENCRYPT",
    "rtps_protection_kind": "SIGN",
}
TOPIC_PROTECTION = {
    "topic_expression": "*",
    "enable_discovery_protection": "true",
    "enable_liveliness_protection": "true",
    "enable_read_access_control": "true",
    "enable_write_access_control": "true",
    "metadata_protection_kind": "ENCRYPT",
    "data_protection_kind": "ENCRYPT",
}


class Role(Enum):
    """What a node that is not ours is there for."""

    ROBOT = "robot"  # the robot's driver: gives states, takes commands; what is not ours on the network is its own
    PERCEPTION = "perception"  # publishes the scene
    PEER = "peer"  # may look at everything and stop the robot
    OPERATOR = "operator"  # says, corrects, edits, limits motions, sets parameters, and what a peer may


@dataclass(frozen=True)
class Topics:
    """Where states come from and commands go to, as the parameters `state_topic` and `command_topic` say."""

    states: frozenset[str] = frozenset({"joint_states", "odom"})
    commands: frozenset[str] = frozenset({"joint_command", "cmd_vel"})

    def applied_to(self, endpoints: Endpoints) -> Endpoints:
        """The endpoints with these topics in place of the usual ones."""
        usual = Topics()

        def moved(names: frozenset[str]) -> frozenset[str]:
            if names & usual.states:
                names = names - usual.states | self.states
            return names - usual.commands | self.commands if names & usual.commands else names

        return replace(endpoints, publishes=moved(endpoints.publishes), subscribes=moved(endpoints.subscribes))


@dataclass(frozen=True)
class Grant:
    """What the process of one enclave may do. Where there are `owners`, it may do anything else as well, but write what
    only they may write."""

    node: str
    endpoints: Endpoints
    owners: tuple[Grant, ...] = ()


def grants(topics: Topics = Topics(), others: Iterable[tuple[str, Role]] = ()) -> tuple[Grant, ...]:
    """One for each of our nodes (the simulated ones where no robot is among `others`), for the command line, and for
    the nodes in `others`."""
    others = tuple(others)
    has_robot = any(role is Role.ROBOT for _, role in others)
    graph = {name: topics.applied_to(own) for name, own in GRAPH.items()}
    entries = [entry for entry in NODES if not (entry.simulated and has_robot)]
    ours = [Grant(entry.name, graph[entry.name] | EVERY_NODE | LIFECYCLE) for entry in entries]
    ours.append(Grant(CLIENT, graph[CLIENT] | EVERY_NODE))
    return (*ours, *(_grant(node, role, topics, tuple(ours)) for node, role in others))


def _grant(node: str, role: Role, topics: Topics, ours: tuple[Grant, ...]) -> Grant:
    own = Endpoints(calls=frozenset({"stop"})) | EVERY_NODE
    published = frozenset[str]().union(*(grant.endpoints.publishes for grant in ours)) | topics.states | {"scene"}
    looks = own | Endpoints(subscribes=frozenset(name for name in published if not name.startswith("~")))
    if role is Role.ROBOT:
        given, taken = topics.states | {"/tf", "/clock", "/diagnostics"}, topics.commands | {"gripper_command"}
        owners = (_grant("", one, topics, ours) for one in (Role.PERCEPTION, Role.OPERATOR))
        return Grant(node, own | Endpoints(given, taken), (*ours, *owners))
    if role is Role.PERCEPTION:
        return Grant(node, own | Endpoints(frozenset({"scene"}), topics.states | {"camera/image_raw", "/tf"}))
    if role is Role.PEER:
        return Grant(node, looks)
    settings = (f"{entry.name}/{name[2:]}" for entry in NODES for name in (EVERY_NODE | LIFECYCLE).serves)
    said = frozenset({"language_command", "correction", "audio", "motion_patch"})
    called = frozenset({"edit_plan", "reset_world", *settings})
    return Grant(node, looks | Endpoints(publishes=said, calls=called, sends=frozenset({"execute_command"})))


def dds_topics(endpoints: Endpoints, namespace: str, node: str) -> tuple[frozenset[str], frozenset[str]]:
    """The DDS topics that are written and read for them, as ROS 2 maps its names."""

    def named(name: str) -> str:
        if name.startswith("/"):
            return name
        return enclave(namespace, node + name[1:] if name.startswith("~") else name)

    called = {*map(named, endpoints.calls)} | _parts(map(named, endpoints.sends))
    served = {*map(named, endpoints.serves)} | _parts(map(named, endpoints.executes))
    spread = {f"rt{named(name)}/_action/{part}" for name in endpoints.executes for part in ("feedback", "status")}
    heard = {f"rt{named(name)}/_action/{part}" for name in endpoints.sends for part in ("feedback", "status")}
    requests, replies = "rq{}Request".format, "rr{}Reply".format
    written = {f"rt{named(name)}" for name in endpoints.publishes} | spread
    read = {f"rt{named(name)}" for name in endpoints.subscribes} | heard
    return (
        frozenset({*written, *map(requests, called), *map(replies, served), DISCOVERY_TOPIC}),
        frozenset({*read, *map(replies, called), *map(requests, served), DISCOVERY_TOPIC}),
    )


def _parts(actions: Iterable[str]) -> set[str]:
    """The services that actions are made of."""
    return {f"{name}/_action/{part}" for name in actions for part in ("send_goal", "cancel_goal", "get_result")}


def governance_xml() -> bytes:
    """The rules of every domain: only authenticated participants, and each may do what it is granted."""
    root = _document("governance")
    rule = ET.SubElement(ET.SubElement(root, "domain_access_rules"), "domain_rule")
    every = ET.SubElement(ET.SubElement(rule, "domains"), "id_range")
    _fill(every, {"min": "0", "max": str(DOMAIN_MAX)})
    _fill(rule, PROTECTION)
    _fill(ET.SubElement(ET.SubElement(rule, "topic_access_rules"), "topic_rule"), TOPIC_PROTECTION)
    return _text(root)


def permissions_xml(grant: Grant, namespace: str, domain: int, not_before: datetime, not_after: datetime) -> bytes:
    """What the enclave of `grant` may do in the ROS domain `domain`; everything else is denied."""
    name = enclave(namespace, grant.node)
    root = _document("permissions")
    granted = ET.SubElement(ET.SubElement(root, "permissions"), "grant", {"name": name})
    _fill(granted, {"subject_name": f"CN={name}"})
    span = {"not_before": not_before, "not_after": not_after}
    _fill(ET.SubElement(granted, "validity"), {key: when.strftime("%Y-%m-%dT%H:%M:%S") for key, when in span.items()})
    written, read = dds_topics(grant.endpoints, namespace, grant.node)
    if grant.owners:  # the first rule that fits decides
        owned = frozenset[str]().union(*(dds_topics(one.endpoints, namespace, one.node)[0] for one in grant.owners))
        _rule(granted, "deny_rule", domain, owned - written, frozenset())
        written, read = frozenset({"*"}), frozenset({"*"})
    _rule(granted, "allow_rule", domain, written, read)
    _fill(granted, {"default": "DENY"})
    return _text(root)


def _rule(parent: ET.Element, kind: str, domain: int, written: frozenset[str], read: frozenset[str]) -> None:
    rule = ET.SubElement(parent, kind)
    _fill(ET.SubElement(rule, "domains"), {"id": str(domain)})
    for action, names in (("publish", written), ("subscribe", read)):
        if names:
            listed = ET.SubElement(ET.SubElement(rule, action), "topics")
            for name in sorted(names):
                _fill(listed, {"topic": name})


def _document(kind: str) -> ET.Element:
    ET.register_namespace("xsi", "http://www.w3.org/2001/XMLSchema-instance")
    where = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
    return ET.Element("dds", {where: SCHEMA.format(kind)})


def _fill(parent: ET.Element, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        ET.SubElement(parent, name).text = text


def _text(root: ET.Element) -> bytes:
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"
