"""From words to changed motion, and from a stop to rest, over DDS between the real node processes.

Words: "much slower" is published on `correction` while the arm moves faster than it may afterwards. Measured are the
wall time until the first joint command made under the new limit is heard, and until the speed of the fastest joint, as
measured, has fallen by a tenth. Stop: "stop" is published there while the arm is fast. Measured is the time until every
joint is under 1 % of its limit. Commands come from a table, so no language model has a part in it. Beside all stops
stand those during which this machine's host ran nothing else on its cores (host_noise.py).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reports import print_report, report_parser

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

import numpy as np
from host_noise import QUIET, CpuTime
from llm_planner_interfaces.msg import MotionConstraints
from llm_planner_interfaces.srv import ResetWorld
from rclpy.publisher import Publisher
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from llm_planner.cli.processes import NodeOptions, NodeProcesses, join_own_network
from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, RELIABLE
from llm_planner.ros.client import Submission, SystemClient, SystemUnreachableError
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.node_table import NODES_IN_SIMULATION

PANDA = arm_model("panda")

OBJECTS = "red block, blue block, green bowl, mug"
PROGRAM = """
to and fro: |
  for k in range(20):
      go_home()
      pick("red block")
      place_at("right side")
      pick("red block")
      place_at("left side")
"""
FAST = 0.5  # of a joint's limit: what counts as a motion that words could slow
REST = 0.01  # of a joint's limit: what counts as held
WITHIN = 0.25  # [s] from the message: what a stop may take
TIMEOUT = 60.0  # [s]
GIVEN_UP = 3.0  # [s]


@dataclass(frozen=True)
class Stop:
    """One "stop"."""

    share: float  # of a joint's limit: the speed at the message
    held: float  # [s] from the message until the arm was held
    stolen: float  # of this machine's time meanwhile


@dataclass
class Arm:
    """What the client process has heard last, with the wall time [s] of it; speeds are shares of the joints' limits."""

    limits: np.ndarray  # (7,) [rad/s]
    share: float = 0.0
    before: float = 0.0  # the share one state earlier
    commands: list[tuple[float, float]] = field(default_factory=list)  # (wall time, the command's own robot time)
    in_force: float = float("inf")  # [s, robot time] since when the limit of the words is

    def on_joints(self, _time: float, _qpos: list[float], qvel: list[float], _width: float) -> None:
        self.before, self.share = self.share, float(np.abs(np.array(qvel) / self.limits).max())

    @property
    def is_fast(self) -> bool:
        """Fast, and not about to slow down by itself."""
        return self.share > FAST and self.share >= self.before

    def first_command(self, since: float) -> float | None:
        """The wall time at which the first command came that was made under the limit."""
        return next((wall for wall, stamp in self.commands if wall >= since and stamp >= self.in_force), None)


def run(words: int, stops: int, seed: int) -> dict[str, object]:
    """Seconds from what was said to what the arm does."""
    return with_system(seed, lambda client, arm: _measured(client, arm, words, stops, seed))


def with_system(seed: int, measured: Callable[[SystemClient, Arm], dict[str, object]]) -> dict[str, object]:
    """What is `measured` on a system of its own, at the wall's pace, once all its nodes have met."""
    join_own_network()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "programs.yaml"
        script.write_text(PROGRAM, encoding="utf-8")
        journal = {"journal": str(Path(folder) / "journal.sqlite")}
        parameters = {
            "simulator": {"objects": OBJECTS, "seed": str(seed)},
            "plan_executor": journal,
            "language_planner": {**journal, "model": "scripted", "model_script": str(script)},
            "correction_listener": {"memory": str(Path(folder) / "memory.sqlite")},
        }
        nodes = [entry for entry in NODES_IN_SIMULATION if entry.name != "camera"]
        with NodeProcesses(nodes, NodeOptions(parameters), Path(folder) / "nodes.log"):
            return _watched(measured)


def _watched(measured: Callable[[SystemClient, Arm], dict[str, object]]) -> dict[str, object]:
    client = SystemClient()
    arm = Arm(PANDA.limits.qvel_max)

    def on_command(message: JointTrajectory) -> None:
        arm.commands.append((time.monotonic(), seconds(message.header.stamp)))

    def on_constraints(message: MotionConstraints) -> None:
        arm.in_force = seconds(message.header.stamp) if message.joint_share < 1.0 else float("inf")

    client.watch_joints(arm.on_joints)
    client.node.create_subscription(JointTrajectory, "joint_command", on_command, NEWEST_ONLY)
    client.node.create_subscription(MotionConstraints, "motion_constraints", on_constraints, LATCHED)
    try:
        client.wait_for_system(TIMEOUT)
        client.correct("slower")  # everybody has met
        return measured(client, arm)
    finally:
        client.close()


