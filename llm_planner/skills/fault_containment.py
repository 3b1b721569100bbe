"""A skill that raises has failed: whatever its hooks raise becomes its result, with the place in its code."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path

from llm_planner.control.reference import MotionReference
from llm_planner.errors import LlmPlannerError
from llm_planner.skills.contract import Argument, Observation, Skill, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.errors import SkillError


def started(name: str, skill: Skill, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun:
    """Start `skill`, which people call `name`: its run never raises.

    Raises:
        LlmPlannerError: as the skill does; SkillError with the code SKILL_FAULT where it raises anything unforeseen.
    """
    try:
        return ContainedRun(name, skill.start(arguments, observation))
    except LlmPlannerError:
        raise
    except Exception as error:
        raise SkillError(SkillErrorCode.SKILL_FAULT, _told(name, error)) from error


class ContainedRun:
    """One execution, whose faults end it with SKILL_FAULT instead of ending whoever runs it."""

    def __init__(self, name: str, run: SkillRun) -> None:
        self._name, self._run = name, run

    @property
    def phase(self) -> str:
        """See `SkillRun`; "?" where the skill cannot tell."""
        try:
            return str(self._run.phase)
        except Exception:
            return "?"

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`. Never raises."""
        try:
            outcome: object = self._run.step(observation)
        except SkillError as error:
            return SkillResult(error.code, str(error))
        except Exception as error:
            return SkillResult(SkillErrorCode.SKILL_FAULT, _told(self._name, error))
        if isinstance(outcome, MotionReference | SkillResult):
            return outcome
        told = f"the skill {self._name} gave {outcome!r:.80} instead of a MotionReference or a SkillResult"
        return SkillResult(SkillErrorCode.SKILL_FAULT, told)


def _told(skill: str, error: BaseException) -> str:
    """A sentence for a person, with the innermost place in the code."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    return f"the skill {skill} failed by a fault of its own: {type(error).__name__}: {error} ({where})"
