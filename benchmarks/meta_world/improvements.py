"""A policy from few demonstrations, and everything that may make it better, on one task.

Each figure is success over the same judging seeds. What an improvement learns from is played at other seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from policy_methods.adapters import (
    ADAPTER_TRAINING,
    Adapter,
    adapter_size,
    load_adapter,
    merged,
    save_adapter,
    train_adapter,
)
from policy_methods.composition import ComposedField, Weights, search_weights, simplex_grid
from policy_methods.steering import NoiseActor, Steered, SteeringSettings, load_actor, save_actor, train_steering

from llm_planner.learning.policy_training import TrainingSettings, train_critic, train_policy
from llm_planner.learning.recording import Windows, joined
from llm_planner.skills.learned.samplers import (
    ChunkSampler,
    Critic,
    FlowSampler,
    Reranked,
    VelocityField,
    load_critic,
    save_critic,
)
from llm_planner.skills.learned.velocity_field import NetworkField
from llm_planner.skills.learned.weights_file import load_policy, save_policy
from meta_world.chunk_task import ChunkTask, recorded
from meta_world.corrections import corrected_episode, corrected_windows
from meta_world.environment import Environment, Expert
from meta_world.episodes import Episode, cached_demonstrations, load, save
from meta_world.our_policy import ACTIONS, OurPolicy, spec, windows
from meta_world.rollouts import judged, rollout, share

CRITIC_SEED, SEARCH_SEED, CORRECTION_SEED, OTHER_SEED = 200_000, 300_000, 400_000, 1_000

LONGER = 4  # times the training, of what learns from corrected episodes: they are several times the data


@dataclass(frozen=True)
class Sizes:
    """How much of everything; `unsteadiness` is the deviation of what the demonstrating hand does besides."""

    episodes: int = 200
    demonstrations: int = 10
    unsteadiness: float = 0.3
    critic_rollouts: int = 600
    samples: int = 64
    search_episodes: int = 40
    corrections: int = 60
    new_skill_demonstrations: int = 20
    all_demonstrations: int = 300
    training: TrainingSettings = field(default_factory=lambda: TrainingSettings(steps=1000, batch=256, drop_goal=0.0))
    adapter: TrainingSettings = field(default_factory=lambda: replace(ADAPTER_TRAINING, drop_goal=0.0))
    steering: SteeringSettings = field(default_factory=SteeringSettings)


class Improvements:
    """On one task; what has been trained and played is kept in a folder."""

    def __init__(self, task: str, other_task: str, folder: Path, sizes: Sizes) -> None:
        self._task, self._other, self._root, self._sizes = task, other_task, folder, sizes
        shown = f"{sizes.demonstrations}-unsteady-{sizes.unsteadiness}"
        self._folder = folder / f"improve-{task}-from-{shown}-{sizes.training.steps}-steps"

    def unimproved(self) -> dict[str, dict[str, float]]:
        """From normal noise, and from none."""
        sampler = FlowSampler(self._weak())
        return {"unimproved": self._judged("unimproved", sampler), "no noise": self._judged("no-noise", sampler, 0.0)}

    def composition(self) -> dict[str, dict[str, float]]:
        """With a second policy from as many other demonstrations; and one policy trained on both."""
        second = self._trained("second", lambda: self._windows(self._shown(OTHER_SEED)))
        both = self._trained("both", lambda: self._windows([*self._shown(0), *self._shown(OTHER_SEED)]))
        parts: list[VelocityField] = [self._weak(), second]

        def score(weights: Weights) -> float:
            policy = OurPolicy(FlowSampler(ComposedField(parts, weights)))
            seeds = range(SEARCH_SEED, SEARCH_SEED + self._sizes.search_episodes)
            return float(np.mean([rollout(environment, policy, seed).success for seed in seeds]))

        environment = Environment(self._task)
        best = search_weights(simplex_grid(len(parts)), score).best
        composed = FlowSampler(ComposedField(parts, best))
        return {
            "second policy alone": self._judged("second", FlowSampler(second)),
            "composition of the two": self._judged("composed", composed) | {"weight of the first": best[0]},
            "trained on both sets": self._judged("both", FlowSampler(both)),
        }

    def reranking(self) -> dict[str, dict[str, float]]:
        """A critic learned from rollouts picks among many samples."""
        sampler = FlowSampler(self._weak())

        def critic() -> Critic:
            task = ChunkTask(Environment(self._task), sampler.spec)
            seeds = range(CRITIC_SEED, CRITIC_SEED + self._sizes.critic_rollouts)
            return train_critic(self._weak(), [recorded(task, sampler, seed) for seed in seeds], 0)

        learned = kept(self._folder / "critic.safetensors", critic, save_critic, load_critic)
        samples = self._sizes.samples
        # All noise comes from the episode, so the re-ranking's own generator is never asked.
        reranked = Reranked(sampler, learned, np.random.default_rng(0), samples)
        return {f"re-ranking, {samples} samples": self._judged("reranked", reranked, samples=samples)}

    def steering(self) -> dict[str, dict[str, float]]:
        """A small actor, learned by trying, chooses the noise."""
        sampler = FlowSampler(self._weak())

        def actor() -> NoiseActor:
            task = ChunkTask(Environment(self._task), sampler.spec)
            return train_steering(self._weak(), sampler, task, 0, self._sizes.steering)

        learned = kept(self._folder / "actor.safetensors", actor, save_actor, load_actor)
        return {"steering of the noise": self._judged("steered", Steered(sampler, learned), 0.0)}

    def corrections(self) -> dict[str, dict[str, float]]:
        """Trained anew on the demonstrations and on episodes that an expert corrected, by who acted."""
        path = self._folder / "corrected.npz"
        episodes = kept(path, self._corrected, save, load)
        demonstrated = self._windows(self._shown(0))

        def weighed() -> Windows:
            return joined([demonstrated, *(corrected_windows(spec(), episode) for episode in episodes)])

        def unweighed() -> Windows:
            return joined([demonstrated, self._windows(episodes)])

        facts = {"of them in the end done": float(sum(episode.success for episode in episodes))}
        longer = replace(self._sizes.training, steps=LONGER * self._sizes.training.steps)
        corrected = FlowSampler(self._trained("corrected", weighed, longer))
        everything = FlowSampler(self._trained("everything", unweighed, longer))
        demonstrations = FlowSampler(self._trained("longer", lambda: demonstrated, longer))
        return {
            f"{len(episodes)} corrected episodes": self._judged("corrected", corrected) | facts,
            "the same, every step alike": self._judged("everything", everything),
            "the demonstrations alone, trained as long": self._judged("longer", demonstrations),
        }

    def adapters(self) -> dict[str, dict[str, float]]:
        """This task as a new skill of a policy that knows another: an adapter, and all weights trained."""
        count, many = self._sizes.new_skill_demonstrations, self._sizes.all_demonstrations
        shown = self._windows(self._steady(self._task, OTHER_SEED, count))
        base = self._trained("base", lambda: self._windows(self._steady(self._other, 0, many)))
        settings = replace(self._sizes.training, steps=2 * self._sizes.training.steps)

        def adapter() -> Adapter:
            return train_adapter(base, shown, 0, self._sizes.adapter)

        def load(path: Path) -> Adapter:
            return load_adapter(path, base)

        learned = kept(self._folder / "adapter.safetensors", adapter, save_adapter, load)
        whole = self._trained("whole", lambda: shown, settings=settings)
        full = self._trained("full", lambda: self._windows(self._steady(self._task, 0, many)), settings=settings)
        rank = len(learned.tensors["enter.down"])
        return {
            f"adapter, {count} demonstrations": self._judged("adapter", FlowSampler(merged(base, [learned])))
            | {"share of the weights": adapter_size(base.spec, rank)},
            "all weights, the same demonstrations": self._judged("whole", FlowSampler(whole)),
            f"all weights, {many} demonstrations": self._judged("full", FlowSampler(full)),
        }

    def _weak(self) -> NetworkField:
        return self._trained("weak", lambda: self._windows(self._shown(0)))

    def _shown(self, first_seed: int) -> list[Episode]:
        """What a weak policy learns from: copies of one way to move leave a sampler nothing to choose from."""
        count, unsteadiness = self._sizes.demonstrations, self._sizes.unsteadiness
        return cached_demonstrations(self._root / "data", self._task, count, first_seed, unsteadiness)

    def _steady(self, task: str, first_seed: int, count: int) -> list[Episode]:
        return cached_demonstrations(self._root / "data", task, count, first_seed)

    def _corrected(self) -> list[Episode]:
        """Until there are as many as asked for in which the corrector took over."""
        environment, expert = Environment(self._task), Expert(self._task)
        policy = OurPolicy(FlowSampler(self._weak()))
        episodes: list[Episode] = []
        seed = CORRECTION_SEED
        while len(episodes) < self._sizes.corrections:
            episode = corrected_episode(environment, expert, policy, seed)
            episodes += [episode] if episode.corrected.any() else []
            seed += 1
        return episodes

    def _windows(self, episodes: Sequence[Episode]) -> Windows:
        return windows(spec(), episodes)

    def _trained(
        self, name: str, shown: Callable[[], Windows], settings: TrainingSettings | None = None
    ) -> NetworkField:
        def field() -> NetworkField:
            return train_policy(spec(), shown(), ACTIONS, 0, settings or self._sizes.training)

        return kept(self._folder / f"{name}.safetensors", field, save_policy, load_policy)

    def _judged(self, name: str, sampler: ChunkSampler, deviation: float = 1.0, samples: int = 1) -> dict[str, float]:
        policy = OurPolicy(sampler, deviation, samples)
        played = judged(self._folder / f"{name}-played.json", policy, self._task, self._sizes.episodes)
        return share(sum(played), len(played))


def kept(path: Path, make: Callable[[], Any], save: Callable[[Path, Any], None], load: Callable[[Path], Any]) -> Any:
    """What is in the file, or made now and kept there."""
    if not path.exists():
        save(path, make())
    return load(path)
