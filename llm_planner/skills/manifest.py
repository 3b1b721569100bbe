"""Skill manifests: `skills/<name>/skill.yaml`, parsed and checked."""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from llm_planner.errors import InputError
from llm_planner.programs.functions import skill_name_problem
from llm_planner.programs.signatures import REQUIRED, Parameter, Precondition, Signature
from llm_planner.scene.atoms import HELD, Atom, parse_atom
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.skills.learned.features import feature_names
from llm_planner.skills.recorded import recorded_plan
from llm_planner.skills.skill_code import CODE_FILE, ROBOTS, SkillCode, load_code
from llm_planner.strict_yaml import Among, FileModel, LocatedError, Positive, Text, at, read_file
from llm_planner.text import redacted

KINDS = ("http",)
SCHEMES = ("http", "https")


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0 and url.isascii()
        good = good and url.isprintable() and " " not in url
    except ValueError:  # an invalid port or an unclosed bracket
        good = False
    if not good:
        raise LocatedError(f"is {redacted(url)!r}; write one such as http://localhost:8093/act")
    return url


Count = Annotated[int, Field(gt=0)]


class ServerContract(FileModel):
    """Policy server of a skill (see `llm_planner.skills.remote`)."""

    kind: Annotated[str, Among(KINDS)] = Field(description="protocol")
    url: Annotated[Text, AfterValidator(_check_url)] = Field(description="address, such as http://localhost:8093/act")
    timeout: Positive = Field(description="real time after which a response is too late [s]")
    image: bool = Field(False, description="whether requests contain the camera's picture")
    instruction: Text = Field(description="sentence; {parameter} stands for the argument")

    @property
    def shown_url(self) -> str:
        """Address without credentials, for messages."""
        return redacted(self.url)


TYPES = ("object", "point", "region", "place", "direction", "side", "number", "destination", "rewards")
PICTURE = "picture"  # the only entry of `observe` for a policy that acts by sight
MOVERS = ("recording", "server")  # keys that replace the code
_WORDS: Mapping[str, Collection[str]] = {"direction": DIRECTIONS, "side": SIDES, "region": REGIONS, "place": REGIONS}


@dataclass(frozen=True)
class PolicyContract:
    """Inputs of a skill's policy (`observe`, `goal`) and its training: demonstrations and training steps.

    `world` is the world of the demonstrations, "" for calls that make sense.
    """

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


class ParameterEntry(FileModel):
    """Parameter of a skill."""

    name: Text
    type: Annotated[str, Among(TYPES)]
    description: Text
    unit: Text = Field("", description="such as m")
    minimum: float | None = Field(None, description="of a number, as maximum")
    maximum: float | None = None
    default: float | str | None = Field(
        None, description="number, direction, side or region; without it the argument is required"
    )


class PreconditionEntry(FileModel):
    """Atom that must hold before the skill starts."""

    atom: Text = Field(description="see `llm_planner.scene.atoms`")
    otherwise: Text = Field(description="message if it does not hold; {parameter} and {held} stand for their values")


class PolicyEntry(FileModel):
    """Policy that is learned from the code, and its training."""

    world: Text = Field(
        "",
        description="world of the demonstrations (see `llm_planner.learning.cases`); without it they are calls that "
        "make sense, among the objects that `llm-planner run --seed` draws and those of the preconditions",
    )
    observe: tuple[Text, ...] = Field(
        min_length=1,
        description="observation (see `llm_planner.skills.learned.features`), or [picture]: the camera's picture shows "
        "where to act (see `llm_planner.skills.sight_network`)",
    )
    goal: tuple[Text, ...] = Field(description="numbers of the demonstrator's aim that are inputs of the policy")
    episodes: Count = Field(description="demonstrations")
    steps: Count = Field(description="training steps")
    unseen: tuple[Text, ...] = Field(
        (), description="kinds of objects absent from training; if a call names one, the code moves the robot"
    )


class SkillFile(FileModel):
    """Declaration of a skill.

    The robot is moved by the `skill.py` in the same folder (see `llm_planner.skills.skill_code`). An arm may instead be
    moved by a `recording` or a `server`.
    """

    name: Text = Field(description="name of the folder, and of the skill in programs")
    description: Text
    robot: Annotated[str, Among(ROBOTS)] = "arm"
    timeout: Positive = Field(description="simulated or real time after which the skill fails [s]")
    parameters: tuple[ParameterEntry, ...]
    preconditions: tuple[PreconditionEntry, ...]
    effects: tuple[Text, ...] = Field(description="atoms that hold after success (see `llm_planner.scene.atoms`)")
    policy: PolicyEntry | None = None
    recording: Text | None = Field(None, description="file in the same folder (see `llm_planner.skills.recorded`)")
    server: ServerContract | None = None


def read_manifest(path: Path) -> Manifest:
    """Read the manifest `path`, again if it has changed.

    Raises:
        InputError: The file is invalid; the message names the file, the line, the key, the value and the choices.
    """
    version = path.stat() if path.is_file() else None  # a missing file raises below
    return _read(path, version and (version.st_mtime_ns, version.st_size))


