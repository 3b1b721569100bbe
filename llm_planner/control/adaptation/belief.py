"""The simplest explanation of the evidence: which unknowns differ from the model, and by how much.

Groups of unknowns enter one at a time, the one that explains most first (orthogonal matching pursuit: Pati, Rezaiifar
and Krishnaprasad, 1993), and leave when the rest explains as much without them. So a payload is not told as seven
joints that drag a little, and what is believed is what can be said in a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.adaptation.evidence import Evidence
from llm_planner.control.adaptation.unknowns import Group, Kind
from llm_planner.control.reference import Array

PUSH_HANDICAP = 0.8  # what a payload explains about as well as a push is a payload


FARTHEST = 0.3  # [m] from the gripper point that the centre of a payload may lie
HEAVIEST = 10.0  # [kg] no hand of this size holds more
SLIGHT = 0.05  # [kg m]


def plausible_payload(payload: Array) -> bool:
    """Whether a thing may have the mass and first moment `payload` (4,): it hangs from the hand, not beside it."""
    mass, moment = float(payload[0]), float(np.linalg.norm(payload[1:]))
    return mass <= HEAVIEST and moment <= FARTHEST * mass + SLIGHT


@dataclass(frozen=True)
class Caution:
    """When a group is believed in. Energies are in units of the noise, a number measured."""

    floor: float = 2.0  # mean energy unexplained, below which there is nothing to explain
    share: float = 0.25  # of what is unexplained that a group must explain to enter; to stay, half of it
    deviations: float = 4.0  # of the estimate's uncertainty that it must be large
    most: int = 12  # groups


@dataclass(frozen=True)
class Belief:
    """`theta` (size,) with its standard deviations `spread` (size,), zero outside the `groups` believed in."""

    groups: tuple[Group, ...]
    theta: Array
    spread: Array


class Explainer:
    """Fits sets of groups to evidence, none below `least`, with standard deviations `prior`; each (size,)."""

    def __init__(self, groups: Sequence[Group], prior: Array, least: Array, caution: Caution) -> None:
        self._groups = tuple(groups)
        self._prior, self._least = prior, least
        self._caution = caution

    def nothing(self) -> Belief:
        """The arm is as its model says."""
        zero = np.zeros(len(self._prior))
        return Belief((), zero, zero)

    def explain(self, evidence: Evidence, before: Belief) -> Belief:
        """What to believe after `before`, given the evidence."""
        belief = self._without_the_idle(evidence, self._fit(evidence, before.groups))
        while len(belief.groups) < self._caution.most:
            left = evidence.unexplained(belief.theta)
            if left <= self._caution.floor:
                break
            more = self._fit(evidence, (*belief.groups, self._most_promising(evidence, belief)))
            gained = left - evidence.unexplained(more.theta)
            if gained < self._caution.share * left or not self._credible(more, more.groups[-1]):
                break
            belief = more
        return belief

    def changed(self, evidence: Evidence, belief: Belief, index: NDArray[np.intp]) -> Array:
        """What `belief` says (size,), but the unknowns `index` as they fit the evidence best while the rest holds."""
        theta = belief.theta.copy()
        theta[index] = 0.0
        pull = evidence.pull[index] - evidence.information[index] @ theta
        theta[index] = np.linalg.solve(self._information(evidence, index), pull)
        changed: Array = np.maximum(theta, self._least)
        return changed

    def _without_the_idle(self, evidence: Evidence, belief: Belief) -> Belief:
        for group in belief.groups:
            rest = self._fit(evidence, tuple(other for other in belief.groups if other is not group))
            lost = evidence.unexplained(rest.theta)
            gained = lost - evidence.unexplained(belief.theta)
            idle = gained < 0.5 * self._caution.share * lost
            if idle or lost <= 0.5 * self._caution.floor or not self._credible(belief, group, 0.5):
                belief = rest
        return belief

    def _most_promising(self, evidence: Evidence, belief: Belief) -> Group:
        missing = evidence.pull - evidence.information @ belief.theta

        def promise(group: Group) -> float:
            pull = missing[group.index]
            solved = np.linalg.solve(self._information(evidence, group.index), pull)  # with the rest held
            value = float(np.maximum(solved, self._least[group.index]) @ pull)
            return PUSH_HANDICAP * value if group.kind is Kind.PUSH else value

        return max((group for group in self._groups if group not in belief.groups), key=promise)

    def _credible(self, belief: Belief, group: Group, ease: float = 1.0) -> bool:
        if group.kind is Kind.MASS and not plausible_payload(belief.theta[group.index]):
            return False
        theta, spread = belief.theta[group.index], belief.spread[group.index]
        size = np.abs(theta[:1] / spread[:1] if group.kind is Kind.MASS else theta / spread)
        return float(size.max()) >= ease * self._caution.deviations

    def _information(self, evidence: Evidence, index: NDArray[np.intp]) -> Array:
        information: Array = evidence.information[np.ix_(index, index)] + np.diag(self._prior[index] ** -2.0)
        return information

    def _fit(self, evidence: Evidence, groups: tuple[Group, ...]) -> Belief:
        theta, spread = np.zeros(len(self._prior)), np.zeros(len(self._prior))
        if groups:
            index = np.concatenate([group.index for group in groups])
            covariance = np.linalg.inv(self._information(evidence, index))
            solved = covariance @ evidence.pull[index]
            theta[index] = np.maximum(solved, self._least[index])
            spread[index] = np.sqrt(np.diag(covariance))
        return Belief(groups, theta, spread)
