"""Choices of next calls: the options in a scene, and several plans merged into an action tree.

`Menu` lists every sensible skill call that can start. `ActionTree` merges plans for one command into a tree that
branches where they part (Tree-Planner, arXiv:2310.08582): if a call cannot start, another branch of the same node, or
of the nearest node above, takes over without a further model request.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from llm_planner.plans.plan import Goal, PlanStep, goals_of, in_base_words
from llm_planner.plans.prediction import is_push, predict
from llm_planner.plans.unroll import lying, unmet_preconditions
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.programs.values import Argument
from llm_planner.scene.atoms import HELD
from llm_planner.scene.free_space import clearance
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, REGIONS, Viewpoint
from llm_planner.scene.predicates import FURNITURE, clear, contents, is_vessel, on_table
from llm_planner.scene.scene import Scene, SceneObject

PUSHED = 0.1  # [m] default distance of a push: more than a nudge, less than the gap to the next object
_SPATIAL = frozenset({"direction", "side", "region", "place", "location"})


@dataclass(frozen=True)
class Call:
    """Skill call as a value, with arguments in the order of the skill's parameters, in base words."""

    skill: str
    arguments: tuple[Argument, ...] = ()

    def values(self, skill: Signature) -> dict[str, Argument]:
        """Return the arguments by parameter name."""
        return {parameter.name: value for parameter, value in zip(skill.parameters, self.arguments, strict=True)}

    def text(self, skill: Signature, viewpoint: Viewpoint) -> str:
        """Return the call as a line of a program, in the words of a speaker at `viewpoint`."""
        words = [
            viewpoint.from_base(value) if parameter.type in _SPATIAL and isinstance(value, str) else value
            for parameter, value in zip(skill.parameters, self.arguments, strict=True)
        ]
        return f"{self.skill}({', '.join(map(_written, words))})"

    def __str__(self) -> str:
        return f"{self.skill}({', '.join(map(_written, self.arguments))})"


def _written(value: Argument) -> str:
    if isinstance(value, tuple):
        return f"point({value[0]:.6g}, {value[1]:.6g})"
    if isinstance(value, str):
        return repr(value) if '"' in value else f'"{value}"'
    return f"{value:.6g}"


def call_of(step: PlanStep, skill: Signature, viewpoint: Viewpoint) -> Call:
    """Return the call that a step makes, in base words."""
    values = in_base_words(skill, step.arguments, viewpoint)
    return Call(step.skill, tuple(values[parameter.name] for parameter in skill.parameters))


@dataclass(frozen=True)
class Menu:
    """Source of the options.

    Attributes:
        places: Objects worth going to or putting others on.
        movable: Objects worth grasping.
        drops: Rooms in which a mobile robot may put down each listed object.
        calls: Additional calls with arguments that the menu would not find (points, distances).
        pushed: Objects worth pushing a short way, in each direction.
        fetched: Objects to which a mobile robot carries nothing.
    """

    skills: Mapping[str, Signature]
    places: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()
    drops: Mapping[str, frozenset[str]] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    pushed: tuple[str, ...] = ()
    fetched: frozenset[str] = frozenset()

    def options(self, scene: Scene) -> tuple[Call, ...]:
        """Return all calls that can start in `scene` and could change something, in a fixed order."""
        offered = [call for skill in self.skills.values() for call in self._calls(skill, scene)]
        every = dict.fromkeys([*(call for call in self.calls if call.skill in self.skills), *offered])
        return tuple(call for call in every if can_start(call, self.skills[call.skill], scene))

    def _calls(self, skill: Signature, scene: Scene) -> Iterator[Call]:
        if skill.empties_gripper:  # merely opening an arm's gripper drops what it holds anywhere
            puts_down = any(HELD in atom.arguments for atom in skill.effects)
            if not puts_down or scene.robot_room not in self.drops.get(scene.held, (scene.robot_room,)):
                return
        if slides(skill):
            yield from self._pushes(skill, scene)
            return
        choices = [self._values(skill, parameter, scene) for parameter in skill.parameters]
        yield from (Call(skill.name, values) for values in product(*choices))

    def _pushes(self, skill: Signature, scene: Scene) -> Iterator[Call]:
        """Iterate over pushes of objects on the table that carry nothing, towards free places."""
        (slid,) = skill.effects
        for name in self.pushed:
            if name in scene.names and on_table(scene, name) and clear(scene, name):
                for direction in _free_ways(scene, scene.find(name)):
                    values: dict[str, Argument] = dict(zip(slid.arguments, (name, direction, PUSHED), strict=True))
                    yield Call(skill.name, tuple(values[parameter.name] for parameter in skill.parameters))

    def _values(self, skill: Signature, parameter: Parameter, scene: Scene) -> Sequence[Argument]:
        match parameter.type:
            case "object":
                is_for_furniture = any(condition.atom.predicate in FURNITURE for condition in skill.preconditions)
                listed = self.places if skill.empties_gripper or is_for_furniture else self.movable
                there = [name for name in listed if name in scene.names and name != scene.held]
                return [name for name in there if not (skill.empties_gripper and _is_too_narrow(scene, name))]
            case "destination":
                rooms = scene.building.names if scene.building else ()
                off = self.fetched if scene.held else ()
                there = [name for name in self.places if name in scene.names and name not in (scene.held, *off)]
                return [*rooms, *there]
            case "region" | "place":
                return list(REGIONS)
            case "location":
                return [*(name for name in self.places if name in scene.names), *REGIONS]
            case "side":
                return [ANY_SIDE]
            case "direction":
                return list(DIRECTIONS)
            case _:
                return [] if parameter.required or parameter.default is None else [parameter.default]


