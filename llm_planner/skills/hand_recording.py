"""A motion of the hand that was written down, as seen from a thing or from the robot's base, and its file.

{"frame": "object",                   the parameter whose thing it is seen from, or "base"
 "dt": 0.1,                           [s] from one moment to the next
 "moments": [[0.0, 0.01, 0.1, 0.0, 0.08], ...]}

A moment is where the hand, which points down, is to be: x, y, z [m], yaw [rad] in that frame, and how far apart its
fingertips are [m].
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.skills.footprints import footprint
from llm_planner.skills.gripper_shape import OPENING_MAX, Grip, comfortable_yaw
from llm_planner.world.scene import SceneObject

BASE, ORIGIN = "base", Grip(0.0, 0.0, 0.0, 0.0)
DT_MAX, HUGE = 1.0, 1e6  # [s]
_KEYS = ("frame", "dt", "moments")
_MOMENT = "x, y, z [m], yaw [rad], width [m]"


@dataclass(frozen=True)
class HandRecording:
    """`grips` in the frame of the thing that the parameter `frame` names (or BASE) and `widths` [m], each `dt` s."""

    frame: str
    dt: float
    grips: tuple[Grip, ...]
    widths: tuple[float, ...]

    def write(self, path: Path) -> None:
        """As the file `path`, which `read_recording` reads."""
        moments = [
            [round(value, 5) for value in (grip.x, grip.y, grip.z, grip.yaw, width)]
            for grip, width in zip(self.grips, self.widths, strict=True)
        ]
        rows = ",\n  ".join(map(json.dumps, moments))
        text = f'{{"frame": {json.dumps(self.frame)}, "dt": {self.dt:g}, "moments": [\n  {rows}\n]}}\n'
        path.write_text(text, encoding="utf-8")


def read_recording(path: Path, frames: Collection[str]) -> HandRecording:
    """The recording in the file `path`, seen from one of `frames`; raises InputError that says what is wrong."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(table, dict) or sorted(table) != sorted(_KEYS):
        raise InputError(f"{path}: a recording is a table with the keys {', '.join(_KEYS)}")
    frame, dt, moments = (table[key] for key in _KEYS)
    if frame not in (*frames, BASE):
        raise InputError(f"{path}: frame is {frame!r}; it may be: {', '.join((*frames, BASE))}")
    if not _is_number(dt) or not 0.0 < dt <= DT_MAX:
        raise InputError(f"{path}: dt is {dt!r}; it must be above 0 and at most {DT_MAX:g} s")
    if not isinstance(moments, list) or not moments:
        raise InputError(f"{path}: moments must be a list with at least one moment: {_MOMENT}")
    for number, moment in enumerate(moments):
        if not isinstance(moment, list) or len(moment) != 5 or not all(map(_is_number, moment)):
            raise InputError(f"{path}: moment {number} is {moment!r}; it must be five finite numbers: {_MOMENT}")
        if not 0.0 <= moment[4] <= OPENING_MAX:
            raise InputError(
                f"{path}: the width of moment {number} is {moment[4]:g} m, not within 0 and {OPENING_MAX:g}"
            )
    return HandRecording(frame, dt, tuple(Grip(*row[:4]) for row in moments), tuple(float(row[4]) for row in moments))


def anchor_at(item: SceneObject) -> Grip:
    """The frame of a thing: turned as it is, by the half turn that faces away from the base.

    A round thing has no sides; its frame faces away from the base.
    """
    x, y, z = item.position
    shape = footprint(item)
    return Grip(x, y, z, math.atan2(y, x) if shape.round else comfortable_yaw(x, y, shape.yaw))


def placed(anchor: Grip, seen: Grip) -> Grip:
    """In the base frame, what is `seen` from the anchor."""
    c, s = math.cos(anchor.yaw), math.sin(anchor.yaw)
    x, y = anchor.x + c * seen.x - s * seen.y, anchor.y + s * seen.x + c * seen.y
    return Grip(x, y, anchor.z + seen.z, anchor.yaw + seen.yaw)


def seen_from(anchor: Grip, grip: Grip) -> Grip:
    """The inverse of `placed`."""
    dx, dy = grip.x - anchor.x, grip.y - anchor.y
    c, s = math.cos(anchor.yaw), math.sin(anchor.yaw)
    return Grip(c * dx + s * dy, c * dy - s * dx, grip.z - anchor.z, grip.yaw - anchor.yaw)


def _is_number(value: object) -> bool:
    # Neither infinite nor NaN, which is never less.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < HUGE
