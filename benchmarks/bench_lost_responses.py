"""A stop with any one response of any service or action lost: how fast the arm is at rest, and what the person is told.

The nodes are real processes over DDS; `fault_injection/` makes a server lose one response. Each stop orders the loss of
another response, some before the motion begins (goals), the others just before the stop. Measured is the wall time from
the call of `stop` until the fastest joint, as measured, is slower than 0.01 rad/s for good.
A stop that hangs ends the run: on standard error is told where each thread of this process is, and in the nodes' log,
which is kept, where those of the nodes are.
"""

from __future__ import annotations

import faulthandler
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reports import print_report, report_parser

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

from llm_planner_interfaces.srv import ResetWorld

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.client import SystemClient, SystemUnreachableError
from llm_planner.ros.idempotent_requests import ServiceCaller
from llm_planner.ros.node_table import NODES_IN_SIMULATION

INJECTION = Path(__file__).parent / "fault_injection"
ACTIONS = ("execute_command", "execute_plan", "execute_skill")
BEFORE = [f"{action}.goal" for action in ACTIONS]  # lost when the motion begins
AT_THE_STOP = ["stop", *(f"{action}.{kind}" for action in ACTIONS for kind in ("result", "cancel"))]
PROGRAM = """
to and fro: |
  for k in range(20):
      pick("red block")
      place_at("right side")
      pick("red block")
      place_at("left side")
"""
FAST, REST = 0.3, 0.01  # [rad/s] of the fastest joint
WITHIN = 1.0  # [s]
WATCHED = 1.5  # [s] after the stop
SETTLED = 0.8  # [s] after the table was laid out anew
OBJECTS = "red block, green bowl"
TIMEOUT = 60.0  # [s]
HANGS = 150.0  # [s] that a stop takes at most, with all that is waited for before and after it
DUMPED = 2.0  # [s] in which a process has written where it is
LEFT = Path("runs/lost_responses.log")  # the nodes' log where something hung


@dataclass(frozen=True)
class Stopped:
    """One stop: after how many seconds [s] the arm was at rest for good, and what the person was told."""

    response: str
    lost: bool  # whether the response was asked for at all, and lost
    rest: float
    told: str


class Robot:
    """The running nodes, and what is seen of them."""

    def __init__(self, client: SystemClient, faults: Path) -> None:
        self._client, self._faults = client, faults
        self._world = ServiceCaller(client.node, ResetWorld, "reset_world")
        self._speeds: list[tuple[float, float]] = []  # (wall time, of the fastest joint [rad/s])
        client.watch_joints(lambda time_, qpos, qvel, width: self._heard(max(map(abs, qvel))))

    def _heard(self, speed: float) -> None:
        self._speeds.append((time.monotonic(), speed))

    @property
    def _is_fast(self) -> bool:
        return bool(self._speeds) and self._speeds[-1][1] > FAST

    def stop(self, response: str) -> Stopped:
        """Have it move, lose `response`, and stop it."""
        fault = self._faults / f"drop {response}"
        laid_out = self._world.call(ResetWorld.Request(seed=0, objects=OBJECTS.split(", ")), TIMEOUT, "no answer")
        self._client.wait_until(laid_out.done, TIMEOUT)
        self._client.spin_for(SETTLED)
        if response in BEFORE:
            fault.touch()
        submission = self._client.submit("to and fro")
        self._client.wait_until(lambda: self._is_fast or submission.is_done, TIMEOUT)
        if submission.is_done:
            raise SystemExit(f"the robot did not move: {submission.result.message}")
        if response in AT_THE_STOP:
            fault.touch()
        self._speeds.clear()
        asked = time.monotonic()
        try:
            told = "stopped" if self._client.stop("a benchmark").was_running else "nothing to stop"
        except SystemUnreachableError as error:
            told = str(error)
        self._client.spin_for(max(0.0, asked + WATCHED - time.monotonic()))
        moving = [wall for wall, speed in self._speeds if speed >= REST]
        self._client.wait_until(lambda: submission.is_done, TIMEOUT)
        lost = not fault.exists()
        fault.unlink(missing_ok=True)
        return Stopped(response, lost, moving[-1] - asked if moving else 0.0, told)


@contextmanager
def _watched(processes: NodeProcesses, log: Path) -> Iterator[None]:
    """Ends this program where what is done in it hangs, and tells where all processes are."""

    def tell() -> None:
        faulthandler.dump_traceback(all_threads=True)
        for entry in NODES_IN_SIMULATION:
            if entry.name != "camera":
                processes.process(entry.name).send_signal(signal.SIGUSR1)
        time.sleep(DUMPED)
        LEFT.parent.mkdir(exist_ok=True)
        shutil.copy(log, LEFT)
        print(f"hung for {HANGS:g} s; where the nodes are stands at the end of {LEFT}", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(HANGS, tell)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def run(stops: int, seed: int) -> dict[str, object]:
    """Stops, each with another response lost."""
    rng, responses = random.Random(seed), [*BEFORE, *AT_THE_STOP]
    done: list[Stopped] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faults = folder / "faults"
        faults.mkdir()
        (folder / "programs.yaml").write_text(PROGRAM, encoding="utf-8")
        environment = {**own_network(rng), "LLM_PLANNER_FAULTS": str(faults)}
        environment["PYTHONPATH"] = os.pathsep.join([str(INJECTION), os.environ.get("PYTHONPATH", "")]).rstrip(":")
        journal = {"journal": str(folder / "journal.sqlite")}
        parameters = {
            "simulator": {"objects": OBJECTS, "seed": str(seed)},
            "plan_executor": journal,
            "language_planner": {**journal, "model": "scripted", "model_script": str(folder / "programs.yaml")},
            "correction_listener": {"memory": str(folder / "memory.sqlite")},
        }
        nodes = [entry for entry in NODES_IN_SIMULATION if entry.name != "camera"]
        log = folder / "nodes.log"
        with NodeProcesses(nodes, NodeOptions(parameters), log, environment) as processes:
            client = SystemClient(domain_id=int(environment["ROS_DOMAIN_ID"]))
            try:
                client.wait_for_system(TIMEOUT)
                robot = Robot(client, faults)
                for number in range(stops):
                    with _watched(processes, log):
                        done.append(robot.stop(responses[number % len(responses)]))
                    one = done[-1]
                    print(f"{number}: {one.response}: {one.rest:.2f} s, {one.told}", file=sys.stderr, flush=True)
            finally:  # a program that ends by an error with its node still in the network may hang at its exit
                client.close()
    rests = sorted(one.rest for one in done)
    return {
        "stops": stops,
        "within 1 s": sum(rest <= WITHIN for rest in rests),
        "told stopped": sum(one.told == "stopped" for one in done),
        "lost": sum(one.lost for one in done),
        "median s": rests[len(rests) // 2],
        "most s": rests[-1],
        "responses": {name: max((one.rest for one in done if one.response == name), default=0.0) for name in responses},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    parser = report_parser(__doc__)
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    report = run(args.stops, args.seed)
    print_report(report, args.json)


if __name__ == "__main__":
    main()