def _is_too_narrow(scene: Scene, name: str) -> bool:
    """Return whether it is a vessel narrower than the held object."""
    narrow, wide = (min(half_extents(scene.find(one))[:2]) if one else 0.0 for one in (name, scene.held))
    return is_vessel(scene.find(name)) and wide > narrow


def slides(skill: Signature) -> bool:
    """Return whether the skill moves an object by a direction and a distance without grasping it."""
    names = {parameter.name for parameter in skill.parameters}
    return len(skill.effects) == 1 and is_push(skill.effects[0]) and set(skill.effects[0].arguments) == names


def _free_ways(scene: Scene, item: SceneObject) -> Iterator[str]:
    """Iterate over the directions in which the object's new place is free."""
    x, y, z = item.position
    for direction, (ux, uy) in DIRECTIONS.items():
        there = x + ux * PUSHED, y + uy * PUSHED, z
        room = clearance(scene, there, (item.name,))
        if scene.workspace.contains(*there[:2]) and room >= max(half_extents(item)[:2]):
            yield direction


def can_start(call: Call, skill: Signature, scene: Scene) -> bool:
    """Return whether the preconditions hold and the named objects are in the scene."""
    values = call.values(skill)
    objects = [values[p.name] for p in skill.parameters if p.type == "object"]
    return all(name in scene.names for name in objects) and not unmet_preconditions(skill, values, scene)


def with_what_lies_on(names: Collection[str], scene: Scene) -> tuple[str, ...]:
    """Return the objects and whatever is on or in them, in scene order; these may have to be moved first."""
    found, waiting = set(names) & set(scene.names), sorted(set(names) & set(scene.names))
    while waiting:
        for name in contents(scene, waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return tuple(name for name in scene.names if name in found)


ROOT = 0


@dataclass(frozen=True)
class Step:
    """A call of a plan and its promised effects."""

    call: Call
    promises: tuple[Goal, ...] = ()


@dataclass(frozen=True)
class Node:
    """Node of an action tree: the next step of the plans that begin with the same calls.

    The root has no `step` and the `parent` -1. `plans` counts the plans through the node.
    """

    step: Step | None
    parent: int
    plans: int
    children: Mapping[Call, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ActionTree:
    """Tree of nodes by number, with the root first."""

    nodes: tuple[Node, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every distinct call in the tree."""
        return tuple(dict.fromkeys(node.step.call for node in self.nodes if node.step is not None))

    def after(self, number: int, call: Call) -> int:
        """Return the node after a call from another node.

        A call out of turn leads to the first node that makes it; a call that no plan makes leads nowhere.
        """
        if call in self.nodes[number].children:
            return self.nodes[number].children[call]
        return next(
            (k for k, node in enumerate(self.nodes) if node.step is not None and node.step.call == call), number
        )

    def branches(self, number: int) -> list[int]:
        """Return the nodes below one, those of most plans first."""
        return sorted(self.nodes[number].children.values(), key=lambda child: -self.nodes[child].plans)

    def is_done(self, number: int, scene: Scene) -> bool:
        """Return whether the scene shows the node's effects, or for a grasp those of the step after it."""
        step = self.nodes[number].step
        if step is None or not step.promises:
            return False
        if all(goal.holds(scene) for goal in step.promises):
            return True
        fills = any(goal.atom.predicate == "held" for goal in step.promises)
        return fills and any(self.is_done(child, scene) for child in self.branches(number))

    def next(self, number: int, scene: Scene, can_start: Callable[[int], bool]) -> int | None:
        """Return the next node to execute after the node `number`, or None if no branch is left.

        Nodes that the scene shows to be done are skipped, and those that `can_start` rejects. If nothing below can
        start, the nearest node above with another branch takes over.
        """
        while number != -1:
            found = self._below(number, scene, can_start)
            if found is not None:
                return found
            number = self.nodes[number].parent
        return None

    def _below(self, number: int, scene: Scene, can_start: Callable[[int], bool]) -> int | None:
        for child in self.branches(number):
            if self.is_done(child, scene):
                found = self._below(child, scene, can_start)
                if found is not None:
                    return found
            elif can_start(child):
                return child
        return None


def merged(plans: Iterable[Sequence[Step]]) -> ActionTree:
    """Merge plans into a tree."""
    nodes = [Node(None, -1, 0)]
    children: list[dict[Call, int]] = [{}]
    for plan in plans:
        number = ROOT
        for step in plan:
            if step.call not in children[number]:
                children[number][step.call] = len(nodes)
                nodes.append(Node(step, number, 0))
                children.append({})
            number = children[number][step.call]
            nodes[number] = replace(nodes[number], plans=nodes[number].plans + 1)
        nodes[ROOT] = replace(nodes[ROOT], plans=nodes[ROOT].plans + 1)
    return ActionTree(tuple(replace(node, children=below) for node, below in zip(nodes, children, strict=True)))


NO_PLANS = merged(())


def promised_steps(
    steps: Sequence[PlanStep], skills: Sequence[Signature], scene: Scene, viewpoint: Viewpoint
) -> tuple[Step, ...]:
    """Return the calls of a forecast that begins in `scene`, with the effects that each promises."""
    table = {skill.name: skill for skill in skills}
    origins = lying(scene)
    found = []
    for step in steps:
        skill = table[step.skill]
        call = call_of(step, skill, viewpoint)
        promises = goals_of(skill, step.id, call.values(skill), scene, dict(origins))
        found.append(Step(call, promises))
        scene = predict(scene, promises)
        origins.update(lying(scene))
    return tuple(found)
