"""kill -9 of each process at random moments: is the robot held, is nothing lost, does the system work again?

The real processes of `llm-planner up` over DDS, twice as fast as life; commands come from a table. Each run: a fresh
table, a command, corrections of several kinds, and one node, or `up` itself, killed within five seconds of the
command, in every third run within 30 ms of a correction. A new `up` is started at most 3 s after one was killed. Then
nobody says a word. Asked:

(a) Held. Five seconds after the kill the arm is at rest (every joint under 1 % of its speed limit) and stays so until
    somebody speaks. The skill_server, mpc_controller, safety_filter, plan_executor and language_planner all have a part
    in the motion; a new simulator's arm is to stay still from its first state on. With `up` every node ends within 3 s.
    The correction_listener has no part in the motion: there the plan may go on, and has to come to its own end,
    whatever the corrections have made of it.
(b) Nothing lost. A command that was taken is in the journal, a correction that was said to be in force too, and what
    was said to be remembered is in the memory. After the death of `up` the new executor offers to go on with a plan
    that was under way.
(c) Back. A command that is said within 30 s of the kill, or after a new `up` is ready, succeeds. “Gone on”: how often
    “go on” had the rest done; what was told where it had not is in the JSON.

Each run is told on standard error when it is over.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from reports import print_report, report_parser

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

import numpy as np
from kills_judge import (
    AT_REST_WITHIN,
    lost_commands,
    lost_edits,
    lost_lessons,
    moving_after,
    not_offered,
    rested_after,
)
from kills_run import OBJECTS, Bench, Observed, Scenario, drawn
from kills_system import NAMES, UP, RunningUp

from llm_planner.cli.processes import join_own_network
from llm_planner.corrections.preferences.memory import PreferenceStore
from llm_planner.execution.journal import read_journal
from llm_planner.ros.client import SystemClient

SPEED = 2.0  # simulated seconds a wall second
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
lay the red block down: |
  pick("red block")
  place_at("right side")
tidy up: |
  pick("red block")
  place_in("green bowl")
  pick("blue block")
  place_at("left side")
wave: go_home()
"""


def run(runs: int, seed: int, nodes: Sequence[str]) -> dict[str, object]:
    """Counts by process, and every violation in words; `nodes` are killed in turn."""
    join_own_network()
    with tempfile.TemporaryDirectory() as name:
        system = RunningUp(Path(name), PROGRAMS, OBJECTS, seed, SPEED)
        try:
            return _all(system, runs, seed, nodes)
        finally:
            system.close()


def _all(system: RunningUp, runs: int, seed: int, nodes: Sequence[str]) -> dict[str, object]:
    client, rng = SystemClient(), random.Random(seed)
    rows = {name: _Row() for name in NAMES}
    try:
        bench = Bench(client, system)
        bench.wait_until_ready()
        bench.forget()  # everybody has met
        for number in range(runs):
            node = nodes[number % len(nodes)]
            scenario, begun = drawn(node, rng), len(read_journal(system.journal))
            observed = bench.run(scenario, seed + number)
            violations = judged(scenario, observed, system, begun)
            rows[node].add(number, scenario, observed, violations)
            told = "; ".join(line for lines in violations.values() for line in lines) or "kept everything"
            told += f" (“go on” in vain: {observed.in_vain})" if observed.in_vain else ""
            print(f"run {number + 1} of {runs}, {node} killed: {told}", file=sys.stderr, flush=True)
            bench.forget()
    finally:
        client.close()
    return {"runs": runs, "nodes": {name: row.report() for name, row in rows.items() if row.runs}}


def judged(scenario: Scenario, seen: Observed, system: RunningUp, begun: int) -> dict[str, list[str]]:
    """What went wrong, by promise; the journal had `begun` records before the run."""
    records = read_journal(system.journal)[begun:]
    store = PreferenceStore(system.memory)
    lessons = store.lessons()
    store.close()
    lost = [*lost_commands(seen.accepted, records), *lost_edits(seen.answers, records)]
    if scenario.node == UP:
        lost += not_offered(seen.unfinished, seen.offer)
    return {
        "held": _held(scenario, seen),
        "lost": [*lost, *lost_lessons(seen.answers, lessons)],
        "back": [] if np.isfinite(seen.back_after) else ["no command succeeded within 30 s"],
    }


def _held(scenario: Scenario, seen: Observed) -> list[str]:
    if scenario.node == "correction_listener":
        return [] if seen.message else [f"“{scenario.command}” did not end"]
    if seen.orphans:
        return [f"these nodes ran on: {', '.join(seen.orphans)}"]
    since = seen.restarted if scenario.node in ("simulator", UP) else seen.killed + AT_REST_WITHIN
    told = moving_after([one for one in seen.motions if one.wall < seen.spoken_again], since)
    return [told] if told else []


class _Row:
    """The runs in which one node was killed."""

    def __init__(self) -> None:
        self.runs = self.gone_on = self.unfinished = 0
        self._counts = {"held": 0, "lost": 0, "back": 0}
        self._rested: list[float] = []
        self._back: list[float] = []
        self._told: list[str] = []
        self._in_vain: list[str] = []

    def add(self, number: int, scenario: Scenario, seen: Observed, violations: dict[str, list[str]]) -> None:
        self.runs += 1
        self.unfinished += not seen.succeeded
        self.gone_on += seen.gone_on
        self._rested.append(rested_after([one for one in seen.motions if one.wall < seen.spoken_again], seen.killed))
        self._back.append(seen.back_after)
        said = ", ".join(f"“{words}” at {at:.2f} s" for at, words in scenario.spoken)
        where = f"run {number}, {scenario.node} killed {scenario.kill:.2f} s after “{scenario.command}” ({said})"
        self._in_vain += [f"{where}: {seen.in_vain}"] if seen.in_vain else []
        for promise, lines in violations.items():
            self._counts[promise] += bool(lines)
            self._told += [f"{where}: {line}" for line in lines]

    def report(self) -> dict[str, object]:
        back = [value for value in self._back if np.isfinite(value)]
        return {
            "runs": self.runs,
            "not_held": self._counts["held"],
            "lost": self._counts["lost"],
            "not_back": self._counts["back"],
            "rest_after_max_s": round(max(self._rested), 2),
            "back_after_max_s": round(max(back), 1) if back else None,
            "unfinished": self.unfinished,
            "gone_on": self.gone_on,
            "in_vain": self._in_vain,
            "violations": self._told,
        }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 1 where something was violated."""
    parser = report_parser(__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nodes", nargs="+", choices=NAMES, default=NAMES, help="processes that are killed in turn")
    options = parser.parse_args(argv)
    report = run(options.runs, options.seed, options.nodes)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
