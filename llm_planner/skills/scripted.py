"""Scripted skills: adapters from a script of movements to the skill contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.skills.arm import Script
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.skill_code import Mover


class Body(Protocol):
    """Robot that a script moves, an `Arm` or a `Base`; the run updates its observation before each step."""

    observation: Observation

    @property
    def phase(self) -> str: ...

    def retreat(self) -> Script: ...


MakeBody = Callable[[Observation, Observation], Body]  # arguments: current observation, observation at the start

FULL_SPEED = 0.5  # [m/s] speed limit below which the clock of a timeout runs slower


class ScriptedSkill:
    """Skill that runs `script` on the body built from the first observation; `timeout` is in s.

    The library checks arguments and preconditions beforehand.
    """

    def __init__(self, name: str, script: Mover, timeout: float, make_body: MakeBody) -> None:
        self.name = name
        self._script = script
        self._timeout = timeout
        self._make_body = make_body

    def start(self, arguments: Arguments, observation: Observation) -> ScriptedRun:
        """Start a run; nothing moves before the first `step`."""
        return self.go_on(arguments, observation, observation)

    def go_on(self, arguments: Arguments, observation: Observation, began: Observation) -> ScriptedRun:
        """Continue from `observation` what another run started at `began`, from which distances are measured."""
        body = self._make_body(observation, began)
        script: object = self._script(body, arguments)
        if not isinstance(script, Iterable):
            told = (
                f"move of the skill {self.name} gave {script!r:.80}; write its motion with `yield from arm.move(...)`"
            )
            raise SkillError(SkillErrorCode.SKILL_FAULT, told)
        return ScriptedRun(self.name, body, script, self._timeout)


class ScriptedRun:
    """Execution of a script until its end, its failure (followed by a retreat) or its timeout [s].

    A speed limit extends the timeout proportionally.
    """

    def __init__(self, name: str, body: Body, script: Iterable[MotionReference], timeout: float) -> None:
        self._name = name
        self._body = body
        self._script = _retreating(body, script)
        self._last = body.observation.time
        self._left = self._timeout = timeout

    @property
    def phase(self) -> str:
        return self._body.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        self._body.observation = observation
        self._left -= (observation.time - self._last) * min(1.0, observation.speed_limit / FULL_SPEED)
        self._last = observation.time
        if self._left < 0:
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


def _retreating(body: Body, script: Iterable[MotionReference]) -> Script:
    """Run the script; if it fails after the body has moved, retreat before the error is raised."""
    moved = False
    try:
        for reference in script:
            moved = moved or len(getattr(reference, "poses", ())) > 1  # one pose holds still
            yield reference
    except SkillError:
        if moved:
            yield from body.retreat()
        raise
