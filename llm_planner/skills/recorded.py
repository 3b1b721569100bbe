"""Skills that replay a recorded hand motion, and helpers for motions that were not planned here.

A recording is a JSON file with the poses of the downward-pointing hand relative to an object or to the base:

{"frame": "object",                   parameter whose object is the frame, or "base"
 "dt": 0.1,                           [s] between moments
 "moments": [[0.0, 0.01, 0.1, 0.0, 0.08], ...]}

Each moment is x, y, z [m], yaw [rad] in that frame and the distance between the fingertips [m]. `check_way`, `timed`
and `until_shown` check, time and conclude motions that were recorded or come from a policy server.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmShape
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import SLOWER, Arm, Script, hanging
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import Arguments, Skill, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.footprints import footprint, turned
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, grip_of
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.paths import MotionPath, Planner, SkillCall, along
from llm_planner.skills.skill_code import Mover

if TYPE_CHECKING:
    from llm_planner.skills.episode import Episode


BASE, ORIGIN = "base", HandPose(0.0, 0.0, 0.0, 0.0)
DT_MAX, HUGE = 1.0, 1e6  # [s]
WIDEST = DEFAULT_HAND.widest  # [m] of the widths in a file; a gripper that opens less stops there
_KEYS = ("frame", "dt", "moments")
_MOMENT = "x, y, z [m], yaw [rad], width [m]"


@dataclass(frozen=True)
class HandRecording:
    """Recorded motion: `grips` in a frame and finger `widths` [m], one every `dt` s.

    `frame` is the parameter that names the object of the frame, or BASE.
    """

    frame: str
    dt: float
    grips: tuple[HandPose, ...]
    widths: tuple[float, ...]

    def write(self, path: Path) -> None:
        """Write the recording to `path`, in the format of `read_recording`."""
        moments = [
            [round(value, 5) for value in (grip.x, grip.y, grip.z, grip.yaw, width)]
            for grip, width in zip(self.grips, self.widths, strict=True)
        ]
        rows = ",\n  ".join(map(json.dumps, moments))
        text = f'{{"frame": {json.dumps(self.frame)}, "dt": {self.dt:g}, "moments": [\n  {rows}\n]}}\n'
        path.write_text(text, encoding="utf-8")


def read_recording(path: Path, frames: Collection[str]) -> HandRecording:
    """Read the recording in `path`; raises InputError if it is invalid or its frame is not one of `frames` or BASE."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(table, dict) or sorted(table) != sorted(_KEYS):
        raise InputError(f"{path}: a recording is a table with the keys {', '.join(_KEYS)}")
    frame, dt, moments = (table[key] for key in _KEYS)
    if frame not in (*frames, BASE):
        raise InputError(f"{path}: frame is {frame!r}; it may be: {', '.join((*frames, BASE))}")
    if not is_number(dt) or not 0.0 < dt <= DT_MAX:
        raise InputError(f"{path}: dt is {dt!r}; it must be above 0 and at most {DT_MAX:g} s")
    if not isinstance(moments, list) or not moments:
        raise InputError(f"{path}: moments must be a list with at least one moment: {_MOMENT}")
    for number, moment in enumerate(moments):
        if not isinstance(moment, list) or len(moment) != 5 or not all(map(is_number, moment)):
            raise InputError(f"{path}: moment {number} is {moment!r}; it must be five finite numbers: {_MOMENT}")
        if not 0.0 <= moment[4] <= WIDEST:
            raise InputError(f"{path}: the width of moment {number} is {moment[4]:g} m, not within 0 and {WIDEST:g}")
    return HandRecording(
        frame, dt, tuple(HandPose(*row[:4]) for row in moments), tuple(float(row[4]) for row in moments)
    )


def anchor_at(item: SceneObject) -> HandPose:
    """Return the frame of an object, with the half turn that faces away from the base.

    The frame of a round object also faces away from the base.
    """
    x, y, z = item.position
    shape = footprint(item)
    return HandPose(x, y, z, math.atan2(y, x) if shape.round else comfortable_yaw(x, y, shape.yaw))


def placed(anchor: HandPose, seen: HandPose) -> HandPose:
    """Return the grip `seen` from `anchor` in the base frame."""
    dx, dy = turned((seen.x, seen.y), anchor.yaw)
    return HandPose(anchor.x + dx, anchor.y + dy, anchor.z + seen.z, anchor.yaw + seen.yaw)


def seen_from(anchor: HandPose, grip: HandPose) -> HandPose:
    """Return a grip relative to `anchor`: the inverse of `placed`."""
    x, y = turned((grip.x - anchor.x, grip.y - anchor.y), -anchor.yaw)
    return HandPose(x, y, grip.z - anchor.z, grip.yaw - anchor.yaw)


