"""Patches from the network, for a node that has to keep what is in force: the controller, and the safety filter."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path

from llm_planner_interfaces.msg import MotionPatch

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope
from llm_planner.control.envelope_file import read_envelope
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.patch_board import ACCEPTED, Answer, Feasible, PatchBoard
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
        self._now = self._since = math.nan  # the robot's time, and when this node first knew of it
        self._early: deque[MotionPatch] = deque(maxlen=PATCHES.depth)  # came before the time was known
        node.create_subscription(MotionPatch, "motion_patch", self._on_patch, PATCHES)

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """What is in force at `now` [s], the robot's point moving at `moving` [m/s]."""
        if now > self._now + LEAP:
            self.started_over(now)
        if math.isnan(self._now):
            self._since = now
        self._now = now
        while self._early:
            self._offer(self._early.popleft())
        return self.board.at(now, moving)

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`."""
        self._now = self._since = now
        self.board.started_over(now)

    def _on_patch(self, message: MotionPatch) -> None:
        if math.isnan(self._now):
            self._early.append(message)
        else:
            self._offer(message)

    def _offer(self, message: MotionPatch) -> None:
        try:
            answer = self._answer(message)
        except LlmPlannerError as error:
            answer = Answer(False, str(error))
        if not answer.reason:
            return
        told = f"{message.source}: {answer.reason}"
        if told not in self.refused:
            self.refused.append(told)
        how = "not heeded in all" if answer.accepted else "refused"
        self._node.get_logger().warning(
            f"a patch of {message.source!r} is {how}: {answer.reason}", throttle_duration_sec=1.0
        )

    def _answer(self, message: MotionPatch) -> Answer:
        frame = message.header.frame_id
        if message.zones and frame != self._frame:
            return Answer(False, f"its zones are in the frame {frame!r}; those of this robot are in {self._frame!r}")
        patch = patch_from_msg(message)
        if patch.expires <= self._since and not patch.says_nothing:
            return ACCEPTED  # history, which topics keep: it was over before this node could have heeded it
        return self.board.offered(patch, self._now)
