"""Skills that repeat a motion which was written down: a safe way to where it begins, then as it was, then a look."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.arm import SLOWER, Arm, Script, hanging
from llm_planner.skills.contract import Argument
from llm_planner.skills.gripper_shape import TIP, Grip
from llm_planner.skills.hand_recording import BASE, ORIGIN, HandRecording, anchor_at, placed
from llm_planner.skills.hand_way import check_way, timed
from llm_planner.skills.scripts import ScriptFunction
from llm_planner.skills.shown import Achieved, until_shown


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
