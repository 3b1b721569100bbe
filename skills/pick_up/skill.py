"""Drive up to an object in the same room and load it."""

from llm_planner import Base, Script, SkillError, SkillErrorCode
from llm_planner.robots.mobile_base import CLOSED_WIDTH, OPEN_WIDTH
from llm_planner.scene.names import the
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]


def move(base: Base, arguments: Arguments) -> Script:
    """Drive up to `object` and load it onto the tray."""
    name = str(arguments["object"])
    yield from base.fingers("open", OPEN_WIDTH)
    yield from base.visit(base.find(name))
    yield from base.fingers("load", CLOSED_WIDTH)
    if base.scene.held != name:
        raise SkillError(SkillErrorCode.NO_GRASP, f"the fingers closed without taking hold of {the(name)}")
