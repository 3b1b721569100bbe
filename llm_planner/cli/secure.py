"""`llm-planner secure FOLDER`: make an SROS 2 keystore that allows each node exactly its own topics and services."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from llm_planner.errors import InputError

DAYS = 3650  # as in ros2 security
NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


def add_secure_arguments(parser: argparse.ArgumentParser) -> None:
    several = "; may be given several times"
    parser.add_argument("folder", type=Path, help="of the keystore; what is missing is made, keys that exist are kept")
    parser.add_argument("--namespace", default="", help="of the robot, as in llm-planner up")
    parser.add_argument("--domain", type=int, help="ROS domain of the permissions (default: ROS_DOMAIN_ID, else 0)")
    parser.add_argument("--days", type=int, default=DAYS, help=f"validity of certificates and permissions ({DAYS})")
    parser.add_argument(
        "--robot-node",
        action="append",
        default=[],
        metavar="NAME",
        help="driver of a real robot, or of its gripper: gives states, takes commands; no simulator then" + several,
    )
    parser.add_argument(
        "--state-topic", action="append", metavar="TOPIC", help=f"as the parameter state_topic{several}"
    )
    parser.add_argument("--command-topic", metavar="TOPIC", help="as the parameter command_topic")
    parser.add_argument("--gripper-action", metavar="NAME", help="as the parameter gripper_action")
    parser.add_argument(
        "--robot",
        metavar="NAME",
        help="arm whose robot.yaml names topics and controllers; the options above win over it",
    )
    parser.add_argument(
        "--perception-node", action="append", default=[], metavar="NAME", help="publishes scene" + several
    )
    parser.add_argument("--peer", action="append", default=[], metavar="NAME", help="may look, and stop" + several)
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME",
        help="may look, stop, command, correct, edit, limit motions and set parameters" + several,
    )  # fmt: skip


def run_secure(args: argparse.Namespace) -> int:
    """Make the keystore and print how to use it."""
    from llm_planner.robots.arm_model import arm_model
    from llm_planner.ros.node_table import CLIENT, NODES, enclave
    from llm_planner.ros.security import Keystore, Role, Topics, grants

    named = {
        Role.ROBOT: args.robot_node,
        Role.PERCEPTION: args.perception_node,
        Role.PEER: args.peer,
        Role.OPERATOR: args.operator,
    }
    others = [(name, role) for role, names in named.items() for name in names]
    _check_names(args.namespace, [name for name, _ in others], {CLIENT, *(entry.name for entry in NODES)})
    domain = _domain(args.domain)
    if args.days < 1:
        raise InputError(f"--days must be 1 or more, not {args.days}")
    if args.robot and not args.robot_node:
        raise InputError(f"--robot {args.robot}: name the node of its driver too (--robot-node)")
    usual = Topics.of(arm_model(args.robot)) if args.robot else Topics()
    topics = Topics(
        frozenset(args.state_topic) if args.state_topic else usual.states,
        frozenset({args.command_topic}) if args.command_topic else usual.commands,
        args.gripper_action or usual.gripper,
    )
    try:
        folders = Keystore(args.folder, args.days).grant(grants(topics, others), args.namespace, domain)
    except OSError as error:
        raise InputError(f"the keystore cannot be written: {error}") from error
    print(f"{len(folders)} enclaves for ROS_DOMAIN_ID={domain} in {args.folder}:")
    for folder in folders:
        print(f"  /{folder.relative_to(args.folder / 'enclaves')}")
    print("Use it, in every terminal:")
    print(
        f"  export ROS_SECURITY_ENABLE=true ROS_SECURITY_STRATEGY=Enforce ROS_SECURITY_KEYSTORE={args.folder.resolve()}"
    )
    if others:
        print(
            f"Start your own nodes each with its enclave: --ros-args --enclave {enclave(args.namespace, others[0][0])}"
        )
    if args.robot_node and not args.perception_node:
        print("Nobody may publish scene yet: name the node that does with --perception-node")
    print(
        f"The keys in {args.folder / 'private'} can admit anybody: keep it off the robot (docs/reference/security.md)."
    )
    return 0


def _check_names(namespace: str, names: list[str], taken: set[str]) -> None:
    for part in filter(None, namespace.split("/")):
        if not NAME.match(part):
            raise InputError(f"--namespace: {part!r} is not a ROS name; use letters, digits and underscores")
    for name in names:
        if not NAME.match(name):
            raise InputError(f"{name!r} is not a node name; use letters, digits and underscores")
        if name in taken:
            raise InputError(
                f"the node {name} has its enclave already; the names taken are: {', '.join(sorted(taken))}"
            )
        taken = {*taken, name}


def _domain(given: int | None) -> int:
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if given is None and not text.isdigit():
        raise InputError(f"ROS_DOMAIN_ID is {text!r}; it is a number from 0 to 232")
    domain = int(text) if given is None else given
    if not 0 <= domain <= 232:
        raise InputError(f"the ROS domain is {domain}; it is a number from 0 to 232")
    return domain
