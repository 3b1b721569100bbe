"""A skill written by hand: a script of movements behind the contract."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.control.reference import MotionReference
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult
from llm_planner.skills.errors import SkillError
from llm_planner.skills.scripts import ScriptFunction


class ScriptedSkill:
    """Runs `script`; arguments and preconditions have been checked by the library."""

    def __init__(self, name: str, script: ScriptFunction, timeout: float, settings: ArmSettings | None = None) -> None:
        self.name = name
        self._script = script
        self._timeout = timeout
        self._settings = settings or ArmSettings()

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> ScriptedRun:
        """Begin; nothing moves before the first `step`."""
        arm = Arm(observation, self._settings)
        return ScriptedRun(self.name, arm, self._script(arm, arguments), self._timeout)


class ScriptedRun:
    """One execution of a script, up to its end, its failure (after a retreat) or its timeout [s]."""

    def __init__(self, name: str, arm: Arm, script: Script, timeout: float) -> None:
        self._name = name
        self._arm = arm
        self._script = _retreating(arm, script)
        self._deadline = arm.observation.time + timeout
        self._timeout = timeout

    @property
    def phase(self) -> str:
        return self._arm.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        self._arm.observation = observation
        if observation.time > self._deadline:
            self._script.close()
            return SkillResult(
                SkillErrorCode.TIMEOUT, f"{self._name} was not done after {self._timeout:g} s, during {self.phase!r}"
            )
        try:
            return next(self._script)
        except StopIteration:
            return SkillResult(SkillErrorCode.SUCCEEDED)
        except SkillError as failure:
            return SkillResult(failure.code, str(failure))


def _retreating(arm: Arm, script: Script) -> Script:
    """The script; when it fails after the hand has moved, the hand rises out of the way before the failure is told."""
    moved = False
    try:
        for reference in script:
            moved = True
            yield reference
    except SkillError:
        if moved:
            yield from arm.retreat()
        raise
