"""Recording of hand motions while a skill runs, for skills that replay them."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.skills.contract import Skill, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.hand_geometry import HandPose, grip_of
from llm_planner.skills.recorded import BASE, ORIGIN, HandRecording, anchor_at, seen_from


def written_down(skill: Skill, arguments: Mapping[str, Argument], episode: Episode, frame: str) -> HandRecording:
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
        """See `SkillRun`."""
        outcome = self._run.step(observation)
        if isinstance(outcome, MotionReference):
            self.grips.append(grip_of(outcome.poses[0]))
            self.widths.append(outcome.gripper_width)
        return outcome
