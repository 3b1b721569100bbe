"""Wipe a stain off the table with the sponge in the gripper, which must be picked up before and remains held."""

from llm_planner.skills.paths import operate as plan
from llm_planner.skills.scripts.wipe import wipe as move

__all__ = ["move", "plan"]
