"""How a person wants the motion of a plan to be: how fast, how far from things, how high, and how far to which side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.control.motion_constraints import Patch
from llm_planner.plans.plan import Goal
from llm_planner.scene.atoms import HELD
from llm_planner.scene.scene import Vector3
from llm_planner.skills.tuning import NOWHERE, Tuning

SOURCE = "what you asked for"  # of the patch
FULL_SPEED: Mapping[str, float] = {"arm": 0.5, "mobile": 1.0}  # [m/s] of the hand, or of the base
FARTHEST: Mapping[str, float] = {"arm": 0.15, "mobile": 1.0}  # [m] of an offset
_MOVING = frozenset({"moved", "at", "beside"})  # effects on a thing that is not held, but goes with the hand


@dataclass(frozen=True)
class OfSteps:
    """What is otherwise in single steps, by their ids: offsets [m, robot frame], which come on top of the plan's, and
    quantities, which take the place of the plan's."""

    offsets: Mapping[str, Vector3] = field(default_factory=dict)
    quantities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def with_offset(self, step_id: str, offset: Vector3) -> OfSteps:
        """With so much [m] more of an offset."""
        return replace(self, offsets={**self.offsets, step_id: added(self.offsets.get(step_id, NOWHERE), offset)})

    def with_quantity(self, step_id: str, name: str, value: float) -> OfSteps:
        """With that value of a quantity."""
        return replace(self, quantities={**self.quantities, step_id: {**self.quantities.get(step_id, {}), name: value}})


@dataclass(frozen=True)
class Manner:
    """`speed` is a share of the full one, `clearance` [m] from all that is in the way, `height` [m] over the usual one,
    `offset` [m, robot frame] that of everything that is done.

    `said` is what the person wants of single steps, `taught` what lessons make of them: no edit of the plan's, so that
    "undo that" is not about it and the journal does not keep it.
    """

    speed: float = 1.0
    clearance: float = 0.0
    height: float = 0.0
    offset: Vector3 = NOWHERE
    said: OfSteps = field(default_factory=OfSteps)
    taught: OfSteps = field(default_factory=OfSteps)

    def offset_of(self, step_id: str) -> Vector3:
        """Of the step of that id [m, robot frame]."""
        return added(self.offset, self.own_offset(step_id))

    def own_offset(self, step_id: str) -> Vector3:
        """Of the step alone [m, robot frame]."""
        return added(self.said.offsets.get(step_id, NOWHERE), self.taught.offsets.get(step_id, NOWHERE))

    @property
    def shifted_steps(self) -> frozenset[str]:
        """The ids of those that have an offset of their own."""
        return frozenset((*self.said.offsets, *self.taught.offsets))

    @property
    def special_steps(self) -> frozenset[str]:
        """The ids of those that have quantities of their own."""
        return frozenset((*self.said.quantities, *self.taught.quantities))

    def quantity(self, name: str, step_id: str = "") -> float:
        """Of the step of that id, else of the plan: what the person said of the step goes before what was taught."""
        return self._own(step_id).get(name, self._of_plan[name])

    def is_special(self, name: str, step_id: str) -> bool:
        """Whether the step has a quantity of its own."""
        return name in self._own(step_id)

    def _own(self, step_id: str) -> dict[str, float]:
        return {**self.taught.quantities.get(step_id, {}), **self.said.quantities.get(step_id, {})}

    @property
    def _of_plan(self) -> dict[str, float]:
        return {"speed": self.speed, "clearance": self.clearance, "height": self.height}

    def tuning_of(self, step_id: str) -> Tuning:
        """What the skill of that step is told."""
        higher = self.quantity("height", step_id) + self.quantity("clearance", step_id)
        return Tuning(self.offset_of(step_id), higher)

    def with_offset(self, offset: Vector3, step_id: str = "") -> Manner:
        """So much [m] more of an offset, of that step or else of the whole plan."""
        if step_id:
            return replace(self, said=self.said.with_offset(step_id, offset))
        return replace(self, offset=added(self.offset, offset))

    def with_quantity(self, name: str, value: float, step_id: str = "") -> Manner:
        """With another speed, clearance or height, of that step or else of the whole plan."""
        if step_id:
            return replace(self, said=self.said.with_quantity(step_id, name, value))
        now = self._of_plan | {name: value}
        return replace(self, speed=now["speed"], clearance=now["clearance"], height=now["height"])

    def patch(self, robot_kind: str, step_id: str, stamp: float, expires: float, epoch: int) -> Patch:
        """What the controller and the safety filter are to keep in that step; it says nothing where nothing was asked
        for."""
        share, clearance = self.quantity("speed", step_id), self.quantity("clearance", step_id)
        slower = share < 1.0
        speed = share * FULL_SPEED[robot_kind] if slower else None
        return Patch(SOURCE, stamp, expires, epoch, speed, share if slower else None, clearance or None)


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
