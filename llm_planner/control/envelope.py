"""Operator's envelope: default motion limits, and how far patches may loosen them.

`read_envelope` reads it strictly from a file, so that a misspelt key cannot silently lift a limit. `joined` merges the
patches of surplus sources into one patch of bounded size.

speed: {default: 0.5, largest: 1.0}       # [m/s]; without a key only the robot's own limit holds
joint_share: {default: 1.0, largest: 1.0}
clearance: {default: 0.02, least: 0.01}   # [m]
acceleration: 0.6
weights: {position: [0.2, 5.0]}
zones:
  - {name: the operator's place, shape: box, size: [0.3, 0.5, 1.0], position: [-0.8, 0.0, 0.5], clearance: 0.1}
ramps: {speed_falls: 2.5}
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType

from llm_planner.control.formulation import Weights
from llm_planner.control.motion_constraints import MOST_ZONES, Patch
from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import LARGEST, Shape, Subject, Zone
from llm_planner.strict_yaml import Entry, read_strict

WEIGHTS = tuple(weight.name for weight in fields(Weights) if weight.name != "decay")

MOST_FACTOR = 5.0  # on a weight: up to it plans keep speed limits and zones, however the weights change


@dataclass(frozen=True)
class Ramps:
    """Rates at which the constraints in force approach their targets, so that a moving robot can follow."""

    speed_falls: float = 2.5  # [m/s^2] like the next, far below the abilities of an arm at its fingertips
    speed_rises: float = 1.0  # [m/s^2]
    share_falls: float = 4.0  # [1/s]
    share_rises: float = 1.0  # [1/s]
    clearance_grows: float = 0.2  # [m/s] at most; clearances shrink at once, because the robot need not move for that
    clearance_quickens: float = 1.0  # [m/s^2] of that growth, which begins at zero speed

    def __post_init__(self) -> None:
        for ramp in fields(self):
            value = getattr(self, ramp.name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"the ramp {ramp.name} must be a positive number, not {value}")


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

_KEYS = ("speed", "joint_share", "clearance", "acceleration", "weights", "zones", "ramps")
_PAIRS = {  # fields of the envelope for each key of the file
    "speed": {"default": "speed", "largest": "largest_speed"},
    "joint_share": {"default": "joint_share", "largest": "largest_share"},
    "clearance": {"default": "clearance", "least": "least_clearance"},
}
_RAMPS = tuple(ramp.name for ramp in fields(Ramps))
_ZONE_KEYS = ("name", "shape", "size", "position", "orientation", "clearance", "subject")
_NEEDED = _ZONE_KEYS[:4]
_SHAPES = {shape.value: shape for shape in Shape}
_SUBJECTS = {subject.value: subject for subject in Subject}


def read_envelope(path: Path) -> Envelope:
    """Read an envelope from the file `path`.

    Raises:
        InputError: The file is invalid. The message names the file, line, key, value and valid choices.
    """
    return envelope_of(read_strict(path))


def envelope_of(document: Entry) -> Envelope:
    """Parse an envelope from `document`; raises the errors of `read_envelope`."""
    table = document.table(_KEYS)
    numbers = {
        name: value for key, names in _PAIRS.items() if key in table for name, value in _pair(table[key], names).items()
    }
    if "acceleration" in table:
        numbers["acceleration"] = table["acceleration"].number()
    zones = tuple(map(_zone, table["zones"].items())) if "zones" in table else ()
    names = [zone.name for zone in zones]
    for entry, name in zip(table["zones"].items() if zones else (), names, strict=True):
        if names.count(name) > 1:
            entry.wrong(f"has the name {name!r}, as another zone has; give each its own")
    weights = {name: _range(entry) for name, entry in _optional(table, "weights", WEIGHTS).items()}
    ramps = {name: entry.number() for name, entry in _optional(table, "ramps", _RAMPS).items()}
    try:
        return Envelope(**numbers, zones=zones, weights=weights, ramps=Ramps(**ramps))
    except InputError as error:
        raise InputError(f"{document.file}: {error}") from error


def _optional(table: dict[str, Entry], key: str, keys: Collection[str]) -> dict[str, Entry]:
    return table[key].table(keys) if key in table else {}


def _pair(entry: Entry, names: dict[str, str]) -> dict[str, float]:
    """Parse a default and its bound; both are required, because without a bound any patch could lift the default."""
    table = entry.table(tuple(names))
    missing = [key for key in names if key not in table]
    if missing:
        entry.wrong(f"has no {' and no '.join(missing)}; give both or leave {entry.key} out")
    return {name: table[key].number() for key, name in names.items()}


def _range(entry: Entry) -> tuple[float, float]:
    numbers = _numbers(entry, 2)
    return numbers[0], numbers[1]


def _numbers(entry: Entry, *counts: int) -> tuple[float, ...]:
    numbers = tuple(item.number() for item in entry.items())
    if len(numbers) not in counts:
        entry.wrong(f"must be a list of {' or '.join(map(str, counts))} numbers, not {len(numbers)}")
    return numbers


def _zone(entry: Entry) -> Zone:
    table = entry.table(_ZONE_KEYS)
    for key in _NEEDED:
        if key not in table:
            entry.wrong(f"has no {key}; a zone needs: {', '.join(_NEEDED)}")
    x, y, z = _numbers(table["position"], 3)
    turn = _numbers(table["orientation"], 4) if "orientation" in table else (0.0, 0.0, 0.0, 1.0)
    pose = Pose((x, y, z), (turn[0], turn[1], turn[2], turn[3]))
    try:
        return Zone(
            table["name"].text(),
            _SHAPES[table["shape"].choice(_SHAPES)],
            _numbers(table["size"], 1, 2, 3),
            pose,
            table["clearance"].number() if "clearance" in table else 0.0,
            _SUBJECTS[table["subject"].choice(_SUBJECTS)] if "subject" in table else Subject.ROBOT,
        )
    except InputError as error:
        if str(error).startswith(f"{entry.file}, line"):
            raise
        raise InputError(f"{entry.file}, line {entry.line}: {error}") from error


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
