"""An actor learns which noise leads a frozen policy to success."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from policy_methods.steering import (
    ChunkOutcome,
    NoiseActor,
    Steered,
    SteeringSettings,
    load_actor,
    save_actor,
    train_steering,
)
from safetensors.numpy import load_file, save_file

from llm_planner.errors import InputError
from llm_planner.skills.learned.samplers import FlowSampler
from llm_planner.skills.learned.velocity_field import Conditioning

SETTINGS = SteeringSettings(
    chunks=500, random_chunks=150, updates=1, batch=64, width=32, learning_rate=5e-3, target_rate=0.05, report_every=250
)


class TwoDoors:
    """Right on the right half and left on the left one, twice in a row: then there is a reward."""

    def __init__(self):
        self.seeds = []

    def reset(self, seed):
        self.seeds.append(seed)
        self._rng, self._passed = np.random.default_rng(seed), 0
        return self._look()

    def step(self, chunk):
        right = bool((chunk.mean() > 0) == (self._side > 0))
        self._passed += right
        return ChunkOutcome(self._look(), float(self._passed == 2), ended=self._passed == 2 or not right)

    def _look(self):
        self._side = self._rng.uniform(-1, 1)
        return Conditioning(np.full((2, 2), self._side, np.float32))


@pytest.fixture(scope="module")
def trained(either_way_field):
    told = []
    actor = train_steering(
        either_way_field,
        FlowSampler(either_way_field, steps=4),
        TwoDoors(),
        seed=0,
        settings=SETTINGS,
        report=lambda chunks, actor, mean: told.append((chunks, type(actor), mean)),
    )
    return actor, told


def successes(sampler, rng, noise_scale, count=100):
    world, won = TwoDoors(), 0
    for seed in range(1000, 1000 + count):
        asked, ended = world.reset(seed), False
        while not ended:
            noise = noise_scale * rng.standard_normal((1, 4, 2)).astype(np.float32)
            outcome = world.step(sampler.sample(asked, noise)[0])
            asked, ended = outcome.conditioning, outcome.ended
        won += outcome.reward
    return won / count


def test_the_steered_policy_succeeds_where_the_policy_alone_guesses(either_way_field, trained):
    plain, rng = FlowSampler(either_way_field, steps=4), np.random.default_rng(0)
    steered = Steered(plain, trained[0])
    assert max(successes(plain, rng, 0.0), successes(plain, rng, 1.0)) < 0.6
    assert successes(steered, rng, 0.0) > 0.85
    assert steered.spec == plain.spec


def test_it_tells_how_it_is_going(trained):
    told = trained[1]
    assert [(chunks, kind) for chunks, kind, _ in told] == [(250, NoiseActor), (500, NoiseActor)]
    assert told[0][2] < told[1][2] <= 1


def test_the_noise_keeps_inside_its_bound_and_is_that_of_one_action(trained, ask, noise):
    chosen = trained[0].noise(ask((9.0, -9.0)), 100 * noise(5))
    assert abs(chosen).max() <= 2.0
    assert (chosen == chosen[:, :1]).all()


def test_no_noise_gives_one_choice_and_normal_noise_a_spread_around_it(trained, ask, noise):
    actor = trained[0]
    still = actor.noise(ask(), np.zeros((3, 4, 2), np.float32))
    assert (still == still[0]).all()
    assert actor.noise(ask(), noise(3)).std(axis=0).min() > 0


def test_the_same_seed_gives_the_same_actor(either_way_field):
    short = SteeringSettings(chunks=12, random_chunks=6, batch=8, width=8)
    runs = [train_steering(either_way_field, FlowSampler(either_way_field), TwoDoors(), 1, short) for _ in range(2)]
    tensors = [run.network.tensors for run in runs]
    assert all((tensors[0][name] == tensors[1][name]).all() for name in tensors[0])


def test_an_episode_that_is_cut_begins_anew(either_way_field):
    class Endless(TwoDoors):
        def step(self, chunk):
            return ChunkOutcome(self._look(), 0.0, ended=False, cut=True)

    world = Endless()
    train_steering(
        either_way_field,
        FlowSampler(either_way_field),
        world,
        0,
        SteeringSettings(chunks=5, random_chunks=5, batch=4, width=4),
    )
    assert len(set(world.seeds)) == 6


@pytest.mark.parametrize("random_chunks", [0, 11])
def test_a_training_that_never_begins_is_refused(random_chunks):
    with pytest.raises(InputError, match=f"between 1 and the 10 chunks of the training, not {random_chunks}"):
        SteeringSettings(chunks=10, random_chunks=random_chunks)


def test_an_actor_survives_a_file(trained, ask, noise, tmp_path):
    save_actor(tmp_path / "actor.safetensors", trained[0])
    again = load_actor(tmp_path / "actor.safetensors")
    assert (again.noise(ask(), noise(2)) == trained[0].noise(ask(), noise(2))).all()


def test_a_file_of_something_else_is_refused(trained, tmp_path):
    path = tmp_path / "actor.safetensors"
    save_actor(path, trained[0])
    tensors, metadata = load_file(path), {"actor_of": json.dumps(asdict(trained[0].spec)), "bound": "2.0"}

    def refused(match, metadata=metadata, **changes):
        save_file(tensors | changes, path, metadata)
        with pytest.raises(InputError, match=rf"actor\.safetensors: {match}"):
            load_actor(path)

    refused("its metadata has no sizes of a policy under 'actor_of'", metadata={"bound": "1"})
    refused("its metadata has no bound of the noise", metadata={"actor_of": metadata["actor_of"]})
    refused("the noise of an actor needs a bound above 0, not -1.0", metadata=metadata | {"bound": "-1"})
    refused("the noise of an actor needs a bound above 0, not nan", metadata=metadata | {"bound": "nan"})
    refused("'other' is not a known tensor", other=np.zeros(1, np.float32))
