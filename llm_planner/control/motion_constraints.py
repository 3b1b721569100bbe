"""Motion constraints that the MPC and the safety filter enforce, and the patches that change them.

A patch changes limits, zones, clearances and cost weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.errors import InputError
from llm_planner.scene.zones import LARGEST, Zone


@dataclass(frozen=True)
class MotionConstraints:
    """Constraints in force, in addition to the robot's own limits.

    Attributes:
        speed: Limit for the gripper point, or for the centre of a mobile base [m/s].
        joint_share: Factor in (0, 1] on the controller's joint velocity limits.
        zones: Zones to keep out of.
        version: Counter that increases with every change, including each step of a ramp.
        weights: Factors on the controller's cost weights, by name.

    Raises:
        InputError: The speed is not positive, or the joint share lies outside (0, 1].
    """

    speed: float = math.inf
    joint_share: float = 1.0
    zones: tuple[Zone, ...] = ()
    version: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise InputError(f"a speed limit must be positive, not {self.speed} m/s; to stand still, stop the robot")
        if not 0 < self.joint_share <= 1:
            raise InputError(f"joint_share must lie in (0, 1], not {self.joint_share}")


FREE = MotionConstraints()

MOST_ZONES = 32  # in one patch
MOST_WEIGHTS = 16  # in one patch
MOST_LETTERS = 1000  # in the name of a source
LIMITS = ("speed", "joint_share", "clearance")


@dataclass(frozen=True)
class Patch:
    """Constraints requested by one source; they replace the source's earlier patch.

    A patch without any constraint withdraws the earlier one.

    Attributes:
        source: Name of the source. The same name under two publishers denotes two sources.
        stamp: Time from which the patch is in force [s].
        expires: Time at which the patch expires [s].
        epoch: Run of the source; it increases with each new run.
        speed: Limit for the gripper point, or for the centre of a mobile base [m/s]; None leaves it alone.
        joint_share: Factor in (0, 1] on the joint velocity limits; None leaves it alone.
        clearance: Least distance from every zone in force [m]; None leaves it alone.
        zones: Zones to keep out of.
        weights: Factors on the controller's cost weights, by name.

    Raises:
        InputError: A value is outside its range.
    """

    source: str
    stamp: float
    expires: float
    epoch: int = 0
    speed: float | None = None
    joint_share: float | None = None
    clearance: float | None = None
    zones: tuple[Zone, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.source.strip():
            raise InputError("a patch needs a source: words that say who wants it, such as 'the rule about the vase'")
        if len(self.source) > MOST_LETTERS:
            beginning = f"{self.source[:20]!r}…"
            raise InputError(f"a patch needs a source of at most {MOST_LETTERS} letters, not {beginning}")
        if not (math.isfinite(self.stamp) and math.isfinite(self.expires) and self.expires > self.stamp):
            raise self._wrong("must expire after its stamp, both finite times in s", f"{self.stamp}, {self.expires}")
        if self.epoch < 0:
            raise self._wrong("needs an epoch of 0 or more", self.epoch)
        if self.speed is not None and not (math.isfinite(self.speed) and self.speed > 0):
            raise self._wrong("needs a positive speed in m/s (to stand still, stop the robot)", self.speed)
        if self.joint_share is not None and not 0 < self.joint_share <= 1:
            raise self._wrong("needs a joint_share in (0, 1]", self.joint_share)
        if self.clearance is not None and not 0 <= self.clearance <= LARGEST:
            raise self._wrong(f"needs a clearance between 0 and {LARGEST:g} m", self.clearance)
        if len(self.zones) > MOST_ZONES or len(self.weights) > MOST_WEIGHTS:
            counts = f"{len(self.zones)} and {len(self.weights)}"
            raise self._wrong(f"may hold at most {MOST_ZONES} zones and {MOST_WEIGHTS} weights", counts)
        for name, factor in self.weights.items():
            if not (math.isfinite(factor) and factor > 0):
                raise self._wrong(f"needs a positive factor for the weight {name!r}", factor)

    @property
    def says_nothing(self) -> bool:
        """Whether the patch has no constraint and so withdraws the earlier one."""
        quantities = (self.speed, self.joint_share, self.clearance)
        return all(quantity is None for quantity in quantities) and not self.zones and not self.weights

    def _wrong(self, what: str, value: object) -> InputError:
        return InputError(f"the patch of {self.source!r} {what}, not {value}")


@dataclass(frozen=True)
class InvalidParts:
    """Invalid limits and zones of a message, by name, which its patch therefore lacks.

    `told` describes each error, and errors in parts that limit nothing, such as weights.
    """

    limits: frozenset[str] = frozenset()  # subset of LIMITS
    zones: frozenset[str] = frozenset()
    told: tuple[str, ...] = ()

    def filled(self, patch: Patch, earlier: Patch | None) -> Patch:
        """Fill the invalid parts of `patch` from `earlier`, of the same source, so that errors withdraw nothing."""
        if earlier is None or not (self.limits or self.zones):
            return patch
        kept = tuple(zone for zone in earlier.zones if zone.name in self.zones)
        limits = {name: getattr(earlier, name) for name in self.limits}
        return replace(patch, zones=(*patch.zones, *kept)[:MOST_ZONES], **limits)


ALL_READ = InvalidParts()
