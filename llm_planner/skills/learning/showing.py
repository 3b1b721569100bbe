"""A demonstration as it is recorded: what the demonstrator saw, and where it then wanted the hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.skills.contract import Argument, Observation, SkillResult, SkillRun
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import grip_of
from llm_planner.skills.learned.actions import STEP
from llm_planner.skills.learned.decision import Decision
from llm_planner.skills.learned.features import View, goal_numbers, observed
from llm_planner.skills.learned.frame import Frame, Place, frame_of
from llm_planner.skills.policies.conditioning import Array


@dataclass
class Piece:
    """Moments that were shown one after the other, undisturbed, in one frame."""

    frame: Frame
    states: list[Array] = field(default_factory=list)
    goals: list[Array] = field(default_factory=list)
    actions: list[tuple[float, ...]] = field(default_factory=list)

    def columns(self) -> dict[str, Array]:
        """As a recording keeps them."""
        tables = {"observation.state": self.states, "action": self.actions}
        if self.goals and len(self.goals[0]):
            tables["observation.goal"] = self.goals
        return {name: np.array(rows, np.float32) for name, rows in tables.items()}


class ShownRun:
    """A demonstrator's run that is written down, piece by piece."""

    def __init__(
        self, run: SkillRun, observe: tuple[str, ...], goal: tuple[str, ...], decision: Decision,
        arguments: Mapping[str, Argument],
    ) -> None:  # fmt: skip
        self._run, self._observe, self._goal, self._decision, self._arguments = run, observe, goal, decision, arguments
        self.pieces: list[Piece] = []

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        outcome = self._run.step(observation)
        if isinstance(outcome, MotionReference):
            try:
                self.write(observation, outcome)
            except SkillError as refusal:  # where to act cannot be decided any more: what it is about fell over
                return SkillResult(refusal.code, str(refusal))
        return outcome

    def write(self, observation: Observation, reference: MotionReference, done: float = 0.0) -> None:
        """One moment; raises SkillError where the demonstrator cannot say any more where to act."""
        aim = self._decision.aim(observation)
        frame = frame_of(aim)
        if not self.pieces or self.pieces[-1].frame != frame:
            self.pieces.append(Piece(frame))
        piece = self.pieces[-1]
        piece.states.append(observed(self._observe, View(observation, aim, self._arguments)))
        piece.goals.append(goal_numbers(self._goal, aim))
        place = place_wanted(reference, observation.time + STEP, frame)
        piece.actions.append((*place, reference.gripper_width, done))


class Finished:
    """Keeps the hand where it came to rest for some moments, done: a policy learns what the end looks like."""

    def __init__(self, shown: ShownRun, observation: Observation, width: float) -> None:
        self._shown, self._pose, self._width = shown, grip_of(observation.T_base_gripper).pose(), width

    phase = "done"

    def step(self, observation: Observation) -> MotionReference:
        """See `SkillRun`."""
        reference = MotionReference(observation.time, STEP, (self._pose,), self._width)
        self._shown.write(observation, reference, 1.0)
        return reference


def place_wanted(reference: MotionReference, time: float, frame: Frame) -> Place:
    """Where the reference has the hand at `time` [s]."""
    at = min(max((time - reference.start_time) / reference.dt, 0.0), len(reference.poses) - 1.0)
    low = min(math.floor(at + 1e-6), len(reference.poses) - 1)
    share, high = at - low, min(low + 1, len(reference.poses) - 1)
    a, b = (frame.place_of(grip_of(reference.poses[index])) for index in (low, high))
    x, y, z, turn = (p + share * (q - p) for p, q in zip(a, b, strict=True))
    return x, y, z, turn
