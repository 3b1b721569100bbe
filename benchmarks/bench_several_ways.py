"""What a generative policy is for: a task with several right ways, learned by flow matching and by regression.

A vase stands between hand and goal; demonstrators go round it left or right, at random. The same demonstrations,
network and budget for both; flow matching is tried with noise that is kept through a run, and with none.
Usage: bench_several_ways.py [--demonstrations 300] [--episodes 200] [--training-steps 2500] [--picture FILE] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from several_ways import GOAL, LEFT, OBSERVE, RIGHT, Setting, Trial, demonstrated, draw_setting, shown, tried
from several_ways_picture import Panel, picture

from llm_planner.learning.policy_training import TrainingSettings, train_policy
from llm_planner.learning.recording import Recording
from llm_planner.learning.report import wilson
from llm_planner.learning.skill_training import windows_of
from llm_planner.skills.learned.features import ACTIONS, HORIZON, N_ACTION_STEPS, NAMES, feature_names
from llm_planner.skills.learned.samplers import ChunkSampler, FlowSampler
from llm_planner.skills.learned.skill import LearnedMotion
from llm_planner.skills.learned.velocity_field import OBJECTIVES, Array, Conditioning, PolicySpec

FIRST_TRIAL = 1_000_000  # no demonstration has such a seed
FLOW_STEPS = 5
DRAWN, SHIFT = 12, 0.015  # ways in each panel of the picture; [m] to either side that their starts differ
WIDTH, SEED = 128, 0
FLOW, SURE, REGRESSION = "flow matching, noise kept", "flow matching, no noise", "regression"


@dataclass(frozen=True)
class Mean:
    """A regression policy gives the mean of what was shown, whatever the noise."""

    sampler: ChunkSampler

    @property
    def spec(self) -> PolicySpec:
        return self.sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        return self.sampler.sample(conditioning, np.zeros_like(noise))


@dataclass(frozen=True)
class Policy:
    """A sampler, and how much noise its runs begin from."""

    sampler: ChunkSampler
    spread: float

    def trial(self, setting: Setting, seed: int) -> Trial:
        """One, with noise of that seed."""
        return tried(setting, LearnedMotion(self.sampler, OBSERVE, GOAL, self.spread, seed))


def learned(recordings: Sequence[Recording], steps: int) -> dict[str, Policy]:
    """The three policies."""
    size = len(feature_names(OBSERVE, ("object",)))
    spec = PolicySpec(size, len(GOAL), len(NAMES), horizon=HORIZON, n_action_steps=N_ACTION_STEPS, width=WIDTH)
    settings = TrainingSettings(steps=steps, batch=256)
    windows = windows_of(spec, recordings)
    flow, mean = (
        train_policy(replace(spec, objective=objective), windows, ACTIONS, SEED, settings) for objective in OBJECTIVES
    )
    sampler = FlowSampler(flow, FLOW_STEPS)
    return {
        FLOW: Policy(sampler, 1.0),
        SURE: Policy(sampler, 0.0),
        REGRESSION: Policy(Mean(FlowSampler(mean, 1)), 0.0),
    }


def counted(trials: Sequence[Trial]) -> dict[str, Any]:
    """Successes with their interval, ways taken, and what went wrong."""
    successes = sum(trial.succeeded for trial in trials)
    low, high = wilson(successes, len(trials))
    return {
        "success": successes / len(trials),
        "low": low,
        "high": high,
        "of": len(trials),
        "left": sum(trial.succeeded and trial.way == LEFT for trial in trials),
        "right": sum(trial.succeeded and trial.way == RIGHT for trial in trials),
        "vase hit": sum(not trial.kept for trial in trials),
        "not there, vase kept": sum(trial.kept and not trial.succeeded for trial in trials),
    }


def measure(policies: Mapping[str, Policy], episodes: int) -> dict[str, Any]:
    """Every policy in the same settings."""
    report = {}
    for name, policy in policies.items():
        seeds = range(FIRST_TRIAL, FIRST_TRIAL + episodes)
        report[name] = counted([policy.trial(draw_setting(seed), seed) for seed in seeds])
        print(f"{name}: {report[name]}", file=sys.stderr, flush=True)
    return report


def panels(policies: Mapping[str, Policy]) -> list[Panel]:
    """The demonstrators' ways and the policies', in one setting; the start is a little elsewhere each time."""
    rng, setting = np.random.default_rng(SEED), draw_setting(FIRST_TRIAL)
    starts = [_moved(setting, *rng.uniform(-SHIFT, SHIFT, 2)) for _ in range(DRAWN)]
    demonstrations = [shown(start, (LEFT, RIGHT)[k % 2], rng)[0] for k, start in enumerate(starts)]
    ways = {"demonstrations": demonstrations} | {
        name: [policies[name].trial(start, k) for k, start in enumerate(starts)] for name in (FLOW, REGRESSION)
    }
    return [Panel(name, setting, tuple(trials)) for name, trials in ways.items()]


def _moved(setting: Setting, x: float, y: float) -> Setting:
    start = setting.start
    return replace(setting, start=replace(start, x=start.x + x, y=start.y + y))


def markdown(report: Mapping[str, Any]) -> str:
    """A row for each policy."""
    lines = ["| policy | success [95 %] | left, right | vase hit | not there, vase kept |", "|---|---|---|---|---|"]
    for name, row in report["policies"].items():
        success = f"{100 * row['success']:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}] of {row['of']}"
        ways = f"{row['left']}, {row['right']}"
        lines.append(f"| {name} | {success} | {ways} | {row['vase hit']} | {row['not there, vase kept']} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demonstrations", type=int, default=300)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--training-steps", type=int, default=2500)
    parser.add_argument("--picture", type=Path, help="where to draw the ways")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    import torch

    torch.set_num_threads(1)
    made = map(demonstrated, range(options.demonstrations))
    recordings = [recording for trial, recording in made if trial.succeeded]
    print(f"{len(recordings)} demonstrations", file=sys.stderr, flush=True)
    policies = learned(recordings, options.training_steps)
    if options.picture:
        options.picture.write_text(picture(panels(policies)), encoding="utf-8")
    report = {
        "demonstrations": len(recordings),
        "training steps": options.training_steps,
        "policies": measure(policies, options.episodes),
    }
    print(json.dumps(report, indent=2) if options.json else markdown(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
