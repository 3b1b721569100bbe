"""`make bench`: every benchmark in turn, each in a process of its own, and one table of what was asked and what came.

python -m benchmarks [--quick] [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TINY = "--episodes 1 --demonstrations 2 --training-steps 20"

Report = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One promise.

    Attributes:
        name: What is measured.
        source: Keys of the figure in the report, outermost first ("qp_ms > median"), or a function of the report.
        asked: Bound: "≤ 0.5", "≥ 0.9", "0" (none), "1" (all); other words if the figure is only reported.
    """

    name: str
    source: str | Callable[[Report], float]
    asked: str

    def read(self, report: Report) -> float:
        """Return the figure of a report."""
        if callable(self.source):
            return float(self.source(report))
        value: Any = report
        for key in self.source.split(" > "):
            value = value[key]
        return float(value)

    def kept(self, value: float) -> bool:
        """Return whether the figure is as asked."""
        bound = re.match(r"([≤≥]?) ?([\d.]+)", self.asked)
        if bound is None:
            return True
        at_most = bound[1] == "≤" or bound[0] == "0"
        return value <= float(bound[2]) if at_most else value >= float(bound[2])


class Benchmark:
    """Script with its figures, its arguments, and those for tiny sizes (`quick`)."""

    def __init__(self, quick: str, *figures: Figure, full: str = "") -> None:
        self.full, self.quick, self.figures = shlex.split(full), shlex.split(quick), list(figures)


def _total(rows: Report, count: str) -> float:
    """One count over all rows."""
    return float(sum(row[count] for row in rows.values()))


def _by_mink(row: Report, key: str) -> float:
    return float(row["ours"][key] / row["mink"][key])


def _against_the_best(report: Report) -> float:
    """Our flow's success by the best other's, on the task where that is least; 0 where metaworld is not there."""
    if not report["metaworld"]:
        return 0.0
    ours, ratios = "flow, 3 steps", []
    for rows in report["tasks"].values():
        best = max(row["share"] for name, row in rows.items() if name != ours and "share" in row)
        ratios.append(rows[ours]["share"] / best if best else 1.0)
    return float(min(ratios))


def _times_slower(report: Report, peer: str) -> float:
    """A chunk of a peer against one of our flow; 0 where metaworld, or the peer, is not there."""
    if not report["metaworld"] or peer not in report["latency ms"]:
        return 0.0
    return float(report["latency ms"][peer]["median"] / report["latency ms"]["flow, 3 steps"]["median"])


def _improved(report: Report, key: str, start: str) -> float:
    """Of the first policy whose name begins so; 0 where metaworld is not there, or it was left out."""
    rows = report.get("rows", {})
    return next((float(row[key]) for name, row in rows.items() if name.startswith(start)), 0.0)


def _behind(report: Report, start: str, other: str) -> float:
    """Points of success by which one is behind the other; 0 where it is ahead."""
    return max(0.0, _improved(report, "gain", other) - _improved(report, "gain", start))


def _bounded(report: Report, name: str, policy: str, what: str) -> float:
    """Share of episodes in which a policy did so under a bound; 0 where metaworld is not there."""
    rows = report.get("laws", {}).get(name, {}).get("rows", {})
    return float(rows[policy][what]["share"]) if rows else 0.0


def _rarer_way(report: Report) -> float:
    """The share of the rarer way among the successes of the flow."""
    row = report["policies"]["flow matching, noise kept"]
    return float(min(row["left"], row["right"]) / max(1, row["left"] + row["right"]))


