"""Sparse estimation of an arm's payload, friction, drive gains and external pushes from its drives' torques.

The commanded torque beyond that of the model is Y @ theta, linear in the unknowns theta, which `Layout` lists.
`Evidence` sums measurements by recursive least squares in information form, with exponential forgetting; any set of
unknowns can be fitted to the sums, at a cost independent of the number of measurements. `Explainer` selects the groups
of unknowns that explain the evidence: groups enter one at a time, in the order of their contribution (orthogonal
matching pursuit: Pati, Rezaiifar and Krishnaprasad, 1993), and leave when the others explain as much. A payload is
therefore not mistaken for a little friction in seven joints. `AdaptationBounds` holds the operator's bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array

STICTION_SPEED = 0.02  # [rad/s] below which Coulomb friction fades, so that a joint at rest gives no evidence of it
CORRELATION = 0.2  # [s] correlation time of model errors: measurements within it count as one
# Times the noise; larger errors get less weight (Huber, "Robust estimation of a location parameter", 1964).
OUTLIER = 20.0
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

    @property
    def _counts(self) -> dict[Kind, int]:
        return dict(zip(Kind, (1, 3, self.nq, self.nq, self.nq, 3), strict=True))

    def of(self, kind: Kind) -> slice:
        """Return the slice of `kind` in theta."""
        start = sum(list(self._counts.values())[: list(Kind).index(kind)])
        return slice(start, start + self._counts[kind])

    @property
    def payload(self) -> NDArray[np.intp]:
        """Position of mass and first moment in theta, (4,)."""
        return np.arange(self.of(Kind.MASS).start, self.of(Kind.MOMENT).stop)

    @property
    def push(self) -> NDArray[np.intp]:
        """Position of the external force in theta, (3,)."""
        return np.arange(self.size)[self.of(Kind.PUSH)]

    def filled(self, numbers: Mapping[Kind, float]) -> Array:
        """Return a theta (size,) with the same number for all unknowns of a kind."""
        return np.repeat([numbers[kind] for kind in Kind], list(self._counts.values()))

    def groups(self) -> tuple[Group, ...]:
        """Return all groups, with the payload first and the push last."""
        per_joint = [
            Group(kind, joint, np.array([self.of(kind).start + joint]))
            for kind in (Kind.VISCOUS, Kind.COULOMB, Kind.GAIN)
            for joint in range(self.nq)
        ]
        return (Group(Kind.MASS, -1, self.payload), *per_joint, Group(Kind.PUSH, -1, self.push))


FARTHEST = 0.3  # [m] largest distance of a payload's centre from the gripper point
HEAVIEST = 10.0  # [kg] largest payload of a hand of this size
SLIGHT = 0.05  # [kg m] tolerance on the first moment


def plausible_payload(payload: Array) -> bool:
    """Return whether an object in the hand can have the mass and first moment `payload` (4,) [kg, kg m]."""
    mass, moment = float(payload[0]), float(np.linalg.norm(payload[1:]))
    return mass <= HEAVIEST and moment <= FARTHEST * mass + SLIGHT


# Selection of groups; energies are per measurement, in units of the noise variance.
FLOOR = 2.0  # unexplained energy below which no group enters
SHARE = 0.25  # of the unexplained energy that a group must explain to enter; half of it to stay
DEVIATIONS = 4.0  # least size of an estimate, in its standard deviations
MOST_GROUPS = 12
PUSH_HANDICAP = 0.8  # on the score of a push, so that a payload that explains about as much is preferred


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

    def __init__(self, groups: Sequence[Group], prior: Array, least: Array) -> None:
        self._groups = tuple(groups)
        self._prior, self._least = prior, least

    def nothing(self) -> Belief:
        """Return the belief that the arm agrees with its model."""
        zero = np.zeros(len(self._prior))
        return Belief((), zero, zero)

    def explain(self, evidence: Evidence, before: Belief) -> Belief:
        """Update the belief `before` by the evidence."""
        belief = self._without_the_idle(evidence, self._fit(evidence, before.groups))
        while len(belief.groups) < MOST_GROUPS:
            left = evidence.unexplained(belief.theta)
            if left <= FLOOR:
                break
            more = self._fit(evidence, (*belief.groups, self._most_promising(evidence, belief)))
            gained = left - evidence.unexplained(more.theta)
            if gained < SHARE * left or not self._credible(more, more.groups[-1]):
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
            idle = gained < 0.5 * SHARE * lost
            if idle or lost <= 0.5 * FLOOR or not self._credible(belief, group, 0.5):
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
        return float(size.max()) >= ease * DEVIATIONS

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


@dataclass(frozen=True)
class AdaptationBounds:
    """Largest deviations that are compensated, and largest shift of a commanded joint.

    Larger deviations are diagnosed, but compensated only up to these bounds.
    """

    payload: float = 3.0  # [kg]
    reach: float = 0.15  # distance of the payload's centre from the gripper point [m]
    viscous: float = 15.0  # [Nm s/rad]
    coulomb: float = 8.0  # [Nm]
    gain: float = 0.3  # fraction of the commanded torque, in both directions
    shift: float = 0.01  # of a commanded joint position [rad]

    def __post_init__(self) -> None:
        for item in fields(self):
            if not getattr(self, item.name) > 0.0:
                raise InputError(
                    f"the bound of the adaptation's {item.name} must be above 0, not {getattr(self, item.name)}"
                )
        if self.gain >= 1.0:
            raise InputError(f"the bound of the adaptation's gain is a share below 1, not {self.gain}")


# Prior standard deviations of the unknowns; see `Kind` for the units.
PRIOR = {
    Kind.MASS: 1.5,
    Kind.MOMENT: 0.08,
    Kind.VISCOUS: 5.0,
    Kind.COULOMB: 3.0,
    Kind.GAIN: 0.2,
    Kind.PUSH: 50.0,
}


NOISE = 0.005  # of a torque residual, as a fraction of the joint's largest torque
STICTION = 0.012  # of a joint at rest, as a fraction of the joint's largest torque
MEMORY = 15.0  # [s] forgetting time constant of the evidence
RECENT = 0.3  # [s] forgetting time constant for the detection of changes
STRANGE = 4.0  # mean recent energy above which the residual is an anomaly
PROBATION = 1.0  # [s] for which an anomaly must last before it is learnt
LONGEST_PUSH = 3.0  # [s] the same for an anomaly that a push on the hand can explain
WEIGHING = 0.5  # [s] of motion before the payload is estimated again after a change of grip
EXPLAIN_EVERY = 0.1  # [s] between updates of the belief
LEAST_GAIN = -0.5
ENOUGH = 100.0  # measurements in motion before an anomaly can be detected


class Estimator:
    """Estimator of an arm's deviations from its model, `belief`. Not thread-safe."""

    def __init__(self, layout: Layout, torque_max: Array, bounds: AdaptationBounds | None = None) -> None:
        self.bounds = bounds or AdaptationBounds()
        most = {
            Kind.MASS: self.bounds.payload,
            Kind.MOMENT: self.bounds.payload * self.bounds.reach,
            Kind.VISCOUS: self.bounds.viscous,
            Kind.COULOMB: self.bounds.coulomb,
            Kind.GAIN: self.bounds.gain,
            Kind.PUSH: 0.0,  # pushes are not compensated
        }
        self._most = layout.filled(most)
        never_negative = dict.fromkeys((Kind.MASS, Kind.VISCOUS, Kind.COULOMB), 0.0)
        least = dict.fromkeys(Kind, -np.inf) | never_negative | {Kind.GAIN: LEAST_GAIN}
        self._explainer = Explainer(layout.groups(), layout.filled(PRIOR), layout.filled(least))
        self._layout, self._torque_max = layout, torque_max
        self.reset()

    def reset(self) -> None:
        self._past = Evidence(self._layout.size, MEMORY)
        self._recent = Evidence(self._layout.size, RECENT)
        self._since_explained = self._strange_for = self._patience = 0.0
        self._moved = np.inf  # duration of motion since the payload was last in doubt [s]
        self.belief: Belief = self._explainer.nothing()

    @property
    def theta_in_bounds(self) -> Array:
        """Estimate to compensate, (size,): the belief clipped to the operator's bounds."""
        theta: Array = np.clip(self.belief.theta, -self._most, self._most)
        return theta

    @property
    def is_frozen(self) -> bool:
        """Whether learning is suspended because of an anomaly, such as a contact."""
        return 0.0 < self._strange_for < self._patience

    def update(self, rows: Array, torque: Array, qvel: Array, dt: float) -> None:
        """Update the belief by the `torque` (nq,) [Nm] beyond the nominal one, `dt` [s] after the last measurement.

        `rows` (nq, size) is the regressor Y of the motion, and `qvel` (nq,) its joint velocities [rad/s].
        """
        resting = np.abs(qvel) < STICTION_SPEED
        theta = self.belief.theta
        noise = np.hypot(NOISE, STICTION * resting) * self._torque_max
        self._recent.add(rows, torque, noise, theta, dt)
        if not resting.all() and not self.is_frozen:
            self._past.add(rows, torque, noise, theta, dt)
            self._moved += dt
        self._since_explained += dt
        if self._since_explained >= EXPLAIN_EVERY:
            self._look(self._since_explained)
            self._since_explained = 0.0

    def doubt_payload(self) -> None:
        """Forget the evidence about the payload, because the fingers have moved.

        The belief about the payload stays until the arm has moved a little or clearly contradicts it.
        """
        self._past.forget(self._layout.payload)
        self._moved = 0.0

    def _explains(self, index: NDArray[np.intp], strange: float) -> bool:
        """Return whether a change of the unknowns `index` alone explains the anomaly `strange`."""
        changed = self._explainer.changed(self._recent, self.belief, index)
        return plausible_payload(changed[self._layout.payload]) and self._recent.unexplained(changed) < 0.2 * strange

    def _look(self, dt: float) -> None:
        """Detect anomalies in the recent evidence, then update the belief from all evidence."""
        strange = self._recent.unexplained(self.belief.theta)
        if strange > STRANGE and self._explains(self._layout.payload, strange):
            self._past.forget(self._layout.payload)
            self._past.include(self._recent)
            self._strange_for, self._moved = 0.0, np.inf
        elif strange > STRANGE and self._past.count >= ENOUGH:
            pushed = self._explains(self._layout.push, strange)
            self._patience = LONGEST_PUSH if pushed else PROBATION
            self._strange_for += dt
        else:
            self._strange_for = 0.0
        if not self.is_frozen and self._moved >= WEIGHING:
            self.belief = self._explainer.explain(self._past, self.belief)
