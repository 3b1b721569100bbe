"""What the console costs, and how soon it shows and stops, beside all nodes at real-time pace.

Two viewers read everything that the page would, over WebSocket, without a browser. Processor time is that of the
console's process by wall time. Pictures are the messages of the 3D view. The edit's time is from the words to the plan
in the page, most of which is reading the words; the stop's is from its message to a measured speed below 5 mm/s.
With --minutes it only looks for leaks while the robot works: two viewers stay, another reloads and another loses its
connection without a word, again and again. What those who stay show is compared with what a new viewer gets.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median
from typing import Any

from bench_footprint import COMMAND, OBJECTS, TIMEOUT, cpu, pss
from reports import print_report, report_parser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

AT_REST, MOVES = 0.005, 0.05  # [m/s] of the hand


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


def run(seconds: float, reloads: int, stops: int, minutes: float = 0.0) -> dict[str, object]:
    """All figures, or those of the search for leaks."""
    from llm_planner.cli.processes import NodeProcesses, own_network
    from llm_planner.cli.system_options import requested_system

    os.environ.update(own_network(random.Random()))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        given = {"objects": OBJECTS, "console": "true", "record": "false"}
        system = requested_system(given, journal=Path(folder) / "journal.sqlite")
        system.options.parameters["console"]["port"] = "0"  # type: ignore[index]
        log = Path(folder) / "nodes.log"
        processes = running.enter_context(NodeProcesses(system.entries, system.options, log))
        began = time.monotonic()
        while not (found := re.search(r"The console is at (\S+)", log.read_text(encoding="utf-8"))):
            if time.monotonic() - began > TIMEOUT:
                raise SystemExit(log.read_text(encoding="utf-8"))
            time.sleep(0.05)
        if minutes:
            return _leaks(found[1], processes.pid("console"), running, minutes)
        return _measure(found[1], processes.pid("console"), running, seconds, reloads, stops)


def _measure(address: str, pid: int, running: ExitStack, seconds: float, reloads: int, stops: int) -> dict[str, object]:
    opened, viewers = time.monotonic(), [Viewer(address, running) for _ in range(2)]
    page = viewers[0]
    page.until(lambda state: state["motion"] and page.pictures)
    report: dict[str, object] = {"first_picture_s": round(time.monotonic() - opened, 2)}
    page.until(lambda state: state["model"])
    report["rest_core_percent"], _ = _share(pid, page, seconds)
    page.say(COMMAND)
    page.until(lambda state: state["plan"]["state"] == "running" and state["motion"]["speed"] > MOVES)
    report["moving_core_percent"], report["pictures_hz"] = _share(pid, page, min(seconds, 4.0))
    version = page.state["plan"]["version"]
    page.say("slower")
    report["edit_s"] = round(page.until(lambda state: state["plan"]["version"] > version), 3)
    rests = []
    for _ in range(stops):
        page.until(lambda state: state["motion"]["speed"] > MOVES)
        page.open("/stop").send("stop")
        rests.append(page.until(lambda state: state["motion"]["speed"] < AT_REST))
        page.until(lambda state: state["plan"]["state"] != "running")
        page.say("go home" if len(rests) % 2 else COMMAND)
    report["stop_to_rest_s"] = {"median": round(median(rests), 3), "most": round(max(rests), 3), "stops": stops}
    before = _threads(pid), pss(pid)
    for _ in range(reloads):
        with ExitStack() as one:
            Viewer(address, one).until(lambda state: state["motion"])
    time.sleep(4.0)
    report["after_reloads"] = {"threads": _threads(pid) - before[0], "mib": round(pss(pid) - before[1], 1)}
    return report


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
    options = parser.parse_args(argv)
    report = run(options.seconds, options.reloads, options.stops, options.minutes)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
