"""What the operator lets a motion be: the limits while nobody says anything, and how far others may loosen them.

Reads the operator's envelope from its file, strictly: what is misspelt must not silently lift a limit.

speed: {default: 0.5, largest: 1.0}       # [m/s]; every key may be left out: then only the robot's own limits hold
joint_share: {default: 1.0, largest: 1.0}
clearance: {default: 0.02, least: 0.01}   # [m]
acceleration: 0.6
weights: {position: [0.2, 5.0]}
zones:
  - {name: the operator's place, shape: box, size: [0.3, 0.5, 1.0], position: [-0.8, 0.0, 0.5], clearance: 0.1}
ramps: {speed_falls: 2.5}

What all sources want for whom there is no place of their own: one patch of a bounded size, as strict as they are.
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

_KEYS = ("speed", "joint_share", "clearance", "acceleration", "weights", "zones", "ramps")
_PAIRS = {  # of the file's keys: the envelope's fields
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
    """The envelope in the file `path`.

    Raises InputError that names the file, the line, the key, the value and the valid choices.
    """
    return envelope_of(read_strict(path))


def envelope_of(document: Entry) -> Envelope:
    """The envelope written in `document`; raises InputError as `read_envelope`."""
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
    """Both or none: a default without its bound would say that anybody may lift it."""
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
STANDSTILL = 1e-4  # of the speeds, and [m/s]: what is told of more zones than it can heed hardly moves any more


def joined(patches: Sequence[Patch], envelope: Envelope) -> Patch:
    """`patches` as one, which tightens as each of them does, loosens nothing, and lasts as long as the last of them."""
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
