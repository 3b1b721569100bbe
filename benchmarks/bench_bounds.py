"""Bounds said after training, on two Meta-World tasks: how often they are kept, and what of success that costs.

The policies are those of bench_metaworld.py, from 300 demonstrations that knew of no bound. Each plays the same
episodes left alone, guided by the robustness of its chunks, and ranked by it among 32 samples. A bound is kept where
the hand kept it at every step, by what the simulator shows. Episodes played are kept in a folder; like
bench_metaworld.py it hands over to the interpreter that has metaworld (`make setup-lerobot`).
Usage: bench_bounds.py [--episodes 200] [--only NAME ...] [--demonstrations 300] [--training-steps 2000]
                       [--folder runs/meta_world] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_metaworld import TASKS, add_environment_arguments, is_left_out
from policy_methods.temporal_guidance import (
    Below,
    Bound,
    GuidedField,
    LawfulFirst,
    Outside,
    Points,
    TemporalRobustness,
    summed_path,
)

from llm_planner.ltl.parser import parse
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.learned.samplers import STEPS, ChunkSampler, FlowSampler, Reranked
from llm_planner.skills.learned.velocity_field import Conditioning, NetworkField

if TYPE_CHECKING:
    from meta_world.environment import Environment

PERIOD = 0.0625  # [s] of an action
MOVE = 0.01  # [m] that the hand's target goes for an action of 1
LIMITS = (-1.0, 1.0)  # of actions that are carried out
# What the hand keeps of its velocity in the last two steps, and takes up of a move: fitted to the demonstrations.
KEPT, PUSHED = (1.587, -0.655), 0.051
HORIZON = 16
HAND, HAND_BEFORE = slice(0, 3), slice(18, 21)
MARGIN = 0.005  # [m]: chosen on other seeds; with 1.5 cm, detours so soon after the grip lost 2 of 15 pucks
FIRST_SEED = 500_000
SAMPLES = 32


@dataclass(frozen=True)
class Law:
    """A bound said to a policy that does not know of it."""

    task: str
    words: str
    bound: Bound


LAWS = {
    "height": Law("drawer-open", "the hand stays below 25 cm", Below(0.25)),
    "region": Law(
        "push",
        "the hand never crosses a pillar of 6 cm between things and goals",
        Outside(Zone("pillar", Shape.CYLINDER, (0.03, 0.5), Pose((0.0, 0.75, 0.2)))),
    ),
}


def coasting(conditioning: Conditioning) -> Points:
    """Where the hand gets to without another move (horizon, 3) [m]."""
    before, now = (seen[HAND] - seen[HAND_BEFORE] for seen in conditioning.observations[-2:].astype(np.float64))
    velocities = [before, now]
    for _ in range(HORIZON):
        velocities.append(KEPT[0] * velocities[-1] + KEPT[1] * velocities[-2])
    place: Points = conditioning.observations[-1, HAND] + np.cumsum(velocities[2:], axis=0)
    return place


def led() -> Points:
    """How far a move of 1 has led the hand by each step (horizon,) [m]."""
    velocities = [0.0, PUSHED]
    for _ in range(HORIZON - 1):
        velocities.append(KEPT[0] * velocities[-1] + KEPT[1] * velocities[-2])
    gone: Points = MOVE * np.cumsum(velocities[1:])
    return gone


def policies(field: NetworkField, law: Law) -> dict[str, ChunkSampler]:
    """Left alone, guided, ranked."""
    path = summed_path(field.spec.horizon, coasting, led())
    robustness = TemporalRobustness(parse("G kept"), {"kept": law.bound}, path, PERIOD)
    alone = FlowSampler(field)
    return {
        "left alone": alone,
        "guided": FlowSampler(GuidedField(field, robustness, MARGIN, LIMITS)),
        f"ranked, {SAMPLES} samples": Reranked(
            alone, LawfulFirst(robustness, MARGIN), np.random.default_rng(0), SAMPLES
        ),
    }


def measure(names: Sequence[str], episodes: int, demonstrations: int, steps: int, folder: Path) -> dict[str, Any]:
    """Success and how often the bound was kept, each with its interval."""
    from meta_world.contenders import Ours, trained
    from meta_world.environment import Environment
    from meta_world.episodes import cached_demonstrations
    from meta_world.rollouts import share

    report: dict[str, Any] = {"metaworld": True, "laws": {}}
    for name in names:
        law = LAWS[name]
        shown = cached_demonstrations(folder / "data", law.task, demonstrations)
        ours = trained(
            Ours("flow", "flow", STEPS, 0.0, TASKS, steps), law.task, folder / f"from-{demonstrations}", shown
        )
        rows = report["laws"][name] = {"task": law.task, "words": law.words, "rows": {}}
        environment = Environment(law.task)
        for policy, sampler in policies(ours.sampler.field, law).items():
            kept = f"bounds-{name}-{policy.replace(', ', '-').replace(' ', '-')}-{steps}-steps-played.json"
            path = folder / f"from-{demonstrations}" / kept
            played = _played(path, environment, sampler, law, episodes)
            row = {
                "success": share(sum(success for success, _ in played), len(played)),
                "kept": share(sum(margin >= 0 for _, margin in played), len(played)),
                "both": share(sum(success and margin >= 0 for success, margin in played), len(played)),
            }
            rows["rows"][policy] = row
            print(f"{name}, {policy}: {row}", file=sys.stderr, flush=True)
    return report


def _played(
    path: Path, environment: Environment, sampler: ChunkSampler, law: Law, episodes: int
) -> list[tuple[bool, float]]:
    """Of each episode: success, and the least margin of the hand [m]; those played before are read from `path`."""
    from meta_world.our_policy import OurPolicy
    from meta_world.rollouts import rollout

    from llm_planner.skills.learned.weights_file import write_atomically

    played: list[tuple[bool, float]] = json.loads(path.read_text()) if path.exists() else []
    for index in range(len(played), episodes):
        episode = rollout(environment, OurPolicy(sampler, deviation=0.0), FIRST_SEED + index)
        hand = episode.observations[:, HAND].astype(np.float64)
        played.append((episode.success, float(law.bound.margins(hand).min())))
        write_atomically(path, json.dumps(played).encode())
    return played[:episodes]


def markdown(report: dict[str, Any]) -> str:
    """A row for each law and policy."""
    lines = ["| task, bound | policy | bound kept | success | both |", "|---|---|---|---|---|"]
    for law in report["laws"].values():
        for policy, row in law["rows"].items():
            cells = [_cell(row[key]) for key in ("kept", "success", "both")]
            lines.append("| " + " | ".join([f"{law['task']}, {law['words']}", policy, *cells]) + " |")
    return "\n".join(lines)


def _cell(part: dict[str, float]) -> str:
    return f"{100 * part['share']:.1f} % [{100 * part['low']:.1f}, {100 * part['high']:.1f}] of {part['of']}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--demonstrations", type=int, default=300)
    parser.add_argument("--training-steps", type=int, default=2000)
    parser.add_argument("--only", nargs="+", choices=sorted(LAWS), default=sorted(LAWS))
    add_environment_arguments(parser)
    options = parser.parse_args(argv)
    if is_left_out(options):
        return 0
    report = measure(options.only, options.episodes, options.demonstrations, options.training_steps, options.folder)
    print(json.dumps(report, indent=2) if options.json else markdown(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
