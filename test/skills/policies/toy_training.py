"""A training to be killed: `toy_training.py CHECKPOINT` says each step that it has kept."""

import sys
from pathlib import Path

import numpy as np

from llm_planner.learning.policy_training import Report, TrainingSettings, train_policy
from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.velocity_field import NetworkField, PolicySpec, fitted

SETTINGS = TrainingSettings(steps=120, batch=32, warmup=10, checkpoint_every=5)


def train(checkpoint: Path, report: Report = lambda step, loss: None) -> NetworkField:
    """Of numbers without a meaning."""
    rng = np.random.default_rng(0)
    shapes = (500, 2, 3), (500, 2), (500, 4, 2)
    windows = Windows(*(rng.normal(size=shape).astype(np.float32) for shape in shapes), np.ones(500, np.float32))
    spec = PolicySpec(3, 2, 2, horizon=4, n_action_steps=2, width=32, depth=1)
    return train_policy(spec, windows, fitted(windows.chunks), 5, SETTINGS, checkpoint, report)


if __name__ == "__main__":
    train(Path(sys.argv[1]), lambda step, loss: print(step, flush=True))
