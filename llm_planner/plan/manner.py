"""How a person wants the motion of a plan to be: how fast, how far from things, how high, and how far to which side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.control.patches import Patch
from llm_planner.plan.plan import Goal
from llm_planner.skills.tuning import NOWHERE, Tuning
from llm_planner.world.atoms import HELD
from llm_planner.world.scene import Vector3

SOURCE = "what you asked for"  # of the patch
FULL_SPEED: Mapping[str, float] = {"arm": 0.5, "mobile": 1.0}  # [m/s] of the hand, or of the base
FARTHEST: Mapping[str, float] = {"arm": 0.15, "mobile": 1.0}  # [m] of an offset
_MOVING = frozenset({"moved", "at", "beside"})  # effects on a thing that is not held, but goes with the hand


@dataclass(frozen=True)
class Manner:
    """`speed` is a share of the full one, `clearance` [m] from all that is in the way, `height` [m] over the usual one.

    `offset` [m, robot frame] is for the whole plan, those in `step_offsets` for the steps of those ids.
    """

    speed: float = 1.0
    clearance: float = 0.0
    height: float = 0.0
    offset: Vector3 = NOWHERE
    step_offsets: Mapping[str, Vector3] = field(default_factory=dict)

    def offset_of(self, step_id: str) -> Vector3:
        """Of the step of that id [m, robot frame]."""
        return added(self.offset, self.step_offsets.get(step_id, NOWHERE))

    def tuning_of(self, step_id: str) -> Tuning:
        """What the skill of that step is told."""
        return Tuning(self.offset_of(step_id), self.height + self.clearance)

    def with_offset(self, offset: Vector3, step_id: str = "") -> Manner:
        """So much [m] more of an offset, of that step or else of the whole plan."""
        if not step_id:
            return replace(self, offset=added(self.offset, offset))
        of_step = added(self.step_offsets.get(step_id, NOWHERE), offset)
        return replace(self, step_offsets={**self.step_offsets, step_id: of_step})

    def with_quantity(self, name: str, value: float) -> Manner:
        """With another speed, clearance or height."""
        now = {"speed": self.speed, "clearance": self.clearance, "height": self.height} | {name: value}
        return replace(self, speed=now["speed"], clearance=now["clearance"], height=now["height"])

    def patch(self, robot_kind: str, stamp: float, expires: float, epoch: int) -> Patch:
        """What the controller and the safety filter are to keep; it says nothing where nothing was asked for."""
        slower = self.speed < 1.0
        speed = self.speed * FULL_SPEED[robot_kind] if slower else None
        share, clearance = self.speed if slower else None, self.clearance or None
        return Patch(SOURCE, stamp, expires, epoch, speed, share, clearance)


AS_USUAL = Manner()


def added(a: Vector3, b: Vector3) -> Vector3:
    """The sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def moved_along(goals: tuple[Goal, ...]) -> frozenset[str]:
    """The things that go with the hand while a step with these effects runs, though it does not hold them."""
    return frozenset(
        str(goal.values[goal.atom.arguments[0]])
        for goal in goals
        if goal.atom.predicate in _MOVING and goal.atom.arguments[0] != HELD
    )
