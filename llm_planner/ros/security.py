"""SROS 2 security: permissions of nodes, the keystore with signed files, and a check before nodes start.

Permissions follow DDS Security 1.1 (OMG formal/2018-04-01, section 9.4). Nodes of this package have exactly the
endpoints in `node_table`; other nodes have a `Role`. The keystore has the layout of `ros2 security`, so both tools can
work on it. Keys are on the curve P-256 and signatures are S/MIME, as section 9.3 requires; `openssl` makes them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.ros.node_table import (
    CLIENT,
    EVERY_NODE,
    GRAPH,
    GRIPPER_ACTION,
    LIFECYCLE,
    NODES,
    ON_REQUEST,
    Endpoints,
    enclave,
    nodes_beside,
)

if TYPE_CHECKING:  # `llm-planner stop` waits for imports
    from llm_planner.robots.arm_model import ArmModel

SCHEMA = "http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_{}.xsd"
DISCOVERY_TOPIC = "ros_discovery_info"  # every ROS process announces its nodes here
DOMAIN_MAX = 232  # last domain whose ports are valid
PROTECTION = {  # as sros2: authenticate, check permissions, encrypt everything
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
    """Role of a node that is not part of this package."""

    ROBOT = "robot"  # robot driver: publishes states, takes commands, may use all topics outside this package
    PERCEPTION = "perception"  # publishes the scene
    PEER = "peer"  # may read everything and stop the robot
    OPERATOR = "operator"  # may also command, correct, edit, limit motions and set parameters


@dataclass(frozen=True)
class Topics:
    """Topics of the robot's states and commands, and the gripper's action, as `robot.yaml` or parameters name them."""

    states: frozenset[str] = frozenset({"joint_states", "odom"})
    commands: frozenset[str] = frozenset({"joint_command", "cmd_vel"})
    gripper: str = GRIPPER_ACTION

    @classmethod
    def of(cls, arm: ArmModel) -> Topics:
        real, states = arm.controllers, frozenset(filter(None, (arm.topics.states, arm.topics.gripper_states)))
        return cls(states, frozenset({real.arm.topic()}), real.gripper.action if real.gripper else GRIPPER_ACTION)

    def applied_to(self, endpoints: Endpoints) -> Endpoints:
        """Replace the default topics in `endpoints` by these."""
        usual = Topics()

        def moved(names: frozenset[str]) -> frozenset[str]:
            if names & usual.states:
                names = names - usual.states | self.states
            return names - usual.commands | self.commands if names & usual.commands else names

        sends = frozenset(self.gripper if name == GRIPPER_ACTION else name for name in endpoints.sends)
        return replace(
            endpoints, publishes=moved(endpoints.publishes), subscribes=moved(endpoints.subscribes), sends=sends
        )


@dataclass(frozen=True)
class Grant:
    """Permissions of one enclave; with `owners`, it may use all topics except write those that the owners write."""

    node: str
    endpoints: Endpoints
    owners: tuple[Grant, ...] = ()


def grants(topics: Topics = Topics(), others: Iterable[tuple[str, Role]] = ()) -> tuple[Grant, ...]:
    """Make the grants of all nodes of this package, the command line and the nodes in `others`.

    Args:
        topics: Topics of the robot's states and commands.
        others: Name and role of each further node; if one has the role ROBOT, the nodes are those beside a real robot.
    """
    others = tuple(others)
    has_robot = any(role is Role.ROBOT for _, role in others)
    graph = {name: topics.applied_to(own) | EVERY_NODE for name, own in GRAPH.items()}
    entries = nodes_beside(not has_robot, ON_REQUEST)
    ours = [*(Grant(one.name, graph[one.name] | LIFECYCLE) for one in entries), Grant(CLIENT, graph[CLIENT])]
    return (*ours, *(_grant(node, role, topics, tuple(ours)) for node, role in others))


def _grant(node: str, role: Role, topics: Topics, ours: tuple[Grant, ...]) -> Grant:
    own = Endpoints(publishes=frozenset({"stop"}), calls=frozenset({"stop"})) | EVERY_NODE
    published = frozenset[str]().union(*(grant.endpoints.publishes for grant in ours)) | topics.states | {"scene"}
    looks = own | Endpoints(subscribes=frozenset(name for name in published if not name.startswith("~")))
    if role is Role.ROBOT:
        given = topics.states | {"robot_description", "/tf", "/tf_static", "/clock", "/diagnostics"}
        taken = topics.commands | {"gripper_command"}
        owners = (_grant("", one, topics, ours) for one in (Role.PERCEPTION, Role.OPERATOR))
        return Grant(node, own | Endpoints(given, taken), (*ours, *owners))
    if role is Role.PERCEPTION:
        seen = topics.states | {"camera/image_raw", "/tf", "/tf_static"}
        return Grant(node, own | Endpoints(frozenset({"scene"}), seen))
    if role is Role.PEER:
        return Grant(node, looks)
    settings = (f"{entry.name}/{name[2:]}" for entry in NODES for name in (EVERY_NODE | LIFECYCLE).serves)
    said = frozenset({"language_command", "correction", "audio", "motion_patch"})
    called = frozenset({"edit_plan", "reset_world", *settings})
    return Grant(node, looks | Endpoints(publishes=said, calls=called, sends=frozenset({"execute_command"})))


def dds_topics(endpoints: Endpoints, namespace: str, node: str) -> tuple[frozenset[str], frozenset[str]]:
    """Map ROS names to DDS topics.

    Args:
        endpoints: ROS endpoints of the node.
        namespace: Namespace of the node.
        node: Name of the node.

    Returns:
        DDS topics that the node writes, and those that it reads.
    """

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
    return {f"{name}/_action/{part}" for name in actions for part in ("send_goal", "cancel_goal", "get_result")}


def governance_xml() -> bytes:
    """Make the governance document: in every domain, participants authenticate and may do only what is granted."""
    every = {"id_range": {"min": "0", "max": str(DOMAIN_MAX)}}
    rule = {"domains": every, **PROTECTION, "topic_access_rules": {"topic_rule": TOPIC_PROTECTION}}
    return _document("governance", {"domain_access_rules": {"domain_rule": rule}})


def permissions_xml(grant: Grant, namespace: str, domain: int, not_before: datetime, not_after: datetime) -> bytes:
    """Make the permissions document of one enclave.

    Args:
        grant: Permissions; everything else is denied.
        namespace: Namespace of the node.
        domain: Number of the ROS domain.
        not_before: Start of validity.
        not_after: End of validity.
    """
    name = enclave(namespace, grant.node)
    span = {"not_before": not_before, "not_after": not_after}
    validity = {key: when.strftime("%Y-%m-%dT%H:%M:%S") for key, when in span.items()}
    granted: dict[str, object] = {"@name": name, "subject_name": f"CN={name}", "validity": validity}
    written, read = dds_topics(grant.endpoints, namespace, grant.node)
    if grant.owners:  # the first matching rule decides
        owned = frozenset[str]().union(*(dds_topics(one.endpoints, namespace, one.node)[0] for one in grant.owners))
        granted["deny_rule"] = _rule(domain, owned - written, frozenset())
        written, read = frozenset({"*"}), frozenset({"*"})
    granted |= {"allow_rule": _rule(domain, written, read), "default": "DENY"}
    return _document("permissions", {"permissions": {"grant": granted}})


def _rule(domain: int, written: frozenset[str], read: frozenset[str]) -> dict[str, object]:
    named = {"publish": sorted(written), "subscribe": sorted(read)}
    topics = {action: {"topics": {"topic": names}} for action, names in named.items() if names}
    return {"domains": {"id": str(domain)}, **topics}


def _document(kind: str, content: Mapping[str, object]) -> bytes:
    ET.register_namespace("xsi", "http://www.w3.org/2001/XMLSchema-instance")
    where = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
    root = ET.Element("dds", {where: SCHEMA.format(kind)})
    _fill(root, content)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"


def _fill(parent: ET.Element, content: Mapping[str, object]) -> None:
    """Add an element for each name, several for a list; a name after "@" is an attribute."""
    for name, values in content.items():
        if name.startswith("@"):
            parent.set(name[1:], str(values))
            continue
        for value in values if isinstance(values, list) else [values]:
            element = ET.SubElement(parent, name)
            if isinstance(value, Mapping):
                _fill(element, value)
            else:
                element.text = str(value)


AUTHORITY = "sros2CA"  # common name, as in ros2 security
SHARED = ("identity_ca.cert.pem", "permissions_ca.cert.pem")
_REQUEST = """[req]
prompt = no
distinguished_name = name
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:true, pathlen:1
[participant]
basicConstraints = CA:false
"""


class KeystoreError(LlmPlannerError):
    """The keystore cannot be made; the message says why."""


class Keystore:
    """SROS 2 keystore in `folder`; missing parts are created, with certificates that are valid for `days`."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder, self._days = folder, days
        self._public, self._private, self._enclaves = folder / "public", folder / "private", folder / "enclaves"
        for part in (self._public, self._private, self._enclaves):
            part.mkdir(parents=True, exist_ok=True)
        self._private.chmod(0o700)
        self._make_authority()
        _write(self._enclaves / "governance.xml", governance_xml())
        self._sign(self._enclaves / "governance.xml")

    def grant(self, grants: Iterable[Grant], namespace: str, domain: int) -> tuple[Path, ...]:
        """Create or update the enclaves of `grants` and return their folders.

        Existing keys and certificates are kept; permissions are always written and signed anew.
        """
        return tuple(self._make_enclave(grant, namespace, domain) for grant in grants)

    def _make_authority(self) -> None:
        key, certificate = self._private / "ca.key.pem", self._public / "ca.cert.pem"
        if not (key.exists() and certificate.exists()):
            _make_key(key)
            days = str(self._days)
            words = ["req", "-new", "-x509", "-sha256", "-key", str(key), "-days", days, "-extensions", "authority"]
            _write(certificate, _openssl([*words, "-config", "/dev/stdin"], _REQUEST.format(name=AUTHORITY).encode()))
        for name in SHARED:
            _link(self._public / name, Path("ca.cert.pem"))
        for name in ("identity_ca.key.pem", "permissions_ca.key.pem"):
            _link(self._private / name, Path("ca.key.pem"))

    def _make_enclave(self, grant: Grant, namespace: str, domain: int) -> Path:
        name = enclave(namespace, grant.node)
        folder = self._enclaves / name.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        above = Path(*[".."] * len(folder.relative_to(self._folder).parts))
        for shared in SHARED:
            _link(folder / shared, above / "public" / shared)
        _link(folder / "governance.p7s", above / "enclaves" / "governance.p7s")
        key, certificate = folder / "key.pem", folder / "cert.pem"
        if not (key.exists() and certificate.exists()):
            _make_key(key)
            _write(certificate, self._certify(key, name))
        now = datetime.now(timezone.utc)
        span = (now - timedelta(days=1), now + timedelta(days=self._days))  # a day of slack, since clocks differ
        _write(folder / "permissions.xml", permissions_xml(grant, namespace, domain, *span))
        self._sign(folder / "permissions.xml")
        return folder

    def _certify(self, key: Path, name: str) -> bytes:
        request = _REQUEST.format(name=name).encode()
        wanted = _openssl(["req", "-new", "-sha256", "-key", str(key), "-config", "/dev/stdin"], request)
        settings = key.with_name("request.cnf")
        _write(settings, request)
        try:
            words = ["x509", "-req", "-sha256", "-days", str(self._days), "-extfile", str(settings)]
            words += ["-extensions", "participant", "-set_serial", f"0x{os.urandom(16).hex()}"]
            authority = ["-CA", str(self._public / "ca.cert.pem"), "-CAkey", str(self._private / "ca.key.pem")]
            return _openssl([*words, *authority], wanted)
        finally:
            settings.unlink()

    def _sign(self, file: Path) -> None:
        authority = ["-signer", str(self._public / SHARED[1]), "-inkey", str(self._private / "permissions_ca.key.pem")]
        _write(file.with_suffix(".p7s"), _openssl(["smime", "-sign", "-text", "-in", str(file), *authority]))


