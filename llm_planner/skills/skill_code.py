"""The code of a skill: `skills/<name>/skill.py`, which says how the robot moves and what that motion will be.

A `skill.py` defines

- `move(robot, arguments)`: a generator of motion references, written with the movements of an `Arm` or a `Base`;
- `plan(call)`, optional: the path of a `SkillCall` (see `llm_planner.skills.paths`), or None where it cannot be
  foreseen. Rehearsal, monitors and search go by it. Without it no motion of the skill is foreseen.

It is a Python file of the person who installs it and runs with the rights of the process, unlike a policy program.
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
ARM, MOBILE, ANY_ROBOT = ROBOTS = ("arm", "mobile", "any")  # whose skill it is

Mover = Callable[[Any, Mapping[str, Any]], Script]  # of an `Arm` or a `Base`, and the arguments of the call


@dataclass(frozen=True)
class SkillCode:
    """The functions of a `skill.py`; `plan` is None where it has none (see `paths.Planner`)."""

    move: Mover
    plan: Callable[[Any], Any] | None = None


@lru_cache(maxsize=256)
def load_code(path: Path) -> SkillCode:
    """Import the file `path` and return its functions.

    Raises:
        InputError: it cannot be imported, or defines no `move`; names the file, the line and the next step.
    """
    name = f"llm_planner_skill_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"{path.parent} has no {CODE_FILE}: write one with a function move(robot, arguments)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        line = next(
            (f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == str(path)), 0
        )
        raise InputError(f"{path}, line {line}: it cannot be imported: {type(error).__name__}: {error}") from error
    move, plan = getattr(module, "move", None), getattr(module, "plan", None)
    if not callable(move):
        raise InputError(f"{path}: it defines no function move(robot, arguments), which moves the robot")
    if plan is not None and not callable(plan):
        raise InputError(f"{path}: plan is {plan!r}, not a function of a SkillCall")
    return SkillCode(move, plan)
