"""What recording costs: the control loop and the machine with and without a recorder, side by side.

One system moves its arm to and fro without end; a recorder is started and ended beside it in turn, for as many pairs of
windows as asked. Of each window: the controller's median solve time and missed deadlines (its /diagnostics), the CPU
time a simulated second of controller and safety filter, and of simulator and planner, which publish more while somebody
listens; that of the recorder, and the bytes that it wrote.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from reports import print_report, report_parser
from rosgraph_msgs.msg import Clock

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import NEWEST_ONLY, RELIABLE
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES

LOOP = ("mpc_controller", "safety_filter")
LISTENED_TO = ("simulator", "language_planner")  # publish /tf and markers only while somebody listens
PROGRAM = 'to and fro: |\n  for k in range(90):\n      pick("red block")\n      place_at("right side")\n'
SETTLING = 4.0  # [s] after a recorder has started or ended


@dataclass
class Window:
    """Measured part of the run, with or without a recorder."""

    solve_times: list[float] = field(default_factory=list)  # [ms] medians of a second
    missed: int = 0
    cpu: float = 0.0  # [s] of the control loop a second of the robot's time
    publishing: float = 0.0  # [s] of those that publish more while a recorder listens, likewise
    recorder: float = 0.0  # [s] of CPU a second of wall time


class Meter:
    """Reads the controller's diagnostics, the clock and the processes' CPU time."""

    def __init__(self, client: SystemClient, processes: NodeProcesses) -> None:
        self._client, self._processes = client, processes
        self._window = Window()
        self._time = 0.0
        client.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, RELIABLE)
        client.node.create_subscription(Clock, "/clock", self._on_clock, NEWEST_ONLY)

    def measure(self, seconds: float, recorder: NodeProcesses | None) -> Window:
        self._client.spin_for(SETTLING)
        self._window = Window()
        began, cpu, publishing = self._time, self._cpu(LOOP), self._cpu(LISTENED_TO)
        own = cpu_of(recorder.pid("recorder")) if recorder else 0.0
        self._client.spin_for(seconds)
        self._window.cpu = (self._cpu(LOOP) - cpu) / (self._time - began)
        self._window.publishing = (self._cpu(LISTENED_TO) - publishing) / (self._time - began)
        self._window.recorder = (cpu_of(recorder.pid("recorder")) - own) / seconds if recorder else 0.0
        return self._window

    def _cpu(self, names: tuple[str, ...]) -> float:
        return sum(cpu_of(self._processes.pid(name)) for name in names)

    def _on_clock(self, message: Clock) -> None:
        self._time = message.clock.sec + 1e-9 * message.clock.nanosec

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if status.name.endswith("mpc_controller") and "solve_time_median_ms" in values:
                self._window.solve_times.append(float(values["solve_time_median_ms"]))
                self._window.missed += int(values["missed_deadlines"])


def cpu_of(pid: int) -> float:
    """CPU time of a process [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def moving_system(folder: Path) -> Iterator[tuple[SystemClient, NodeProcesses, dict[str, str]]]:
    environment = own_network(random.Random())
    script, journal = folder / "programs.yaml", {"journal": str(folder / "journal.sqlite")}
    script.write_text(PROGRAM)
    options = NodeOptions(
        {
            "simulator": {"objects": "red block, blue block"},
            "plan_executor": {"scene_timeout": "10.0", **journal},  # other work on the machine delays scenes
            "language_planner": {"model": "scripted", "model_script": str(script), **journal},
            "correction_listener": {"memory": str(folder / "memory.sqlite")},
        },
        use_sim_time=True,
    )
    entries = [entry for entry in NODES if not (entry.real or entry.on_request) and entry.name != "camera"]
    with NodeProcesses(entries, options, folder / "nodes.log", environment) as processes:
        client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
        client.wait_for_system(120.0)
        moving = client.submit("to and fro")
        client.spin_for(8.0)
        assert not moving.is_done, moving.result
        yield client, processes, environment
        client.close()


def measured(pairs: int, seconds: float) -> dict[str, object]:
    recorder = [entry for entry in NODES if entry.name == "recorder"]
    windows: dict[bool, list[Window]] = {False: [], True: []}
    size = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with moving_system(folder) as (client, processes, environment):
            meter = Meter(client, processes)
            for pair in range(pairs):
                for records in (False, True) if pair % 2 else (True, False):
                    file = folder / f"{pair}.mcap"
                    options = NodeOptions({"recorder": {"file": str(file)}}, use_sim_time=True)
                    started = [recorder, options, folder / "recorder.log", environment]
                    with NodeProcesses(*started) if records else nullcontext() as beside:
                        client.wait_until(lambda file=file, records=records: file.exists() or not records, 120.0)
                        windows[records].append(meter.measure(seconds, beside))
                    size += file.stat().st_size / (seconds + SETTLING) / pairs if records else 0.0
    return {
        **{key: _summary(windows[records]) for records, key in ((False, "without"), (True, "with"))},
        "loop_cpu_ratio": _ratio(windows, lambda one: one.cpu),
        "publishing_cpu_ratio": _ratio(windows, lambda one: one.publishing),
        "solve_time_ratio": _ratio(windows, lambda one: statistics.median(one.solve_times)),
        "bytes_per_second": round(size),
    }


def _summary(windows: list[Window]) -> dict[str, float]:
    return {
        "solve_time_median_ms": round(statistics.median(t for one in windows for t in one.solve_times), 3),
        "missed_deadlines": sum(one.missed for one in windows),
        "loop_cpu_s_per_robot_s": round(statistics.median(one.cpu for one in windows), 4),
        "publishing_cpu_s_per_robot_s": round(statistics.median(one.publishing for one in windows), 4),
        "recorder_cpu_s_per_s": round(statistics.median(one.recorder for one in windows), 4),
    }


def _ratio(windows: dict[bool, list[Window]], value) -> float:
    """Median over neighbouring windows, which share what else the machine did."""
    return round(statistics.median(value(b) / value(a) for a, b in zip(windows[False], windows[True], strict=True)), 4)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    report = measured(args.pairs, args.seconds)
    print_report(report, args.json)


if __name__ == "__main__":
    main()