def _make_key(path: Path) -> None:
    _write(path, _openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]), mode=0o600)


def _write(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file atomically, created with `mode`."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
    part.replace(path)


def _link(path: Path, target: Path) -> None:
    if path.is_symlink() or path.exists():
        if path.is_symlink() and path.readlink() == target:
            return
        path.unlink()
    path.symlink_to(target)


def _openssl(words: list[str], data: bytes = b"") -> bytes:
    program = shutil.which("openssl")
    if program is None:
        raise KeystoreError("there is no openssl on the path, which makes keys and signatures: apt-get install openssl")
    done = subprocess.run([program, *words], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise KeystoreError(f"openssl {words[0]} failed: {told or 'it does not say why'}")
    return done.stdout


FILES = (
    "cert.pem", "key.pem", "identity_ca.cert.pem", "permissions_ca.cert.pem", "governance.p7s", "permissions.p7s"
)  # fmt: skip


def is_secured(environment: Mapping[str, str]) -> bool:
    """Return whether `ROS_SECURITY_ENABLE` requests SROS 2."""
    return environment.get("ROS_SECURITY_ENABLE", "") == "true"


def check_enclaves(namespace: str, nodes: Iterable[str], environment: Mapping[str, str]) -> None:
    """Check that every node can run under SROS 2, if it is requested.

    ROS itself starts a node without an enclave unprotected unless `ROS_SECURITY_STRATEGY` is Enforce.

    Args:
        namespace: Namespace of the nodes.
        nodes: Names of the nodes.
        environment: Environment variables.

    Raises:
        InputError: The strategy is not Enforce, or the keystore or files in it are missing.
    """
    if not is_secured(environment):
        return
    if environment.get("ROS_SECURITY_STRATEGY") != "Enforce":
        raise InputError(
            "ROS_SECURITY_ENABLE is true, but ROS_SECURITY_STRATEGY is not Enforce, so a node without keys would take "
            "part unprotected: set ROS_SECURITY_STRATEGY=Enforce"
        )
    folder = environment.get("ROS_SECURITY_KEYSTORE", "")
    if not folder:
        raise InputError("ROS_SECURITY_ENABLE is true: set ROS_SECURITY_KEYSTORE to the folder of the keystore")
    override = environment.get("ROS_SECURITY_ENCLAVE_OVERRIDE", "")
    names = [override] if override else [enclave(namespace, node) for node in nodes]
    for name in names:
        missing = [file for file in FILES if not (Path(folder) / "enclaves" / name.lstrip("/") / file).is_file()]
        if missing:
            option = f" --namespace {namespace.strip('/')}" if namespace.strip("/") else ""
            raise InputError(
                f"the keystore {folder} lacks {', '.join(missing)} of the enclave {name}: "
                f"run llm-planner secure {folder}{option}, and copy to this machine what it needs"
            )
