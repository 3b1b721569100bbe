"""Improving a skill: from corrections, from its own rollouts, and only where that does no harm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.learning.dataset import write_session
from llm_planner.learning.improving import (
    RecordingSampler,
    adopt,
    candidate_of,
    criticise,
    is_no_worse,
    read_corrections,
)
from llm_planner.learning.policy_training import CriticSettings
from llm_planner.learning.report import Evaluated, Latency, Tally
from llm_planner.learning.skill_training import train_skill, windows_of
from llm_planner.skills.learned.loading import CRITIC_FILE, load_sampler
from llm_planner.skills.learned.samplers import Reranked, Rollout
from llm_planner.skills.learned.velocity_field import Conditioning

SHORT = CriticSettings(steps=3, batch=8, width=8)


def quiet(step: int, loss: float) -> None:
    pass


@pytest.fixture
def taught(make_task, made_up):
    """A task that was learned, badly."""
    task = make_task()
    train_skill(task, 0, "flow", made_up(task), quiet)
    return task


def conditioning(spec) -> Conditioning:
    return Conditioning(
        np.zeros((spec.n_obs_steps, spec.observation_dim), np.float32), np.zeros(spec.goal_dim, np.float32)
    )


def rollouts(task) -> list[Rollout]:
    """Of which every other one succeeded."""
    spec, rng = task.spec, np.random.default_rng(0)
    chunks = rng.standard_normal((4, 3, spec.horizon, spec.action_dim), dtype=np.float32)
    return [Rollout((conditioning(spec),) * 3, chunk, k % 2 == 0) for k, chunk in enumerate(chunks)]


def evaluated(plain: int, shoved: int) -> Evaluated:
    plain_tally, shoved_tally = (Tally(count, 10, (0.0, 1.0), (0, 9), ()) for count in (plain, shoved))
    return Evaluated(plain_tally, shoved_tally, Latency(1.0, 1.0))


def test_what_is_tried_comes_from_noise_and_is_remembered(taught):
    sampler = load_sampler(taught.manifest, taught.policy)
    noted, spec = RecordingSampler(sampler, np.random.default_rng(0)), sampler.spec
    none = np.zeros((1, spec.horizon, spec.action_dim), np.float32)
    given = [noted.sample(conditioning(spec), none)[0] for _ in range(2)]
    assert not np.array_equal(given[0], given[1])
    assert np.array_equal(noted.chunks, given)
    assert len(noted.conditionings) == 2


def test_a_critic_beside_the_policy_chooses_among_chunks(taught):
    criticise(taught, rollouts(taught), 0, SHORT)
    assert isinstance(load_sampler(taught.manifest, taught.policy), Reranked)


def test_a_critic_of_another_policy_is_refused(taught, make_task, made_up):
    criticise(taught, rollouts(taught), 0, SHORT)
    critic = (taught.folder / CRITIC_FILE).read_bytes()
    task = make_task()
    train_skill(task, 0, "regression", made_up(task), quiet)
    assert not (task.folder / CRITIC_FILE).exists()
    (task.folder / CRITIC_FILE).write_bytes(critic)
    with pytest.raises(InputError, match=r"critic\.safetensors: judges a policy of other sizes .* delete it"):
        load_sampler(task.manifest, task.policy)


def test_corrections_are_learned_from_and_the_policys_own_moves_are_not(make_task, made_up):
    task = make_task()
    shown, own = made_up(task)
    corrected = replace(shown, source="correction")
    weights = windows_of(task.spec, [shown, corrected, replace(own, source="policy")]).weights
    assert weights.tolist() == [1.0] * 18 + [0.0] * 9


def test_only_corrections_are_read_from_a_data_set(make_task, made_up, tmp_path):
    task = make_task()
    shown, other = made_up(task)
    write_session(tmp_path / "data", task.format, [shown, replace(other, source="correction")], 0)
    assert [one.seed for one in read_corrections(task, tmp_path / "data")] == [4]


def test_a_data_set_without_corrections_is_named(make_task, made_up, tmp_path):
    task = make_task()
    write_session(tmp_path / "data", task.format, made_up(task), 0)
    with pytest.raises(InputError, match="has no corrections: none of its 2 recordings has that source"):
        read_corrections(task, tmp_path / "data")


def test_where_there_are_no_corrections_demonstrate_is_not_recommended(make_task, tmp_path):
    with pytest.raises(InputError, match=r"there are no corrections in .*data; docs/concepts/skills\.md tells how"):
        read_corrections(make_task(), tmp_path / "data")


def test_corrections_of_another_skill_are_refused(make_task, made_up, tmp_path):
    task = make_task()
    format = replace(task.format, fps=5.0)
    write_session(tmp_path / "data", format, [replace(one, source="correction") for one in made_up(task)], 0)
    with pytest.raises(InputError, match=r"holds DatasetFormat.* but pick learns from DatasetFormat"):
        read_corrections(task, tmp_path / "data")


def test_what_was_learned_in_a_copy_takes_the_place_of_the_skill(taught, make_task, made_up):
    before = taught.policy.read_bytes()
    candidate = candidate_of(taught)
    assert candidate.policy.read_bytes() == before
    train_skill(candidate, 1, "flow", made_up(taught), quiet)
    criticise(candidate, rollouts(candidate), 0, SHORT)
    assert taught.policy.read_bytes() == before
    adopt(taught, candidate)
    assert taught.policy.read_bytes() == candidate.policy.read_bytes() != before
    assert (taught.folder / CRITIC_FILE).exists()
    adopt(taught, candidate_of(taught))
    assert not (taught.folder / CRITIC_FILE).exists()


def test_what_succeeds_as_often_is_no_worse():
    assert is_no_worse(evaluated(8, 6), evaluated(7, 7))
    assert not is_no_worse(evaluated(8, 5), evaluated(7, 7))
