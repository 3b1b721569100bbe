"""Odd messages on every topic, service and action: does a node exit, does the arm leave its limits, is all well after?

The real node processes over DDS, twice as fast as life; commands come from a table. Each round has a seed of its own: a
command is given, and while it is carried out, and after, messages are sent that are drawn by `fuzzed_messages`. Then
their orders are taken back and a command has to succeed. A round that fails leaves the nodes' output and the newest
messages in the folder `--keep`.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from reports import print_report, report_parser

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"  # before rclpy reads it; nothing leaves this machine

from fuzz_run import Fuzzer, worst_limit_share

from llm_planner.cli.processes import NodeOptions, NodeProcesses, join_own_network
from llm_planner.errors import LlmPlannerError
from llm_planner.ros.client import SystemClient
from llm_planner.ros.node_table import NODES_IN_SIMULATION

NAMES = tuple(entry.name for entry in NODES_IN_SIMULATION)
ROUND = 60.0  # [s] of messages, at most
TIMEOUT = 60.0
TRIES = 40  # of a command after a round, a second apart
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
wave: go_home()
"""


class Bench:
    """A running system, and how it takes the rounds."""

    def __init__(self, folder: Path, keep: Path) -> None:
        self._folder, self._keep = folder, keep
        script = folder / "programs.yaml"
        script.write_text(PROGRAMS, encoding="utf-8")
        journal = {"journal": str(folder / "journal.sqlite")}
        parameters = {
            "simulator": {"objects": "red block, blue block, green bowl, mug", "seed": "1", "real_time_factor": "2.0"},
            "plan_executor": journal,
            "language_planner": {**journal, "model": "scripted", "model_script": str(script)},
            "correction_listener": {"memory": str(folder / "memory.sqlite")},
        }
        self.exits: list[str] = []
        self.sent: dict[str, int] = {}
        self.share, self.not_well = 0.0, 0
        self.processes = NodeProcesses(NODES_IN_SIMULATION, NodeOptions(parameters), folder / "nodes.log")
        threading.Thread(target=self.processes.supervise, args=(self._on_exit,), daemon=True).start()
        self.client = SystemClient()
        self.client.wait_for_system(TIMEOUT)

    def _on_exit(self, notice: str) -> None:
        self.exits.append(notice)

    def close(self) -> None:
        """End everything."""
        self.client.close()
        self.processes.close()

    def round(self, seed: int, duration: float) -> str:
        """What went wrong, if anything did."""
        before, fuzzer = len(self.exits), Fuzzer(self.client, NAMES)
        self._tried("wave")  # what is heard meanwhile is learned
        fuzzer.learned()
        self.client.submit("put the red block in the green bowl")
        fuzzer.run(duration, random.Random(seed), lambda: len(self.exits) == before)
        fuzzer.take_back()
        fuzzer.close()
        for name, count in fuzzer.sent.items():
            self.sent[name] = self.sent.get(name, 0) + count
        trouble = [f"seed {seed}: {line}" for line in self.exits[before:]]
        if not any(self._tried("wave") for _ in range(TRIES)):
            self.not_well += 1
            trouble.append(f"seed {seed}: no command succeeded afterwards")
        self.share = max(self.share, worst_limit_share(self.client))
        if trouble:
            kept = self._keep / f"fuzz_{seed}"
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copy(self._folder / "nodes.log", kept / "nodes.log")
            (kept / "newest_messages.txt").write_text("\n".join(fuzzer.newest), encoding="utf-8")
            trouble.append(f"kept in {kept}")
        return "; ".join(trouble)

    def _tried(self, words: str) -> bool:
        try:
            if self.client.execute(words, lambda progress: None).succeeded:
                return True
        except LlmPlannerError:
            pass
        self.client.spin_for(1.0)
        return False


def run(minutes: float, seed: int, keep: Path) -> dict[str, object]:
    """What was sent, and what came of it."""
    join_own_network()
    with tempfile.TemporaryDirectory() as name:
        bench, left, seeds, trouble = Bench(Path(name), keep), 60.0 * minutes, [], []
        try:
            while left > 0:
                seeds.append(seed + len(seeds))
                told = bench.round(seeds[-1], min(left, ROUND))
                print(f"seed {seeds[-1]}: {told or 'all well'}", file=sys.stderr, flush=True)
                trouble += [told] if told else []
                left -= ROUND
        finally:
            bench.close()
    return {
        "seeds": seeds,
        "sent": dict(sorted(bench.sent.items())),
        "exits": len(bench.exits),
        "worst_limit_share": bench.share,
        "not_well_after": bench.not_well,
        "trouble": trouble,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 1 where something went wrong."""
    parser = report_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of messages, all rounds together")
    parser.add_argument("--seed", type=int, default=0, help="of the first round; each has the next")
    parser.add_argument("--keep", type=Path, default=Path("runs"), help="folder for what tells of failures")
    options = parser.parse_args(argv)
    report = run(options.minutes, options.seed, options.keep)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())
