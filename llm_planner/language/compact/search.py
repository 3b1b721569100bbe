"""Derivations of a command: the most probable ones by beam search, or some drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.language.compact.encoding import Encoded
from llm_planner.language.compact.grammar import START, Stack, Step
from llm_planner.language.compact.inference import NumpyNetwork


@dataclass(frozen=True)
class Reading:
    """A complete derivation and its probability."""

    steps: tuple[Step, ...]
    probability: float


@dataclass(frozen=True)
class _Hypothesis:
    score: float  # log-probability
    steps: tuple[Step, ...]
    stack: Stack
    last: int  # index of the step before, as `Encoded.choice` numbers it; the number of productions at the start
    pointed: int  # its input position, or -1

    def extended(self, score: float, index: int, item: Encoded) -> _Hypothesis:
        wide, step = len(item.grammar.productions), item.step_at(index)
        last, pointed = (index, -1) if index < wide else (wide, index - wide)
        return _Hypothesis(score, (*self.steps, step), item.grammar.advance(self.stack, step), last, pointed)


def search(network: NumpyNetwork, item: Encoded, beam: int = 5) -> list[Reading]:
    """Up to `beam` readings, the most probable first."""
    memory = network.encode(item)
    crossed, cache = network.prepare(memory), network.start()
    live = [_Hypothesis(0.0, (), START, len(item.grammar.productions), -1)]
    finished: list[_Hypothesis] = []
    for _ in range(item.grammar.max_steps):
        logits, cache = network.decode(memory, crossed, cache, *_inputs(live, item))
        grown = _best_extensions(live, logits, item, beam)
        finished += [hypothesis for _, hypothesis in grown if not hypothesis.stack]
        going = [(row, hypothesis) for row, hypothesis in grown if hypothesis.stack]
        finished.sort(key=lambda hypothesis: -hypothesis.score)
        # scores only fall: what is still going can never overtake enough finished readings
        if not going or (len(finished) >= beam and finished[beam - 1].score >= going[0][1].score):
            break
        live, cache = [hypothesis for _, hypothesis in going], cache.choose([row for row, _ in going])
    return [Reading(hypothesis.steps, float(np.exp(hypothesis.score))) for hypothesis in finished[:beam]]


def sample(
    network: NumpyNetwork, item: Encoded, count: int, temperature: float, rng: np.random.Generator
) -> list[Reading]:
    """`count` readings drawn at `temperature`, all at once; those that reach no end are left out."""
    memory = network.encode(item)
    crossed, cache = network.prepare(memory), network.start()
    live = [_Hypothesis(0.0, (), START, len(item.grammar.productions), -1)] * count
    cache = cache.choose([0] * count)
    finished: list[_Hypothesis] = []
    for _ in range(item.grammar.max_steps):
        logits, cache = network.decode(memory, crossed, cache, *_inputs(live, item))
        grown = [_drawn(hypothesis, row, item, temperature, rng) for hypothesis, row in zip(live, logits, strict=True)]
        finished += [hypothesis for hypothesis in grown if not hypothesis.stack]
        going = [index for index, hypothesis in enumerate(grown) if hypothesis.stack]
        if not going:
            break
        live, cache = [grown[index] for index in going], cache.choose(going)
    return [Reading(hypothesis.steps, float(np.exp(hypothesis.score))) for hypothesis in finished]


def _drawn(
    hypothesis: _Hypothesis, logits: NDArray[np.float32], item: Encoded, temperature: float, rng: np.random.Generator
) -> _Hypothesis:
    """The hypothesis with one more step; its score is that without temperature."""
    legal, scores = _scores(hypothesis, logits, item)
    if temperature <= 0:
        chosen = int(scores.argmax())
    else:
        shares = np.exp((scores - scores.max()) / temperature)
        chosen = int(rng.choice(len(legal), p=shares / shares.sum()))
    return hypothesis.extended(hypothesis.score + float(scores[chosen]), int(legal[chosen]), item)


def _scores(
    hypothesis: _Hypothesis, logits: NDArray[np.float32], item: Encoded
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The legal choices and their log-probabilities."""
    legal = np.flatnonzero(item.legal(*hypothesis.stack[-1]))
    scores = logits[legal].astype(np.float64)
    scores -= scores.max()
    return legal, scores - np.log(np.exp(scores).sum())


def _inputs(live: list[_Hypothesis], item: Encoded) -> tuple[NDArray[np.int64], ...]:
    tops = [hypothesis.stack[-1] for hypothesis in live]
    return (
        np.array([hypothesis.last for hypothesis in live]),
        np.array([hypothesis.pointed for hypothesis in live]),
        np.array([item.grammar.symbol_index[symbol] for symbol, _ in tops]),
        np.array([min(loops, item.grammar.max_loops) for _, loops in tops]),
    )


def _best_extensions(
    live: list[_Hypothesis], logits: NDArray[np.float32], item: Encoded, beam: int
) -> list[tuple[int, _Hypothesis]]:
    """The best legal continuations as (row of the hypothesis continued, new hypothesis), best first."""
    options: list[tuple[float, int, int]] = []
    for row, hypothesis in enumerate(live):
        legal, scores = _scores(hypothesis, logits[row], item)
        for k in np.argsort(-scores)[:beam]:
            options.append((hypothesis.score + float(scores[k]), row, int(legal[k])))
    options.sort(reverse=True)
    return [(row, live[row].extended(score, index, item)) for score, row, index in options[:beam]]
