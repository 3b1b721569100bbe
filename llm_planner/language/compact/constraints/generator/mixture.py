"""What the reading network learns from: drawn sentences, and utterances that people wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from llm_planner.language.compact.constraints.generator.examples import (
    MIX,
    Mix,
    Part,
    as_sample,
    draw_sample,
    drawn,
)
from llm_planner.language.compact.constraints.generator.noise import noisy
from llm_planner.language.compact.encoding import Sample


def accept_all(parts: Sequence[Part]) -> bool:
    return True


@dataclass(frozen=True)
class Mixture:
    """Draws an utterance with probability `share`, else a sentence that `accept` lets pass."""

    utterances: tuple[tuple[Part, ...], ...] = ()
    share: float = 0.0
    mix: Mix = MIX
    accept: Callable[[Sequence[Part]], bool] = accept_all

    def __call__(self, rng: Generator) -> Sample:
        while self.utterances and rng.random() < self.share:
            parts = self.utterances[int(rng.integers(len(self.utterances)))]
            words = noisy([part.words for part in parts], rng, polite=0.08)
            sample = as_sample("bare", [Part(p.spec, w) for p, w in zip(parts, words, strict=True)])
            if sample is not None:
                return sample
        return draw_sample(rng, self.accept, self.mix)


def vocabulary(mixture: Mixture, seed: int = 0, count: int = 40_000) -> tuple[str, ...]:
    """Words of constraints that training shows at least three times, sorted: others are guesses to the network."""
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        parts = drawn(rng, mixture.mix)(rng)[1]
        for words in noisy([part.words for part in parts if part.spec is not None] or [()], rng, polite=0.5):
            seen.update(piece for piece in words if isinstance(piece, str))
    said = {piece for parts in mixture.utterances for p in parts for piece in p.words if isinstance(piece, str)}
    return tuple(sorted(said | {word for word, times in seen.items() if times >= 3}))
