"""`make bench`: every benchmark in turn, each in a process of its own, and one table of what was asked and what came.

python -m benchmarks [--quick] [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """One promise: the figure read from a report, how it is shown, and whether it is kept."""

    name: str
    read: Callable[[dict[str, Any]], float]
    kept: Callable[[float], bool]
    asked: str


def at_least(bound: float) -> Callable[[float], bool]:
    return lambda value: value >= bound


def at_most(bound: float) -> Callable[[float], bool]:
    return lambda value: value <= bound


def _of_kinds(report: dict[str, Any], count: str) -> float:
    """One count over programs, readings and edits."""
    return float(sum(row[count] for row in report.values()))


def _against_judo(report: dict[str, Any], task: str, key: str) -> float:
    """The best of our methods against the best of judo's; 0 where judo is not installed."""
    if not report["judo"]:
        return 0.0
    best = {who: min(row[who][key] for row in report[task].values()) for who in ("ours", "judo")}
    return best["ours"] / best["judo"]


def _against_the_best(report: dict[str, Any]) -> float:
    """Our flow's success by the best other's, on the task where that is least; 0 where metaworld is not there."""
    if not report["metaworld"]:
        return 0.0
    ours, ratios = "flow, 3 steps", []
    for rows in report["tasks"].values():
        best = max(row["share"] for name, row in rows.items() if name != ours and "share" in row)
        ratios.append(rows[ours]["share"] / best if best else 1.0)
    return float(min(ratios))


def _times_slower(report: dict[str, Any], peer: str) -> float:
    """A chunk of a peer against one of our flow; 0 where metaworld, or the peer, is not there."""
    if not report["metaworld"] or peer not in report["latency ms"]:
        return 0.0
    return float(report["latency ms"][peer]["median"] / report["latency ms"]["flow, 3 steps"]["median"])


def _improved(report: dict[str, Any], key: str, start: str) -> float:
    """Of the first policy whose name begins so; 0 where metaworld is not there, or it was left out."""
    rows = report.get("rows", {})
    return next((float(row[key]) for name, row in rows.items() if name.startswith(start)), 0.0)


def _behind(report: dict[str, Any], start: str, other: str) -> float:
    """Points of success by which one is behind the other; 0 where it is ahead."""
    return max(0.0, _improved(report, "gain", other) - _improved(report, "gain", start))


def _law(report: dict[str, Any], name: str, policy: str, what: str) -> float:
    """Share of episodes in which a policy did so under a bound; 0 where metaworld is not there."""
    rows = report.get("laws", {}).get(name, {}).get("rows", {})
    return float(rows[policy][what]["share"]) if rows else 0.0


def _rarer(row: dict[str, Any]) -> float:
    """The share of the rarer way among the successes."""
    return float(min(row["left"], row["right"]) / max(1, row["left"] + row["right"]))


def _least(report: dict[str, Any], what: str) -> float:
    """Of the skills, the share of scenes in which the least able did what it promises."""
    return float(min(row[what] for row in report["skills"]))


def _kills(report: dict[str, Any], what: str) -> float:
    """In how many runs, whichever node was killed."""
    return float(sum(row[what] for row in report["nodes"].values()))


