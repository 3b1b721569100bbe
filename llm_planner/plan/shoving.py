"""What a push takes along besides what it pushes: whatever stands in the way of the thing, or of the hand behind it.

A forecast in small steps, without forces: what is met goes along for as long as it is in the way, and takes along in
turn what stands in its own. What lies on a thing, or bears it, overlaps with it seen from above and goes along too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, hypot, inf

from llm_planner.plan.plan import Goal
from llm_planner.skills.footprints import footprint
from llm_planner.skills.gripper_shape import Slice, hand_slices, wall_gap
from llm_planner.skills.sliding import RUN_UP, pushing_grips
from llm_planner.world.atoms import HELD, Atom
from llm_planner.world.geometry import top
from llm_planner.world.places import Point2
from llm_planner.world.propositions import MOVED_DISTANCE
from llm_planner.world.scene import Scene, SceneObject, Vector3

SURE, DOUBTFUL = 0.005, 0.02  # [m] from what comes by: nearer, a thing is foreseen to be shoved, or may be
LEAST = MOVED_DISTANCE + 0.01  # [m] that it is foreseen to go: once touched it may slide on or topple
STEP = 0.01  # [m] of the hand, at most


def pushed(scene: Scene, name: str, goal: Vector3, room: float = SURE) -> Scene:
    """`scene` after a push of the thing `name` to `goal` [m], where all that it shoves lies farther on.

    That is what comes within `room` [m] of the thing, of the hand, or of what they shove.
    """
    item = scene.find(name)
    dx, dy = goal[0] - item.position[0], goal[1] - item.position[1]
    distance = hypot(dx, dy)
    if not distance:
        return scene
    direction = dx / distance, dy / distance
    shifts = _Sweep(scene, item, direction, distance, room).shifts()
    lying = [_shifted(other, direction, shifts.get(other.name, 0.0)) for other in scene.objects]
    return replace(scene, objects=tuple(replace(item, position=goal) if it.name == name else it for it in lying))


def pushed_by(goal: Goal) -> str:
    """The thing that a step with this effect pushes, "" where it pushes none."""
    return str(goal.values[goal.atom.arguments[0]]) if is_push(goal.atom) else ""


def is_push(effect: Atom) -> bool:
    """Whether it is that of a push: what was held is put down, all else that is moved is pushed."""
    return effect.predicate == "moved" and not effect.negated and effect.arguments[0] != HELD


def shoved(before: Scene, after: Scene, name: str) -> tuple[str, ...]:
    """What lies elsewhere after a push of the thing `name`, besides that thing."""
    return tuple(item.name for item in after.objects if item.name != name and item != before.find(item.name))


def _shifted(item: SceneObject, direction: Point2, shift: float) -> SceneObject:
    (x, y, z), (ux, uy) = item.position, direction
    return replace(item, position=(x + ux * shift, y + uy * shift, z)) if shift else item


class _Sweep:
    """The hand and the thing `item` on their way of `distance` [m] along the unit vector `direction`."""

    def __init__(self, scene: Scene, item: SceneObject, direction: Point2, distance: float, room: float) -> None:
        self._direction, self._length, self._room = direction, distance + RUN_UP, room
        self._hand = hand_slices(pushing_grips(item, direction, distance)[0], 0.0)
        self._item = _whole(item)
        self._others = {other.name: other for other in scene.objects if other is not item}

    def shifts(self) -> Mapping[str, float]:
        """How far the other things go that are met [m]."""
        shifts: dict[str, float] = {}
        steps = ceil(self._length / STEP)
        step = self._length / steps
        for k in range(1, steps + 1):
            for name in self._met(shifts, k * step, step):
                shifts[name] = shifts.get(name, 0.0) + step
        return {name: max(shift, LEAST) for name, shift in shifts.items()}

    def _met(self, shifts: Mapping[str, float], gone: float, step: float) -> set[str]:
        """What goes along in the last `step` before the hand has `gone` so far [m]."""
        lying = {name: _shifted(item, self._direction, shifts.get(name, 0.0)) for name, item in self._others.items()}
        met: set[str] = set()
        front = [self._moved(part, gone) for part in self._hand]
        if gone > RUN_UP:
            front.append(self._moved(self._item, gone - RUN_UP))
        while front:
            new = [
                name
                for name, item in lying.items()
                if name not in met and any(self._meets(part, item, step) for part in front)
            ]
            met.update(new)
            front = [self._moved(_whole(lying[name]), step) for name in new]
        return met

    def _moved(self, part: Slice, way: float) -> Slice:
        (x, y), (ux, uy) = part.shape.center, self._direction
        return replace(part, shape=part.shape.at((x + ux * way, y + uy * way), part.shape.yaw))

    def _meets(self, part: Slice, item: SceneObject, step: float) -> bool:
        """Whether the part has come too near in its last step; not where it goes away from the thing."""
        if top(item) <= part.begins:
            return False
        shape = footprint(item)
        gap = wall_gap(part, item, shape)
        return gap < self._room and (gap < 0.0 or gap <= wall_gap(self._moved(part, -step), item, shape))


def _whole(item: SceneObject) -> Slice:
    """A thing as what may meet others, at whatever height: it may have come down before."""
    return Slice(footprint(item), -inf)
