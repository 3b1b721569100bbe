"""Reads the operator's envelope from its file, strictly: what is misspelt must not silently lift a limit.

speed: {default: 0.5, largest: 1.0}       # [m/s]; every key may be left out: then only the robot's own limits hold
joint_share: {default: 1.0, largest: 1.0}
clearance: {default: 0.02, least: 0.01}   # [m]
acceleration: 0.6
weights: {position: [0.2, 5.0]}
zones:
  - {name: the operator's place, shape: box, size: [0.3, 0.5, 1.0], position: [-0.8, 0.0, 0.5], clearance: 0.1}
ramps: {speed_falls: 2.5}
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from pathlib import Path

from llm_planner.control.envelope import WEIGHTS, Envelope, Ramps
from llm_planner.control.zones import Shape, Subject, Zone
from llm_planner.errors import InputError
from llm_planner.privileges.strict_yaml import Entry, read_strict
from llm_planner.world.scene import Pose

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
