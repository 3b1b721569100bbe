"""Library of checked skills, loaded from folders with `<name>/skill.yaml`.

Arguments and preconditions are checked against the current scene before a skill starts. An exception in the code of a
skill becomes its result, with the place in the code, and does not propagate to the caller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any

from llm_planner.control.input_validation import check_reference
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.programs.problems import ProgramError
from llm_planner.programs.reward_program import check_reward
from llm_planner.programs.signatures import REQUIRED, Parameter, Precondition, Signature
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.atoms import Atom, Moment, holds
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.predicates import FURNITURE
from llm_planner.scene.scene import Scene
from llm_planner.share import share_folder
from llm_planner.skills.arm import Arm, ArmSettings, Camera, blind
from llm_planner.skills.base import MakeBase, own_base
from llm_planner.skills.contract import Arguments, Skill, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.learned.loading import (
    POLICY_FILE,
    learned_skill,
    load_sampler,
    policy_folders,
    policy_moves,
    shows_effects,
)
from llm_planner.skills.learned.skill import LearnedOrScripted
from llm_planner.skills.manifest import Manifest, read_manifest
from llm_planner.skills.mobile_arm import MobileArm
from llm_planner.skills.recorded import read_recording, replaying
from llm_planner.skills.remote import asking
from llm_planner.skills.scripted import MakeBody, ScriptedSkill
from llm_planner.skills.sight_picking import load_sight, picking_by_sight
from llm_planner.skills.skill_code import ANY_ROBOT, ARM, MOBILE_ARM, Mover, fault_of


def check_arguments(manifest: Manifest, given: Mapping[str, Any], scene: Scene) -> dict[str, Argument]:
    """Check the arguments of a call against the manifest and the scene, and fill in defaults.

    Raises SkillError (INVALID_ARGUMENT) that names the parameter and the choices.
    """
    names = [parameter.name for parameter in manifest.parameters]
    for name in given:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise _invalid(manifest, f"has no parameter {name!r}; its parameters: {listed}")
    return {parameter.name: _value(manifest, parameter, given, scene) for parameter in manifest.parameters}


def _value(manifest: Manifest, parameter: Parameter, given: Mapping[str, Any], scene: Scene) -> Argument:
    value = given.get(parameter.name, parameter.default)
    if value is REQUIRED:
        raise _invalid(manifest, f"needs the {parameter.type} {parameter.name!r}")
    if parameter.type == "number":
        return _number(manifest, parameter, value)
    if parameter.type == "point" or (parameter.type == "place" and not isinstance(value, str)):
        return _point(manifest, parameter, value)
    if parameter.type == "rewards":
        return _rewards(manifest, parameter, value, scene)
    rooms = scene.building.names if scene.building else ()
    words = {"object": scene.names, "direction": DIRECTIONS, "side": SIDES, "destination": (*rooms, *scene.names)}
    choices = words.get(parameter.type, REGIONS)
    if value not in choices:
        listed = ", ".join(choices) or "nothing"
        raise _invalid(manifest, f"cannot take {value!r} as {parameter.name}; choose one of: {listed}")
    return str(value)


def _number(manifest: Manifest, parameter: Parameter, value: Any) -> float:
    if not parameter.allows(value):
        low = -math.inf if parameter.minimum is None else parameter.minimum
        high = math.inf if parameter.maximum is None else parameter.maximum
        bounds = f"from {low:g} to {high:g} {parameter.unit}".rstrip()
        raise _invalid(manifest, f"needs a number {bounds} for {parameter.name}, not {value!r}")
    return float(value)


def _point(manifest: Manifest, parameter: Parameter, value: Any) -> Argument:
    numbers = value if isinstance(value, (tuple, list)) else ()
    if len(numbers) != 3 or not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
        raise _invalid(manifest, f"needs a point of three finite numbers [m] for {parameter.name}, not {value!r}")
    return float(numbers[0]), float(numbers[1]), float(numbers[2])


def _rewards(manifest: Manifest, parameter: Parameter, value: Any, scene: Scene) -> str:
    try:
        check_reward(str(value), scene)
    except ProgramError as error:
        raise _invalid(manifest, f"cannot take these {parameter.name}: {error}") from error
    return str(value)


def _invalid(manifest: Manifest, problem: str) -> SkillError:
    return SkillError(SkillErrorCode.INVALID_ARGUMENT, f"{manifest.name} {problem}")


def started(name: str, skill: Skill, arguments: Arguments, observation: Observation) -> SkillRun:
    """Start `skill` under the name `name` and return a run that never raises.

    Raises:
        LlmPlannerError: As raised by the skill. Any other exception becomes a SkillError (SKILL_FAULT).
    """
    try:
        return ContainedRun(name, skill.start(arguments, observation))
    except (LlmPlannerError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise SkillError(SkillErrorCode.SKILL_FAULT, fault_of(f"the skill {name}", error)) from error


class ContainedRun:
    """Run of a skill whose exceptions and invalid motion references become a result with SKILL_FAULT."""

    def __init__(self, name: str, run: SkillRun) -> None:
        self._name, self._run = name, run

    @property
    def phase(self) -> str:
        """See `SkillRun`; "?" if the skill raises."""
        try:
            return str(self._run.phase)
        except KeyboardInterrupt:
            raise
        except BaseException:
            return "?"

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`. Raises nothing but KeyboardInterrupt."""
        try:
            outcome: object = self._run.step(observation)
        except SkillError as error:
            return SkillResult(error.code, str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return SkillResult(SkillErrorCode.SKILL_FAULT, fault_of(f"the skill {self._name}", error))
        if isinstance(outcome, SkillResult):
            return outcome
        try:
            if isinstance(outcome, MotionReference):
                check_reference(outcome)
                return outcome
            problem = f"{outcome!r:.80} instead of a MotionReference or a SkillResult"
        except (InputError, TypeError, AttributeError) as error:
            problem = f"a motion that is refused: {error}"
        return SkillResult(SkillErrorCode.SKILL_FAULT, f"the skill {self._name} gave {problem}")


@dataclass(frozen=True)
class CheckedSkill:
    """Skill with its manifest, which checks arguments and preconditions before it starts.

    `signature` is that of the manifest, with the `plan` of the code as it was when the skill was loaded.
    """

    manifest: Manifest
    implementation: Skill
    signature: Signature = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.manifest.signature)

    @property
    def name(self) -> str:
        return self.manifest.name

    def start(self, arguments: Mapping[str, Any], observation: Observation) -> SkillRun:
        """See `Skill`; raises SkillError (INVALID_ARGUMENT, PRECONDITION_FAILED)."""
        values = check_arguments(self.manifest, arguments, observation.scene)
        moment = Moment(observation.scene, values, observation.scene.held, observation.origins)
        for condition in self.manifest.preconditions:
            if not holds(condition.atom, moment):
                reason = condition.explain(values, observation.scene.held)
                raise SkillError(SkillErrorCode.PRECONDITION_FAILED, f"{self.name} cannot start: {reason}")
        return started(self.name, self.implementation, values, observation)


