"""What a skill declares of itself: `skills/<name>/skill.yaml`, read and checked.

name: place_on                      # the folder's name, and what programs call
description: Put the held object on top of another one.
robot: arm                          # or mobile; arm where it is left out
script: place_on                    # one of the scripted skills of that robot
timeout: 20.0                       # [s] of simulated or real time until it counts as failed
parameters:
  - {name: object, type: object, description: what it is put on}
  - {name: distance, type: number, unit: m, minimum: 0.02, maximum: 0.3, default: 0.04, description: ...}
preconditions:                      # atoms (see llm_planner.world.atoms) and what to tell a person otherwise
  - {atom: holding(), otherwise: the gripper holds nothing; pick something up first}
effects:
  - on(held, object)                # atoms that are true after it has succeeded
policy:                             # left out where the script itself moves the robot
  world: place_on                   # in which the script demonstrates it (see skills.learning.cases)
  observe: [hand, fingers, holding] # what the policy sees (see skills.learned.features)
  goal: [opening, cruise]           # numbers of the script's aim that it is told
  episodes: 300                     # of demonstration
  steps: 12000                      # of training
"""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.program.signatures import REQUIRED, Parameter, Precondition, Signature
from llm_planner.skills.learned.features import feature_names
from llm_planner.skills.scripts import SCRIPTS
from llm_planner.world.atoms import HELD, Atom, parse_atom
from llm_planner.world.places import DIRECTIONS, REGIONS, SIDES

TYPES = ("object", "point", "region", "place", "direction", "side", "number", "destination", "rewards")
ROBOTS = tuple(SCRIPTS)
_KEYS = ("name", "description", "robot", "script", "timeout", "parameters", "preconditions", "effects", "policy")
_POLICY_KEYS = ("world", "observe", "goal", "episodes", "steps")
_PARAMETER_KEYS = ("name", "type", "description", "unit", "minimum", "maximum", "default")
_PRECONDITION_KEYS = ("atom", "otherwise")
_WORDS: Mapping[str, Collection[str]] = {"direction": DIRECTIONS, "side": SIDES, "region": REGIONS, "place": REGIONS}


@dataclass(frozen=True)
class PolicyContract:
    """What a skill's policy sees and is told, and the training world, episodes and steps that it is learned from."""

    world: str
    observe: tuple[str, ...]
    goal: tuple[str, ...]
    episodes: int
    steps: int


@dataclass(frozen=True)
class Manifest:
    """One skill's declaration. `script` names its implementation for the `robot`; `timeout` is in s.

    Where there is a `policy`, the script decides where to act and demonstrates how.
    """

    name: str
    description: str
    script: str
    timeout: float
    parameters: tuple[Parameter, ...]
    parameter_descriptions: Mapping[str, str]
    preconditions: tuple[Precondition, ...]
    effects: tuple[Atom, ...]
    robot: str = "arm"
    policy: PolicyContract | None = None

    @property
    def signature(self) -> Signature:
        """As the checker of policy programs sees it."""
        return Signature(
            self.name,
            self.parameters,
            is_skill=True,
            preconditions=self.preconditions,
            effects=self.effects,
        )


def read_manifest(path: Path) -> Manifest:
    """The manifest in the file `path`; raises InputError that names the file, the key, the value and the choices."""
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML: {error}") from error
    return parse_manifest(document, path)


def parse_manifest(document: object, path: Path) -> Manifest:
    """The manifest written as `document`, which was read from `path`; raises InputError as `read_manifest`."""
    table = _Table(path, "the manifest", document, _KEYS)
    name = table.text("name")
    if name != path.parent.name:
        raise InputError(f"{path}: name is {name!r} but the folder is called {path.parent.name!r}; make them agree")
    robot, script = table.text("robot") if "robot" in table.values else "arm", table.text("script")
    if robot not in ROBOTS:
        raise InputError(f"{path}: robot is {robot!r}; the robots are: {', '.join(ROBOTS)}")
    if script not in SCRIPTS[robot]:
        choices = ", ".join(SCRIPTS[robot])
        raise InputError(f"{path}: script is {script!r}; the scripted skills of the {robot} robot are: {choices}")
    entries = [_Table(path, "a parameter", entry, _PARAMETER_KEYS) for entry in table.list("parameters")]
    parameters = tuple(_parameter(entry) for entry in entries)
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names):
        raise InputError(f"{path}: two parameters have the same name: {', '.join(names)}")
    return Manifest(
        name=name,
        description=table.text("description"),
        script=script,
        timeout=table.positive("timeout"),
        parameters=parameters,
        parameter_descriptions={entry.text("name"): entry.text("description") for entry in entries},
        preconditions=tuple(_precondition(path, entry, names) for entry in table.list("preconditions")),
        effects=tuple(_atom(path, "effects", text, names) for text in table.list("effects")),
        robot=robot,
        policy=_policy(path, table.values["policy"], names) if "policy" in table.values else None,
    )


