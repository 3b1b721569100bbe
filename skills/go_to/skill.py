"""Drive by the shortest route through the doors to the middle of a room, or up to a person or an object."""

from llm_planner import Base, Script
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]


def move(base: Base, arguments: Arguments) -> Script:
    """Drive to the middle of the room `destination`, or up to the person or object of that name, and face it."""
    destination = str(arguments["destination"])
    if destination in base.building.names:
        yield from base.drive("drive", base.floor.middle(destination))
        return
    if destination == base.scene.held:
        return
    yield from base.visit(base.find(destination))
