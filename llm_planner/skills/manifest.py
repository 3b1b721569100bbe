"""Skill manifests: `skills/<name>/skill.yaml`, parsed and checked.

name: place_on                      # name of the folder and of the skill in programs
description: Put the held object on top of another one.
robot: arm                          # arm (default), mobile or any
timeout: 20.0                       # [s] simulated or real time after which the skill fails
parameters:
  - {name: object, type: object, description: what it is put on}
  - {name: distance, type: number, unit: m, minimum: 0.02, maximum: 0.3, default: 0.04, description: ...}
preconditions:                      # atoms (see llm_planner.scene.atoms) and the message if they are false
  - {atom: holding(), otherwise: the gripper holds nothing; pick something up first}
effects:
  - on(held, object)                # atoms that are true after success
policy:                             # learned from the code; omitted if only the code moves the robot
  world: place_on                   # world of the demonstrations (see llm_planner.learning.cases)
  observe: [hand, fingers, holding] # observation of the policy (see llm_planner.skills.learned.features), or [picture]:
                                    # the camera's picture shows where to act (see llm_planner.skills.sight_network)
  goal: [opening, cruise]           # numbers of the demonstrator's aim that are inputs of the policy
  episodes: 300                     # demonstrations
  steps: 12000                      # training steps
  unseen: [drawer]                  # kinds of objects absent from training; if a call names one, the code moves

The robot is moved by the `skill.py` in the same folder (see `llm_planner.skills.skill_code`). An arm may instead be
moved by one of

recording: motion.json              # file in the same folder (see llm_planner.skills.recorded)
server:                             # policy server (see llm_planner.skills.remote)
  kind: http
  url: http://localhost:8093/act
  timeout: 2.0                      # [s] real time after which a response is too late
  image: false                      # whether requests contain the camera's picture
  instruction: pick up the {object} # sentence; {fields} stand for the arguments
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from llm_planner.errors import InputError
from llm_planner.programs.builtins import skill_name_problem
from llm_planner.programs.signatures import REQUIRED, Parameter, Precondition, Signature
from llm_planner.scene.atoms import HELD, Atom, parse_atom
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.skills.learned.features import feature_names
from llm_planner.skills.recorded import recorded_plan
from llm_planner.skills.skill_code import CODE_FILE, ROBOTS, SkillCode, load_code
from llm_planner.text import redacted


class Table:
    """Mapping from a YAML file with checked keys; its methods raise InputError for a value of the wrong type.

    Args:
        path: File, for messages.
        what: Name of the mapping in messages.
        values: Parsed content.
        keys: Allowed keys.
    """

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

    def sentence(self, key: str, names: Collection[str]) -> str:
        """Return a text whose {fields} are among `names`."""
        text = self.text(key)
        try:
            parts = [part for part in string.Formatter().parse(text) if part[1] is not None]
        except ValueError as error:
            raise InputError(f"{self.path}: {key} of {self._what}, {text!r}, has a stray brace: {error}") from error
        for _, name, form, conversion in parts:
            if name not in names or form or conversion:
                written = f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
                raise InputError(
                    f"{self.path}: {key} names {{{written}}}; it may name: {', '.join(names) or 'nothing'}"
                )
        return text

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

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise InputError(f"{self.path}: {key} of {self._what} must be true or false, not {value!r}")
        return value

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


KINDS = ("http",)
SCHEMES = ("http", "https")
_SERVER_KEYS = ("kind", "url", "timeout", "image", "instruction")


@dataclass(frozen=True)
class ServerContract:
    """Policy server of a skill.

    Attributes:
        url: Address of requests.
        timeout: Real time after which a response is too late [s].
        instruction: Sentence with {fields} for arguments.
        image: Whether requests contain the camera's picture.
        kind: Protocol, one of KINDS.
    """

    url: str
    timeout: float
    instruction: str
    image: bool = False
    kind: str = "http"

    @property
    def shown_url(self) -> str:
        """Address without credentials, for messages."""
        return redacted(self.url)


def parse_server(path: Path, entry: object, parameters: Collection[str]) -> ServerContract:
    """Parse the section `server` of the manifest `path`; raises InputError that names key, value and choices."""
    table = Table(path, "the server", entry, _SERVER_KEYS)
    kind = table.text("kind")
    if kind not in KINDS:
        raise InputError(f"{path}: kind of the server is {kind!r}; the kinds are: {', '.join(KINDS)}")
    return ServerContract(
        _url(path, table.text("url")),
        table.positive("timeout"),
        table.sentence("instruction", parameters),
        table.flag("image"),
        kind,
    )


def _url(path: Path, url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0 and url.isascii()
        good = good and url.isprintable() and " " not in url
    except ValueError:  # an invalid port or an unclosed bracket
        good = False
    if not good:
        raise InputError(f"{path}: url of the server is {redacted(url)!r}; write one such as http://localhost:8093/act")
    return url


TYPES = ("object", "point", "region", "place", "direction", "side", "number", "destination", "rewards")
PICTURE = "picture"  # the only entry of `observe` for a policy that acts by sight
MOVERS = ("recording", "server")  # keys that replace the code
_KEYS = ("name", "description", "robot", *MOVERS, "timeout", "parameters", "preconditions", "effects", "policy")
_POLICY_KEYS = ("world", "observe", "goal", "episodes", "steps", "unseen")
_PARAMETER_KEYS = ("name", "type", "description", "unit", "minimum", "maximum", "default")
_PRECONDITION_KEYS = ("atom", "otherwise")
_WORDS: Mapping[str, Collection[str]] = {"direction": DIRECTIONS, "side": SIDES, "region": REGIONS, "place": REGIONS}


@dataclass(frozen=True)
class PolicyContract:
    """Inputs of a skill's policy (`observe`, `goal`) and its training: world, demonstrations and training steps."""

    world: str
    observe: tuple[str, ...]
    goal: tuple[str, ...]
    episodes: int
    steps: int

    @property
    def by_sight(self) -> bool:
        """Whether the policy observes the camera's picture instead of object poses."""
        return self.observe == (PICTURE,)


