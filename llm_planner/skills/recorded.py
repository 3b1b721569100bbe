"""Skills that repeat a motion which was written down: a safe way to where it begins, then as it was, then a look.

A motion of the hand that was written down, as seen from a thing or from the robot's base, and its file.

{"frame": "object",                   the parameter whose thing it is seen from, or "base"
 "dt": 0.1,                           [s] from one moment to the next
 "moments": [[0.0, 0.01, 0.1, 0.0, 0.08], ...]}

A moment is where the hand, which points down, is to be: x, y, z [m], yaw [rad] in that frame, and how far apart its
fingertips are [m].

Ways of the hand that were not planned here, but recorded or asked for by a server: whether and how it goes them.

The end of a motion that nobody here planned: the scene has to show what the skill promises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Pose, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import SLOWER, Arm, Script, hanging
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import OPENING_MAX, TIP, Grip, comfortable_yaw, footprint, radius_range
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.scripts import ScriptFunction

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


BEYOND = 0.005  # [m] out of reach that counts as within
LOWEST, HIGHEST = 0.0, 0.6  # [m] of the grip point over the table


def check_way(grips: Sequence[Grip], zones: tuple[Zone, ...], what: str) -> None:
    """Raises SkillError, which says `what` leads there, for a way out of the arm's reach or into one of the zones."""
    for grip in grips:
        radius, (nearest, farthest) = math.hypot(grip.x, grip.y), radius_range(grip.z)
        if not (nearest - BEYOND <= radius <= farthest + BEYOND and LOWEST <= grip.z <= HIGHEST):
            raise SkillError(
                SkillErrorCode.UNREACHABLE,
                f"{what} leads out of the arm's reach, to ({grip.x:.2f}, {grip.y:.2f}, {grip.z:.2f})",
            )
    for start, end in pairwise([grips[0], *grips]):
        try:
            check_line(start, end, zones)
        except SkillError as refusal:
            raise SkillError(refusal.code, f"{what} leads where the hand may not be: {refusal}") from refusal


def timed(
    grips: Sequence[Grip], widths: Sequence[float], dt: float, limit: float
) -> tuple[tuple[Pose, ...], tuple[float, ...]]:
    """Poses and widths [m] each `PATH_DT` s of a hand that is to be at a grip each `dt` s, from the first on.

    It takes longer where it would be faster than `limit` [m/s].
    """
    places = np.array([(grip.x, grip.y, grip.z, grip.yaw) for grip in grips])
    places[:, 3] = np.unwrap(places[:, 3])
    steps = [max(dt, math.dist(a[:3], b[:3]) / limit) for a, b in pairwise(places.tolist())]
    times = np.concatenate([[0.0], np.cumsum(steps)])
    moments = PATH_DT * np.arange(1, max(1, math.ceil(times[-1] / PATH_DT - 1e-9)) + 1)
    rows = np.stack([np.interp(moments, times, column) for column in (*places.T, widths)], axis=1).tolist()
    return tuple(Grip(*row[:4]).pose() for row in rows), tuple(row[4] for row in rows)


SHOWN_WITHIN = 1.0  # [s]

Achieved = Callable[[Mapping[str, Argument], Observation, Observation], bool]  # of arguments, when it began, and now


def until_shown(arm: Arm, arguments: Mapping[str, Argument], achieved: Achieved, what: str) -> Script:
    """Hold still until it is achieved; raises SkillError (EFFECT_MISSING), which says `what` has ended, otherwise."""
    ended = arm.observation.time
    while not achieved(arguments, arm.began, arm.observation):
        if arm.observation.time - ended > SHOWN_WITHIN:
            message = f"{what} has ended, but the scene does not show its effect"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        yield arm.hold()


def replaying(recording: HandRecording, achieved: Achieved) -> ScriptFunction:
    """The script that repeats the recording where its thing is when it begins.

    It fails (EFFECT_MISSING) unless the scene then shows what is to be `achieved`, and before anything moves where the
    recording leads out of reach (UNREACHABLE) or into a zone (NO_FREE_SPACE).
    """

    def replay(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
        frame = recording.frame
        anchor = ORIGIN if frame == BASE else anchor_at(arm.find(str(arguments[frame])))
        grips = [placed(anchor, grip) for grip in recording.grips]
        check_way(grips, arm.observation.zones, "the recording")
        yield from _approach(arm, grips[0], recording.widths[0])
        limit = SLOWER * arm.observation.path_speed
        poses, widths = timed(grips, recording.widths, recording.dt, limit)
        arm.grip = grips[-1]
        yield from arm.follow("replay", poses, widths, stop_early=True)
        yield from until_shown(arm, arguments, achieved, "the recording")

    return replay


def _approach(arm: Arm, first: Grip, width: float) -> Script:
    held = arm.scene.held
    if not held:
        arm.width = width
    cruise = arm.cruise_height(hanging(arm, held) if held else TIP, ignore=held)
    yield from arm.move("approach", arm.travel(first, cruise))
