"""The error of skills; see `llm_planner.errors` for the tree it hangs in."""

from __future__ import annotations

from llm_planner.errors import LlmPlannerError
from llm_planner.skills.contract import SkillErrorCode


class SkillError(LlmPlannerError):
    """A skill cannot start or has failed: `code` says how, the message why and what to do about it."""

    def __init__(self, code: SkillErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
