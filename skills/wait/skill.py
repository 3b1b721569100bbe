"""Hold still for some time."""

from llm_planner import Arm, Base, Script
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import stay as plan

__all__ = ["move", "plan"]


def move(body: Arm | Base, arguments: Arguments) -> Script:
    yield from body.rest("wait", float(str(arguments["seconds"])))
