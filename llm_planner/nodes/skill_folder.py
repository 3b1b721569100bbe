"""The skill library that a node's parameters name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.nodes.camera_feed import CameraFeed
from llm_planner.nodes.settings import CAMERA, SKILLS
from llm_planner.skills.camera import blind
from llm_planner.skills.library import SkillLibrary, load_skills

if TYPE_CHECKING:
    from llm_planner.nodes.shell import ShellNode


def library_of(node: ShellNode, learned: bool = False) -> SkillLibrary:
    """For a node that moves nothing, what skills promise is enough: then policies are not opened."""
    folder, camera = node.setting(SKILLS.name), CameraFeed(node) if node.setting(CAMERA.name) else blind
    return load_skills(Path(folder) if folder else None, learned=learned, camera=camera)