def _measured(client: SystemClient, arm: Arm, words: int, stops: int, seed: int) -> dict[str, object]:
    said = client.node.create_publisher(String, "correction", RELIABLE)
    client.wait_until(lambda: said.get_subscription_count() > 0, TIMEOUT)
    slowed = _slowed(client, arm, said, words, seed)
    stopped = _stopped(client, arm, said, stops, seed)
    return {**_slowed_report(slowed), **_stopped_report(stopped)}


def _slowed(client: SystemClient, arm: Arm, said: Publisher, count: int, seed: int) -> list[tuple[float, float]]:
    """For each "much slower" the seconds until the first command under it, and until the arm has slowed by a tenth."""
    delays: list[tuple[float, float]] = []
    while len(delays) < count:
        command = begun(client, seed + len(delays))
        while len(delays) < count and waited(client, lambda: arm.is_fast):
            arm.commands.clear()
            began, share = time.monotonic(), arm.share
            said.publish(String(data="much slower"))
            commanded = _clock(client, lambda since=began: arm.first_command(since) is not None, began)
            slowed = _clock(client, lambda most=0.9 * share: arm.share < most, began)
            delays.append((min(commanded, (arm.first_command(began) or np.inf) - began), slowed))
            client.spin_for(0.3)
            client.correct("full speed")
            client.spin_for(0.3)
        client.stop("the next measurement")
        _ended(client, command)
    return delays


def _stopped(client: SystemClient, arm: Arm, said: Publisher, count: int, seed: int) -> list[Stop]:
    """So many stops of a fast arm."""
    stops: list[Stop] = []
    while len(stops) < count:
        command = begun(client, seed + len(stops))
        if waited(client, lambda: arm.is_fast):
            began, share, cpu = time.monotonic(), arm.share, CpuTime.now()
            said.publish(String(data="stop"))
            held = _clock(client, lambda: arm.share < REST, began)
            stops.append(Stop(share, held, CpuTime.now().stolen_since(cpu)))
        _ended(client, command)
    return stops


def begun(client: SystemClient, seed: int) -> Submission:
    """A motion that lasts, from a fresh table on."""
    reset = client.node.create_client(ResetWorld, "reset_world")
    client.wait_until(reset.service_is_ready, TIMEOUT)
    done = reset.call_async(ResetWorld.Request(seed=seed, objects=OBJECTS.split(", ")))
    client.wait_until(done.done, TIMEOUT)
    client.node.destroy_client(reset)
    client.spin_for(1.0)  # everybody has seen it
    return client.submit("to and fro")


def _ended(client: SystemClient, command: Submission) -> None:
    waited(client, lambda: command.is_done)


def _clock(client: SystemClient, condition: Callable[[], bool], began: float) -> float:
    """Seconds from `began` until it holds; infinite where it never does."""
    return time.monotonic() - began if waited(client, condition) else np.inf


def waited(client: SystemClient, condition: Callable[[], bool], timeout: float = GIVEN_UP) -> bool:
    """Whether it holds within so many seconds."""
    try:
        client.wait_until(condition, timeout)
    except SystemUnreachableError:
        return False
    return True


def _slowed_report(delays: list[tuple[float, float]]) -> dict[str, object]:
    commanded, slowed = np.array(delays).T
    return {
        "words": len(delays),
        "commanded_median_s": round(float(np.median(commanded)), 3),
        "commanded_p95_s": round(float(np.percentile(commanded, 95)), 3),
        "slowed_median_s": round(float(np.median(slowed)), 3),
        "slowed_p95_s": round(float(np.percentile(slowed, 95)), 3),
    }


def _stopped_report(stops: list[Stop]) -> dict[str, object]:
    shares, delays, stolen = (np.array([getattr(stop, name) for stop in stops]) for name in ("share", "held", "stolen"))
    quiet = delays[stolen <= QUIET]
    return {
        "stops": len(stops),
        "speed_at_stop_median": round(float(np.median(shares)), 2),
        "speed_at_stop_max": round(float(shares.max()), 2),
        "held_median_s": round(float(np.median(delays)), 3),
        "held_max_s": round(float(delays.max()), 3),
        "held_within_0.25_s": int((delays <= WITHIN).sum()),
        "stolen": round(float(stolen.mean()), 3),
        "quiet_stops": len(quiet),
        "quiet_held_within_0.25_s": int((quiet <= WITHIN).sum()),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints two lines or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.words, options.stops, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
