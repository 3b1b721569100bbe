"""Episodes with takeovers: their steps are weighted by who acted, as in Sirius (arXiv:2211.08416).

Failed episodes get weight 0, since they would teach failure; a person who corrects must recover from any state that the
policy reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.velocity_field import Array

POLICY, TAKEOVER, DEMONSTRATION = "policy", "takeover", "demonstration"


@dataclass(frozen=True)
class SourceWeights:
    """Sampling weights by who acted; the policy's steps within `before` steps of a takeover get none."""

    policy: float = 0.0
    takeover: float = 1.0
    demonstration: float = 1.0
    before: int = 15


def step_weights(sources: Sequence[str], succeeded: bool, weights: SourceWeights = SourceWeights()) -> Array:
    """Compute the weight (T,) of each step of an episode.

    `sources` (T,) says who acted: "policy", "takeover" or "demonstration". A failed episode has weight 0. Raises
    InputError for an unknown source.
    """
    of_source = {POLICY: weights.policy, TAKEOVER: weights.takeover, DEMONSTRATION: weights.demonstration}
    unknown = sorted(set(sources) - set(of_source))
    if unknown:
        raise InputError(f"a step was acted by {', '.join(of_source)}, not by {unknown[0]!r}")
    result = np.array([of_source[source] * succeeded for source in sources], np.float32)
    for step, source in enumerate(sources):
        if source == POLICY and TAKEOVER in sources[step + 1 : step + 1 + weights.before]:
            result[step] = 0.0
    return result


def weighted(windows: Windows, weights: Array) -> Windows:
    """Multiply the weights of an episode's windows by the step weights (T,)."""
    if weights.shape != windows.weights.shape:
        raise InputError(f"{len(windows)} windows take as many weights, not an array of the shape {weights.shape}")
    return replace(windows, weights=windows.weights * weights)
