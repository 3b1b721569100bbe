"""What the operator lets a motion be: the limits while nobody says anything, and how far others may loosen them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

from llm_planner.control.formulation import Weights
from llm_planner.control.patches import Patch
from llm_planner.control.zones import LARGEST, Zone
from llm_planner.errors import InputError

WEIGHTS = tuple(weight.name for weight in fields(Weights) if weight.name != "decay")

MOST_FACTOR = 5.0  # of a weight: up to it plans keep speed limits and zones, whatever the weights jump to


@dataclass(frozen=True)
class Ramps:
    """How fast what is in force moves to what is wanted, so that a moving robot can follow."""

    speed_falls: float = 2.5  # [m/s^2] well under what an arm's joints can do at the fingertips, as the next
    speed_rises: float = 1.0
    share_falls: float = 4.0  # [1/s]
    share_rises: float = 1.0
    clearance_grows: float = 0.2  # [m/s] at most; it shrinks at once, for nothing has to move for that
    clearance_quickens: float = 1.0  # [m/s^2] of that growth, which begins at a stand

    def __post_init__(self) -> None:
        for ramp in fields(self):
            value = getattr(self, ramp.name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"the ramp {ramp.name} must be a positive number, not {value}")


@dataclass(frozen=True)
class Envelope:
    """The operator's word: no patch leads beyond it.

    `speed` [m/s], `joint_share` and `clearance` [m] hold while no patch speaks of them; a patch may loosen them up to
    `largest_speed` and `largest_share`, and down to `least_clearance`. `zones` always hold. `weights` has the least and
    the largest factor of each weight that may be changed. `acceleration` is the share of the robot's accelerations that
    the controller plans with at most. Raises InputError.
    """

    speed: float = math.inf
    largest_speed: float = math.inf
    joint_share: float = 1.0
    largest_share: float = 1.0
    clearance: float = 0.0
    least_clearance: float = 0.0
    acceleration: float = 1.0
    zones: tuple[Zone, ...] = ()
    weights: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    ramps: Ramps = field(default_factory=Ramps)

    def __post_init__(self) -> None:
        if not 0 < self.speed <= self.largest_speed:
            raise InputError(
                f"the speed must be positive and at most the largest, {self.largest_speed:g} m/s, not {self.speed:g}"
            )
        if not 0 < self.joint_share <= self.largest_share <= 1:
            raise InputError(
                f"the joint_share must be positive and at most the largest, which is at most 1, not "
                f"{self.joint_share:g} and {self.largest_share:g}"
            )
        if not 0 <= self.least_clearance <= self.clearance <= LARGEST:
            raise InputError(
                f"the clearance must lie between the least, {self.least_clearance:g} m, and {LARGEST:g} m, not "
                f"{self.clearance:g} m"
            )
        if not 0 < self.acceleration <= 1:
            raise InputError(f"the share of the accelerations must lie in (0, 1], not {self.acceleration:g}")
        for name, (least, largest) in self.weights.items():
            if name not in WEIGHTS:
                raise InputError(f"there is no weight {name!r}; choose from: {', '.join(WEIGHTS)}")
            if not 1 / MOST_FACTOR <= least <= 1 <= largest <= MOST_FACTOR:
                raise InputError(
                    f"the factors of the weight {name!r} must enclose 1 and lie between {1 / MOST_FACTOR:g} and "
                    f"{MOST_FACTOR:g}, beyond which the task outweighs speed limits; not [{least:g}, {largest:g}]"
                )

    def clipped(self, patch: Patch) -> tuple[Patch, str]:
        """`patch` without what leads out of the envelope, which is told in words; "" where nothing does.

        What it tightens stays as it is: a rule that would loosen a speed still has its zones.
        """
        told = []
        speed, joint_share, clearance = patch.speed, patch.joint_share, patch.clearance
        if speed is not None and speed > self.largest_speed:
            told.append(f"{speed:g} m/s is more than the {self.largest_speed:g} m/s that the operator allows")
            speed = self.largest_speed
        if joint_share is not None and joint_share > self.largest_share:
            told.append(f"a joint share of {joint_share:g} is more than the operator's {self.largest_share:g}")
            joint_share = self.largest_share
        if clearance is not None and clearance < self.least_clearance:
            told.append(f"a clearance of {clearance:g} m is less than the operator's {self.least_clearance:g} m")
            clearance = self.least_clearance
        weights, told_of_weights = self._clipped_weights(patch.weights)
        told += told_of_weights
        if not told:
            return patch, ""
        clipped = replace(patch, speed=speed, joint_share=joint_share, clearance=clearance, weights=weights)
        return clipped, "; ".join(told)

    def _clipped_weights(self, factors: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
        weights, told = {}, []
        for name, factor in factors.items():
            if name not in self.weights:
                listing = ", ".join(self.weights) or "none"
                told.append(f"the weight {name!r} may not be changed; the operator allows: {listing}")
                continue
            least, largest = self.weights[name]
            weights[name] = min(max(factor, least), largest)
            if weights[name] != factor:
                told.append(f"the weight {name!r} may be multiplied by {least:g} to {largest:g}, not {factor:g}")
        return weights, told


FROM_THE_ROBOT = Envelope()  # where an operator gave none: the robot's own limits are all there is
