"""What a motion has to keep at one moment, beyond the robot's own limits: what the MPC and the safety filter read.

Changes of what a motion has to keep, one typed value for all: limits, zones, clearances, weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.errors import InputError
from llm_planner.scene.zones import LARGEST, Zone


@dataclass(frozen=True)
class MotionConstraints:
    """The constraints in force; `version` rises with every change, ramps included.

    `speed` [m/s] bounds the gripper point, or the middle of a mobile base; `joint_share` in (0, 1] scales the joint
    velocities that the controller uses; `weights` multiplies weights of its cost, by name. Raises InputError.
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

MOST_ZONES = 32  # of one patch
MOST_WEIGHTS = 16
MOST_LETTERS = 1000  # of a source
LIMITS = ("speed", "joint_share", "clearance")


@dataclass(frozen=True)
class Patch:
    """What `source` wants of every motion from `stamp` to `expires` [s], in place of what it wanted before.

    A source is of the publisher that speaks for it: the same words of two publishers are two sources.

    None says nothing of a quantity; a patch that says nothing at all withdraws what the source wanted. `epoch` rises
    with each new run of the source. `speed` [m/s] bounds the gripper point, or the middle of a mobile base;
    `joint_share` in (0, 1] scales the joint velocities; `clearance` [m] is the least from every zone in force;
    `weights` multiplies weights of the controller's cost, by name. Raises InputError for numbers that nothing can keep.
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
        """Whether it only withdraws."""
        quantities = (self.speed, self.joint_share, self.clearance)
        return all(quantity is None for quantity in quantities) and not self.zones and not self.weights

    def _wrong(self, what: str, value: object) -> InputError:
        return InputError(f"the patch of {self.source!r} {what}, not {value}")


@dataclass(frozen=True)
class Unread:
    """The parts of a message that no motion can keep and that its patch lacks: names of limits and of zones.

    `told` says of each what is wrong with it, and of others that limit nothing, such as weights.
    """

    limits: frozenset[str] = frozenset()  # of LIMITS
    zones: frozenset[str] = frozenset()
    told: tuple[str, ...] = ()

    def filled(self, patch: Patch, earlier: Patch | None) -> Patch:
        """`patch` with these parts as `earlier`, of the same source, had them: a mistake withdraws nothing."""
        if earlier is None or not (self.limits or self.zones):
            return patch
        kept = tuple(zone for zone in earlier.zones if zone.name in self.zones)
        limits = {name: getattr(earlier, name) for name in self.limits}
        return replace(patch, zones=(*patch.zones, *kept)[:MOST_ZONES], **limits)


ALL_READ = Unread()
