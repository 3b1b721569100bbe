"""Builds learned skills from a manifest and weights.

A report in the skill's folder decides whether the policy may replace the script: only after trials on commands in which
it was no worse.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Observation
from llm_planner.robots.robot_folders import DEFAULT, default_name
from llm_planner.scene.atoms import Moment, holds
from llm_planner.share import skill_command
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import Arguments
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.features import HORIZON, N_ACTION_STEPS, NAMES, feature_names, same_actions
from llm_planner.skills.learned.samplers import STEPS, ChunkSampler, FlowSampler, Reranked, load_critic
from llm_planner.skills.learned.skill import Achieved, LearnedMotion, LearnedSkill
from llm_planner.skills.learned.velocity_field import PolicySpec
from llm_planner.skills.learned.weights_file import load_policy, read_notes
from llm_planner.skills.manifest import Manifest, PolicyContract

CRITIC_FILE = "critic.safetensors"


def contract_of(manifest: Manifest) -> PolicyContract:
    """Return the policy contract of a manifest; raises InputError if it has none."""
    if manifest.policy is None:
        raise InputError(
            f"{manifest.name} has no policy to learn: its skill.yaml has no section 'policy' with observe, goal"
        )
    return manifest.policy


def spec_of(manifest: Manifest) -> PolicySpec:
    """Return the policy sizes that the manifest requires."""
    contract = contract_of(manifest)
    seen = feature_names(contract.observe, [parameter.name for parameter in manifest.parameters])
    return PolicySpec(len(seen), len(contract.goal), len(NAMES), horizon=HORIZON, n_action_steps=N_ACTION_STEPS)


def load_sampler(manifest: Manifest, path: Path) -> ChunkSampler:
    """Load the policy in `path`, and the critic beside it if there is one.

    Raises InputError if it does not match the manifest.
    """
    asked = spec_of(manifest)
    try:
        field = load_policy(path)
    except InputError as error:
        raise InputError(f"{error}; {_trained_anew(path)}") from error
    for name in ("observation_dim", "goal_dim", "action_dim", "horizon"):
        found, wanted = getattr(field.spec, name), getattr(asked, name)
        if found != wanted:
            raise InputError(f"{path}: {name} is {found}, but skill.yaml declares {wanted}; {_trained_anew(path)}")
    _check_notes(manifest, path)
    if not same_actions(field.actions):
        raise InputError(f"{path}: its actions have other units than the library's; {_trained_anew(path)}")
    sampler = FlowSampler(field, STEPS if field.spec.objective == "flow" else 1)
    return _reranked(sampler, path.with_name(CRITIC_FILE)) if path.with_name(CRITIC_FILE).exists() else sampler


def notes_of(manifest: Manifest) -> dict[str, object]:
    """Return the notes to save with the weights, which record the meaning of the numbers beyond their sizes."""
    contract = contract_of(manifest)
    return {"skill": manifest.name, "observe": list(contract.observe), "goal": list(contract.goal)}


def _check_notes(manifest: Manifest, path: Path) -> None:
    notes = read_notes(path)
    for name, asked in notes_of(manifest).items():
        learned = notes.get(name, asked)
        if learned != asked:
            raise InputError(
                f"{path}: it has learned with {name} {learned!r}, but skill.yaml declares {asked!r}; "
                f"{_trained_anew(path)}"
            )


def _trained_anew(path: Path) -> str:
    return f"train it anew: {policy_command('train', path.parent, '--anew')}"


def _reranked(sampler: ChunkSampler, path: Path) -> Reranked:
    critic = load_critic(path)
    if critic.spec != sampler.spec:
        raise InputError(f"{path}: judges a policy of other sizes than the one beside it; delete it")
    return Reranked(sampler, critic, np.random.default_rng(0))


def learned_skill(manifest: Manifest, sampler: ChunkSampler, settings: ArmSettings) -> LearnedSkill:
    """Build the skill that moves by `sampler` without noise, which gives the most likely motion."""
    contract = contract_of(manifest)

    def achieved(arguments: Arguments, began: Observation) -> Achieved:
        return lambda observation: shows_effects(manifest, arguments, began, observation)

    return LearnedSkill(
        manifest.name,
        LearnedMotion(sampler, contract.observe, contract.goal),
        lambda arguments, observation: decision_of(manifest, settings, arguments, observation),
        achieved,
        manifest.timeout,
    )


def decision_of(manifest: Manifest, settings: ArmSettings, arguments: Arguments, began: Observation) -> Decision:
    """Return the demonstrator's decision for a run that started at `began`."""
    return Decision(manifest.functions().move, settings, arguments, began)


def shows_effects(manifest: Manifest, arguments: Arguments, began: Observation, now: Observation) -> bool:
    """Return whether the scene shows all effects in the manifest for a skill that started at `began`."""
    origins = {item.name: item.position for item in began.scene.objects} | dict(began.origins)
    moment = Moment(now.scene, arguments, began.scene.held, origins)
    return all(holds(effect, moment) for effect in manifest.effects)


REPORT_FILE, POLICY_FILE, POLICIES = "report.json", "policy.safetensors", "policies"
POLICY, SCRIPT = "policy", "script"


def digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def trained_on(folder: Path) -> str:
    """Return the name of the robot that a policy has learned on, by its report; the default arm without one."""
    try:
        name = json.loads((folder / REPORT_FILE).read_text(encoding="utf-8"))["robot"]
    except (OSError, ValueError, KeyError, TypeError):
        name = DEFAULT
    return default_name() if name == DEFAULT else str(name)


def policy_folder(skill: Path, robot: str) -> Path:
    """Return the folder of a skill's policy for an arm: its own for the default arm, `policies/ROBOT` for others."""
    return skill if robot == default_name() else skill / POLICIES / Path(robot).name


def policy_folders(skill: Path) -> dict[str, Path]:
    """Return the folders with a policy of the skill in the folder `skill`, by the robot that each has learned on."""
    folders = (*sorted((skill / POLICIES).glob("*")), skill)
    return {trained_on(folder): folder for folder in folders if (folder / POLICY_FILE).exists()}


def policy_command(verb: str, folder: Path, *options: str, robot: str = "") -> str:
    """Return the shell command that applies `verb` to the policy in `folder`; by default `robot` is read from there."""
    if folder.parent.name != POLICIES:
        return skill_command(verb, folder, *options)
    robot = robot or (trained_on(folder) if (folder / REPORT_FILE).exists() else folder.name)
    return skill_command(verb, folder.parent.parent, "--robot", robot, *options)


def policy_moves(folder: Path) -> bool:
    """Return whether the report in the folder of a policy selects the policy over the script.

    False if policy or report are missing, or if the report is for other weights or lacks trials on commands.
    """
    try:
        report = json.loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
        return bool(report["policy"] == digest(folder / POLICY_FILE) and report["commands"]["mover"] == POLICY)
    except (OSError, ValueError, KeyError, TypeError):
        return False
