"""What may be unknown of an arm, and where each unknown lies in the vector theta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import Array


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
