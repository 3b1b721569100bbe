"""Operator's envelope: default motion limits, and how far patches may loosen them.

`read_envelope` reads it strictly from a file, so that a misspelt key cannot silently lift a limit. `joined` merges the
patches of surplus sources into one patch of bounded size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from llm_planner.control.formulation import Weights
from llm_planner.control.motion_constraints import MOST_ZONES, Patch
from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import LARGEST, Shape, Subject, Zone
from llm_planner.strict_yaml import Among, FileModel, LocatedError, Positive, Text, at, read_file

WEIGHTS = tuple(weight.name for weight in fields(Weights) if weight.name != "decay")

MOST_FACTOR = 5.0  # on a weight: up to it plans keep speed limits and zones, however the weights change


class Ramps(FileModel):
    """Rates at which the constraints in force approach their targets, so that a moving robot can follow."""

    speed_falls: Positive = Field(
        default=2.5, description="[m/s^2] like the next, far below the abilities of an arm's fingertips"
    )
    speed_rises: Positive = Field(default=1.0, description="[m/s^2]")
    share_falls: Positive = Field(default=4.0, description="[1/s]")
    share_rises: Positive = Field(default=1.0, description="[1/s]")
    clearance_grows: Positive = Field(default=0.2, description="[m/s] at most; clearances shrink at once")
    clearance_quickens: Positive = Field(default=1.0, description="[m/s^2] of that growth, which begins at zero speed")


@dataclass(frozen=True)
class Envelope:
    """Limits of the operator, which no patch can exceed.

    `speed` [m/s], `joint_share` and `clearance` [m] are defaults while no patch sets them. A patch may loosen them up
    to `largest_speed` and `largest_share`, and down to `least_clearance`. `zones` always hold. `weights` has the least
    and the largest factor of each weight that patches may change. `acceleration` is the largest share of the robot's
    acceleration limits that the controller plans with.

    Raises:
        InputError: A limit is outside its range, or a weight is unknown.
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
        """Clip `patch` to the envelope.

        Returns:
            The clipped patch, with its tightening parts unchanged, and a description of the clipped parts ("" if none).
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


FROM_THE_ROBOT = Envelope()  # without an operator's envelope only the robot's own limits hold

Factors = Annotated[tuple[float, float], Field(description="least and largest factor")]


class LimitEntry(FileModel):
    """Limit and its bound; both are required, because without a bound any patch could lift the limit."""

    default: float = Field(description="limit while no patch sets one")
    largest: float = Field(description="limit that patches may loosen it to")


class ClearanceEntry(FileModel):
    """Clearance from every zone and its bound, both required."""

    default: float = Field(description="clearance while no patch sets one [m]")
    least: float = Field(description="clearance that patches may loosen it to [m]")


class ZoneEntry(FileModel):
    """Solid that every motion keeps out of, in the frame of the arm's base or of the map."""

    name: Text
    shape: Annotated[Shape, Field(strict=False)]
    size: tuple[float, ...] = Field(
        description="sphere [radius], capsule [radius, half length], cylinder [radius, half height] or "
        "box [half x, half y, half z] [m]"
    )
    position: tuple[float, float, float] = Field(description="centre [m]")
    orientation: tuple[float, float, float, float] = Field((0.0, 0.0, 0.0, 1.0), description="quaternion [x, y, z, w]")
    clearance: float = Field(0.0, description="distance that is kept from the solid [m]")
    subject: Annotated[Subject, Field(strict=False)] = Field(
        Subject.ROBOT, description="robot (every link) or gripper (the point between the fingertips)"
    )


class EnvelopeFile(FileModel):
    """Upper limits of every motion. Without a key only the robot's own limit holds.

    The node parameter `envelope` takes the path. Patches that tighten are always accepted, those that loosen up to the
    bounds of this file; of all patches in force the strictest counts.
    """

    speed: LimitEntry | None = Field(None, description="of the fingertips or of a mobile base [m/s]")
    joint_share: LimitEntry | None = Field(None, description="share of the joint speed limits, at most 1")
    clearance: ClearanceEntry | None = None
    acceleration: float = Field(1.0, description="share of the robot's acceleration limits, above 0 and at most 1")
    weights: dict[Annotated[str, Among(WEIGHTS)], Factors] = Field(
        {}, description="weights of the controller's cost that patches may change, with factors in [0.2, 5]"
    )
    zones: tuple[ZoneEntry, ...] = ()
    ramps: Ramps = Field(default_factory=Ramps)


def read_envelope(path: Path) -> Envelope:
    """Read an envelope from the file `path`.

    Raises:
        InputError: The file is invalid. The message names the file, line, key, value and valid choices.
    """
    return read_file(path, EnvelopeFile, envelope_of)


def envelope_of(content: EnvelopeFile) -> Envelope:
    """Build the envelope that `content` describes; raises InputError for values that do not fit together."""
    numbers = {"acceleration": content.acceleration}
    if content.speed:
        numbers |= {"speed": content.speed.default, "largest_speed": content.speed.largest}
    if content.joint_share:
        numbers |= {"joint_share": content.joint_share.default, "largest_share": content.joint_share.largest}
    if content.clearance:
        numbers |= {"clearance": content.clearance.default, "least_clearance": content.clearance.least}
    zones: dict[str, Zone] = {}
    for k, entry in enumerate(content.zones):
        with at("zones", k):
            if entry.name in zones:
                raise LocatedError(f"has the name {entry.name!r}, as another zone has; give each its own")
            pose = Pose(entry.position, entry.orientation)
            zones[entry.name] = Zone(entry.name, entry.shape, entry.size, pose, entry.clearance, entry.subject)
    return Envelope(**numbers, zones=tuple(zones.values()), weights=content.weights, ramps=content.ramps)


CROWD = "more sources than there is room for"
STANDSTILL = 1e-4  # joint share, and speed [m/s], of a robot that has more zones than it can observe


def joined(patches: Sequence[Patch], envelope: Envelope) -> Patch:
    """Merge `patches` into one that is as strict as each of them, loosens nothing, and expires with the last."""
    zones = tuple(dict.fromkeys(zone for patch in patches for zone in patch.zones))
    speeds = [patch.speed for patch in patches if patch.speed is not None]
    shares = [patch.joint_share for patch in patches if patch.joint_share is not None]
    clearances = [patch.clearance for patch in patches if patch.clearance is not None]
    if len(zones) > MOST_ZONES:
        speeds, shares = [STANDSTILL], [STANDSTILL]
    return Patch(
        CROWD,
        max(patch.stamp for patch in patches),
        max(patch.expires for patch in patches),
        speed=min([*speeds, envelope.speed]) if speeds else None,
        joint_share=min([*shares, envelope.joint_share]) if shares else None,
        clearance=max([*clearances, envelope.clearance]) if clearances else None,
        zones=zones[:MOST_ZONES],
    )
