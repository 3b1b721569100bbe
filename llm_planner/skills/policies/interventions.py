"""What of an episode is learned from again, where somebody took over from a policy (Sirius, arXiv:2211.08416).

Who corrects must be able to recover from wherever the policy got to; episodes that failed all the same teach failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.windows import Windows

POLICY, TAKEOVER, DEMONSTRATION = "policy", "takeover", "demonstration"


@dataclass(frozen=True)
class SourceWeights:
    """How often a step is drawn by who acted; the policy's own steps `before` a takeover led to it: never drawn."""

    policy: float = 0.0
    takeover: float = 1.0
    demonstration: float = 1.0
    before: int = 15


def step_weights(sources: Sequence[str], succeeded: bool, weights: SourceWeights = SourceWeights()) -> Array:
    """Of each step of an episode (T,), from who acted in it (T,): "policy", "takeover" or "demonstration".

    A failed episode has no weight at all. Raises InputError for another source.
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
    """The windows of `episode_windows`, one a step, drawn as often as the steps weigh (T,)."""
    if weights.shape != windows.weights.shape:
        raise InputError(f"{len(windows)} windows take as many weights, not an array of the shape {weights.shape}")
    return replace(windows, weights=windows.weights * weights)
