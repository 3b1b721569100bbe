"""Rooms that a goal waits for are visited, not passed: who sends a robot to the kitchen looks for it there."""

from __future__ import annotations

from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import ROBOT, parse_proposition
from llm_planner.world.scene import Scene

_AWAITS = {
    "F": (True,),
    "U": (False, True),
    "G": (False,),
    "W": (False, True),
    "R": (False, False),
    "M": (False, False),
}
_DENIES = ("!", "->", "<->")


def awaited_rooms(goal: Formula, scene: Scene) -> frozenset[str]:
    """Propositions that the robot is in a room, where `goal` only waits for them; what it forbids or demands to last
    counts on the way, too."""
    rooms = scene.building.names if scene.building else ()
    awaited, others = _occurrences(goal, False)
    return frozenset(name for name in awaited - others if _is_in_room(name, rooms))


def _is_in_room(name: str, rooms: tuple[str, ...]) -> bool:
    item = parse_proposition(name)
    return item.predicate == "in" and item.arguments[0] == ROBOT and item.arguments[1] in rooms


def _occurrences(f: Formula, awaited: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Propositions that occur where something is waited for, and those that occur elsewhere."""
    if f.name:
        found = frozenset([f.name])
        return (found, frozenset()) if awaited else (frozenset(), found)
    if f.operator in _DENIES:
        return frozenset(), frozenset(f.propositions)
    flags = _AWAITS.get(f.operator, (awaited,) * len(f.operands))
    parts = [_occurrences(g, flag) for g, flag in zip(f.operands, flags, strict=True)]
    return frozenset().union(*(part[0] for part in parts)), frozenset().union(*(part[1] for part in parts))
