"""The skill library: every `skills/<name>/skill.yaml` of a folder, ready to start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.program.signatures import Signature
from llm_planner.share import share_folder
from llm_planner.skills.arguments import check_arguments
from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.base import Base, BaseSettings
from llm_planner.skills.camera import Camera, blind
from llm_planner.skills.contract import Observation, Skill, SkillErrorCode, SkillRun
from llm_planner.skills.errors import SkillError
from llm_planner.skills.fault_containment import started
from llm_planner.skills.hand_recording import read_recording
from llm_planner.skills.learned.backed import LearnedOrScripted
from llm_planner.skills.learned.loading import (
    POLICY_FILE,
    learned_skill,
    load_sampler,
    shows_effects,
)
from llm_planner.skills.learned.standing import policy_moves
from llm_planner.skills.manifest import Manifest, read_manifest
from llm_planner.skills.recorded import replaying
from llm_planner.skills.remote.skill import asking
from llm_planner.skills.scripted import MakeBody, ScriptedSkill
from llm_planner.skills.scripts import ANY_ROBOT, SCRIPTS, ScriptFunction
from llm_planner.skills.sight.picking import picking_by_sight
from llm_planner.skills.sight.sight import load_sight
from llm_planner.world.atoms import Moment, holds
from llm_planner.world.predicates import FURNITURE
from llm_planner.world.scene import Scene


@dataclass(frozen=True)
class CheckedSkill:
    """A skill with its manifest: arguments and preconditions are checked before it starts."""

    manifest: Manifest
    implementation: Skill

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
    """The skills that programs may call, by name."""

    skills: Mapping[str, CheckedSkill]

    def __iter__(self) -> Iterator[CheckedSkill]:
        return iter(self.skills.values())

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """As the checker of policy programs sees them."""
        return tuple(skill.manifest.signature for skill in self)

    def for_scene(self, scene: Scene) -> SkillLibrary:
        """The skills of the robot in `scene`: those that drive through a building, or those of an arm, and those for
        furniture only where it is there."""
        robots = (scene.robot_kind, ANY_ROBOT)
        fitting = {name: skill for name, skill in self.skills.items() if skill.manifest.robot in robots}
        kinds = {item.kind for item in scene.objects}
        return SkillLibrary({name: skill for name, skill in fitting.items() if _furniture(skill.manifest) <= kinds})

    def find(self, name: str) -> CheckedSkill:
        """The skill called `name`; raises InputError that lists the names."""
        if name not in self.skills:
            raise InputError(f"there is no skill {name!r}; the skills are: {', '.join(self.skills) or 'none'}")
        return self.skills[name]


def _furniture(manifest: Manifest) -> frozenset[str]:
    """The kinds of furniture that a skill asks for."""
    return FURNITURE.intersection(condition.atom.predicate for condition in manifest.preconditions)


def load_skills(
    folder: Path | None = None,
    settings: ArmSettings | None = None,
    base_settings: BaseSettings | None = None,
    learned: bool = True,
    camera: Camera = blind,
    unproven: bool = False,
) -> SkillLibrary:
    """The library in `folder`, or the one that ships with the package, with the skills of every robot.

    `settings` are how the scripted skills of an arm move, `base_settings` those of a mobile robot. Skills move by
    their policy where trials on commands have shown it no worse than their script (see `learned.standing`), and unless
    `learned` is false; with `unproven` wherever there is one. Policy servers that want it are shown what the
    `camera` takes; skills that act by sight are there only with a camera, and once they are trained. Raises InputError
    that names the wrong file.
    """
    folder = folder or share_folder("skills")
    paths = sorted(folder.glob("*/skill.yaml"))
    if not paths:
        raise InputError(f"{folder} holds no skill; a skill is a folder with a skill.yaml")
    arm_settings = settings or ArmSettings()
    bodies: dict[str, MakeBody] = {
        "arm": lambda observation, began: Arm(observation, arm_settings, began),
        "mobile": lambda observation, began: Base(observation, base_settings or BaseSettings()),
        ANY_ROBOT: lambda observation, began: bodies[observation.scene.robot_kind](observation, began),
    }
    skills: dict[str, CheckedSkill] = {}
    for path in paths:
        manifest, weights = read_manifest(path), path.with_name(POLICY_FILE)
        if _by_sight(manifest) and (camera is blind or not weights.exists()):
            continue
        script = _seeing(manifest, weights, camera) if _by_sight(manifest) else _script(manifest, camera)
        scripted = ScriptedSkill(manifest.name, script, manifest.timeout, bodies[manifest.robot])
        skill: Skill = scripted
        wanted = learned and (policy_moves(path.parent) or (unproven and weights.exists()))
        if wanted and manifest.policy is not None and not _by_sight(manifest):
            policy = learned_skill(manifest, load_sampler(manifest, weights), arm_settings)
            skill = LearnedOrScripted(policy, scripted, manifest.unseen)
        skills[manifest.name] = CheckedSkill(manifest, skill)
    return SkillLibrary(skills)


def _by_sight(manifest: Manifest) -> bool:
    return manifest.policy is not None and manifest.policy.by_sight


def _seeing(manifest: Manifest, weights: Path, camera: Camera) -> ScriptFunction:
    return picking_by_sight(manifest.name, load_sight(weights), camera)


def _script(manifest: Manifest, camera: Camera) -> ScriptFunction:
    """What moves the robot where no policy does: all that is not written here is carried out like a script."""
    achieved = partial(shows_effects, manifest)
    if manifest.recording is not None:
        things = [parameter.name for parameter in manifest.parameters if parameter.type == "object"]
        return replaying(read_recording(manifest.recording, things), achieved)
    if manifest.server is not None:
        return asking(manifest.name, manifest.server, achieved, camera)
    return SCRIPTS[manifest.robot][manifest.script]