@dataclass(frozen=True)
class SkillLibrary:
    """Skills that programs may call, by name."""

    skills: Mapping[str, CheckedSkill]

    def __iter__(self) -> Iterator[CheckedSkill]:
        return iter(self.skills.values())

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """Signatures of the skills for the checker of policy programs."""
        return tuple(skill.signature for skill in self)

    def for_scene(self, scene: Scene) -> SkillLibrary:
        """Return the skills that fit the robot in `scene`; skills for furniture only if the scene contains it."""
        robots = (scene.robot_kind, ANY_ROBOT, *([MOBILE_ARM] if scene.base else []))
        fitting = {name: skill for name, skill in self.skills.items() if skill.manifest.robot in robots}
        if scene.base:
            fitting = {name: _within_reach(skill) for name, skill in fitting.items()}
        missing = FURNITURE - {item.kind for item in scene.objects}
        return SkillLibrary(
            {
                name: skill
                for name, skill in fitting.items()
                if not missing.intersection(one.atom.predicate for one in skill.manifest.preconditions)
            }
        )

    def find(self, name: str) -> CheckedSkill:
        """Return the skill called `name`; raises InputError that lists the names."""
        if name not in self.skills:
            raise InputError(f"there is no skill {name!r}; the skills are: {', '.join(self.skills) or 'none'}")
        return self.skills[name]


def _within_reach(skill: CheckedSkill) -> CheckedSkill:
    """Return a skill of an arm with the condition that the arm reaches the objects that a call names."""
    if skill.manifest.robot != ARM:
        return skill
    reached = tuple(
        Precondition(Atom("within_reach", (name,)), f"the {{{name}}} is out of reach; drive to it with approach first")
        for name in skill.manifest.objects
    )
    manifest = replace(skill.manifest, preconditions=(*skill.manifest.preconditions, *reached))
    return CheckedSkill(manifest, skill.implementation)


