"""Search task: what a plan must reach and keep, and the search problem for it.

Distances in formulas get a safety margin, because a forecast of them is not exact. A robot stops in a room that a goal
waits for instead of passing through: a person who sends it to the kitchen expects it there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from llm_planner.ltl.alphabet import Trace
from llm_planner.ltl.formula import Constraint, Formula, atom, rebuilt
from llm_planner.ltl.monitor import untimed
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.planning.choices import Call, Menu
from llm_planner.planning.search.bounds import DEAD, DrivingBound, Obligations
from llm_planner.planning.search.prior import StepPrior
from llm_planner.planning.search.scene_graph import SceneGraph
from llm_planner.planning.search.search import Problem, Weights, Windows
from llm_planner.plans.plan import Goal
from llm_planner.programs.signatures import Signature
from llm_planner.scene.propositions import NEAR_ARM, NEAR_BASE, ROBOT, Proposition, parse_proposition
from llm_planner.scene.scene import Scene, Vector3

MARGIN_BASE, MARGIN_ARM = 0.15, 0.02  # [m]


def with_margin(formula: Formula, scene: Scene, share: float = 1.0) -> Formula:
    """Return a formula that implies `formula` and demands `share` of the robot's margin in every distance.

    A distance that is bounded in both directions (as under `<->`) keeps its bound.
    """
    bound = NEAR_BASE if scene.building else NEAR_ARM
    margin = share * (MARGIN_BASE if scene.building else MARGIN_ARM)
    return _stricter(formula, bound, margin) if margin else formula


def _stricter(f: Formula, near: float, margin: float) -> Formula:
    """Tighten the bounds; `margin` is negative under a negation, where a weaker formula demands more."""
    if f.operator == "":
        return atom(_moved_bound(f.name, near, margin))
    if f.operator == "<->":
        return f
    signs = {"!": (-1,), "->": (-1, 1)}.get(f.operator, (1,) * len(f.operands))
    return rebuilt(f, [_stricter(g, near, sign * margin) for g, sign in zip(f.operands, signs, strict=True)])


def _moved_bound(name: str, near: float, margin: float) -> str:
    item = parse_proposition(name)
    where = f"distance({', '.join(item.arguments)})"
    if item.predicate == "near":
        return f"{where} < {near - margin:g}"
    if item.predicate != "distance":
        return name
    bound = item.bound + margin if item.comparison == ">" else item.bound - margin
    return f"{where} {item.comparison} {max(0.0, bound):g}"


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
    """Return the "robot in room" propositions that `goal` only waits for.

    Rooms that the goal forbids, or demands for a while, count on the way too and are left out.
    """
    rooms = scene.building.names if scene.building else ()
    awaited, others = _occurrences(goal, False)
    return frozenset(name for name in awaited - others if _is_in_room(name, rooms))


def _is_in_room(name: str, rooms: tuple[str, ...]) -> bool:
    item = parse_proposition(name)
    return item.predicate == "in" and item.arguments[0] == ROBOT and item.arguments[1] in rooms


def _occurrences(f: Formula, awaited: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the propositions that occur where something is awaited, and those that occur elsewhere."""
    if f.name:
        found = frozenset([f.name])
        return (found, frozenset()) if awaited else (frozenset(), found)
    if f.operator in _DENIES:
        return frozenset(), frozenset(f.propositions)
    flags = _AWAITS.get(f.operator, (awaited,) * len(f.operands))
    parts = [_occurrences(g, flag) for g, flag in zip(f.operands, flags, strict=True)]
    return frozenset().union(*(part[0] for part in parts)), frozenset().union(*(part[1] for part in parts))


Demand = Constraint | Goal
ARM_WEIGHTS = Weights(per_metre=0.0)  # an arm's detour matters less than the order that the model chose


@dataclass(frozen=True)
class History:
    """Past of a run: the letters of its constraints, and the positions of objects at its start [m, base frame]."""

    letters: Trace = ()
    origins: Mapping[str, Vector3] | None = None


@dataclass(frozen=True)
class Task:
    """Task of a search for a plan.

    Attributes:
        constraints: Goals and rules.
        goals: Effects that must hold at the end.
        calls: The model's own calls, which are options with any arguments.
        caution: Fraction of the robot's distance margin to keep.
        stops: Whether the robot stops in rooms that a goal waits for.
    """

    scene: Scene
    skills: tuple[Signature, ...]
    constraints: tuple[Constraint, ...]
    goals: tuple[Goal, ...] = ()
    calls: tuple[Call, ...] = ()
    caution: float = 1.0
    history: History = field(default_factory=lambda: History())
    stops: bool = False

    @property
    def judged(self) -> tuple[Constraint, ...]:
        """Constraints that can be predicted. The controller and the monitor keep those about speeds."""
        return tuple(one for one in self.constraints if not any(p.predicate == "speed" for p in spoken_of([one])))

    @property
    def keeps_distances(self) -> bool:
        """Whether caution makes a difference."""
        return self.caution > 0 and any(with_margin(one.formula, self.scene) is not one.formula for one in self.judged)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """Everything that a plan must satisfy."""
        return (*self.judged, *self.goals)


def spoken_of(constraints: Sequence[Constraint]) -> tuple[Proposition, ...]:
    """Return all propositions of the formulas in alphabetical order; raise InputError for an invalid one."""
    return tuple(map(parse_proposition, sorted({name for one in constraints for name in one.formula.propositions})))


def problem_for(task: Task, menu: Menu, prior: StepPrior) -> Problem:
    """Build the search problem; raise InputError for formulas that cannot be decided here."""
    strict = [with_margin(one.formula, task.scene, task.caution) for one in task.judged]
    names = tuple(sorted({name for formula in strict for name in formula.propositions}))
    items, spare = tuple(map(parse_proposition, names)), 0.0 if task.scene.building else task.caution * MARGIN_ARM
    graph = SceneGraph(task.scene, menu, items, task.history.origins, spare)
    alphabet = alphabet_of(names, task.scene)
    read = [_bits(letter, names) for letter in task.history.letters]
    stops = [_bits(awaited_rooms(one.formula, task.scene), names) if _visits(one, task) else 0 for one in task.judged]
    formulas = [untimed(formula) for formula in strict]
    obligations = Obligations(formulas, alphabet, names, (*read, graph.first_letter), stops)
    bound = DrivingBound(graph, obligations) if obligations.initial != DEAD else lambda scene, state: 0.0
    weights = Weights() if task.scene.building else ARM_WEIGHTS
    windows = Windows(strict, names, graph.first_letter)
    return Problem(graph, obligations, prior, windows, task.goals, weights, bound)


def _bits(letter: Collection[str], names: Sequence[str]) -> int:
    return sum(1 << k for k, name in enumerate(names) if name in letter)


def _visits(constraint: Constraint, task: Task) -> bool:
    return task.stops and constraint.goal
