"""What can keep the robot from hearing."""

from __future__ import annotations

from llm_planner.errors import LlmPlannerError


class SpeechError(LlmPlannerError):
    """Speech cannot be taken in or recognised: a part is missing, or a server does not answer; says what to do."""
