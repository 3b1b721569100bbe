"""What the console costs, and how soon it shows and stops, beside all nodes at real-time pace.

Two viewers read everything that the page would, over WebSocket, without a browser. Processor time is that of the
console's process by wall time. Pictures are the messages of the 3D view. The edit's times are from the words to the
plan in the page, and from the moment at which the executor published the edited plan. The stop's are from its message
to joints below 1 % of full speed (0.02 rad/s), and to a speed below 5 mm/s in the page; of the first also the parts: to
the plan's end, to the controller's word that it brakes, and from there to rest in the robot's time, which a busy
machine lets pass slower. With --hang a model server that never answers reads
corrections, and has one before it when the stop comes. --load starts processes that only count.
With --minutes it only looks for leaks while the robot works: two viewers stay, another reloads and another loses its
connection without a word, again and again. What those who stay show is compared with what a new viewer gets.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median
from typing import Any

import rclpy
from bench_footprint import COMMAND, OBJECTS, TIMEOUT, cpu, pss
from llm_planner_interfaces.msg import MotionStatus, PlanStatus
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from reports import print_report, report_parser
from sensor_msgs.msg import JointState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.node_executor import NodeExecutor
from llm_planner.ros.transport import use_sockets

AT_REST, MOVES = 0.005, 0.05  # [m/s] of the hand
JOINTS_REST = 0.02  # [rad/s]
BUSY = "while True: pass"


class Network:
    """What the nodes published, and when [s since the epoch, by the publisher's stamp]."""

    def __init__(self, running: ExitStack) -> None:
        context = rclpy.Context()
        rclpy.init(context=context)
        self._node, self._executor = Node("bench", context=context), NodeExecutor(context=context)
        self.version = dict[int, float]()
        self.stopping()
        self._node.create_subscription(PlanStatus, "plan_status", self._on_plan, LATCHED)
        self._node.create_subscription(MotionStatus, "motion_status", self._on_motion, LATCHED)
        self._node.create_subscription(JointState, "joint_states", self._on_joints, qos_profile_sensor_data)
        self._executor.add_node(self._node)
        threading.Thread(target=self._executor.spin, daemon=True).start()
        running.callback(lambda: (self._executor.shutdown(), rclpy.try_shutdown(context=context)))

    def stopping(self) -> None:
        self.ended = self.braked = self.rested = 0.0
        self.robot_times: list[float] = []  # [s] from braking to rest

    def _on_plan(self, message: PlanStatus, info: Any) -> None:
        self.version.setdefault(message.version, _sent(info))
        if message.state == PlanStatus.STOPPED:
            self.ended = self.ended or _sent(info)

    def _on_motion(self, message: MotionStatus, info: Any) -> None:
        if message.state in (MotionStatus.BRAKING, MotionStatus.STOPPED, MotionStatus.RESTING):
            self.braked = self.braked or _sent(info)

    def _on_joints(self, message: JointState, info: Any) -> None:
        if self.braked and not self.rested:
            self.robot_times.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
        if max(map(abs, message.velocity)) < JOINTS_REST:
            self.rested = self.rested or _sent(info)


def _sent(info: Any) -> float:
    stamp = info["source_timestamp"] if isinstance(info, dict) else info.source_timestamp
    return 1e-9 * float(stamp)


class Viewer:
    """A page: the newest state, and when pictures of the 3D view came."""

    def __init__(self, address: str, running: ExitStack) -> None:
        self._origin, self._running = address.rstrip("/"), running
        self.state: dict[str, Any] = {}
        self.pictures: list[float] = []
        self._events = self.open("/events")
        view = self.open("/view", subprotocols=["viser-v1.1.1"])
        for read in (self._read_events, lambda: self._read_view(view)):
            threading.Thread(target=read, daemon=True).start()

    def open(self, path: str, **options: Any) -> ClientConnection:
        address = self._origin.replace("http", "ws") + path
        opened = connect(address, origin=self._origin, proxy=None, ping_interval=None, max_size=None, **options)
        return self._running.enter_context(opened)

    def drop(self) -> None:
        """Lose the connection as a cable does: without a closing message."""
        self._events.socket.shutdown(socket.SHUT_RDWR)

    def say(self, words: str) -> None:
        self._events.send(json.dumps({"do": "say", "words": words}))

    def until(self, condition: Callable[[dict[str, Any]], Any]) -> float:
        """Wait until the page shows a condition; return the wall time that it took [s]."""
        began = time.monotonic()
        while not self._shows(condition):
            if time.monotonic() - began > TIMEOUT:
                raise SystemExit(f"the page did not show it within {TIMEOUT:g} s: {json.dumps(self.state)[:2000]}")
            time.sleep(0.002)
        return time.monotonic() - began

    def until_after(self, words: str, condition: Callable[[dict[str, Any]], Any]) -> float:
        """Say the words, and wait as `until` does."""
        self.say(words)
        return self.until(condition)

    def _read_view(self, view: ClientConnection) -> None:
        with suppress(ConnectionClosed):
            for _ in view:
                self.pictures.append(time.monotonic())

    def _shows(self, condition: Callable[[dict[str, Any]], Any]) -> bool:
        try:
            return bool(condition(self.state))
        except (KeyError, IndexError, TypeError):
            return False

    def _read_events(self) -> None:
        with suppress(ConnectionClosed):
            for message in self._events:
                self.state |= json.loads(message)


def run(
    seconds: float, reloads: int, stops: int, minutes: float = 0.0, hang: bool = False, load: int = 0
) -> dict[str, object]:
    """All figures, or those of the search for leaks."""
    from llm_planner.cli.processes import NodeProcesses, own_network
    from llm_planner.cli.system_options import requested_system

    os.environ.update(own_network(random.Random()))
    use_sockets()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        given = {"objects": OBJECTS, "console": "true", "record": "false"}
        system = requested_system(given, journal=Path(folder) / "journal.sqlite")
        system.options.parameters["console"]["port"] = "0"  # type: ignore[index]
        if hang:
            silent = running.enter_context(socket.create_server(("127.0.0.1", 0)))
            os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
            os.environ["LLM_PLANNER_OPENAI_MODEL"] = "silent"
            system.options.parameters["correction_listener"]["model"] = "openai"  # type: ignore[index]
        log = Path(folder) / "nodes.log"
        processes = running.enter_context(NodeProcesses(system.entries, system.options, log))
        began = time.monotonic()
        while not (found := re.search(r"The console is at (\S+)", log.read_text(encoding="utf-8"))):
            if time.monotonic() - began > TIMEOUT:
                raise SystemExit(log.read_text(encoding="utf-8"))
            time.sleep(0.05)
        for _ in range(load):
            busy = subprocess.Popen([sys.executable, "-c", BUSY])
            running.callback(busy.wait)
            running.callback(busy.kill)
        if minutes:
            return _leaks(found[1], processes.pid("console"), running, minutes)
        return _measure(found[1], processes.pid("console"), running, seconds, reloads, stops, hang)


def _measure(
    address: str, pid: int, running: ExitStack, seconds: float, reloads: int, stops: int, hang: bool
) -> dict[str, object]:
    opened, viewers = time.monotonic(), [Viewer(address, running) for _ in range(2)]
    page, network = viewers[0], Network(running)
    page.until(lambda state: state["motion"] and page.pictures)
    report: dict[str, object] = {"first_picture_s": round(time.monotonic() - opened, 2)}
    page.until(lambda state: state["model"])
    report["rest_core_percent"], _ = _share(pid, page, seconds)
    page.say(COMMAND)
    page.until(lambda state: state["plan"]["state"] == "running" and state["motion"]["speed"] > MOVES)
    report["moving_core_percent"], report["pictures_hz"] = _share(pid, page, min(seconds, 4.0))
    if not hang:
        report |= _edits(page, network)
    report |= _stops(page, network, stops, hang)
    before = _threads(pid), pss(pid)
    for _ in range(reloads):
        with ExitStack() as one:
            Viewer(address, one).until(lambda state: state["motion"])
    time.sleep(4.0)
    report["after_reloads"] = {"threads": _threads(pid) - before[0], "mib": round(pss(pid) - before[1], 1)}
    return report


def _edits(page: Viewer, network: Network) -> dict[str, object]:
    """Times of edits [s]: from the words, and from the executor's message, to the page."""
    said, seen = [], []
    for words in ("slower", "a bit faster", "slower", "a bit faster"):
        version = page.state["plan"]["version"]
        said.append(page.until_after(words, lambda state, version=version: state["plan"]["version"] > version))
        seen.append(time.time() - network.version.get(page.state["plan"]["version"], math.nan))
        time.sleep(0.3)
    return {"edit_s": _spread(said), "edit_applied_to_page_s": _spread(seen)}


def _stops(page: Viewer, network: Network, stops: int, hang: bool) -> dict[str, object]:
    """Times from a stop to its stages [s]."""
    stages: dict[str, list[float]] = {
        "plan_ended": [],
        "braking": [],
        "joints_rest": [],
        "page_rest": [],
        "braking_robot_time": [],
    }
    stop = page.open("/stop")
    for number in range(stops):
        page.until(lambda state: state["plan"]["state"] == "running" and state["motion"]["speed"] > MOVES)
        if hang:
            page.say("no, not that one, rather take another one of those")
            time.sleep(0.5)
        page.until(lambda state: state["motion"]["speed"] > MOVES)
        network.stopping()
        pressed = time.time()
        stop.send("stop")
        stages["page_rest"].append(page.until(lambda state: state["motion"]["speed"] < AT_REST))
        page.until(lambda state: network.rested and network.ended and network.braked)
        for name, at in (("plan_ended", network.ended), ("braking", network.braked), ("joints_rest", network.rested)):
            stages[name].append(at - pressed)
        stages["braking_robot_time"].append(network.robot_times[-1] - network.robot_times[0])
        page.until(lambda state: state["plan"]["state"] != "running")
        page.say(COMMAND if number % 2 else "go home")
    return {"stop_s": {name: _spread(times) for name, times in stages.items()}, "stops": stops}


def _spread(times: Sequence[float]) -> dict[str, float]:
    return {"median": round(median(times), 3), "most": round(max(times), 3)}


def _leaks(address: str, pid: int, running: ExitStack, minutes: float) -> dict[str, object]:
    """Memory, threads and differences between old and new viewers, over time."""
    stay = [Viewer(address, running) for _ in range(2)]
    stay[0].until(lambda state: state["plan"] and state["model"])
    samples: list[tuple[float, float, int]] = []  # [min], [MiB], threads: while only those who stay are there
    reloads = drops = commands = stale = 0
    used, began = cpu(pid), time.monotonic()
    while (passed := (time.monotonic() - began) / 60.0) < minutes:
        if stay[0].state["plan"]["state"] != "running":
            stay[commands % 2].say(COMMAND if commands % 2 else "go home")
            commands += 1
        for ends in (lambda viewer: None, Viewer.drop):
            with ExitStack() as one:
                viewer = Viewer(address, one)
                viewer.until(lambda state: state["motion"] and state["plan"])
                ends(viewer)
            reloads, drops = reloads + (ends is not Viewer.drop), drops + (ends is Viewer.drop)
        time.sleep(3.0)
        stale += _is_stale(address, stay)
        time.sleep(1.0)
        samples.append((passed, pss(pid), _threads(pid)))
    warm = [one for one in samples if one[0] >= min(2.0, minutes / 4)] or samples
    half = len(warm) // 2 or 1
    first, last = warm[:half], warm[half:] or warm
    return {
        "minutes": round(passed, 1), "reloads": reloads, "dropped": drops, "commands": commands, "stale": stale,
        "mib": {"begin": round(samples[0][1], 1), "warm": round(warm[0][1], 1), "end": round(samples[-1][1], 1)},
        "mib_median_first_half_second_half": [round(median(one[1] for one in half), 1) for half in (first, last)],
        "threads": {"warm": warm[0][2], "most": max(one[2] for one in warm), "end": samples[-1][2]},
        "core_percent": round(100.0 * (cpu(pid) - used) / (60.0 * passed), 1),
    }  # fmt: skip


def _is_stale(address: str, stay: Sequence[Viewer]) -> bool:
    """Return whether a viewer that stayed shows something else than a new one, for longer than what is on its way."""
    names = ("plan", "rules", "talk", "rehearsal", "live")
    for _ in range(5):
        with ExitStack() as one:
            new = Viewer(address, one)
            new.until(lambda state: all(name in state for name in names))
            if all([old.state[name] for name in names] == [new.state[name] for name in names] for old in stay):
                return False
        time.sleep(0.3)
    return True


def _share(pid: int, page: Viewer, seconds: float) -> tuple[float, float]:
    """Share of a core [%] and pictures a second [Hz] during some time."""
    used, seen, began = cpu(pid), len(page.pictures), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return round(100.0 * (cpu(pid) - used) / passed, 1), round((len(page.pictures) - seen) / passed, 1)


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def main(argv: Sequence[str] | None = None) -> int:
    """Print one figure a line or JSON; return 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--reloads", type=int, default=40)
    parser.add_argument("--stops", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--hang", action="store_true")
    parser.add_argument("--load", type=int, default=0, metavar="PROCESSES")
    options = parser.parse_args(argv)
    report = run(options.seconds, options.reloads, options.stops, options.minutes, options.hang, options.load)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