BENCHMARKS: dict[str, Benchmark] = {  # by script
    "bench_cap_tabletop": Benchmark(
        "--trials 2",
        Figure("tabletop instructions, mean success", "mean", "≥ 0.90"),
        Figure("tabletop instructions, lowest", "lowest", "≥ 0.75"),
        Figure("tabletop, joint velocity", "max qvel / limit", "≤ 1 of the limit"),
        Figure("tabletop, joint acceleration", "max qacc / limit", "≤ 1 of the limit"),
        full="--trials 20",
    ),
    "bench_demonstrators": Benchmark(
        "--scenes 1",
        Figure("scripts, least success", lambda r: min(row["plain"] for row in r["skills"]), "≥ 0.97"),
        Figure("scripts, disturbed and begun anew", lambda r: min(row["disturbed"] for row in r["skills"]), "≥ 0.95"),
        full="--scenes 30",
    ),
    "bench_skill_commands": Benchmark(
        "--commands 1 --skills push,pick --results runs/skill_commands_quick.jsonl",
        Figure(
            "skills on commands, least success alone",
            lambda r: min(row["alone"][row["mover"]]["rate"] for row in r["skills"]),
            "≥ 0.90",
        ),
        Figure(
            "skills moved by a policy that is worse",
            lambda r: sum(
                row["moves"] == "policy" and row["alone"]["difference"]["interval"][1] < 0 for row in r["skills"]
            ),
            "0",
        ),
    ),
    "bench_follow_dock": Benchmark(
        "--scenes 1",
        Figure("rooms, person followed", "followed", "≥ 0.95"),
        Figure("rooms, docked within 2 cm and 3°", "docked", "1"),
        full="--scenes 30",
    ),
    "bench_rooms": Benchmark(
        "--tasks 2",
        Figure("rooms, no rule broken", "planner > safe, of all > share", "1"),
        Figure("rooms, no rule broken, baseline", "baseline > safe, of all > share", "beside it"),
        Figure("rooms, complete", "planner > complete > share", "≥ 0.90"),
        Figure("rooms, complete, baseline", "baseline > complete > share", "beside it"),
        Figure("rooms, metres / shortest", "planner > metres driven / shortest > mean", "≤ 1.15"),
        Figure("12 rooms, 5 rules, median [s CPU]", "planner > the same, 12 rooms and 5 rules > median", "≤ 1.5"),
    ),
    "bench_nav2": Benchmark(
        "--tasks 2",
        Figure("rooms with nav2's action, tasks with a rule broken", "tasks_with_a_rule_broken", "0"),
        Figure("rooms with nav2's action, done", "done_and_shown_by_the_simulator", "beside it"),
        full="--tasks 200",
    ),
    "bench_pick_place": Benchmark(
        "--episodes 6 --long 1",
        Figure("scripted pick and place", "pick_and_place > success", "≥ 0.97"),
        Figure("pick and place, velocity", "largest_velocity_share", "≤ 1 of the limit"),
        Figure("pick and place, acceleration", "largest_acceleration_share", "≤ 1 of the limit"),
        full="--episodes 200",
    ),
    "bench_mobile_manipulator": Benchmark(
        "--scenes 1",
        Figure("fetch and deliver, two tables", "success", "≥ 0.90"),
        Figure("contacts of the robot with tables, walls", "contacts", "0"),
        Figure("arm and base moving at once, steps", "both_moved", "0"),
    ),
    "bench_episode_speed": Benchmark(
        "--episodes 1",
        Figure("episode loop / bare mj_step", "ratio", "≤ 1.6"),
    ),
    "bench_mpc": Benchmark(
        "--episodes 100",
        Figure("QP, median [ms CPU]", "qp_ms > median", "≤ 0.5"),
        Figure("QP, 99 % [ms CPU]", "qp_ms > p99", "≤ 1.0"),
        Figure("controller tick, median [ms CPU]", "tick_ms > median", "≤ 4.0"),
        Figure("QP among zones, 4 + 3 rows, median [ms]", "rows > qp_ms > median", "≤ 0.5"),
        Figure("QP among zones, 4 + 3 rows, 99 % [ms]", "rows > qp_ms > p99", "≤ 1.0"),
        Figure("tick among zones, median [ms CPU]", "rows > tick_ms > median", "≤ 3.0"),
        Figure("tick among zones, 99 % [ms CPU]", "rows > tick_ms > p99", "≤ 4.5"),
    ),
    "bench_qp": Benchmark(
        "--ticks 60 --constrained 5",
        *(
            Figure(f"{name} / our QP, {words}, median", f"{title} > {name} > ratio", "≥ 1")
            for title, words in (("tracking", "tracking"), ("slack in each soft row", "zones, speed"))
            for name in ("DAQP, one program", "OSQP", "ProxQP", "PIQP, dense")
        ),
    ),
    "bench_tracking": Benchmark(
        "--seconds 2",
        Figure("tracking, median tick, ours / mink", lambda r: _by_mink(r["as skills move"], "cpu, median"), "≤ 1"),
        Figure("tracking skills, error rms, ours / mink", lambda r: _by_mink(r["as skills move"], "error, rms"), "≤ 1"),
        *(
            Figure(
                f"{motion}, error rms, ours / mink", lambda r, motion=motion: _by_mink(r[motion], "error, rms"), "≤ 1"
            )
            for motion in ("faster than allowed", "goals that jump")
        ),
        Figure(
            "tracking, joint acceleration, ours",
            lambda r: max(row["ours"]["acceleration / limit"] for row in r.values()),
            "≤ 1 of the limit",
        ),
        Figure(
            "tracking, joint acceleration, mink",
            lambda r: max(row["mink"]["acceleration / limit"] for row in r.values()),
            "beside it",
        ),
    ),
    "bench_metaworld": Benchmark(
        f"{TINY} --tasks push --without 'lerobot small' 'lerobot defaults'",
        Figure("Meta-World, our flow / the best other", _against_the_best, "≥ 1"),
        Figure("chunk, lerobot small / ours", lambda r: _times_slower(r, "lerobot small"), "≥ 10"),
        Figure("chunk, lerobot defaults / ours", lambda r: _times_slower(r, "lerobot defaults"), "≥ 100"),
    ),
    "bench_improvement": Benchmark(
        f"{TINY} --only unimproved",
        Figure("re-ranking, points gained", lambda r: _behind(r, "unimproved", "re-ranking"), "≥ 12"),
        Figure("steering, points above no noise", lambda r: _behind(r, "no noise", "steering"), "≥ 5"),
        Figure("from 60 corrected episodes", lambda r: _improved(r, "share", "60 corrected"), "≥ 0.90"),
        Figure("adapter, points behind all weights", lambda r: _behind(r, "adapter", "all weights"), "≤ 5"),
        Figure("adapter, share of the weights", lambda r: _improved(r, "share of the weights", "adapter"), "≤ 0.1"),
    ),
    "bench_several_ways": Benchmark(
        "--demonstrations 2 --training-steps 5 --episodes 1",
        Figure("two right ways, flow, noise kept", "policies > flow matching, noise kept > success", "≥ 0.90"),
        Figure("of these, by the rarer way", _rarer_way, "≥ 0.20"),
        Figure("two right ways, flow, no noise", "policies > flow matching, no noise > success", "beside it"),
        Figure("two right ways, regression", "policies > regression > success", "beside it"),
    ),
    "bench_clearance": Benchmark(
        "--scenes 1 --processes 1",
        Figure("random scenes, contacts", "touched", "0"),
        Figure("random scenes, violations > 1 mm", "violations", "0"),
        Figure("random scenes, hand speed / limit", "speed over limit > max", "≤ 1.1"),
        Figure("tick in those scenes, median [ms CPU]", "tick ms > median", "≤ 3"),
        Figure("tick in those scenes, 99 % [ms CPU]", "tick ms > p99", "≤ 4.5"),
        Figure("filter step there, median [ms CPU]", "filter step ms > median", "≤ 0.4"),
        Figure("filter, proof of a plan [ms CPU]", "proof of a plan ms > median", "reported"),
    ),
    "bench_slower": Benchmark(
        "--motions 1 --processes 1",
        Figure(
            "slower: 0.5 to 0.15 m/s, kept within 0.25 s", lambda r: r["kept"] / r["motions"], "1 (share of motions)"
        ),
        Figure("slower: fastest after 0.25 s [m/s]", "later > max", "≤ 0.165"),
    ),
    "bench_faults": Benchmark(
        "--scenes 1 --processes 1 --only 'start inside a zone'",
        Figure("faults: contacts but by pushes", lambda r: _total(r, "contacts"), "0"),
        Figure("faults: uncontrolled motions", lambda r: _total(r, "uncontrolled"), "0"),
        Figure(
            "faults: violations > 1 mm, where keepable",
            lambda r: sum(row["violations"] for name, row in r.items() if name != "contradictory zones"),
            "reported",
        ),
        Figure(
            "faults: recovery, slowest median [s]",
            lambda r: max(row["recovery s"]["median"] for name, row in r.items() if name != "the states stop"),
            "reported",
        ),
    ),
    "bench_adaptation": Benchmark(
        "--seconds 1 --seeds 1 --scenes 0",
        Figure("unknown payload, tracking error, with / without", "cases > payload 1.5 kg > ratio > rms", "≤ 0.5"),
        Figure("the same, largest error once learnt", "cases > payload 1.5 kg > ratio > max learnt", "≤ 0.5"),
        Figure("payload, friction, gain: worst ratio", "worst ratio", "≤ 0.5"),
        Figure("faults named that are none", "nothing wrong, things said", "0"),
    ),
    "bench_stalls": Benchmark(
        "--seeds 12 --seconds 2 --processes 1",
        Figure("stalls: contacts", "all > contacts", "0"),
        Figure("stalls: runs with a clearance not kept", "all > broken", "0"),
        Figure("stalls: turned, mean of a run [rad]", "all > turned rad", "≥ 1"),
    ),
    "bench_two_arms": Benchmark(
        "--scenes 1",
        Figure("two arms at one table: contacts", "contacts", "0"),
        Figure("two arms: sent into a zone", "violations_commanded", "0"),
        Figure("two arms: in a zone", "violations_measured", "0"),
        Figure("two arms: blocks in their bowls", "done", "≥ 0.95"),
    ),
    "bench_two_bases": Benchmark(
        "--scenes 1 --jobs 1",
        Figure("two bases in one building: contacts", "contacts", "0"),
        Figure("two bases: looks at a room entered unreserved", "entered", "0"),
        Figure("two bases: jobs that failed without the name of the other base", "other", "0"),
    ),
    "bench_filter": Benchmark(
        "--scenes 1 --seconds 0.4",
        Figure("filter tick, median [ms CPU]", "tick_ms > median", "≤ 0.4"),
        Figure("filter, 250 Hz beside a busy core", "beside_a_busy_core > on_time", "≥ 0.98 on time"),
        Figure("filter, adversaries: contacts", "touching", "0"),
        Figure("filter, adversaries: > 1 mm too near", "violations", "0"),
    ),
    "bench_tokens": Benchmark(
        "--tasks 2",
        Figure("tokens saved by the action tree", lambda r: max(0.0, r["tokens saved"]), "≥ 0.70"),
    ),
    "bench_bounds": Benchmark(
        f"{TINY} --only height",
        *(
            figure
            for law, words in (("height", "stays below 25 cm"), ("region", "never crosses a pillar"))
            for figure in (
                Figure(f"{words}, kept", lambda r, law=law: _bounded(r, law, "guided", "kept"), "≥ 0.95"),
                Figure(
                    f"{words}, points of success lost",
                    lambda r, law=law: (
                        100
                        * max(0.0, _bounded(r, law, "left alone", "success") - _bounded(r, law, "guided", "success"))
                    ),
                    "≤ 5",
                ),
            )
        ),
    ),
    "bench_resume": Benchmark(
        "--kills 1 --steps 6",
        Figure("training killed 20 times, weights the same", "same", "1"),
    ),
    "bench_rewards": Benchmark(
        "--runs 1 --only 'knock over'",
        Figure("language to rewards, 17 tasks solved", "solved", "≥ 0.90"),
        Figure("the same by the other skills alone", "solved by primitives", "beside it"),
        Figure("sampled plan, median [ms CPU]", "plan_ms, median of tasks", "≤ 50"),
        full="--runs 10",
    ),
    "bench_journal": Benchmark(
        "--records 2400",
        Figure("240,000 records, what is unfinished [ms]", "read by its end > ms", "≤ 50"),
        Figure("appends while the journal is locked [s]", "appends > waited locked s", "≤ 0.5"),
    ),
    "bench_watch": Benchmark(
        "--updates 200",
        *(
            Figure(f"watch of five constraints, {world}, median [µs]", f"{world} > median_us", "≤ 100")
            for world in ("tabletop", "rooms")
        ),
    ),
    "bench_temporal": Benchmark(
        "--pairs 20 --updates 200",
        Figure("equivalence, all sets, mean [ms]", "all sets > pair_ms > mean", "≤ 1.0"),
        Figure("equivalence, one place, mean [ms]", "one place at a time > pair_ms > mean", "≤ 1.0"),
        Figure("slowest automaton [ms]", "one place at a time > automaton_ms > max", "≤ 50"),
        Figure(
            "monitor, slowest formula, 99 % [µs]",
            lambda r: max(row["p99"] for row in r["monitor_us"].values()),
            "≤ 100",
        ),
    ),
    "bench_first_motion": Benchmark(
        "--commands 2",
        Figure("command to first motion, median [s]", "median_s", "≤ 1.0"),
    ),
    "bench_footprint": Benchmark(
        "--seconds 5",
        Figure("processor time at rest [% of a core]", "rest > all", "≤ 35"),
        Figure("in motion [% of a core]", "moving > all", "≤ 80"),
        Figure("memory of all nodes, PSS [MiB]", "memory_mib > all", "≤ 600"),
        Figure("start to motion by that of 8 bare nodes", "start_ratio", "≤ 1.6"),
    ),
    "bench_console": Benchmark(
        "--seconds 2 --stops 1 --reloads 2",
        Figure("first picture [s]", "first_picture_s", "≤ 3"),
        Figure("pictures a second", "pictures_hz", "≥ 15"),
        Figure("processor time in motion [% of a core]", "moving_core_percent", "≤ 20"),
        Figure("correction to the plan in the page, median [s]", "edit_s > median", "≤ 0.2"),
        Figure("stop to rest, longest [s]", "stop_s > page_rest > most", "≤ 0.5"),
        Figure("threads left by reloads", "after_reloads > threads", "0"),
    ),
    "bench_recording": Benchmark(
        "--pairs 1 --seconds 2",
        Figure("solve time with a recorder by without", "solve_time_ratio", "≤ 1.03"),
        Figure("processor time of the loop", "loop_cpu_ratio", "≤ 1.03"),
    ),
    "bench_adversarial_replies": Benchmark(
        "--kind reading",
        Figure("wrong replies of a large model that pass", lambda r: _total(r, "wrong passed"), "≤ 1"),
        Figure("good replies that are refused", lambda r: _total(r, "good refused"), "0"),
    ),
    "bench_corrections": Benchmark(
        "--limit 5",
        Figure("corrections, level (kept half)", "kept > level > share", "≥ 0.95"),
        Figure("corrections, exact (kept half)", "kept > exact > share", "≥ 0.75"),
    ),
    "bench_memory": Benchmark(
        "--tasks 1 --rounds 2 --seeds 1",
        Figure("corrections in round 1, with / without memory", "round 1, with / without", "≤ 0.50"),
        Figure(
            "corrections a task in the last round", lambda r: r["with memory"]["all"]["corrections a task"][-1], "≤ 0.5"
        ),
        Figure("lessons used where they do not belong", "lessons used > misplaced", "≤ 0.05"),
        Figure("controls in which a lesson was used", "controls > all", "≤ 0.05"),
    ),
    "bench_speech": Benchmark(
        "--limit 2",
        Figure("chatter that became a correction", "talk > committed", "≤ 0.01"),
        Figure("end of speech to words, median [s]", "latency s > median", "≤ 0.7"),
    ),
    "bench_correction_latency": Benchmark(
        "--words 2 --stops 2",
        Figure("words to slower motion, 95 % [s]", "slowed_p95_s", "≤ 0.2"),
        Figure("stop to rest, most [s]", "held_max_s", "≤ 0.25"),
    ),
    "bench_spoken_latency": Benchmark(
        "--clips 2",
        Figure("end of speech to new commands, median [s]", "commanded_median_s", "≤ 0.7"),
    ),
    "bench_floods": Benchmark(
        "--rounds 1",
        Figure("500 patches: another's limit in force, most [s]", "another's limit in force, most s", "≤ 0.5"),
        Figure("500 patches: of which nothing is told", "patches untold", "0"),
        Figure("100 commands: without a status", lambda r: r["commands"] - r["commands with an end"], "0"),
    ),
    "bench_fuzz": Benchmark(
        "--minutes 0.5",
        Figure("odd messages: nodes that exited", "exits", "0"),
        Figure("odd messages: worst share of a joint's limit", "worst_limit_share", "≤ 1"),
        Figure("odd messages: no command succeeds after", "not_well_after", "0"),
        full="--minutes 10",
    ),
    "bench_lost_responses": Benchmark(
        "--stops 10",
        Figure("stops with a response lost: not at rest within 1 s", lambda r: r["stops"] - r["within 1 s"], "0"),
        Figure("stops with a response lost: not told so", lambda r: r["stops"] - r["told stopped"], "0"),
    ),
    "bench_kills": Benchmark(
        "--runs 1",
        Figure("kill -9: robot not held", lambda r: _total(r["nodes"], "not_held"), "0"),
        Figure("kill -9: command, edit or lesson lost", lambda r: _total(r["nodes"], "lost"), "0"),
        Figure("kill -9: not back within 30 s", lambda r: _total(r["nodes"], "not_back"), "0"),
    ),
}


def run(name: str, arguments: list[str]) -> dict[str, Any]:
    """The JSON report of one benchmark; raises SystemExit with its output when it fails."""
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name} failed:\n{done.stdout}{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def main(argv: list[str] | None = None) -> int:
    """Exit status 1 when a figure is not reached."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    parser.add_argument("--only", choices=sorted(BENCHMARKS))
    options = parser.parse_args(argv)
    missed = 0
    print(f"{'figure':44} {'asked':>26} {'measured':>10}")
    for name, benchmark in BENCHMARKS.items():
        if options.only in (None, name):
            report = run(name, benchmark.quick if options.quick else benchmark.full)
            for figure in benchmark.figures:
                value = figure.read(report)
                missed += not figure.kept(value)
                mark = "" if figure.kept(value) else "  MISSED"
                print(f"{figure.name:44} {figure.asked:>26} {value:10.3f}{mark}", flush=True)
    if not options.quick and options.only is None:
        subprocess.run([sys.executable, str(FOLDER / "pictures.py")], check=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
