"""From a published command to the first motion of a joint, over DDS between the real node processes.

The embedded model plans; the arm is home and the table fresh before each command. The time is wall time, seen by a
client process that hears the joints at 100 Hz.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from reports import print_report, report_parser

MOVING = 0.01  # [rad/s] a resting joint of the simulator stays far below
START_TIMEOUT = 60.0  # [s]
COMMANDS = (
    "put the red block in the green bowl",
    "stack the blue block on the red one",
    "move the mug to the left side",
    "put all the blocks in the green bowl",
    "pick up the block closest to the mug",
)
OBJECTS = "red block, blue block, green bowl, mug"


def run(commands: int, seed: int) -> dict[str, object]:
    """Seconds from publishing each command until a joint moves."""
    from llm_planner.cli.processes import NodeOptions, NodeProcesses, join_own_network
    from llm_planner.ros.node_table import NODES_IN_SIMULATION

    join_own_network()
    with tempfile.TemporaryDirectory() as folder:
        journal = {"journal": str(Path(folder) / "journal.jsonl")}
        parameters = {
            "simulator": {"objects": OBJECTS, "seed": str(seed)},
            "plan_executor": journal,
            "language_planner": journal,
        }
        nodes = [entry for entry in NODES_IN_SIMULATION if entry.name != "camera"]
        with NodeProcesses(nodes, NodeOptions(parameters), Path(folder) / "nodes.log"):
            delays = _measure(commands, seed)
    return {
        "commands": commands,
        "without_motion": commands - len(delays),
        "median_s": round(float(np.median(delays)), 3),
        "p90_s": round(float(np.percentile(delays, 90)), 3),
        "max_s": round(max(delays), 3),
    }


def _measure(commands: int, seed: int) -> list[float]:
    from llm_planner_interfaces.srv import ResetWorld
    from std_msgs.msg import String

    from llm_planner.ros.client import SystemClient, SystemUnreachableError

    client = SystemClient()
    speed = [0.0]
    client.watch_joints(lambda time, qpos, qvel, width: speed.__setitem__(0, max(map(abs, qvel))))
    publisher = client.node.create_publisher(String, "language_command", 10)
    reset = client.node.create_client(ResetWorld, "reset_world")
    try:
        client.wait_for_system(START_TIMEOUT)
        client.wait_until(lambda: publisher.get_subscription_count() > 0 and reset.service_is_ready(), START_TIMEOUT)
        delays = []
        for k in range(commands):
            client.stop("the next measurement")
            done = reset.call_async(ResetWorld.Request(seed=seed + k, objects=OBJECTS.split(", ")))
            client.wait_until(done.done, START_TIMEOUT)
            client.spin_for(1.5)  # everybody has seen the fresh table, and the arm rests
            began = time.monotonic()
            publisher.publish(String(data=COMMANDS[k % len(COMMANDS)]))
            try:
                client.wait_until(lambda: speed[0] > MOVING, 10.0)
            except SystemUnreachableError:
                continue  # counted, not hidden: the command was not carried out
            delays.append(time.monotonic() - began)
        return delays
    finally:
        client.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--commands", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.commands, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
