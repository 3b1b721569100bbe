"""Loader of the code of a skill, `skills/<name>/skill.py`, which defines

- `move(robot, arguments)`: a generator of motion references, written with the motion primitives of `Arm` or `Base`;
- `plan(call)`, optional: the predicted path of a `SkillCall` (see `llm_planner.skills.paths`), or None if it cannot be
  predicted. Rehearsal, monitors and search use it. Without it, the motion of the skill is not predicted.

The folder is a package: `from .helpers import f` imports from `helpers.py` beside the file. The code is trusted: unlike
a policy program, it runs with the rights of the process. Its mistakes are contained: everything that it raises, except
KeyboardInterrupt, becomes an error that names the skill, the file and the line.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from math import isfinite
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.skills.arm import Script
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.paths import MotionPath, Planner, SkillCall, Waypoint

CODE_FILE = "skill.py"
# Values of `robot` in a manifest; a mobile arm has the skills of an arm too.
ARM, MOBILE, MOBILE_ARM, ANY_ROBOT = ROBOTS = ("arm", "mobile", "mobile_arm", "any")

Mover = Callable[[Any, Mapping[str, Any]], Script]  # takes an `Arm` or a `Base`, and the call's arguments


@dataclass(frozen=True)
class SkillCode:
    """Functions of a `skill.py`; `plan` is None if it is not defined.

    `plan` raises SkillError (SKILL_FAULT) for any mistake: an exception, or a result that is no valid path.
    """

    move: Mover
    plan: Planner | None = None


def load_code(path: Path) -> SkillCode:
    """Import the file `path` and return its functions; an edited file, or module beside it, is imported again.

    Raises:
        InputError: The file cannot be imported or does not define `move`; the message names file and line.
    """
    stats = ((file.name, file.stat()) for file in sorted(path.parent.glob("*.py")))
    return _loaded(path, tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats))


@lru_cache(maxsize=256)
def _loaded(path: Path, version: tuple[tuple[str, int, int], ...]) -> SkillCode:
    if not path.is_file():
        raise InputError(f"{path.parent} has no {CODE_FILE}: write one with a function move(robot, arguments)")
    module = _imported(path)
    move, plan = getattr(module, "move", None), getattr(module, "plan", None)
    if not callable(move):
        raise InputError(f"{path}: it defines no function move(robot, arguments), which moves the robot")
    if plan is not None and not callable(plan):
        raise InputError(f"{path}: plan is {plan!r}, not a function of a SkillCall")
    return SkillCode(move, plan and contained(path.parent.name, plan))


_PACKAGE = "llm_planner_skill_"


class _UncachedLoader(SourceFileLoader):
    """Loader without bytecode files, whose time stamps in seconds would hide a quick second edit."""

    def get_code(self, fullname: str) -> CodeType:
        file = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(file), file)
        return code


def _imported(path: Path) -> ModuleType:
    """Import `path` as a package, anew."""
    folder = str(path.parent)
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]  # two folders may contain skills of one name
    package = f"{_PACKAGE}{re.sub(r'[^a-zA-Z0-9]', '_', path.parent.name)}_{digest}"
    spec = importlib.util.spec_from_file_location(
        package, path, loader=_UncachedLoader(package, str(path)), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _forget(package)
    sys.modules[package] = module  # for relative imports and dataclasses
    sys.path_importer_cache[folder] = FileFinder(folder, (_UncachedLoader, SOURCE_SUFFIXES))
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        _forget(package)
        raise
    except BaseException as error:
        _forget(package)
        file, line = _place(error) or (path, 0)
        told = f"{file}, line {line}: it cannot be imported: {_named(error)}"
        raise InputError(f"{told}{_beside(error, path.parent)}") from error
    return module


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]


def _beside(error: BaseException, folder: Path) -> str:
    """Return how to import a module that lies beside the code, if that is the mistake."""
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    return f"; it lies beside: write `from .{name} import ...`" if (folder / f"{name}.py").is_file() else ""


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _place(error: BaseException) -> tuple[Path, int] | None:
    """Return file and line of the innermost frame in the code of a skill, or None."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), error.lineno or 0
    frames = traceback.walk_tb(error.__traceback__)
    own = [found for found in frames if str(found[0].f_globals.get("__name__", "")).startswith(_PACKAGE)]
    return (Path(own[-1][0].f_code.co_filename), own[-1][1]) if own else None


def fault_of(what: str, error: BaseException) -> str:
    """Describe an exception in `what` (such as "the skill point_at") for a person, with the innermost place.

    A place in the code of a skill is preferred to one in what it calls.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    file, line = _place(error) or (Path(frame.filename), frame.lineno)
    return f"{what} failed by a fault of its own: {_named(error)} ({file.name}, line {line})"


def contained(name: str, plan: Planner) -> Planner:
    """Return the `plan` of the skill `name` with its mistakes as SkillError (SKILL_FAULT); its refusals pass."""

    @wraps(plan)
    def checked(call: SkillCall) -> MotionPath | None:
        try:
            path: object = plan(call)
        except (LlmPlannerError, KeyboardInterrupt):
            raise
        except BaseException as error:
            told = fault_of(f"the plan of the skill {name}", error)
            raise SkillError(SkillErrorCode.SKILL_FAULT, told) from error
        if problem := "" if path is None else _path_problem(path, call):
            raise SkillError(SkillErrorCode.SKILL_FAULT, f"the plan of the skill {name} {problem}")
        return path  # type: ignore[return-value]  # checked above

    return checked


def _path_problem(path: object, call: SkillCall) -> str:
    """Return why `path` is not a valid path for the call; "" if it is."""
    if not isinstance(path, MotionPath):
        return f"returned {path!r:.80} instead of a MotionPath or None"
    if not isinstance(path.points, tuple) or not all(isinstance(point, Waypoint) for point in path.points):
        return f"returned a MotionPath whose points are not a tuple of Waypoints: {path.points!r:.80}"
    for point in path.points:
        if not (_is_vector(point.position) and _is_vector(point.carries)):
            return f"returned {point!r}, whose position and load must be three finite numbers [m]"
        if not 0.0 <= point.done <= 1.0:
            return f"returned a Waypoint with done={point.done}; it must lie in [0, 1]"
        if point.holds and point.holds not in call.before.names:
            return f"returned a Waypoint that holds {point.holds!r}; the scene contains: {', '.join(call.before.names)}"
    return "" if isfinite(path.metres) else f"returned a MotionPath of {path.metres} m"


def _is_vector(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and all(map(isfinite, value))
