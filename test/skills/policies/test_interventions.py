"""What is learned from again where somebody took over: what they did, not what made it necessary."""

from dataclasses import replace

import numpy as np
import pytest
from policy_methods.interventions import SourceWeights, step_weights, weighted

from llm_planner.errors import InputError
from llm_planner.learning.recording import joined
from llm_planner.skills.learned.samplers import FlowSampler

CORRECTED = ["policy"] * 20 + ["takeover"] * 3 + ["policy"] * 2


def test_takeovers_and_demonstrations_count_and_the_policy_does_not():
    assert step_weights(CORRECTED, succeeded=True).tolist() == [0] * 20 + [1] * 3 + [0] * 2
    assert step_weights(["demonstration"] * 4, succeeded=True).tolist() == [1] * 4


def test_what_led_to_a_takeover_never_counts():
    weights = SourceWeights(policy=0.5, takeover=2.0)
    assert step_weights(CORRECTED, True, weights).tolist() == [0.5] * 5 + [0] * 15 + [2] * 3 + [0.5] * 2
    assert step_weights(CORRECTED, True, replace(weights, before=0)).tolist() == [0.5] * 20 + [2] * 3 + [0.5] * 2


def test_a_takeover_before_another_one_counts():
    sources = ["takeover", "policy", "takeover"]
    assert step_weights(sources, True, SourceWeights(policy=1)).tolist() == [1, 0, 1]


def test_an_episode_that_failed_all_the_same_is_dropped():
    assert not step_weights(CORRECTED, succeeded=False).any()


def test_an_unknown_source_is_refused():
    with pytest.raises(InputError, match="a step was acted by policy, takeover, demonstration, not by 'ghost'"):
        step_weights(["policy", "ghost"], True)


def test_windows_take_the_weights_of_their_steps(toward):
    half = np.linspace(0, 1, len(toward), dtype=np.float32)
    assert (weighted(toward, half).weights == half).all()
    assert (weighted(weighted(toward, half), half).weights == half * half).all()
    with pytest.raises(InputError, match=r"2000 windows take as many weights, not an array of the shape \(3,\)"):
        weighted(toward, np.ones(3, np.float32))


def test_a_policy_learns_what_the_corrector_did_and_forgets_what_it_did_itself(toward, train, ask):
    wrong = replace(toward, chunks=-toward.chunks)
    own, corrected = np.zeros(2000, np.float32), np.ones(2000, np.float32)
    goal, start = (0.6, -0.6), np.zeros((1, 4, 2), np.float32)
    mixed = train(joined([toward, wrong]), steps=150)
    mended = train(joined([weighted(toward, corrected), weighted(wrong, own)]), steps=150)
    ends = [FlowSampler(field).sample(ask(goal=goal), start)[0, -1] for field in (mixed, mended)]
    assert abs(ends[0] - goal).max() > 0.3
    assert ends[1] == pytest.approx(goal, abs=0.2)
