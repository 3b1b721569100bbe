"""Floods of motion patches and of commands, over DDS between the real node processes.

Patches: one publisher sends 500 patches of as many sources at once and another then a speed limit. Measured is the wall
time until that limit is told to be in force, and what became of all patches by the counts of the controller and the
filter. Commands: 100 are published at once while the robot works, then 100 with a stop among them. Measured is the wall
time until each has a status, and from the first of them until the arm is at rest.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field

from reports import print_report, report_parser

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

import numpy as np
from bench_correction_latency import REST, TIMEOUT, Arm, begun, waited, with_system
from diagnostic_msgs.msg import DiagnosticArray
from llm_planner_interfaces.msg import CommandStatus, MotionConstraints, MotionPatch
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from llm_planner.control.motion_constraints import Patch
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import Submission, SystemClient
from llm_planner.ros.conversions.motion_messages import patch_to_msg

MANY = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
STATUSES = QoSProfile(depth=1000)
LASTS = 4.0  # [s] of a patch
MOVES = 0.1  # of a joint's limit: what counts as work
NODES = ("/mpc_controller", "/safety_filter")
COUNTS = ("heard", "accepted", "superseded", "refused", "missed")


@dataclass
class Listener:
    """What the nodes have told last."""

    client: SystemClient
    robot_time: float = 0.0
    in_force: MotionConstraints = field(default_factory=MotionConstraints)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # by node, of patches
    ended: dict[str, float] = field(default_factory=dict)  # by the words of a command, the wall time [s]
    told: dict[str, float] = field(default_factory=dict)  # its first status

    def __post_init__(self) -> None:
        node = self.client.node
        node.create_subscription(MotionConstraints, "motion_constraints", self._on_constraints, LATCHED)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 100)
        node.create_subscription(CommandStatus, "command_status", self._on_status, STATUSES)
        self.client.watch_joints(self._on_joints)

    def _on_joints(self, robot_time: float, *_: object) -> None:
        self.robot_time = robot_time

    def _on_constraints(self, message: MotionConstraints) -> None:
        self.in_force = message

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name in NODES:
                values = {pair.key: pair.value for pair in status.values}
                if "patches_heard" in values:
                    names = (*COUNTS, "waiting")
                    self.counts[status.name] = {name: int(values[f"patches_{name}"]) for name in names}

    def _on_status(self, status: CommandStatus) -> None:
        self.told.setdefault(status.command, time.monotonic())
        if status.state == CommandStatus.ENDED:
            self.ended.setdefault(status.command, time.monotonic())


def run(rounds: int, patches: int, commands: int) -> dict[str, object]:
    """What comes of the floods."""
    return with_system(0, lambda client, arm: _measured(client, arm, rounds, patches, commands))


def _measured(client: SystemClient, arm: Arm, rounds: int, patches: int, commands: int) -> dict[str, object]:
    heard = Listener(client)
    flood, other = (client.node.create_publisher(MotionPatch, "motion_patch", MANY) for _ in range(2))
    said = client.node.create_publisher(String, "language_command", STATUSES)
    client.wait_until(lambda: all(one.get_subscription_count() >= 2 for one in (flood, other)), TIMEOUT)
    client.wait_until(lambda: said.get_subscription_count() > 0 and heard.robot_time > 0, TIMEOUT)
    client.spin_for(3.0)
    return {
        **_patches(client, heard, flood, other, rounds, patches),
        **_commands(client, heard, arm, said, commands),
    }


def _patches(
    client: SystemClient, heard: Listener, flood: Publisher, other: Publisher, rounds: int, patches: int
) -> dict[str, object]:
    delays, before = [], {node: dict(counts) for node, counts in heard.counts.items()}
    for _ in range(rounds):
        now = heard.robot_time
        many = [patch_to_msg(Patch(f"flood {k}", now, now + LASTS, speed=0.4), "panda_link0") for k in range(patches)]
        for message in many:
            flood.publish(message)
        sent = time.monotonic()
        other.publish(patch_to_msg(Patch("a rule", now, now + LASTS, speed=0.1), "panda_link0"))
        in_force = waited(client, lambda: heard.in_force.speed == 0.1, timeout=2 * LASTS)
        delays.append(time.monotonic() - sent if in_force else np.inf)
        waited(client, lambda: not heard.in_force.sources, timeout=4 * LASTS)
    client.spin_for(2.5)  # every node has told its counts
    after = {node: {name: heard.counts[node][name] - before[node][name] for name in COUNTS} for node in heard.counts}
    sent_in_all = rounds * (patches + 1)
    unaccounted = [
        sent_in_all - counts["accepted"] - counts["superseded"] - counts["refused"] for counts in after.values()
    ]
    return {
        "rounds": rounds,
        "patches": patches,
        "another's limit in force, median s": round(float(np.median(delays)), 3),
        "another's limit in force, most s": round(float(max(delays)), 3),
        "patches untold": max(unaccounted, default=sent_in_all),
        "counts": after,
    }


def _commands(client: SystemClient, heard: Listener, arm: Arm, said: Publisher, commands: int) -> dict[str, object]:
    work = _at_work(client, arm, 1)
    sent = time.monotonic()
    words = [f"glorp {k}" for k in range(commands)]
    for one in words:
        said.publish(String(data=one))
    waited(client, lambda: all(one in heard.told for one in words), timeout=20.0)
    told = [heard.told[one] - sent for one in words if one in heard.told]
    client.stop("the next measurement")
    client.wait_until(lambda: work.is_done, TIMEOUT)
    waited(client, lambda: all(one in heard.ended for one in words), timeout=20.0)

    _at_work(client, arm, 2)
    began = time.monotonic()
    for k in range(commands):
        said.publish(String(data="stop" if k == commands - 1 else f"murmur {k}"))
    at_rest = waited(client, lambda: arm.share < REST, timeout=20.0)
    return {
        "commands": commands,
        "commands with a status": len(told),
        "commands with an end": sum(one in heard.ended for one in words),
        "status of the last, s": round(max(told, default=np.inf), 3),
        "stop behind them to rest, s": round(time.monotonic() - began, 3) if at_rest else np.inf,
    }


def _at_work(client: SystemClient, arm: Arm, seed: int) -> Submission:
    """A command for which the arm moves; on a machine that others use the first try may fail."""
    for k in range(5):
        work = begun(client, seed + 10 * k)
        if waited(client, lambda work=work: arm.share > MOVES or work.is_done, TIMEOUT) and not work.is_done:
            return work
        client.stop("the next try")
        waited(client, lambda work=work: work.is_done, TIMEOUT)
    raise SystemExit(f"the arm does not move: {work.result.message if work.is_done else 'no answer'}")


def main(argv: list[str] | None = None) -> int:
    parser = report_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--patches", type=int, default=500)
    parser.add_argument("--commands", type=int, default=100)
    options = parser.parse_args(argv)
    report = run(options.rounds, options.patches, options.commands)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
