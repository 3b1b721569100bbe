"""The simplest explanation of the evidence: which unknowns differ from the model, and by how much.

Groups of unknowns enter one at a time, the one that explains most first (orthogonal matching pursuit: Pati, Rezaiifar
and Krishnaprasad, 1993), and leave when the rest explains as much without them. So a payload is not told as seven
joints that drag a little, and what is believed is what can be said in a sentence.

What was measured, summed up: recursive least squares in information form, with exponential forgetting.

Any set of unknowns can be fitted to the sums, and a fit costs the same however long the past.

What may be unknown of an arm, and where each unknown lies in the vector theta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.motion import Array

CORRELATION = 0.2  # [s] errors of a model last: measurements closer together than this count as one
OUTLIER = (
    20.0  # times the noise; a larger error counts as less (Huber, "Robust estimation of a location parameter", 1964)
)
TINY = 1e-9


class Evidence:
    """Sums over what is remembered of an unknown theta (size,), for `memory` [s]. Single owner.

    `information` (size, size) is Y^T W Y, `pull` (size,) is Y^T W r, `energy` is r^T W r, and `count` how many
    independent numbers were measured; W is one over the variance of a measurement.
    """

    def __init__(self, size: int, memory: float) -> None:
        self.information = np.zeros((size, size))
        self.pull = np.zeros(size)
        self.energy = self.count = 0.0
        self._memory = memory

    def add(self, rows: Array, torque: Array, noise: Array, theta: Array, dt: float) -> None:
        """Takes in `torque` (nq,) with the standard deviation `noise` (nq,) that Y = `rows` should explain.

        `theta` (size,) is what is believed now, `dt` [s] the time since the last measurement.
        """
        error = float(np.sqrt(np.mean(((torque - rows @ theta) / noise) ** 2)))
        weight = min(1.0, dt / CORRELATION) * min(1.0, OUTLIER / max(error, OUTLIER))
        scaled, measured = rows / noise[:, None], torque / noise
        keep = float(np.exp(-dt / self._memory))
        self.information = keep * self.information + weight * scaled.T @ scaled
        self.pull = keep * self.pull + weight * scaled.T @ measured
        self.energy = keep * self.energy + weight * float(measured @ measured)
        self.count = keep * self.count + weight * len(torque)

    def include(self, other: Evidence) -> None:
        """Takes in all that `other` has."""
        self.information = self.information + other.information
        self.pull = self.pull + other.pull
        self.energy += other.energy
        self.count += other.count

    def forget(self, index: NDArray[np.intp]) -> None:
        """Says nothing of the unknowns `index` any more; what is known of the others then is kept.

        This is the Schur complement: those unknowns may have been anything.
        """
        across = self.information[:, index]
        block = across[index] + TINY * np.eye(len(index))
        solved = np.linalg.solve(block, np.column_stack([across.T, self.pull[index]]))
        self.energy -= float(self.pull[index] @ solved[:, -1])
        self.pull = self.pull - across @ solved[:, -1]
        self.information = self.information - across @ solved[:, :-1]
        self.pull[index] = 0.0
        self.information[index, :] = self.information[:, index] = 0.0

    def unexplained(self, theta: Array) -> float:
        """The mean energy that `theta` (size,) leaves, of each number measured; 1 is what noise leaves."""
        left = self.energy - 2.0 * self.pull @ theta + theta @ self.information @ theta
        return max(0.0, float(left)) / max(self.count, 1.0)


class Kind(Enum):
    """A kind of unknown; `theta` holds them in this order."""

    MASS = "mass"  # of a payload [kg]
    MOMENT = "moment"  # mass times centre of the payload [kg m], in the frame of the gripper point
    VISCOUS = "viscous"  # friction of a joint [Nm s/rad]
    COULOMB = "coulomb"  # friction of a joint [Nm]
    GAIN = "gain"  # what a joint's drive gives beyond what it is told, as a share of that
    PUSH = "push"  # a force from outside on the gripper point, base frame [N]: no property of the arm


@dataclass(frozen=True, eq=False)
class Group:
    """Unknowns that are believed in together, `index` in theta: a payload, a push, or one friction or gain of a joint.

    `joint` counts from 0; it is -1 where the group is of the hand.
    """

    kind: Kind
    joint: int
    index: NDArray[np.intp]


@dataclass(frozen=True)
class Layout:
    """Theta of an arm of `nq` joints."""

    nq: int

    @property
    def size(self) -> int:
        return 7 + 3 * self.nq

    def of(self, kind: Kind) -> slice:
        """Where the unknowns of a kind lie."""
        counts = self._counts()
        start = sum(counts[earlier] for earlier in list(Kind)[: list(Kind).index(kind)])
        return slice(start, start + counts[kind])

    def filled(self, numbers: Mapping[Kind, float]) -> Array:
        """A theta (size,) with the same number for all unknowns of a kind."""
        counts = self._counts()
        return np.repeat([numbers[kind] for kind in Kind], [counts[kind] for kind in Kind])

    def groups(self) -> tuple[Group, ...]:
        """All groups: the payload first, a push last."""
        per_joint = [
            Group(kind, joint, np.array([self.of(kind).start + joint]))
            for kind in (Kind.VISCOUS, Kind.COULOMB, Kind.GAIN)
            for joint in range(self.nq)
        ]
        payload = np.arange(self.of(Kind.MASS).start, self.of(Kind.MOMENT).stop)
        push = np.arange(self.of(Kind.PUSH).start, self.of(Kind.PUSH).stop)
        return (Group(Kind.MASS, -1, payload), *per_joint, Group(Kind.PUSH, -1, push))

    def _counts(self) -> dict[Kind, int]:
        nq = self.nq
        return {
            Kind.MASS: 1,
            Kind.MOMENT: 3,
            Kind.VISCOUS: nq,
            Kind.COULOMB: nq,
            Kind.GAIN: nq,
            Kind.PUSH: 3,
        }


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
