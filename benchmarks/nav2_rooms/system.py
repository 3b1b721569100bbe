"""The nodes of `llm-planner up --world rooms` with nav2's stand-in as the way to move, and a client of them."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import hypot
from pathlib import Path

import yaml
from llm_planner_interfaces.srv import ResetWorld
from nav2_rooms.simulator_node import RECORDS
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String

from llm_planner.cli.processes import NodeOptions, NodeProcesses
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.client import CommandResult, Submission, SystemClient, SystemUnreachableError
from llm_planner.ros.idempotent_requests import new_id
from llm_planner.ros.node_table import NODES_IN_SIMULATION, NodeEntry
from llm_planner.scene.scene import Scene

PATIENCE = 90.0  # [s] of wall time
BUSY = "4.0"  # [s, wall time] without a scene or a state until a plan ends: the machine may be busy
MOVING = 0.02  # [m/s, rad/s]
FAST = 0.6  # [m/s]
OWN = "nav2_rooms"

Motion = tuple[float, float, float, float, float]  # time [s], x, y [m], speed with that of turning, speed [m/s]


@dataclass
class System:
    """The running system, and what its robot does."""

    processes: NodeProcesses
    client: SystemClient
    records: Path
    scene: Scene = field(default_factory=lambda: Scene(0.0, ()))
    motions: list[Motion] = field(default_factory=list)

    def __post_init__(self) -> None:
        node = self.client.node
        self._modes = node.create_publisher(String, "nav2_mode", LATCHED)
        self._resets = node.create_client(ResetWorld, "reset_world")
        self.client.watch_scene(self._on_scene)
        node.create_subscription(Odometry, "odom", self._on_odometry, qos_profile_sensor_data)

    def _on_scene(self, scene: Scene) -> None:
        self.scene = scene

    def _on_odometry(self, message: Odometry) -> None:
        at, twist, stamp = message.pose.pose.position, message.twist.twist, message.header.stamp
        speed = hypot(twist.linear.x, twist.linear.y)
        moves = max(speed, abs(twist.angular.z))
        self.motions.append((stamp.sec + 1e-9 * stamp.nanosec, at.x, at.y, moves, speed))

    @property
    def speed(self) -> float:
        return self.motions[-1][3] if self.motions else 0.0

    def wait(self, until, seconds: float = PATIENCE) -> bool:
        """Return whether it comes to that within a wall time."""
        try:
            self.client.wait_until(until, seconds)
        except SystemUnreachableError:
            return False
        return True

    def mode(self, name: str) -> None:
        """Make nav2 hostile, or "" honest."""
        self._modes.publish(String(data=name))
        self.client.spin_for(0.3)

    def rest(self) -> None:
        """Wait until the base has stood for a moment."""
        self.wait(lambda: len(self.motions) > 30 and all(one[3] < MOVING for one in self.motions[-30:]), 20.0)

    def reset(self, seed: int) -> None:
        """Lay out the building of a seed, and wait until it is seen."""
        self.motions.clear()
        before, request, done = self.scene, ResetWorld.Request(seed=seed, id=new_id()), []
        for _ in range(30):
            future = self._resets.call_async(request)
            future.add_done_callback(lambda answer: done.append(answer.result()))
            if self.wait(lambda: bool(done), 2.0):
                break
        assert done, "reset_world does not answer"
        assert done[0].error_code == ResetWorld.Response.DONE, done[0].error_msg
        assert self.wait(lambda: self.scene.time > before.time + 1.2), "no scene after the reset"
        self.motions.clear()
        self.client.spin_for(0.5)

    def record(self, seed: int) -> list[Scene]:
        """Return the scenes that the simulator recorded in the building of a seed, once it was reset after it."""
        return pickle.loads((self.records / f"{seed}.pickle").read_bytes())

    def finish(self, submission: Submission, seconds: float) -> CommandResult | None:
        """Return how a command ended; None if it did not within a wall time, and was cancelled then."""
        if self.wait(lambda: submission.is_done, seconds):
            return submission.result
        submission.cancel()
        self.wait(lambda: submission.is_done, 20.0)
        return None

    def moves(self, submission: Submission) -> bool:
        """Wait until the base drives fast for a command; return whether it does."""
        self.wait(lambda: (bool(self.motions) and self.motions[-1][4] > FAST) or submission.is_done)
        return not submission.is_done


def scripted(readings: Mapping[str, tuple[list[tuple[str, str]], list[tuple[str, str]], str]]) -> str:
    """Return a script of the model `scripted`: goals and rules, each words and formula, and a program by command."""
    script = {}
    for command, (goals, rules, program) in readings.items():
        constraints = [{"formula": formula, "words": words, "goal": True} for words, formula in goals]
        constraints += [{"formula": formula, "words": words} for words, formula in rules]
        script[command] = {"programs": [program], "readings": [{"constraints": constraints}]}
    return yaml.safe_dump(script, allow_unicode=True)


@contextmanager
def running(folder: Path, script: str, speed: float) -> Iterator[System]:
    """Run the system in this process's ROS domain, at `speed` simulated seconds a wall second."""
    path = folder / "script.yaml"
    path.write_text(script, encoding="utf-8")
    records, journal = folder / "records", {"journal": str(folder / "journal.sqlite")}
    records.mkdir(exist_ok=True)
    mobile = {"robot": "mobile"}
    options = NodeOptions(
        {
            "simulator": {"world": "rooms", "real_time_factor": str(speed)},
            "mpc_controller": mobile,
            "safety_filter": {**mobile, "command_topic": "cmd_vel_unused"},
            "skill_server": {
                **mobile,
                "navigate_action": "navigate_to_pose",
                "navigate_gripper": "true",
                "state_timeout": BUSY,
            },
            "plan_executor": {"scene_timeout": BUSY, **journal},
            "language_planner": {"model": "scripted", "model_script": str(path), **journal},
            "correction_listener": {"memory": str(folder / "memory.sqlite")},
        },
        use_sim_time=True,
    )
    entries = [
        replace(entry, package=OWN) if entry.name == "simulator" else entry
        for entry in NODES_IN_SIMULATION
        if entry.name != "camera"
    ]
    with NodeProcesses(
        [*entries, NodeEntry("nav2", package=OWN)], options, folder / "nodes.log", {RECORDS: str(records)}
    ) as processes:
        threading.Thread(target=processes.supervise, args=(lambda told: None,), daemon=True).start()
        client = SystemClient(robot="mobile")
        system = System(processes, client, records)
        client.wait_for_system(PATIENCE)
        assert system.wait(lambda: bool(system.motions) and system.scene.robot is not None), "no robot is heard of"
        yield system
        client.close()
