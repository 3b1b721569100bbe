"""Trials of skills by sight, with their own camera, in worlds where the demonstrator could act."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.programs.values import Argument
from llm_planner.robots.arm_shape import PANDA_SHAPE
from llm_planner.robots.motion import Observation
from llm_planner.simulation.renderers import SIZE, SceneCamera
from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.contract import Skill, SkillRun
from llm_planner.skills.learned.loading import decision_of
from llm_planner.skills.library import CheckedSkill
from llm_planner.skills.manifest import Manifest
from llm_planner.skills.scripted import ScriptedSkill
from llm_planner.skills.sight_picking import glimpse, load_sight, picking_by_sight

if TYPE_CHECKING:
    from llm_planner.learning.training_task import TrainingTask


LOOKS = 60  # number of looks in the latency measurement


@contextmanager
def seeing(lesson: TrainingTask) -> Iterator[CheckedSkill]:
    """Open the skill with its policy and a camera; raise InputError if the policy is unreadable."""
    manifest, network = lesson.manifest, load_sight(lesson.policy)
    with SceneCamera() as camera:
        script = picking_by_sight(manifest.name, network, camera)
        skill = ScriptedSkill(
            manifest.name, script, manifest.timeout, lambda seen, began: Arm(seen, ArmSettings(), began)
        )
        yield CheckedSkill(manifest, _Possible(manifest, skill))


@dataclass(frozen=True)
class _Possible:
    """Skill wrapper that refuses to start if the demonstrator would refuse."""

    manifest: Manifest
    skill: Skill

    @property
    def name(self) -> str:
        return self.skill.name

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun:
        """See `Skill`; raise SkillError if the demonstrator does."""
        decision_of(self.manifest, ArmSettings(), arguments, observation).aim(observation)
        return self.skill.start(arguments, observation)


def look_times(lesson: TrainingTask, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Measure the durations of looks at a picture [s], without rendering; `clock` returns the time [s]."""
    network, times = load_sight(lesson.policy), []
    picture = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    kind, color = network.spec.kinds[0], network.spec.colors[0]
    for _ in range(LOOKS):
        began = clock()
        glimpse(network, picture, kind, color, PANDA_SHAPE)
        times.append(clock() - began)
    return times
