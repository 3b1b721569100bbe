"""Whether there will be room where a step puts something: said before anything moves, where it is certain already."""

from __future__ import annotations

from dataclasses import replace

from llm_planner.plan.plan import Goal
from llm_planner.skills.errors import SkillError
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.placement import Held, held_in, inside
from llm_planner.skills.spots import spot_at, spot_beside, spot_in, spot_offset
from llm_planner.world.atoms import HELD
from llm_planner.world.places import direction_vector
from llm_planner.world.predicates import FURNITURE, is_container, is_vessel
from llm_planner.world.scene import Scene, SceneObject


def why_no_room(goal: Goal, before: Scene, scene: Scene) -> str:
    """Why a held thing cannot be put down as `goal` says; "" where it can, or where nobody can know yet.

    `before` is the scene as it is, `scene` what it will be when the step begins. Only furniture and things that will
    not have been moved by then count as obstacles: where they already leave no room, nothing can.
    """
    name = goal.held_at_start
    if not name or before.held or before.building or goal.atom.negated or goal.atom.arguments[:1] != (HELD,):
        return ""
    lying = {item.name: item for item in before.objects}
    still = tuple(item for item in scene.objects if item == lying.get(item.name) or item.kind in FURNITURE)
    if name not in lying or goal.origins.get(name) != lying[name].position:
        return ""
    rest = replace(before, objects=(lying[name], *still))
    try:
        grasp = choose_grasp(rest, lying[name])
    except SkillError:
        return ""  # the picking skill says it better
    held = held_in(replace(rest, held=name), grasp.grip, grasp.width)
    try:
        _find_room(goal, rest, held)
    except SkillError as error:
        return str(error)
    return ""


def _find_room(goal: Goal, rest: Scene, held: Held) -> None:
    """Search for the spot as the skill will; raises SkillError where there is none."""
    x, y, _ = held.item.position
    match [goal.atom.predicate, *(goal.values[name] for name in goal.atom.arguments[1:])]:
        case ["at", str(place)]:
            spot_in(rest, held, place)
        case ["at", tuple(point)]:
            spot_at(rest, held, (point[0], point[1]))
        case ["beside", str(other), str(direction), float() | int() as distance] if other in rest.names:
            spot_beside(rest, held, rest.find(other), direction, distance, (x, y))
        case ["moved", str(direction), float() | int() as distance]:
            ux, uy = direction_vector(direction)
            spot_offset(rest, held, (x + ux * distance, y + uy * distance))
        case ["in" | "on", str(other)] if other in rest.names and _lies_inside(goal.atom.predicate, rest.find(other)):
            inside(rest, held, rest.find(other))


def _lies_inside(predicate: str, target: SceneObject) -> bool:
    """Whether what is put there comes to lie in the target."""
    return is_vessel(target) or (predicate == "in" and is_container(target))