def _policy(path: Path, entry: object, parameters: Sequence[str]) -> PolicyContract:
    table = _Table(path, "the policy", entry, _POLICY_KEYS)
    observe = tuple(map(str, table.list("observe")))
    try:
        names = feature_names(observe, parameters)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if not names:
        raise InputError(f"{path}: observe of the policy is empty; a policy sees at least the hand: [hand, fingers]")
    goal = tuple(map(str, table.list("goal")))
    return PolicyContract(table.text("world"), observe, goal, table.count("episodes"), table.count("steps"))


def _parameter(table: _Table) -> Parameter:
    name, kind = table.text("name"), table.text("type")
    if kind not in TYPES:
        raise InputError(f"{table.path}: the type of {name!r} is {kind!r}; the types are: {', '.join(TYPES)}")
    numeric = kind == "number"
    minimum, maximum = table.number("minimum"), table.number("maximum")
    if not numeric and (minimum is not None or maximum is not None):
        raise InputError(f"{table.path}: {name!r} has bounds but is a {kind}; only numbers have bounds")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise InputError(f"{table.path}: the minimum of {name!r}, {minimum:g}, is above its maximum, {maximum:g}")
    default = table.values.get("default", REQUIRED)
    if default is not REQUIRED:
        _check_default(table.path, name, kind, default, minimum, maximum)
    unit = table.text("unit") if "unit" in table.values else ""
    return Parameter(name, kind, default, minimum, maximum, unit=unit)


def _check_default(
    path: Path, name: str, kind: str, default: object, minimum: float | None, maximum: float | None
) -> None:
    if kind == "number":
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if not number or not (minimum or 0.0) <= float(str(default)) <= (float("inf") if maximum is None else maximum):
            raise InputError(f"{path}: the default of {name!r} must be a number within its bounds, not {default!r}")
    elif default not in _WORDS.get(kind, ()):
        choices = ", ".join(_WORDS.get(kind, ())) or "none, since it must always be given"
        raise InputError(f"{path}: the default of {name!r} is {default!r}; a {kind}'s default may be: {choices}")


def _precondition(path: Path, entry: object, names: Collection[str]) -> Precondition:
    table = _Table(path, "a precondition", entry, _PRECONDITION_KEYS)
    otherwise = table.text("otherwise")
    fields = {field for _, field, _, _ in string.Formatter().parse(otherwise) if field is not None}
    unknown = fields - {*names, HELD}
    if unknown:
        choices = ", ".join([*names, HELD])
        raise InputError(f"{path}: otherwise names {{{min(unknown)}}}; it may name: {choices}")
    return Precondition(_atom(path, "preconditions", table.text("atom"), names), otherwise)


def _atom(path: Path, key: str, text: object, names: Collection[str]) -> Atom:
    try:
        return parse_atom(str(text), names)
    except InputError as error:
        raise InputError(f"{path}: {key}: {error}") from error


class _Table:
    """A mapping of a YAML file whose every wrong entry is told with its file, key, value and choices."""

    def __init__(self, path: Path, what: str, values: object, keys: Collection[str]) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{path}: {what} must be a mapping with the keys {', '.join(keys)}, not {values!r}")
        unknown = [str(key) for key in values if key not in keys]
        if unknown:
            raise InputError(f"{path}: {what} has the unknown key {unknown[0]!r}; the keys are: {', '.join(keys)}")
        self.path = path
        self.values: dict[str, Any] = values
        self._what = what

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{self.path}: {key} of {self._what} must be a text, not {value!r}")
        return value

    def list(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if not isinstance(value, list):
            raise InputError(f"{self.path}: {key} of {self._what} must be a list (possibly empty: []), not {value!r}")
        return value

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{self.path}: {key} of {self._what} must be a number, not {value!r}")
        return float(value)

    def count(self, key: str) -> int:
        value = self.values.get(key)
        if type(value) is not int or value < 1:
            raise InputError(f"{self.path}: {key} of {self._what} must be a whole number above 0, not {value!r}")
        return value

    def positive(self, key: str) -> float:
        value = self.number(key)
        if value is None or not 0.0 < value < float("inf"):
            raise InputError(f"{self.path}: {key} of {self._what} must be a number of seconds above 0, not {value!r}")
        return value
