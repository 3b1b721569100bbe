"""Scripted skills: the code of a skill, and the adapter from its script of movements to the skill contract.

`skills/<name>/skill.py` defines

- `move(robot, arguments)`: a generator of motion references, written with the motion primitives of `Arm` or `Base`;
- `plan(call)`, optional: the predicted path of a `SkillCall` (see `llm_planner.skills.paths`), or None if it cannot be
  predicted. Rehearsal, monitors and search use it. Without it, the motion of the skill is not predicted.

The file is trusted: unlike a policy program, it runs with the rights of the process.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.skills.arm import Script
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult

CODE_FILE = "skill.py"
ANY_ROBOT = "any"
ROBOTS = ("arm", "mobile", ANY_ROBOT)  # values of `robot` in a manifest

Mover = Callable[[Any, Mapping[str, Any]], Script]  # takes an `Arm` or a `Base`, and the call's arguments


@dataclass(frozen=True)
class SkillCode:
    """Functions of a `skill.py`; `plan` (see `paths.Planner`) is None if it is not defined."""

    move: Mover
    plan: Callable[[Any], Any] | None = None


@lru_cache(maxsize=256)
def load_code(path: Path) -> SkillCode:
    """Import the file `path` and return its functions.

    Raises:
        InputError: The file cannot be imported or does not define `move`; the message names file and line.
    """
    name = f"llm_planner_skill_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"{path.parent} has no {CODE_FILE}: write one with a function move(robot, arguments)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look up their module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        line = (
            error.lineno
            if isinstance(error, SyntaxError)
            else next(
                (f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == str(path)), 0
            )
        )
        raise InputError(f"{path}, line {line}: it cannot be imported: {type(error).__name__}: {error}") from error
    move, plan = getattr(module, "move", None), getattr(module, "plan", None)
    if not callable(move):
        raise InputError(f"{path}: it defines no function move(robot, arguments), which moves the robot")
    if plan is not None and not callable(plan):
        raise InputError(f"{path}: plan is {plan!r}, not a function of a SkillCall")
    return SkillCode(move, plan)


class Body(Protocol):
    """Robot that a script moves, an `Arm` or a `Base`; the run updates its observation before each step."""

    observation: Observation
    phase: str

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

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> ScriptedRun:
        """Start a run; nothing moves before the first `step`."""
        return self.go_on(arguments, observation, observation)

    def go_on(self, arguments: Mapping[str, Argument], observation: Observation, began: Observation) -> ScriptedRun:
        """Continue from `observation` what another run started at `began`, from which distances are measured."""
        body = self._make_body(observation, began)
        return ScriptedRun(self.name, body, self._script(body, arguments), self._timeout)


class ScriptedRun:
    """Execution of a script until its end, its failure (followed by a retreat) or its timeout [s].

    A speed limit extends the timeout proportionally.
    """

    def __init__(self, name: str, body: Body, script: Script, timeout: float) -> None:
        self._name = name
        self._body = body
        self._script = _retreating(body, script)
        self._last = body.observation.time
        self._left = self._timeout = timeout

    @property
    def phase(self) -> str:
        return self._body.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
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


def _retreating(body: Body, script: Script) -> Script:
    """Run the script; if it fails after the body has moved, retreat before the error is raised."""
    moved = False
    try:
        for reference in script:
            moved = moved or len(reference.poses) > 1  # one pose holds still
            yield reference
    except SkillError:
        if moved:
            yield from body.retreat()
        raise
