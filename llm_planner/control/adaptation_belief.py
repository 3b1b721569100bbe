"""Sparse estimation of an arm's deviations from its model.

`Layout` maps the unknowns of an arm to the parameter vector theta. `Evidence` sums measurements by recursive least
squares in information form, with exponential forgetting; any set of unknowns can be fitted to the sums, at a cost
independent of the number of measurements. `Explainer` selects the groups of unknowns that explain the evidence:
groups enter one at a time, in the order of their contribution (orthogonal matching pursuit: Pati, Rezaiifar and
Krishnaprasad, 1993), and leave when the others explain as much. A payload is therefore not mistaken for a little
friction in seven joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.motion import Array

CORRELATION = 0.2  # [s] correlation time of model errors: measurements within it count as one
OUTLIER = (
    20.0  # times the noise; larger errors get less weight (Huber, "Robust estimation of a location parameter", 1964)
)
TINY = 1e-9


class Evidence:
    """Sums of measurements of theta (size,), with the forgetting time constant `memory` [s]. Not thread-safe.

    `information` (size, size) is Y^T W Y, `pull` (size,) is Y^T W r, `energy` is r^T W r, and `count` is the number of
    independent measurements. W is the inverse variance of a measurement.
    """

    def __init__(self, size: int, memory: float) -> None:
        self.information = np.zeros((size, size))
        self.pull = np.zeros(size)
        self.energy = self.count = 0.0
        self._memory = memory

    def add(self, rows: Array, torque: Array, noise: Array, theta: Array, dt: float) -> None:
        """Add a measurement.

        Args:
            rows: Regressor Y, (nq, size).
            torque: Measured torque residual r, (nq,) [Nm].
            noise: Standard deviation of `torque`, (nq,) [Nm].
            theta: Present estimate, (size,), for the weight of outliers.
            dt: Time since the last measurement [s].
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
        self.information = self.information + other.information
        self.pull = self.pull + other.pull
        self.energy += other.energy
        self.count += other.count

    def forget(self, index: NDArray[np.intp]) -> None:
        """Marginalise the unknowns `index` by the Schur complement, and keep the evidence about the others."""
        across = self.information[:, index]
        block = across[index] + TINY * np.eye(len(index))
        solved = np.linalg.solve(block, np.column_stack([across.T, self.pull[index]]))
        self.energy -= float(self.pull[index] @ solved[:, -1])
        self.pull = self.pull - across @ solved[:, -1]
        self.information = self.information - across @ solved[:, :-1]
        self.pull[index] = 0.0
        self.information[index, :] = self.information[:, index] = 0.0

    def unexplained(self, theta: Array) -> float:
        """Return the mean squared residual of `theta` (size,) per measurement, in units of the noise variance."""
        left = self.energy - 2.0 * self.pull @ theta + theta @ self.information @ theta
        return max(0.0, float(left)) / max(self.count, 1.0)


class Kind(Enum):
    """Kind of unknown; theta holds them in this order."""

    MASS = "mass"  # of a payload [kg]
    MOMENT = "moment"  # mass times centre of the payload [kg m], in the frame of the gripper point
    VISCOUS = "viscous"  # friction of a joint [Nm s/rad]
    COULOMB = "coulomb"  # friction of a joint [Nm]
    GAIN = "gain"  # relative error of a drive's torque
    PUSH = "push"  # external force on the gripper point, base frame [N], which is not a property of the arm


@dataclass(frozen=True, eq=False)
class Group:
    """Unknowns that are selected together: a payload, a push, or one friction or gain of a joint.

    `index` is their position in theta. `joint` counts from 0, and is -1 for a group of the hand.
    """

    kind: Kind
    joint: int
    index: NDArray[np.intp]


@dataclass(frozen=True)
class Layout:
    """Layout of theta for an arm of `nq` joints."""

    nq: int

    @property
    def size(self) -> int:
        return 7 + 3 * self.nq

    def of(self, kind: Kind) -> slice:
        """Return the slice of `kind` in theta."""
        counts = self._counts()
        start = sum(counts[earlier] for earlier in list(Kind)[: list(Kind).index(kind)])
        return slice(start, start + counts[kind])

    def filled(self, numbers: Mapping[Kind, float]) -> Array:
        """Return a theta (size,) with the same number for all unknowns of a kind."""
        counts = self._counts()
        return np.repeat([numbers[kind] for kind in Kind], [counts[kind] for kind in Kind])

    def groups(self) -> tuple[Group, ...]:
        """Return all groups, with the payload first and the push last."""
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


PUSH_HANDICAP = 0.8  # on the score of a push, so that a payload that explains about as much is preferred


FARTHEST = 0.3  # [m] largest distance of a payload's centre from the gripper point
HEAVIEST = 10.0  # [kg] largest payload of a hand of this size
SLIGHT = 0.05  # [kg m] tolerance on the first moment


def plausible_payload(payload: Array) -> bool:
    """Return whether an object in the hand can have the mass and first moment `payload` (4,) [kg, kg m]."""
    mass, moment = float(payload[0]), float(np.linalg.norm(payload[1:]))
    return mass <= HEAVIEST and moment <= FARTHEST * mass + SLIGHT


@dataclass(frozen=True)
class Caution:
    """Thresholds for the selection of groups. Energies are per measurement, in units of the noise variance."""

    floor: float = 2.0  # unexplained energy below which no group enters
    share: float = 0.25  # of the unexplained energy that a group must explain to enter; half of it to stay
    deviations: float = 4.0  # least size of an estimate, in its standard deviations
    most: int = 12  # largest number of groups


@dataclass(frozen=True)
class Belief:
    """Estimate `theta` (size,) with standard deviations `spread` (size,), both zero outside the selected `groups`."""

    groups: tuple[Group, ...]
    theta: Array
    spread: Array


class Explainer:
    """Estimator that selects groups and fits them to evidence.

    `prior` (size,) holds standard deviations, and `least` (size,) lower bounds of theta.
    """

    def __init__(self, groups: Sequence[Group], prior: Array, least: Array, caution: Caution) -> None:
        self._groups = tuple(groups)
        self._prior, self._least = prior, least
        self._caution = caution

    def nothing(self) -> Belief:
        """Return the belief that the arm agrees with its model."""
        zero = np.zeros(len(self._prior))
        return Belief((), zero, zero)

    def explain(self, evidence: Evidence, before: Belief) -> Belief:
        """Update the belief `before` by the evidence."""
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
        """Return the theta (size,) of `belief` with the unknowns `index` refitted to the evidence."""
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