@dataclass(frozen=True)
class Manifest:
    """Declaration of one skill; `timeout` is in s.

    `code` is the file that moves the robot, None if a `recording` (a file) or a `server` does. If there is a `policy`,
    the code decides where to act and demonstrates how. It still moves the robot if a call names an object of an
    `unseen` kind, which the training did not contain.
    """

    name: str
    description: str
    timeout: float
    parameters: tuple[Parameter, ...]
    preconditions: tuple[Precondition, ...]
    effects: tuple[Atom, ...]
    code: Path | None = None
    robot: str = "arm"
    policy: PolicyContract | None = None
    unseen: frozenset[str] = frozenset()
    recording: Path | None = None
    server: ServerContract | None = None

    @property
    def mover(self) -> str:
        """Kind of mover without a policy: "script", "recording" or "server"."""
        return "server" if self.server else "recording" if self.recording else "script"

    def functions(self) -> SkillCode:
        """Load the code; raises InputError if there is none or it cannot be imported."""
        if self.code is None:
            raise InputError(f"{self.name} is moved by a {self.mover}, not by a {CODE_FILE}")
        return load_code(self.code)

    @property
    def demonstrator(self) -> str:
        """Name of the function that demonstrates the motion, or of the skill if the function is called `move`."""
        name = self.functions().move.__name__
        return self.name if name == "move" else name

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters if parameter.type == "object")

    def _forecast(self) -> Callable[[Any], Any] | None:
        if self.recording is not None:
            return recorded_plan(self.recording, self.objects)
        return None if self.code is None else self.functions().plan

    @property
    def signature(self) -> Signature:
        """Signature of the skill for the checker of policy programs."""
        return Signature(
            self.name,
            self.parameters,
            is_skill=True,
            preconditions=self.preconditions,
            effects=self.effects,
            description=self.description,
            forecast=self._forecast(),
        )


def read_manifest(path: Path) -> Manifest:
    """Read the manifest `path`; raises InputError that names the file, the key, the value and the choices."""
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML: {error}") from error
    return parse_manifest(document, path)


def parse_manifest(document: object, path: Path) -> Manifest:
    """Parse the YAML `document` read from `path`; raises InputError like `read_manifest`."""
    table = Table(path, "the manifest", document, _KEYS)
    name = table.text("name")
    if name != path.parent.name:
        raise InputError(f"{path}: name is {name!r} but the folder is called {path.parent.name!r}; make them agree")
    if problem := skill_name_problem(name):
        raise InputError(f"{path}: {problem}")
    robot = table.text("robot") if "robot" in table.values else "arm"
    if robot not in ROBOTS:
        raise InputError(f"{path}: robot is {robot!r}; the robots are: {', '.join(ROBOTS)}")
    mover = _mover(table, robot)
    entries = [Table(path, "a parameter", entry, _PARAMETER_KEYS) for entry in table.list("parameters")]
    parameters = tuple(_parameter(entry) for entry in entries)
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names):
        raise InputError(f"{path}: two parameters have the same name: {', '.join(names)}")
    return Manifest(
        name=name,
        description=table.text("description"),
        timeout=table.positive("timeout"),
        parameters=parameters,
        preconditions=tuple(_precondition(path, entry, names) for entry in table.list("preconditions")),
        effects=tuple(_atom(path, "effects", text, names) for text in table.list("effects")),
        code=path.with_name(CODE_FILE) if mover == "script" else None,
        robot=robot,
        policy=_policy(path, table.values["policy"], names) if "policy" in table.values else None,
        unseen=_unseen(path, table.values["policy"]) if "policy" in table.values else frozenset(),
        recording=_recording(table) if mover == "recording" else None,
        server=parse_server(path, table.values["server"], names) if mover == "server" else None,
    )


