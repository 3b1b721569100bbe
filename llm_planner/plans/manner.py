"""Manner of a plan's motion: speed, clearance, height and offset, for the whole plan or for single steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.control.motion_constraints import Patch
from llm_planner.plans.plan import Goal
from llm_planner.scene.atoms import HELD
from llm_planner.scene.scene import Vector3
from llm_planner.skills.tuning import NOWHERE, Tuning, added

SOURCE = "what you asked for"  # name of the patch's source
FULL_SPEED: Mapping[str, float] = {"arm": 0.5, "mobile": 1.0}  # [m/s] of the end effector or the base
FARTHEST: Mapping[str, float] = {"arm": 0.15, "mobile": 1.0}  # [m] largest offset
_MOVING = frozenset({"moved", "at", "beside"})  # effects that move an object along with the gripper without grasping it


@dataclass(frozen=True)
class OfSteps:
    """Adjustments of single steps, by step id.

    Attributes:
        offsets: Offsets that add to the plan's offset [m, robot frame].
        quantities: Values by name ("speed", "clearance", "height") that replace the plan's.
    """

    offsets: Mapping[str, Vector3] = field(default_factory=dict)
    quantities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def with_offset(self, step_id: str, offset: Vector3) -> OfSteps:
        """Add `offset` [m] to the offset of a step."""
        return replace(self, offsets={**self.offsets, step_id: added(self.offsets.get(step_id, NOWHERE), offset)})

    def with_quantity(self, step_id: str, name: str, value: float) -> OfSteps:
        """Set a quantity of a step."""
        return replace(self, quantities={**self.quantities, step_id: {**self.quantities.get(step_id, {}), name: value}})


@dataclass(frozen=True)
class Manner:
    """How a person wants the motion of a plan.

    Attributes:
        speed: Fraction of full speed, in (0, 1].
        clearance: Distance to obstacles [m].
        height: Height above the usual travel height [m].
        offset: Offset of everything that the plan does [m, robot frame].
        said: Adjustments of single steps that the person has asked for.
        taught: Adjustments of single steps from lessons. They are not edits of the plan: "undo that" does not affect
            them and the journal does not store them.
    """

    speed: float = 1.0
    clearance: float = 0.0
    height: float = 0.0
    offset: Vector3 = NOWHERE
    said: OfSteps = field(default_factory=OfSteps)
    taught: OfSteps = field(default_factory=OfSteps)

    def offset_of(self, step_id: str) -> Vector3:
        """Return the total offset of a step [m, robot frame]."""
        return added(self.offset, self.own_offset(step_id))

    def own_offset(self, step_id: str) -> Vector3:
        """Return the offset of a step without the plan's offset [m, robot frame]."""
        return added(self.said.offsets.get(step_id, NOWHERE), self.taught.offsets.get(step_id, NOWHERE))

    @property
    def shifted_steps(self) -> frozenset[str]:
        """Ids of the steps with an offset of their own."""
        return frozenset((*self.said.offsets, *self.taught.offsets))

    @property
    def special_steps(self) -> frozenset[str]:
        """Ids of the steps with quantities of their own."""
        return frozenset((*self.said.quantities, *self.taught.quantities))

    def quantity(self, name: str, step_id: str = "") -> float:
        """Return a quantity of a step, or of the plan without `step_id`; requests take precedence over lessons."""
        return self._own(step_id).get(name, self._of_plan[name])

    def is_special(self, name: str, step_id: str) -> bool:
        """Return whether the step has its own value of a quantity."""
        return name in self._own(step_id)

    def _own(self, step_id: str) -> dict[str, float]:
        return {**self.taught.quantities.get(step_id, {}), **self.said.quantities.get(step_id, {})}

    @property
    def _of_plan(self) -> dict[str, float]:
        return {"speed": self.speed, "clearance": self.clearance, "height": self.height}

    def tuning_of(self, step_id: str) -> Tuning:
        """Return the tuning that the skill of a step receives."""
        higher = self.quantity("height", step_id) + self.quantity("clearance", step_id)
        return Tuning(self.offset_of(step_id), higher)

    def with_offset(self, offset: Vector3, step_id: str = "") -> Manner:
        """Add `offset` [m] to a step's offset, or to the plan's without `step_id`."""
        if step_id:
            return replace(self, said=self.said.with_offset(step_id, offset))
        return replace(self, offset=added(self.offset, offset))

    def with_quantity(self, name: str, value: float, step_id: str = "") -> Manner:
        """Set "speed", "clearance" or "height" of a step, or of the plan without `step_id`."""
        if step_id:
            return replace(self, said=self.said.with_quantity(step_id, name, value))
        now = self._of_plan | {name: value}
        return replace(self, speed=now["speed"], clearance=now["clearance"], height=now["height"])

    def patch(self, robot_kind: str, step_id: str, stamp: float, expires: float, epoch: int) -> Patch:
        """Return the motion limits of a step for the controller and the safety filter; empty if nothing was asked for.

        `robot_kind` is "arm" or "mobile"; `stamp` and `expires` are times [s].
        """
        share, clearance = self.quantity("speed", step_id), self.quantity("clearance", step_id)
        slower = share < 1.0
        speed = share * FULL_SPEED[robot_kind] if slower else None
        return Patch(SOURCE, stamp, expires, epoch, speed, share if slower else None, clearance or None)


AS_USUAL = Manner()


def moved_along(goals: tuple[Goal, ...]) -> frozenset[str]:
    """Return the objects that a step with these effects moves along with the gripper without grasping them."""
    return frozenset(
        str(goal.values[goal.atom.arguments[0]])
        for goal in goals
        if goal.atom.predicate in _MOVING and goal.atom.arguments[0] != HELD
    )
