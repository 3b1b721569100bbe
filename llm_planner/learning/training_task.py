"""Training task of a learnable skill: its folder, contract, demonstrator and work folder, and its demonstrations.

A pool of workers collects demonstrations. Each session is written to its own file, so that an interrupted run loses
only unfinished sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.learning.cases import Case, case_of, draw_case
from llm_planner.learning.commands import draw_command
from llm_planner.learning.recording import DatasetFormat
from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.skills.learned.features import NAMES, STEP, feature_names
from llm_planner.skills.learned.loading import POLICY_FILE, contract_of, policy_command, policy_folder, spec_of
from llm_planner.skills.learned.velocity_field import PolicySpec
from llm_planner.skills.library import SkillLibrary, load_skills
from llm_planner.skills.manifest import Manifest, PolicyContract, read_manifest

STATE, GOAL, ACTION = "observation.state", "observation.goal", "action"


@dataclass(frozen=True)
class TrainingTask:
    """Training of one skill, of the library in the folder `skills`, on an arm; unfinished results are in `work`."""

    skills: Path
    work: Path
    manifest: Manifest
    robot: str = DEFAULT

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def arm(self) -> ArmModel:
        return arm_model(self.robot)

    @property
    def folder(self) -> Path:
        """Folder of the policy and its report."""
        return policy_folder(self.skills / self.name, self.arm.name)

    @property
    def drafts(self) -> Path:
        """Folder of the unfinished results."""
        return policy_folder(self.work / self.name, self.arm.name)

    @property
    def policy(self) -> Path:
        return self.folder / POLICY_FILE

    @property
    def demonstrations(self) -> Path:
        """Folder of the demonstration dataset."""
        return self.drafts / "demonstrations"

    @property
    def checkpoint(self) -> Path:
        return self.drafts / "checkpoint.safetensors"

    @property
    def progress(self) -> Path:
        """File with the loss curve of the current training."""
        return self.drafts / "progress.json"

    @property
    def pictures(self) -> Path:
        """Folder of the pictures from which a policy by sight learns."""
        return self.drafts / "pictures"

    @property
    def contract(self) -> PolicyContract:
        return contract_of(self.manifest)

    @property
    def spec(self) -> PolicySpec:
        return spec_of(self.manifest)

    def with_amounts(self, episodes: int, steps: int) -> TrainingTask:
        """Replace the numbers of demonstration episodes and training steps."""
        policy = replace(self.contract, episodes=episodes, steps=steps)
        return replace(self, manifest=replace(self.manifest, policy=policy))

    @property
    def format(self) -> DatasetFormat:
        """Format of the demonstration dataset."""
        parameters = [parameter.name for parameter in self.manifest.parameters]
        names = {
            STATE: feature_names(self.contract.observe, parameters),
            GOAL: self.contract.goal,
            ACTION: NAMES,
        }
        return DatasetFormat(1 / STEP, self.arm.name, {column: parts for column, parts in names.items() if parts})

    def draw_case(self, seed: int) -> Case:
        """Draw a case of the training world that the contract names, otherwise a command for the skill."""
        if self.contract.world:
            return draw_case(self.contract.world, seed)
        return case_of(draw_command(self.manifest, seed, robot=self.robot))

    def command(self, verb: str, *options: str) -> str:
        """Return the shell command that applies `verb` (train, evaluate) to this task."""
        return policy_command(verb, self.folder, *options, robot=self.arm.name)


def open_training_task(skills: Path, work: Path, name: str, robot: str = DEFAULT) -> TrainingTask:
    """Open the training task of a skill on an arm.

    Raises InputError if skill or arm are missing, or the skill has no policy, or one by sight for another arm.
    """
    path = skills / name / "skill.yaml"
    if not path.is_file():
        raise InputError(
            f"{skills} has no skill {name!r}; those with a policy: {', '.join(learnable(skills)) or 'none'}"
        )
    task = TrainingTask(skills, work, read_manifest(path), robot)
    if contract_of(task.manifest).by_sight and task.arm != default_arm():
        raise InputError(
            f"{name} sees where to act, and one policy, trained on pictures of {default_arm().name}, serves all arms; "
            f"leave --robot {robot} out"
        )
    return task


def learnable(skills: Path) -> Sequence[str]:
    """List the skills in the folder that have a policy to learn."""
    manifests = [read_manifest(path) for path in sorted(skills.glob("*/skill.yaml"))]
    return [manifest.name for manifest in manifests if manifest.policy is not None]


@lru_cache(maxsize=4)
def demonstrators(skills: Path) -> SkillLibrary:
    """Load the library in the folder with scripted skills only."""
    return load_skills(skills, learned=False)


SEEDS = 1_000_000  # episode seeds reserved per seed