@lru_cache(maxsize=256)
def _read(path: Path, version: tuple[int, int] | None) -> Manifest:
    return read_file(path, SkillFile, lambda content: manifest_of(content, path))


def manifest_of(content: SkillFile, path: Path) -> Manifest:
    """Build the manifest that the file `path` contains; raises InputError for values that do not fit together."""
    if content.name != path.parent.name:
        raise LocatedError(f"is {content.name!r} but the folder is {path.parent.name!r}; make them agree", "name")
    if problem := skill_name_problem(content.name):
        raise LocatedError(problem, "name")
    mover = _mover(content, path)
    parameters = tuple(_parameter(k, entry) for k, entry in enumerate(content.parameters))
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names):
        raise LocatedError(f"have the same name twice: {', '.join(names)}", "parameters")
    if content.server:
        with at("server"):
            _check_sentence("instruction", content.server.instruction, names)
    return Manifest(
        name=content.name,
        description=content.description,
        timeout=content.timeout,
        parameters=parameters,
        preconditions=tuple(_precondition(k, entry, names) for k, entry in enumerate(content.preconditions)),
        effects=tuple(_atom(atom, names, "effects", k) for k, atom in enumerate(content.effects)),
        code=path.with_name(CODE_FILE) if mover == "script" else None,
        robot=content.robot,
        policy=_policy(content.policy, names) if content.policy else None,
        unseen=frozenset(content.policy.unseen if content.policy else ()),
        recording=_recording(content.recording, path.parent) if content.recording else None,
        server=content.server,
    )


def _mover(content: SkillFile, path: Path) -> str:
    """Return "script", or the key of MOVERS in the manifest."""
    given = [key for key in MOVERS if getattr(content, key)]
    has_code = path.with_name(CODE_FILE).is_file()
    if len(given) + has_code != 1:
        found = " and ".join([*given, *([f"a {CODE_FILE}"] if has_code else [])]) or "none of them"
        raise InputError(f"a skill is moved by a {CODE_FILE} beside, a recording or a server; there is {found}")
    if not given:
        return "script"
    if content.policy:
        raise InputError(f"the manifest has policy and {given[0]}; a policy is learned from a {CODE_FILE}")
    if content.robot != "arm":
        raise InputError(f"a {given[0]} moves an arm; a {content.robot} robot needs a {CODE_FILE}")
    return given[0]


def _recording(name: str, folder: Path) -> Path:
    if Path(name).name != name or not (folder / name).is_file():
        raise LocatedError(f"is {name!r}, which is not a file in the folder {folder}", "recording")
    return folder / name


def _policy(entry: PolicyEntry, parameters: Sequence[str]) -> PolicyContract:
    if entry.observe != (PICTURE,):
        with at("policy", "observe"):
            feature_names(entry.observe, parameters)
    return PolicyContract(**entry.model_dump(exclude={"unseen"}))


def _parameter(k: int, entry: ParameterEntry) -> Parameter:
    low, high = entry.minimum, entry.maximum
    default = REQUIRED if entry.default is None else entry.default
    parameter = Parameter(entry.name, entry.type, default, low, high, unit=entry.unit, description=entry.description)
    with at("parameters", k):
        if entry.type != "number" and (low is not None or high is not None):
            raise LocatedError(f"has bounds but is a {entry.type}; only numbers have bounds")
        if low is not None and high is not None and low > high:
            raise LocatedError(f"is {low:g}, above the maximum, {high:g}", "minimum")
        if not parameter.required:
            _check_default(parameter)
    return parameter


def _check_default(parameter: Parameter) -> None:
    kind, default, words = parameter.type, parameter.default, _WORDS.get(parameter.type, ())
    if kind == "number":
        if not parameter.allows(default):
            raise LocatedError(f"must be a number within its bounds, not {default!r}", "default")
    elif default not in words:
        choices = ", ".join(words) or "none, since it must always be given"
        raise LocatedError(f"is {default!r}; a {kind}'s default may be: {choices}", "default")


def _precondition(k: int, entry: PreconditionEntry, names: Collection[str]) -> Precondition:
    with at("preconditions", k):
        _check_sentence("otherwise", entry.otherwise, (*names, HELD))
        return Precondition(_atom(entry.atom, names, "atom"), entry.otherwise)


def _atom(text: str, names: Collection[str], *keys: str | int) -> Atom:
    with at(*keys):
        return parse_atom(text, names)


def _check_sentence(key: str, text: str, names: Collection[str]) -> None:
    """Check that the {fields} of `text` are among `names`."""
    try:
        parts = [part for part in string.Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise LocatedError(f"is {text!r}, which has a stray brace: {error}", key) from error
    for _, name, form, conversion in parts:
        if name not in names or form or conversion:
            written = f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
            raise LocatedError(f"names {{{written}}}; it may name: {', '.join(names) or 'nothing'}", key)
