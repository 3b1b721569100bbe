"""Loader of the code of a skill, `skills/<name>/skill.py`, which defines

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
from typing import Any

from llm_planner.errors import InputError
from llm_planner.skills.arm import Script

CODE_FILE = "skill.py"
ARM, MOBILE, ANY_ROBOT = ROBOTS = ("arm", "mobile", "any")  # values of `robot` in a manifest

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
