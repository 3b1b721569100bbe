"""Training: the windows it takes, the same weights from the same seed, and no matter how often it was stopped."""

import random
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import TrainingSettings, train_policy
from llm_planner.learning.recording import Windows, episode_windows, joined
from llm_planner.skills.learned.velocity_field import fitted

SCRIPT = Path(__file__).parent / "toy_training.py"
SHORT = TrainingSettings(steps=24, batch=16, warmup=4, checkpoint_every=8)


class StoppedError(Exception):
    """Somebody stops a training."""


@pytest.fixture
def trained(spec, toward):
    def run(settings=SHORT, seed=0, windows=toward, **others):
        return train_policy(spec, windows, fitted(toward.chunks), seed, settings, **others)

    return run


def same(one, other):
    return all((one.weights[name] == other.weights[name]).all() for name in one.weights)


def test_an_episode_gives_a_window_for_each_step(spec):
    spec = replace(spec, goal_dim=0)
    seen = np.arange(6, dtype=np.float32).reshape(3, 2)
    windows = episode_windows(spec, seen, np.zeros((3, 0), np.float32), seen + 10)
    windows.check(spec)
    assert windows.observations[:, :, 0].tolist() == [[0, 0], [0, 2], [2, 4]]
    assert windows.chunks[:, :, 0].tolist() == [[10, 12, 14, 14], [12, 14, 14, 14], [14, 14, 14, 14]]
    assert windows.weights.tolist() == [1, 1, 1]
    assert len(joined([windows, windows])) == 6


def test_windows_that_do_not_fit_are_refused(spec, toward):
    def refused(match, **changes):
        with pytest.raises(InputError, match=match):
            replace(toward, **changes).check(spec)

    refused(
        r"goals of the windows have the shape \(2000, 3\); the policy asks for \(2000, 2\)", goals=np.zeros((2000, 3))
    )
    refused("observations of the windows are not all finite", observations=toward.observations * np.nan)
    for weights in (np.zeros(2000), -toward.weights):
        refused("no window has a weight above 0: there is nothing to learn from", weights=weights)
    with pytest.raises(InputError, match="no window has a weight above 0"):
        Windows(toward.observations[:0], toward.goals[:0], toward.chunks[:0], toward.weights[:0]).check(spec)


@pytest.mark.parametrize(("steps", "batch"), [(0, 8), (8, 0)])
def test_a_training_of_nothing_is_refused(steps, batch):
    with pytest.raises(InputError, match=f"training takes at least 1 step of 1 window, not {steps} of {batch}"):
        TrainingSettings(steps=steps, batch=batch)


def test_the_same_seed_gives_the_same_weights(trained):
    assert same(trained(), trained())
    assert not same(trained(), trained(seed=1))


def test_windows_of_weight_zero_are_never_learned_from(trained, toward):
    wrong = replace(toward, chunks=toward.chunks + 100, weights=np.zeros(2000, np.float32))
    both, alone = trained(windows=joined([toward, wrong])), trained()
    assert same(both, alone)


def test_stopped_anywhere_and_resumed_the_weights_are_the_same(trained, tmp_path):
    def stop(step, loss):
        if step < SHORT.steps:
            raise StoppedError

    for _ in range(2):
        with pytest.raises(StoppedError):
            trained(checkpoint=tmp_path / "state", report=stop)
    steps = []
    resumed = trained(checkpoint=tmp_path / "state", report=lambda step, loss: steps.append(step))
    assert steps == [24]
    assert same(resumed, trained())
    assert same(trained(checkpoint=tmp_path / "state"), trained())


def test_killed_without_warning_and_resumed_the_weights_are_the_same(tmp_path):
    train = runpy.run_path(str(SCRIPT))["train"]
    with subprocess.Popen([sys.executable, SCRIPT, tmp_path / "killed"], stdout=subprocess.PIPE) as process:
        for _ in range(random.Random(4).randint(2, 9)):
            assert process.stdout.readline()
        process.kill()
    steps = []
    resumed = train(tmp_path / "killed", lambda step, loss: steps.append(step))
    assert 0 < len(steps) < 22
    assert same(resumed, train(tmp_path / "once"))


def test_a_checkpoint_of_another_training_is_refused(trained, toward, tmp_path):
    trained(checkpoint=tmp_path / "state")
    others = (
        {"seed": 1},
        {"settings": replace(SHORT, learning_rate=1e-4)},
        {"windows": replace(toward, chunks=toward.chunks[::-1].copy())},
    )
    for other in others:
        with pytest.raises(
            InputError, match=r"state: a checkpoint of another training \(other data, seed or settings\)"
        ):
            trained(checkpoint=tmp_path / "state", **other)


def test_a_checkpoint_that_is_none_is_refused(trained, tmp_path):
    (tmp_path / "state").write_bytes(b"half of something")
    with pytest.raises(InputError, match=r"state: no checkpoint that can be read .*; delete it to begin anew"):
        trained(checkpoint=tmp_path / "state")