def is_number(value: object) -> bool:
    """Return whether a value of a JSON file is a number, neither infinite nor NaN, which compares false."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < HUGE


BEYOND = 0.005  # [m] tolerance of the reach check


def check_way(grips: Sequence[HandPose], shape: ArmShape, zones: tuple[Zone, ...], what: str) -> None:
    """Raise SkillError if a path leaves the reach of `shape` (UNREACHABLE) or enters a zone.

    `what` names the source of the path in the message.
    """
    for grip in grips:
        radius, (nearest, farthest) = shape.radius(grip.x, grip.y), shape.radius_range(grip.z)
        if not (nearest - BEYOND <= radius <= farthest + BEYOND and 0.0 <= grip.z <= shape.heights.highest):
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
    grips: Sequence[HandPose], widths: Sequence[float], dt: float, limit: float
) -> tuple[tuple[Pose, ...], tuple[float, ...]]:
    """Resample grips and widths [m], one every `dt` s, to poses T_base_gripper and widths every `PATH_DT` s.

    The start is left out. Parts faster than `limit` [m/s] are stretched in time.
    """
    places = np.array([(grip.x, grip.y, grip.z, grip.yaw) for grip in grips])
    places[:, 3] = np.unwrap(places[:, 3])
    steps = [max(dt, math.dist(a[:3], b[:3]) / limit) for a, b in pairwise(places.tolist())]
    times = np.concatenate([[0.0], np.cumsum(steps)])
    moments = PATH_DT * np.arange(1, max(1, math.ceil(times[-1] / PATH_DT - 1e-9)) + 1)
    rows = np.stack([np.interp(moments, times, column) for column in (*places.T, widths)], axis=1).tolist()
    return tuple(HandPose(*row[:4]).pose() for row in rows), tuple(row[4] for row in rows)


SHOWN_WITHIN = 1.0  # [s]

Achieved = Callable[[Arguments, Observation, Observation], bool]  # arguments, first, last observation


def until_shown(arm: Arm, arguments: Arguments, achieved: Achieved, what: str) -> Script:
    """Hold still until the effect is achieved; raises SkillError (EFFECT_MISSING), in the name of `what`, otherwise."""
    ended = arm.observation.time
    while not achieved(arguments, arm.began, arm.observation):
        if arm.observation.time - ended > SHOWN_WITHIN:
            message = f"{what} has ended, but the scene does not show its effect"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        yield arm.hold()


def replaying(recording: HandRecording, achieved: Achieved) -> Mover:
    """Return the script that replays `recording` relative to the current pose of its object.

    The script raises SkillError before it moves if the recording leaves the reach (UNREACHABLE) or enters a zone
    (NO_FREE_SPACE), and at the end if the scene does not show what is to be `achieved` (EFFECT_MISSING).
    """

    def replay(arm: Arm, arguments: Arguments) -> Script:
        frame = recording.frame
        anchor = ORIGIN if frame == BASE else anchor_at(arm.find(str(arguments[frame])))
        grips = [placed(anchor, grip) for grip in recording.grips]
        check_way(grips, arm.shape, arm.observation.zones, "the recording")
        yield from _approach(arm, grips[0], recording.widths[0])
        limit = SLOWER * arm.observation.path_speed
        poses, widths = timed(grips, recording.widths, recording.dt, limit)
        arm.grip = grips[-1]
        yield from arm.follow("replay", poses, widths, stop_early=True)
        yield from until_shown(arm, arguments, achieved, "the recording")

    return replay


def recorded_plan(path: Path, frames: tuple[str, ...]) -> Planner:
    """Return the plan of the recording in `path`: its poses, relative to where its object is."""
    recording = read_recording(path, frames)

    def plan(call: SkillCall) -> MotionPath:
        name = "" if recording.frame == BASE else str(call.arguments[recording.frame])
        anchor = anchor_at(call.before.find(name)) if name else ORIGIN
        return along(call, [placed(anchor, grip) for grip in recording.grips])

    return plan


def _approach(arm: Arm, first: HandPose, width: float) -> Script:
    held = arm.scene.held
    if not held:
        arm.width = width
    cruise = arm.cruise_height(hanging(arm, held) if held else 0.0, ignore=held)
    yield from arm.move("approach", arm.travel(first, cruise))


def written_down(skill: Skill, arguments: Arguments, episode: Episode, frame: str) -> HandRecording:
    """Run a skill in the episode and record the hand motion, relative to `frame` at its start.

    `frame` is a parameter that names an object, or "base". Raises InputError if the skill fails.
    """
    began = episode.observe()
    run = _WrittenRun(skill.start(arguments, began))
    result = None
    while result is None:
        result = episode.advance(run, episode.observe())
    if result.code is not SkillErrorCode.SUCCEEDED:
        raise InputError(f"{skill.name} failed, so it cannot be recorded: {result.message}")
    anchor = ORIGIN if frame == BASE else anchor_at(began.scene.find(str(arguments[frame])))
    grips = tuple(seen_from(anchor, grip) for grip in run.grips)
    return HandRecording(frame, episode.settings.skill_period, grips, tuple(run.widths))


class _WrittenRun:
    def __init__(self, run: SkillRun) -> None:
        self._run = run
        self.grips: list[HandPose] = []
        self.widths: list[float] = []

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        outcome = self._run.step(observation)
        if isinstance(outcome, MotionReference):
            self.grips.append(grip_of(outcome.poses[0]))
            self.widths.append(outcome.gripper_width)
        return outcome
