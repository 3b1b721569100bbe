"""A learned skill with its script behind it, where a policy is not to move or does not get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llm_planner.control.reference import MotionReference
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.learned.skill import LearnedRun, LearnedSkill
from llm_planner.skills.scripted import ScriptedSkill

LONG = 0.3  # of its time, that a policy may take; most take half of this
GETS_STUCK = (SkillErrorCode.TIMEOUT, SkillErrorCode.EFFECT_MISSING, SkillErrorCode.UNREACHABLE)


@dataclass(frozen=True)
class LearnedOrScripted:
    """Learned where nothing is forbidden: where rules bar a part of the room the script moves, since plans were judged
    by the way that it takes around them; where the call names a thing of an `unseen` kind; and where all is done
    already, of which no policy has an aim. Where the policy gets stuck the script goes on from there."""

    learned: LearnedSkill
    scripted: ScriptedSkill
    unseen: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.learned.name

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun:
        """See `Skill`."""
        unseen = any(item.kind in self.unseen for item in observation.scene.objects if item.name in arguments.values())
        if observation.zones or unseen or self.learned.is_done(arguments, observation):
            return self.scripted.start(arguments, observation)
        return BackedRun(self.learned.start(arguments, observation), self.scripted, arguments, observation)


class BackedRun:
    """A learned run, and after it, if it got stuck or takes long, a scripted one that finishes what was begun."""

    def __init__(
        self, learned: LearnedRun, scripted: ScriptedSkill, arguments: Mapping[str, Argument], began: Observation
    ) -> None:
        self._learned, self._scripted, self._arguments, self._began = learned, scripted, arguments, began
        self._run: SkillRun = learned

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        outcome = self._run.step(observation)
        if self._run is self._learned and self._is_no_use(outcome):
            self._run = self._scripted.go_on(self._arguments, observation, self._began)
            return self._run.step(observation)
        return outcome

    def _is_no_use(self, outcome: MotionReference | SkillResult) -> bool:
        if isinstance(outcome, SkillResult):
            return outcome.code in GETS_STUCK
        return self._learned.spent > LONG
