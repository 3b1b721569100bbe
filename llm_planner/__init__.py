"""Command and correct a robot in plain language, and prove what it will and will not do.

The names of `__all__` are the public Python API; nothing else is promised to stay. They are imported when first used.
See docs/reference/api.md and `examples/`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy, whose threads wait for each other where cores are busy

__version__ = "0.2.0"

if TYPE_CHECKING:
    from llm_planner.control.mpc import MpcController
    from llm_planner.corrections.edits import Answer, Edit
    from llm_planner.errors import InputError, LanguageModelError, LlmPlannerError, QuestionError, SimulationError
    from llm_planner.language.factory import open_model
    from llm_planner.language.model import LanguageModel
    from llm_planner.ltl.formula import Formula
    from llm_planner.ltl.monitor import Monitor
    from llm_planner.ltl.parser import parse as parse_ltl
    from llm_planner.planning.planned import Planned
    from llm_planner.planning.report import Report
    from llm_planner.plans.plan import Outcome, Plan, PlanStep
    from llm_planner.robots.arm_model import ArmModel
    from llm_planner.robots.arm_model import arm_model as load_robot
    from llm_planner.ros.client import SystemClient as Client
    from llm_planner.scene.scene import Pose, Scene, SceneObject
    from llm_planner.session import Session
    from llm_planner.simulation.worlds import open_world as load_world
    from llm_planner.skills.arm import Arm, Script
    from llm_planner.skills.base import Base
    from llm_planner.skills.contract import Skill, SkillError, SkillErrorCode, SkillResult
    from llm_planner.skills.hand_geometry import HandPose
    from llm_planner.skills.library import SkillLibrary, load_skills
    from llm_planner.skills.motion import Leg
    from llm_planner.skills.paths import MotionPath, SkillCall, Waypoint

_HOMES = {
    "Answer": "corrections.edits",
    "Arm": "skills.arm",
    "ArmModel": "robots.arm_model",
    "Base": "skills.base",
    "Client": "ros.client:SystemClient",
    "Edit": "corrections.edits",
    "Formula": "ltl.formula",
    "HandPose": "skills.hand_geometry",
    "InputError": "errors",
    "LanguageModel": "language.model",
    "LanguageModelError": "errors",
    "Leg": "skills.motion",
    "LlmPlannerError": "errors",
    "Monitor": "ltl.monitor",
    "MotionPath": "skills.paths",
    "MpcController": "control.mpc",
    "Outcome": "plans.plan",
    "Plan": "plans.plan",
    "PlanStep": "plans.plan",
    "Planned": "planning.planned",
    "Pose": "scene.scene",
    "QuestionError": "errors",
    "Report": "planning.report",
    "Scene": "scene.scene",
    "SceneObject": "scene.scene",
    "Script": "skills.arm",
    "Session": "session",
    "SimulationError": "errors",
    "Skill": "skills.contract",
    "SkillCall": "skills.paths",
    "SkillError": "skills.contract",
    "SkillErrorCode": "skills.contract",
    "SkillLibrary": "skills.library",
    "SkillResult": "skills.contract",
    "Waypoint": "skills.paths",
    "load_robot": "robots.arm_model:arm_model",
    "load_skills": "skills.library",
    "load_world": "simulation.worlds:open_world",
    "open_model": "language.factory",
    "parse_ltl": "ltl.parser:parse",
}

__all__ = [
    "Answer", "Arm", "ArmModel", "Base", "Client", "Edit", "Formula", "HandPose", "InputError", "LanguageModel",
    "LanguageModelError", "Leg", "LlmPlannerError", "Monitor", "MotionPath", "MpcController", "Outcome", "Plan",
    "PlanStep", "Planned", "Pose", "QuestionError", "Report", "Scene", "SceneObject", "Script", "Session",
    "SimulationError", "Skill", "SkillCall", "SkillError", "SkillErrorCode", "SkillLibrary", "SkillResult",
    "Waypoint", "load_robot", "load_skills", "load_world", "open_model", "parse_ltl",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"llm_planner has no public name {name!r}; its names are: {', '.join(__all__)}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(f"llm_planner.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