PACKAGES = "llm_planner.skills"  # entry points of installed packages: modules or folders that contain skills


def load_skills(
    folder: Path | None = None,
    settings: ArmSettings | None = None,
    make_base: MakeBase = own_base,
    learned: bool = True,
    camera: Camera = blind,
    unproven: bool = False,
) -> SkillLibrary:
    """Load the shipped skills, those of installed packages and those in `folder`; later ones replace earlier ones.

    A package names its folder of skills by an entry point of the group `llm_planner.skills`.

    Args:
        folder: Folder of skills, each a folder with a `skill.yaml`.
        settings: Motion parameters of arm skills.
        make_base: Body of mobile skills.
        learned: Whether skills move by their policy if trials have shown it no worse than their code.
        camera: Source of pictures for policy servers and skills that act by sight; without it, the latter are omitted.
        unproven: Whether skills move by their policy whenever they have one.

    Raises:
        InputError: A file is invalid; the message names the file, the value and the choices.
    """
    folders = [share_folder("skills"), *_packages(), *([folder] if folder else [])]
    paths = [path for one in folders for path in _manifests(one)]
    read = [read_skill(path, settings, make_base, learned, camera, unproven) for path in paths]
    return SkillLibrary({skill.name: skill for skill in read if skill is not None})


@cache
def skill_packages() -> EntryPoints:
    """Return the installed packages with skills; reads a file of every package, so the result is cached."""
    return entry_points(group=PACKAGES)


def _packages() -> list[Path]:
    found = []
    for point in skill_packages():
        try:
            place = point.load()
        except (Exception, SystemExit) as error:
            raise InputError(f"the entry point {point.value} of {PACKAGES} cannot be loaded: {error}") from error
        found.append(Path(place) if isinstance(place, str | Path) else Path(place.__path__[0]))
    return found


def _manifests(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("*/skill.yaml"))
    if not paths:
        raise InputError(
            f"{folder} holds no skill; a skill is a folder with a skill.yaml (llm-planner new skill NAME writes one)"
        )
    return paths


def read_skill(
    path: Path,
    settings: ArmSettings | None = None,
    make_base: MakeBase = own_base,
    learned: bool = True,
    camera: Camera = blind,
    unproven: bool = False,
) -> CheckedSkill | None:
    """Load the skill of the manifest `path`; None for one by sight without a camera or a policy. See `load_skills`."""
    arm_settings = settings or ArmSettings()
    bodies: dict[str, MakeBody] = {
        "arm": lambda observation, began: Arm(observation, arm_settings, began),
        "mobile": lambda observation, began: make_base(observation),
        MOBILE_ARM: lambda observation, began: MobileArm(observation, arm_settings),
        ANY_ROBOT: lambda observation, began: bodies[observation.scene.robot_kind](observation, began),
    }
    manifest, weights = read_manifest(path), path.with_name(POLICY_FILE)
    if _by_sight(manifest) and (camera is blind or not weights.exists()):
        return None
    if _by_sight(manifest):
        script = picking_by_sight(manifest.name, load_sight(weights), camera)
    else:
        script = _script(manifest, camera)
    scripted = ScriptedSkill(manifest.name, script, manifest.timeout, bodies[manifest.robot])
    if not learned or manifest.policy is None or _by_sight(manifest):
        return CheckedSkill(manifest, scripted)
    policies = {
        robot: learned_skill(manifest, load_sampler(manifest, folder / POLICY_FILE), arm_settings)
        for robot, folder in policy_folders(path.parent).items()
        if unproven or policy_moves(folder)
    }
    return CheckedSkill(manifest, LearnedOrScripted(policies, scripted, manifest.unseen) if policies else scripted)


def _by_sight(manifest: Manifest) -> bool:
    return manifest.policy is not None and manifest.policy.by_sight


def _script(manifest: Manifest, camera: Camera) -> Mover:
    """Return what moves the robot without a policy: a recording, a policy server or the `move` of the code."""
    achieved = partial(shows_effects, manifest)
    if manifest.recording is not None:
        return replaying(read_recording(manifest.recording, manifest.objects), achieved)
    if manifest.server is not None:
        return asking(manifest.name, manifest.server, achieved, camera)
    return manifest.functions().move
