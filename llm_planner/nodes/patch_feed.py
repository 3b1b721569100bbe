"""Patches from the network, for a node that has to keep what is in force: the controller, and the safety filter."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path

from llm_planner_interfaces.msg import MotionPatch

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope
from llm_planner.control.envelope_file import read_envelope
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.patch_board import Feasible, PatchBoard
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.motion_messages import patch_from_msg
from llm_planner.nodes.settings import ENVELOPE
from llm_planner.nodes.shell import PATCHES, ShellNode

REFUSALS = 8  # told of at once
LEAP = 5.0  # [s] between two looks, more than which the robot's clock has leapt: nothing expires by that


def envelope_of(node: ShellNode) -> Envelope:
    """What the node's parameter says; raises InputError."""
    file = node.setting(ENVELOPE.name)
    return read_envelope(Path(file).expanduser()) if file else FROM_THE_ROBOT


class PatchFeed:
    """A board that the topic `motion_patch` fills; time is that of the robot's states, which `at` tells."""

    def __init__(self, node: ShellNode, envelope: Envelope, frame: str, feasible: Feasible) -> None:
        self.board = PatchBoard(envelope, feasible)
        self.refused: deque[str] = deque(maxlen=REFUSALS)
        self._node, self._frame = node, frame
        self._now = math.nan
        self._early: deque[MotionPatch] = deque(maxlen=PATCHES.depth)  # came before the time was known
        node.create_subscription(MotionPatch, "motion_patch", self._on_patch, PATCHES)

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """What is in force at `now` [s], the robot's point moving at `moving` [m/s]."""
        if now > self._now + LEAP:
            self.started_over(now)
        self._now = now
        while self._early:
            self._offer(self._early.popleft())
        return self.board.at(now, moving)

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`."""
        self._now = now
        self.board.started_over(now)

    def _on_patch(self, message: MotionPatch) -> None:
        if math.isnan(self._now):
            self._early.append(message)
        else:
            self._offer(message)

    def _offer(self, message: MotionPatch) -> None:
        try:
            reason = self._objection(message)
        except LlmPlannerError as error:
            reason = str(error)
        if reason:
            self.refused.append(f"{message.source}: {reason}")
            self._node.get_logger().warning(
                f"a patch of {message.source!r} is refused: {reason}", throttle_duration_sec=1.0
            )

    def _objection(self, message: MotionPatch) -> str:
        frame = message.header.frame_id
        if message.zones and frame != self._frame:
            return f"its zones are in the frame {frame!r}; those of this robot are in {self._frame!r}"
        return self.board.offered(patch_from_msg(message), self._now).reason
