"""The end of a motion that nobody here planned: the scene has to show what the skill promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode
from llm_planner.skills.errors import SkillError

SHOWN_WITHIN = 1.0  # [s]

Achieved = Callable[[Mapping[str, Argument], Observation, Observation], bool]  # of arguments, when it began, and now


def until_shown(arm: Arm, arguments: Mapping[str, Argument], achieved: Achieved, what: str) -> Script:
    """Hold still until it is achieved; raises SkillError (EFFECT_MISSING), which says `what` has ended, otherwise."""
    ended = arm.observation.time
    while not achieved(arguments, arm.began, arm.observation):
        if arm.observation.time - ended > SHOWN_WITHIN:
            message = f"{what} has ended, but the scene does not show its effect"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        yield arm.hold()
