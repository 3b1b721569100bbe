"""What the running system costs: processor time at rest and in motion, memory, and the time until the robot moves.

All nodes as `llm-planner up` starts them, at real-time pace. Processor time is user and system time of the node
processes by wall time [share of a core]; memory is their proportional set size (PSS). The start is measured from the
first process to the first motion of a joint, for a command that is sent as soon as the system takes it, and compared
with eight rclpy nodes that do nothing, from the first process until a client knows all of them: the median of five. The
system is started twice, from a new program each time, so that nothing is imported yet; the second time counts.
On a busy machine the simulator drops time; the real-time factor while moving says how much.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from reports import print_report, report_parser

MOVING = 0.01  # [rad/s]
TIMEOUT = 240.0  # [s]
SETTLE = 10.0  # [s] at rest before the measurement
TICK = os.sysconf("SC_CLK_TCK")
COMMAND = "put the red block in the green bowl"
OBJECTS = "red block, blue block, yellow block, green bowl, mug"
BARE = "import sys, rclpy\nrclpy.init()\nnode = rclpy.create_node(sys.argv[1])\nrclpy.spin(node)\n"


def cpu(pid: int) -> float:
    """Processor time of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def pss(pid: int) -> float:
    """Proportional set size [MiB]."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def shares(pids: Mapping[str, int], wait: Callable[[], None]) -> dict[str, float]:
    """Share of a core [%] that each process uses while `wait` runs."""
    before, began = {name: cpu(pid) for name, pid in pids.items()}, time.monotonic()
    wait()
    passed = time.monotonic() - began
    return {name: round(100.0 * (cpu(pid) - before[name]) / passed, 1) for name, pid in pids.items()}


def bare_nodes(domain: int, count: int) -> float:
    """Time until a client knows `count` idle rclpy nodes [s]."""
    from llm_planner.ros.client import SystemClient

    client, began = SystemClient(domain_id=domain), time.monotonic()
    names = {f"bare_{k}" for k in range(count)}
    processes = [subprocess.Popen([sys.executable, "-c", BARE, name], stderr=subprocess.DEVNULL) for name in names]
    try:
        client.wait_until(lambda: names <= {*client.node.get_node_names()}, TIMEOUT)
        return time.monotonic() - began
    finally:
        for process in processes:
            process.kill()
            process.wait()
        client.close()


def run(seconds: float, with_start: bool = True) -> dict[str, object]:
    """All figures, or those without the start's."""
    from llm_planner.cli.processes import own_network

    os.environ.update(own_network(random.Random()))
    domain = int(os.environ["ROS_DOMAIN_ID"])
    if not with_start:
        return _system(domain, seconds)
    report: dict[str, object] = {}
    # DDS may miss a node's first announcement, and the next one comes 3 s later: of some runs the median counts.
    report["bare_nodes_s"] = round(median(bare_nodes(domain, 8) for _ in range(5)), 2)
    for _ in range(2):
        started = subprocess.run([sys.executable, __file__, "--start-only"], stdout=subprocess.PIPE, check=True)
        report |= json.loads(started.stdout)
    report = _system(domain, seconds) | report
    report["start_ratio"] = round(float(str(report["start_s"])) / float(str(report["bare_nodes_s"])), 2)
    return report


def _system(domain: int, seconds: float) -> dict[str, object]:
    """Time until the robot moves; also shares and memory if measured for some `seconds`."""
    from llm_planner.cli.processes import NodeProcesses, begin_imports
    from llm_planner.cli.system_options import requested_system
    from llm_planner.ros.client import SystemClient

    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        system = requested_system({"objects": OBJECTS}, journal=folder / "journal.sqlite")
        newest, began = [0.0, 0.0], time.monotonic()  # stamp [s], speed [rad/s]
        begin_imports()
        client = SystemClient(domain_id=domain)
        processes = running.enter_context(NodeProcesses(system.entries, system.options, folder / "nodes.log"))
        client.watch_joints(lambda stamp, qpos, qvel, width: newest.__setitem__(slice(2), (stamp, max(map(abs, qvel)))))
        try:
            client.wait_for_system(TIMEOUT)
            submission = client.submit(COMMAND)
            client.wait_until(lambda: newest[1] > MOVING or submission.is_done, TIMEOUT)
            if newest[1] <= MOVING:
                raise SystemExit(f"the robot did not move: {submission.result.message}")
            report: dict[str, object] = {"start_s": round(time.monotonic() - began, 2)}
            if not seconds:
                return report
            pids = {entry.label: processes.pid(entry.label) for entry in system.entries}
            since = newest[0], time.monotonic()
            moving = shares(pids, lambda: client.spin_for(min(seconds, 10.0)))
            report["real_time_factor"] = round((newest[0] - since[0]) / (time.monotonic() - since[1]), 2)
            client.stop("the measurement at rest")
        finally:
            client.close()
        time.sleep(SETTLE)
        resting = shares(pids, lambda: time.sleep(seconds))
        memory = {name: round(pss(pid)) for name, pid in pids.items()}
    for name, values in (("rest", resting), ("moving", moving), ("memory_mib", memory)):
        report |= {name: {**values, "all": round(sum(values.values()), 1)}}
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table or JSON; return 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument(
        "--start-only", action="store_true", help="start once in this domain, and print the time as JSON"
    )
    parser.add_argument("--no-start", action="store_true", help="measure processor time and memory only")
    options = parser.parse_args(argv)
    if options.start_only:
        print(json.dumps(_system(int(os.environ["ROS_DOMAIN_ID"]), 0.0)))
        return 0
    report = run(options.seconds, not options.no_start)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
