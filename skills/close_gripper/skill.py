"""Close the fingers where the hand is now, on whatever is between them."""

from llm_planner.skills.paths import stay as plan
from llm_planner.skills.scripts.basic import close_gripper as move

__all__ = ["move", "plan"]