def _mover(table: Table, robot: str) -> str:
    """Return "script", or the key of MOVERS in the manifest."""
    path, given = table.path, [key for key in MOVERS if key in table.values]
    has_code = path.with_name(CODE_FILE).is_file()
    if len(given) + has_code != 1:
        found = " and ".join([*given, *([f"a {CODE_FILE}"] if has_code else [])]) or "none of them"
        raise InputError(f"{path}: a skill is moved by a {CODE_FILE} beside, a recording or a server; there is {found}")
    if not given:
        return "script"
    if "policy" in table.values:
        raise InputError(f"{path}: the manifest has policy and {given[0]}; a policy is learned from a {CODE_FILE}")
    if robot != "arm":
        raise InputError(f"{path}: a {given[0]} moves an arm; a {robot} robot needs a {CODE_FILE}")
    return given[0]


def _recording(table: Table) -> Path:
    name = table.text("recording")
    file = table.path.parent / name
    if Path(name).name != name or not file.is_file():
        raise InputError(f"{table.path}: recording is {name!r}, which is not a file in the folder {table.path.parent}")
    return file


def _policy(path: Path, entry: object, parameters: Sequence[str]) -> PolicyContract:
    table = Table(path, "the policy", entry, _POLICY_KEYS)
    observe = tuple(map(str, table.list("observe")))
    if observe != (PICTURE,):
        _check_features(path, observe, parameters)
    goal = tuple(map(str, table.list("goal")))
    return PolicyContract(table.text("world"), observe, goal, table.count("episodes"), table.count("steps"))


def _unseen(path: Path, entry: object) -> frozenset[str]:
    table = Table(path, "the policy", entry, _POLICY_KEYS)
    return frozenset(map(str, table.list("unseen"))) if "unseen" in table.values else frozenset()


def _check_features(path: Path, observe: Sequence[str], parameters: Sequence[str]) -> None:
    try:
        names = feature_names(observe, parameters)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if not names:
        raise InputError(f"{path}: observe of the policy is empty; a policy sees at least the hand: [hand, fingers]")


def _parameter(table: Table) -> Parameter:
    name, kind = table.text("name"), table.text("type")
    if kind not in TYPES:
        raise InputError(f"{table.path}: the type of {name!r} is {kind!r}; the types are: {', '.join(TYPES)}")
    minimum, maximum = table.number("minimum"), table.number("maximum")
    if kind != "number" and (minimum is not None or maximum is not None):
        raise InputError(f"{table.path}: {name!r} has bounds but is a {kind}; only numbers have bounds")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise InputError(f"{table.path}: the minimum of {name!r}, {minimum:g}, is above its maximum, {maximum:g}")
    default, unit = table.values.get("default", REQUIRED), table.text("unit") if "unit" in table.values else ""
    parameter = Parameter(name, kind, default, minimum, maximum, unit=unit, description=table.text("description"))
    if not parameter.required:
        _check_default(table.path, parameter)
    return parameter


def _check_default(path: Path, parameter: Parameter) -> None:
    name, kind, default = parameter.name, parameter.type, parameter.default
    if kind == "number":
        if not parameter.allows(default):
            raise InputError(f"{path}: the default of {name!r} must be a number within its bounds, not {default!r}")
    elif default not in _WORDS.get(kind, ()):
        choices = ", ".join(_WORDS.get(kind, ())) or "none, since it must always be given"
        raise InputError(f"{path}: the default of {name!r} is {default!r}; a {kind}'s default may be: {choices}")


def _precondition(path: Path, entry: object, names: Collection[str]) -> Precondition:
    table = Table(path, "a precondition", entry, _PRECONDITION_KEYS)
    otherwise = table.sentence("otherwise", (*names, HELD))
    return Precondition(_atom(path, "preconditions", table.text("atom"), names), otherwise)


def _atom(path: Path, key: str, text: object, names: Collection[str]) -> Atom:
    try:
        return parse_atom(str(text), names)
    except InputError as error:
        raise InputError(f"{path}: {key}: {error}") from error
