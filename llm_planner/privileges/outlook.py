"""What is foreseen of the moment at which a step of a plan begins, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llm_planner.errors import InputError
from llm_planner.plan.plan import Goal, goals_of
from llm_planner.plan.prediction import predict
from llm_planner.plan.trace import foresee, last_scene
from llm_planner.plan.unroll import lying
from llm_planner.privileges.conditions import ROBOT
from llm_planner.program.signatures import Signature
from llm_planner.skills.contract import Argument
from llm_planner.world.places import ANY_SIDE, Rectangle, region
from llm_planner.world.scene import Scene, Vector3

LEEWAY = 0.05  # [m] that things may come to lie away from where they are foreseen, along x and along y


@dataclass(frozen=True)
class Outlook:
    """The scene foreseen, and where each thing that will have moved by then may be (`ROBOT` among them) [m].

    `origins` is where each object last lay on its own [m, base frame].
    """

    scene: Scene
    whereabouts: Mapping[str, Rectangle] = field(default_factory=dict)
    origins: Mapping[str, Vector3] = field(default_factory=dict)

    def after(self, skill: Signature, values: Mapping[str, Argument]) -> Outlook:
        """The same once the call has done what it promises. `values` are in base words."""
        origins = {**self.origins, **lying(self.scene)}
        goals = goals_of(skill, "", values, self.scene, origins)
        scene = _promised(skill, values, self.scene, goals, origins)
        moved = {item.name: item.position for item in scene.objects if item not in self.scene.objects}
        if scene.robot is not None and scene.robot != self.scene.robot:
            moved[ROBOT] = scene.robot.position
        parts = [part for part in (_left_open(goal, scene) for goal in goals) if part is not None]
        places = {name: _part(position, parts) for name, position in moved.items()}
        return Outlook(scene, {**self.whereabouts, **places}, origins)


def _promised(
    skill: Signature,
    values: Mapping[str, Argument],
    scene: Scene,
    goals: tuple[Goal, ...],
    origins: Mapping[str, Vector3],
) -> Scene:
    try:
        return last_scene(foresee(skill, values, scene, origins, every_point=False))
    except InputError:  # where a robot ends up that finds no way is not known
        return replace(predict(scene, goals), robot=None)


def _part(position: Vector3, left_open: list[Rectangle]) -> Rectangle:
    """Where what is foreseen at a position may be: also the hand that has put a thing somewhere is as unsure."""
    x, y = position[:2]
    near = Rectangle(x - LEEWAY, x + LEEWAY, y - LEEWAY, y + LEEWAY)
    return next((part for part in left_open if part.contains(x, y)), near)


def _left_open(goal: Goal, after: Scene) -> Rectangle | None:
    """The whole part of the table in which a thing may be put by a call that leaves open where."""
    match [goal.atom.predicate, *(goal.values.get(name) for name in goal.atom.arguments[1:])]:
        case ["at", str(place)]:
            return region(place).area
        case ["beside", str(other), str(side), _] if side == ANY_SIDE and other in after.names:
            (x, y, _), (px, py, _) = after.find(other).position, after.find(goal.held_at_start).position
            reach = max(abs(px - x), abs(py - y)) + LEEWAY
            return Rectangle(x - reach, x + reach, y - reach, y + reach)
    return None