_FLOW = "flow matching, noise kept"
TINY = ["--episodes", "1", "--demonstrations", "2", "--training-steps", "20"]
LIMITS = "≤ 1 (share of the limit)"
BENCHMARKS: dict[str, tuple[list[str], list[str], list[Figure]]] = {  # script: (arguments, quick arguments, figures)
    "bench_cap_tabletop": (
        ["--trials", "20"],
        ["--trials", "2"],
        [
            Figure("tabletop instructions, mean success", lambda r: r["mean"], at_least(0.9), "≥ 0.90"),
            Figure("tabletop instructions, lowest", lambda r: r["lowest"], at_least(0.75), "≥ 0.75"),
            Figure("tabletop, joint velocity", lambda r: r["max qvel / limit"], at_most(1.0), LIMITS),
            Figure("tabletop, joint acceleration", lambda r: r["max qacc / limit"], at_most(1.0), LIMITS),
        ],
    ),
    "bench_demonstrators": (
        ["--scenes", "30"],
        ["--scenes", "1"],
        [
            Figure("scripts, least success", lambda r: _least(r, "plain"), at_least(0.97), "≥ 0.97"),
            Figure("scripts, disturbed and begun anew", lambda r: _least(r, "disturbed"), at_least(0.95), "≥ 0.95"),
        ],
    ),
    "bench_skill_commands": (
        [],
        ["--commands", "1", "--skills", "push,pick", "--results", "runs/skill_commands_quick.jsonl"],
        [
            Figure(
                "skills on commands, least success alone",
                lambda r: min(row["alone"][row["mover"]]["rate"] for row in r["skills"]),
                at_least(0.9),
                "≥ 0.90",
            ),
            Figure(
                "skills moved by a policy that is worse",
                lambda r: float(
                    sum(
                        row["moves"] == "policy" and row["alone"]["difference"]["interval"][1] < 0
                        for row in r["skills"]
                    )
                ),
                at_most(0.0),
                "0",
            ),
        ],
    ),
    "bench_follow_dock": (
        ["--scenes", "30"],
        ["--scenes", "1"],
        [
            Figure("rooms, person followed", lambda r: r["followed"], at_least(0.95), "≥ 0.95"),
            Figure("rooms, docked within 2 cm and 3°", lambda r: r["docked"], at_least(1.0), "1"),
        ],
    ),
    "bench_language": (
        [],
        ["--limit", "10", "--layouts", "1"],
        [
            Figure("everyday sentences right", lambda r: r["right share"], at_least(0.8), "≥ 0.80"),
            Figure(
                "of the misses, questions", lambda r: r["share of misses that are questions"], at_least(0.5), "≥ 0.50"
            ),
        ],
    ),
    "bench_constraints": (
        [],
        ["--limit", "3"],
        [
            Figure("everyday constraints, proved right", lambda r: r["right share"], at_least(0.85), "≥ 0.85"),
            Figure(
                "of their misses, questions", lambda r: r["share of misses that are questions"], at_least(0.5), "≥ 0.50"
            ),
        ],
    ),
    "bench_rooms": (
        [],
        ["--tasks", "2"],
        [
            Figure(
                "rooms, no rule broken",
                lambda r: r["planner"]["safe, of all"]["share"],
                at_least(1.0),
                "1",
            ),
            Figure(
                "rooms, no rule broken, baseline",
                lambda r: r["baseline"]["safe, of all"]["share"],
                at_least(0.0),
                "beside it",
            ),
            Figure("rooms, complete", lambda r: r["planner"]["complete"]["share"], at_least(0.9), "≥ 0.90"),
            Figure(
                "rooms, complete, baseline", lambda r: r["baseline"]["complete"]["share"], at_least(0.0), "beside it"
            ),
            Figure(
                "rooms, metres / shortest",
                lambda r: r["planner"]["metres driven / shortest"]["mean"],
                at_most(1.15),
                "≤ 1.15",
            ),
            Figure(
                "12 rooms, 5 rules, median [s CPU]",
                lambda r: r["planner"]["the same, 12 rooms and 5 rules"]["median"],
                at_most(1.5),
                "≤ 1.5",
            ),
        ],
    ),
    "bench_pick_place": (
        ["--episodes", "200"],
        ["--episodes", "6", "--long", "1"],
        [
            Figure("scripted pick and place", lambda r: r["pick_and_place"]["success"], at_least(0.97), "≥ 0.97"),
            Figure("pick and place, velocity", lambda r: r["largest_velocity_share"], at_most(1.0), LIMITS),
            Figure("pick and place, acceleration", lambda r: r["largest_acceleration_share"], at_most(1.0), LIMITS),
        ],
    ),
    "bench_mobile_manipulator": (
        [],
        ["--scenes", "1"],
        [
            Figure("fetch and deliver, two tables", lambda r: r["success"], at_least(0.9), "≥ 0.90"),
            Figure("contacts of the robot with tables, walls", lambda r: r["contacts"], at_most(0.0), "0"),
            Figure("arm and base moving at once, steps", lambda r: r["both_moved"], at_most(0.0), "0"),
        ],
    ),
    "bench_detours": (
        [],
        ["--layouts", "1", "--in-the-way", "1"],
        [
            Figure(
                f"{words}, vase in the way: done and kept",
                lambda r, words=words: r["in the way"][words]["done, rule kept"],
                at_least(bound),
                f"≥ {bound}",
            )
            for words, bound in (
                ("stay away from the vase", 0.9),
                ("never reach over the vase", 0.9),
                ("keep 20 cm from the vase", 0.9),
            )
        ],
    ),
    "bench_episode_speed": (
        [],
        ["--episodes", "1"],
        [Figure("episode loop / bare mj_step", lambda r: r["ratio"], at_most(1.6), "≤ 1.6")],
    ),
    "bench_mpc": (
        [],
        ["--episodes", "100"],
        [
            Figure("QP, median [ms CPU]", lambda r: r["qp_ms"]["median"], at_most(0.5), "≤ 0.5"),
            Figure("QP, 99 % [ms CPU]", lambda r: r["qp_ms"]["p99"], at_most(1.0), "≤ 1.0"),
            Figure("controller tick, median [ms CPU]", lambda r: r["tick_ms"]["median"], at_most(4.0), "≤ 4.0"),
            Figure(
                "QP among zones, 4 + 3 rows, median [ms]", lambda r: r["rows"]["qp_ms"]["median"], at_most(0.5), "≤ 0.5"
            ),
            Figure("QP among zones, 4 + 3 rows, 99 % [ms]", lambda r: r["rows"]["qp_ms"]["p99"], at_most(1.0), "≤ 1.0"),
            Figure(
                "tick among zones, median [ms CPU]", lambda r: r["rows"]["tick_ms"]["median"], at_most(3.0), "≤ 3.0"
            ),
            Figure("tick among zones, 99 % [ms CPU]", lambda r: r["rows"]["tick_ms"]["p99"], at_most(4.5), "≤ 4.5"),
        ],
    ),
    "bench_qp": (
        [],
        ["--ticks", "60", "--constrained", "5"],
        [
            Figure(
                f"{name} / our QP, {words}, median",
                lambda r, name=name, title=title: r[title][name]["ratio"],
                at_least(1.0),
                "≥ 1",
            )
            for title, words in (("tracking", "tracking"), ("slack in each soft row", "zones, speed"))
            for name in ("DAQP, one program", "OSQP", "ProxQP", "PIQP, dense")
        ],
    ),
    "bench_tracking": (
        [],
        ["--seconds", "2"],
        [
            Figure(
                "tracking, median tick, ours / mink",
                lambda r: r["as skills move"]["ours"]["cpu, median"] / r["as skills move"]["mink"]["cpu, median"],
                at_most(1.0),
                "≤ 1",
            ),
            Figure(
                "tracking skills, error rms, ours / mink",
                lambda r: r["as skills move"]["ours"]["error, rms"] / r["as skills move"]["mink"]["error, rms"],
                at_most(1.0),
                "≤ 1",
            ),
            *(
                Figure(
                    f"{motion}, error rms, ours / mink",
                    lambda r, motion=motion: r[motion]["ours"]["error, rms"] / r[motion]["mink"]["error, rms"],
                    at_most(1.0),
                    "≤ 1",
                )
                for motion in ("faster than allowed", "goals that jump")
            ),
            Figure(
                "tracking, joint acceleration, ours",
                lambda r: max(row["ours"]["acceleration / limit"] for row in r.values()),
                at_most(1.0),
                LIMITS,
            ),
            Figure(
                "tracking, joint acceleration, mink",
                lambda r: max(row["mink"]["acceleration / limit"] for row in r.values()),
                at_least(0.0),
                "beside it",
            ),
        ],
    ),
    "bench_sampling": (
        [],
        ["--starts", "1", "--seconds", "0.5"],
        [
            Figure(
                f"{task}, {what}, ours / judo (0: not there)",
                lambda r, task=task, key=key: _against_judo(r, task, key),
                at_most(1.0),
                "≤ 1",
            )
            for task in ("cartpole", "cylinder_push")
            for what, key in (("cost", "mean cost"), ("CPU", "cpu ms"))
        ],
    ),
    "bench_metaworld": (
        [],
        [*TINY, "--tasks", "push", "--without", "lerobot small", "lerobot defaults"],
        [
            Figure("Meta-World, our flow / the best other", _against_the_best, at_least(1.0), "≥ 1"),
            Figure("chunk, lerobot small / ours", lambda r: _times_slower(r, "lerobot small"), at_least(10.0), "≥ 10"),
            Figure(
                "chunk, lerobot defaults / ours",
                lambda r: _times_slower(r, "lerobot defaults"),
                at_least(100.0),
                "≥ 100",
            ),
        ],
    ),
    "bench_improvement": (
        [],
        [*TINY, "--only", "unimproved"],
        [
            Figure(
                "re-ranking, points gained", lambda r: _behind(r, "unimproved", "re-ranking"), at_least(12.0), "≥ 12"
            ),
            Figure(
                "steering, points above no noise",
                lambda r: _behind(r, "no noise", "steering"),
                at_least(5.0),
                "≥ 5",
            ),
            Figure(
                "from 60 corrected episodes", lambda r: _improved(r, "share", "60 corrected"), at_least(0.9), "≥ 0.90"
            ),
            Figure(
                "adapter, points behind all weights",
                lambda r: _behind(r, "adapter", "all weights"),
                at_most(5.0),
                "≤ 5",
            ),
            Figure(
                "adapter, share of the weights",
                lambda r: _improved(r, "share of the weights", "adapter"),
                at_most(0.1),
                "≤ 0.1",
            ),
        ],
    ),
    "bench_several_ways": (
        [],
        ["--demonstrations", "2", "--training-steps", "5", "--episodes", "1"],
        [
            Figure(
                "two right ways, flow, noise kept", lambda r: r["policies"][_FLOW]["success"], at_least(0.9), "≥ 0.90"
            ),
            Figure("of these, by the rarer way", lambda r: _rarer(r["policies"][_FLOW]), at_least(0.2), "≥ 0.20"),
            Figure(
                "two right ways, flow, no noise",
                lambda r: r["policies"]["flow matching, no noise"]["success"],
                at_least(0.0),
                "beside it",
            ),
            Figure(
                "two right ways, regression",
                lambda r: r["policies"]["regression"]["success"],
                at_least(0.0),
                "beside it",
            ),
        ],
    ),
    "bench_clearance": (
        [],
        ["--scenes", "1", "--processes", "1"],
        [
            Figure("random scenes, contacts", lambda r: r["touched"], at_most(0), "0"),
            Figure("random scenes, violations > 1 mm", lambda r: r["violations"], at_most(0), "0"),
            Figure("random scenes, hand speed / limit", lambda r: r["speed over limit"]["max"], at_most(1.1), "≤ 1.1"),
            Figure("tick in those scenes, median [ms CPU]", lambda r: r["tick ms"]["median"], at_most(3.0), "≤ 3"),
            Figure("tick in those scenes, 99 % [ms CPU]", lambda r: r["tick ms"]["p99"], at_most(4.5), "≤ 4.5"),
            Figure(
                "filter step there, median [ms CPU]", lambda r: r["filter step ms"]["median"], at_most(0.4), "≤ 0.4"
            ),
            Figure(
                "filter, proof of a plan [ms CPU]",
                lambda r: r["proof of a plan ms"]["median"],
                at_least(0.0),
                "reported",
            ),
        ],
    ),
    "bench_slower": (
        [],
        ["--motions", "1", "--processes", "1"],
        [
            Figure(
                "slower: 0.5 to 0.15 m/s, kept within 0.25 s",
                lambda r: r["kept"] / r["motions"],
                at_least(1.0),
                "1 (share of motions)",
            ),
            Figure("slower: fastest after 0.25 s [m/s]", lambda r: r["later"]["max"], at_most(0.165), "≤ 0.165"),
        ],
    ),
    "bench_faults": (
        [],
        ["--scenes", "1", "--processes", "1", "--only", "start inside a zone"],
        [
            Figure(
                "faults: contacts but by pushes", lambda r: sum(row["contacts"] for row in r.values()), at_most(0), "0"
            ),
            Figure(
                "faults: uncontrolled motions",
                lambda r: sum(row["uncontrolled"] for row in r.values()),
                at_most(0),
                "0",
            ),
            Figure(
                "faults: violations > 1 mm, where keepable",
                lambda r: sum(row["violations"] for name, row in r.items() if name != "contradictory zones"),
                at_least(0),
                "reported",
            ),
            Figure(
                "faults: recovery, slowest median [s]",
                lambda r: max(row["recovery s"]["median"] for name, row in r.items() if name != "the states stop"),
                at_least(0),
                "reported",
            ),
        ],
    ),
    "bench_adaptation": (
        [],
        ["--seconds", "1", "--seeds", "1", "--scenes", "0"],
        [
            Figure(
                "unknown payload, tracking error, with / without",
                lambda r: r["cases"]["payload 1.5 kg"]["ratio"]["rms"],
                at_most(0.5),
                "≤ 0.5",
            ),
            Figure(
                "the same, largest error once learnt",
                lambda r: r["cases"]["payload 1.5 kg"]["ratio"]["max learnt"],
                at_most(0.5),
                "≤ 0.5",
            ),
            Figure("payload, friction, gain: worst ratio", lambda r: r["worst ratio"], at_most(0.5), "≤ 0.5"),
            Figure("faults named that are none", lambda r: float(r["nothing wrong, things said"]), at_most(0.0), "0"),
        ],
    ),
    "bench_stalls": (
        [],
        ["--seeds", "12", "--seconds", "2", "--processes", "1"],
        [
            Figure("stalls: contacts", lambda r: r["all"]["contacts"], at_most(0), "0"),
            Figure("stalls: runs with a clearance not kept", lambda r: r["all"]["broken"], at_most(0), "0"),
            Figure("stalls: turned, mean of a run [rad]", lambda r: r["all"]["turned rad"], at_least(1.0), "≥ 1"),
        ],
    ),
    "bench_two_arms": (
        [],
        ["--scenes", "1"],
        [
            Figure("two arms at one table: contacts", lambda r: r["contacts"], at_most(0.0), "0"),
            Figure("two arms: sent into a zone", lambda r: r["violations_commanded"], at_most(0.0), "0"),
            Figure("two arms: in a zone", lambda r: r["violations_measured"], at_most(0.0), "0"),
            Figure("two arms: blocks in their bowls", lambda r: r["done"], at_least(0.95), "≥ 95 %"),
        ],
    ),
    "bench_filter": (
        [],
        ["--scenes", "1", "--seconds", "0.4"],
        [
            Figure("filter tick, median [ms CPU]", lambda r: r["tick_ms"]["median"], at_most(0.4), "≤ 0.4"),
            Figure(
                "filter, 250 Hz beside a busy core",
                lambda r: r["beside_a_busy_core"]["on_time"],
                at_least(0.98),
                "≥ 0.98 on time",
            ),
            Figure("filter, adversaries: contacts", lambda r: r["touching"], at_most(0.0), "0"),
            Figure("filter, adversaries: > 1 mm too near", lambda r: r["violations"], at_most(0.0), "0"),
        ],
    ),
    "bench_tokens": (
        [],
        ["--tasks", "2"],
        [Figure("tokens saved by the action tree", lambda r: max(0.0, r["tokens saved"]), at_least(0.7), "≥ 0.70")],
    ),
    "bench_bounds": (
        [],
        [*TINY, "--only", "height"],
        [
            figure
            for law, words in (("height", "stays below 25 cm"), ("region", "never crosses a pillar"))
            for figure in (
                Figure(f"{words}, kept", lambda r, law=law: _law(r, law, "guided", "kept"), at_least(0.95), "≥ 0.95"),
                Figure(
                    f"{words}, points of success lost",
                    lambda r, law=law: max(
                        0.0, 100 * (_law(r, law, "left alone", "success") - _law(r, law, "guided", "success"))
                    ),
                    at_most(5.0),
                    "≤ 5",
                ),
            )
        ],
    ),
    "bench_resume": (
        [],
        ["--kills", "1", "--steps", "6"],
        [Figure("training killed 20 times, weights the same", lambda r: float(r["same"]), at_least(1.0), "1")],
    ),
    "bench_lang2ltl": (
        [],
        ["--limit", "3"],
        [Figure("Lang2LTL's utterances, equivalent", lambda r: r["equivalent"], at_least(0.0), "with --data ≥ 0.92")],
    ),
    "bench_rewards": (
        ["--runs", "10"],
        ["--runs", "1", "--only", "knock over"],
        [
            Figure("language to rewards, 17 tasks solved", lambda r: r["solved"], at_least(0.9), "≥ 0.90"),
            Figure(
                "the same by the other skills alone", lambda r: r["solved by primitives"], at_least(0.0), "beside it"
            ),
            Figure("sampled plan, median [ms CPU]", lambda r: r["plan_ms, median of tasks"], at_most(50.0), "≤ 50"),
        ],
    ),
    "bench_journal": (
        [],
        ["--records", "2400"],
        [
            Figure(
                "240,000 records, what is unfinished [ms]", lambda r: r["read by its end"]["ms"], at_most(50.0), "≤ 50"
            ),
            Figure(
                "appends while the journal is locked [s]",
                lambda r: r["appends"]["waited locked s"],
                at_most(0.5),
                "≤ 0.5",
            ),
        ],
    ),
    "bench_watch": (
        [],
        ["--updates", "200"],
        [
            Figure(
                f"watch of five constraints, {world}, median [µs]",
                lambda r, world=world: r[world]["median_us"],
                at_most(100.0),
                "≤ 100",
            )
            for world in ("tabletop", "rooms")
        ],
    ),
    "bench_temporal": (
        [],
        ["--pairs", "20", "--updates", "200"],
        [
            Figure(
                "equivalence, all sets, mean [ms]", lambda r: r["all sets"]["pair_ms"]["mean"], at_most(1.0), "≤ 1.0"
            ),
            Figure(
                "equivalence, one place, mean [ms]",
                lambda r: r["one place at a time"]["pair_ms"]["mean"],
                at_most(1.0),
                "≤ 1.0",
            ),
            Figure(
                "slowest automaton [ms]",
                lambda r: r["one place at a time"]["automaton_ms"]["max"],
                at_most(50.0),
                "≤ 50",
            ),
            Figure(
                "monitor, slowest formula, 99 % [µs]",
                lambda r: max(row["p99"] for row in r["monitor_us"].values()),
                at_most(100.0),
                "≤ 100",
            ),
        ],
    ),
    "bench_first_motion": (
        [],
        ["--commands", "2"],
        [Figure("command to first motion, median [s]", lambda r: r["median_s"], at_most(1.0), "≤ 1.0")],
    ),
    "bench_footprint": (
        [],
        ["--seconds", "5"],
        [
            Figure("processor time at rest [% of a core]", lambda r: r["rest"]["all"], at_most(35.0), "≤ 35"),
            Figure("in motion [% of a core]", lambda r: r["moving"]["all"], at_most(80.0), "≤ 80"),
            Figure("memory of all nodes, PSS [MiB]", lambda r: r["memory_mib"]["all"], at_most(600.0), "≤ 600"),
            Figure("start to motion by that of 8 bare nodes", lambda r: r["start_ratio"], at_most(1.6), "≤ 1.6"),
        ],
    ),
    "bench_console": (
        [],
        ["--stops", "2", "--reloads", "5"],
        [
            Figure("first picture [s]", lambda r: r["first_picture_s"], at_most(3.0), "≤ 3"),
            Figure("pictures a second", lambda r: r["pictures_hz"], at_least(15.0), "≥ 15"),
            Figure("processor time in motion [% of a core]", lambda r: r["moving_core_percent"], at_most(20.0), "≤ 20"),
            Figure("correction to the plan in the page [s]", lambda r: r["edit_s"], at_most(0.2), "≤ 0.2"),
            Figure("stop to rest, longest [s]", lambda r: r["stop_to_rest_s"]["most"], at_most(0.5), "≤ 0.5"),
            Figure("threads left by reloads", lambda r: r["after_reloads"]["threads"], at_most(0.0), "0"),
        ],
    ),
    "bench_recording": (
        [],
        ["--pairs", "2", "--seconds", "4"],
        [
            Figure("solve time with a recorder by without", lambda r: r["solve_time_ratio"], at_most(1.03), "≤ 1.03"),
            Figure("processor time of the loop", lambda r: r["loop_cpu_ratio"], at_most(1.03), "≤ 1.03"),
        ],
    ),
    "bench_adversarial_replies": (
        [],
        ["--kind", "reading"],
        [
            Figure(
                "wrong replies of a large model that pass", lambda r: _of_kinds(r, "wrong passed"), at_most(1), "≤ 1"
            ),
            Figure("good replies that are refused", lambda r: _of_kinds(r, "good refused"), at_most(0), "0"),
        ],
    ),
    "bench_corrections": (
        [],
        ["--limit", "5"],
        [
            Figure("corrections, level (kept half)", lambda r: r["kept"]["level"]["share"], at_least(0.95), "≥ 0.95"),
            Figure("corrections, exact (kept half)", lambda r: r["kept"]["exact"]["share"], at_least(0.75), "≥ 0.75"),
        ],
    ),
    "bench_memory": (
        [],
        ["--tasks", "1", "--rounds", "2", "--seeds", "1"],
        [
            Figure(
                "corrections in round 1, with / without memory",
                lambda r: r["round 1, with / without"],
                at_most(0.5),
                "≤ 0.50",
            ),
            Figure(
                "corrections a task in the last round",
                lambda r: r["with memory"]["all"]["corrections a task"][-1],
                at_most(0.5),
                "≤ 0.5",
            ),
            Figure(
                "lessons used where they do not belong",
                lambda r: r["lessons used"]["misplaced"],
                at_most(0.05),
                "≤ 0.05",
            ),
            Figure("controls in which a lesson was used", lambda r: r["controls"]["all"], at_most(0.05), "≤ 0.05"),
        ],
    ),
    "bench_speech": (
        [],
        ["--limit", "2"],
        [
            Figure("chatter that became a correction", lambda r: r["talk"]["committed"], at_most(0.01), "≤ 0.01"),
            Figure("end of speech to words, median [s]", lambda r: r["latency s"]["median"], at_most(0.7), "≤ 0.7"),
        ],
    ),
    "bench_correction_latency": (
        [],
        ["--words", "2", "--stops", "2"],
        [
            Figure("words to slower motion, 95 % [s]", lambda r: r["slowed_p95_s"], at_most(0.2), "≤ 0.2"),
            Figure("stop to rest, most [s]", lambda r: r["held_max_s"], at_most(0.25), "≤ 0.25"),
        ],
    ),
    "bench_spoken_latency": (
        [],
        ["--clips", "2"],
        [Figure("end of speech to new commands, median [s]", lambda r: r["commanded_median_s"], at_most(0.7), "≤ 0.7")],
    ),
    "bench_floods": (
        [],
        ["--rounds", "1"],
        [
            Figure(
                "500 patches: another's limit in force, most [s]",
                lambda r: r["another's limit in force, most s"],
                at_most(0.5),
                "≤ 0.5",
            ),
            Figure("500 patches: of which nothing is told", lambda r: r["patches untold"], at_most(0), "0"),
            Figure(
                "100 commands: without a status", lambda r: r["commands"] - r["commands with an end"], at_most(0), "0"
            ),
        ],
    ),
    "bench_fuzz": (
        ["--minutes", "10"],
        ["--minutes", "0.5"],
        [
            Figure("odd messages: nodes that exited", lambda r: r["exits"], at_most(0.0), "0"),
            Figure(
                "odd messages: worst share of a joint's limit", lambda r: r["worst_limit_share"], at_most(1.0), "≤ 1"
            ),
            Figure("odd messages: no command succeeds after", lambda r: r["not_well_after"], at_most(0.0), "0"),
        ],
    ),
    "bench_lost_responses": (
        [],
        ["--stops", "10"],
        [
            Figure(
                "stops with a response lost: not at rest within 1 s",
                lambda r: r["stops"] - r["within 1 s"],
                at_most(0),
                "0",
            ),
            Figure(
                "stops with a response lost: not told so", lambda r: r["stops"] - r["told stopped"], at_most(0), "0"
            ),
        ],
    ),
    "bench_kills": (
        [],
        ["--runs", "1"],
        [
            Figure("kill -9: robot not held", lambda r: _kills(r, "not_held"), at_most(0.0), "0"),
            Figure("kill -9: command, edit or lesson lost", lambda r: _kills(r, "lost"), at_most(0.0), "0"),
            Figure("kill -9: not back within 30 s", lambda r: _kills(r, "not_back"), at_most(0.0), "0"),
        ],
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
    for name, (full, quick, figures) in BENCHMARKS.items():
        if options.only in (None, name):
            report = run(name, quick if options.quick else full)
            for figure in figures:
                value = figure.read(report)
                missed += not figure.kept(value)
                mark = "" if figure.kept(value) else "  MISSED"
                print(f"{figure.name:44} {figure.asked:>26} {value:10.3f}{mark}", flush=True)
    if not options.quick and options.only is None:
        subprocess.run([sys.executable, str(FOLDER / "pictures.py")], check=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
