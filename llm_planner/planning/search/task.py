"""Search task: what a plan must reach and keep, the calls worth considering for it, and the search problem.

Distances in formulas get a safety margin, because a forecast of them is not exact. A robot stops in a room that a goal
waits for instead of passing through: a person who sends it to the kitchen expects it there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from llm_planner.ltl.alphabet import Trace
from llm_planner.ltl.formula import Constraint, Formula, atom, rebuilt
from llm_planner.ltl.monitor import untimed
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.planning.choices import Call, Menu, slides, with_what_lies_on
from llm_planner.planning.search.bounds import DEAD, DrivingBound, Obligations
from llm_planner.planning.search.prior import StepPrior
from llm_planner.planning.search.scene_graph import SceneGraph
from llm_planner.planning.search.search import Problem, Windows, windows_of
from llm_planner.plans.plan import Goal
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.predicates import DRAWER, contents, is_portable
from llm_planner.scene.propositions import ANYTHING, NEAR_ARM, NEAR_BASE, ROBOT, Proposition, parse_proposition
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
    return (awaited - others) & {f"in({ROBOT}, {room})" for room in rooms}


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
    history: History = History()
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


def wanted(constraints: Sequence[Constraint], so: bool = True) -> tuple[Proposition, ...]:
    """Return the propositions that can help to satisfy some formula by being true, or false if not `so`."""
    names = frozenset[str]().union(*(_asked_for(one.formula, so) for one in constraints))
    return tuple(map(parse_proposition, sorted(names)))


def _asked_for(f: Formula, so: bool) -> frozenset[str]:
    if f.operator == "":
        return frozenset(f.propositions) if so else frozenset()
    if f.operator == "<->" or _counts_changes(f):  # any change can help
        return frozenset(f.propositions)
    signs = {"!": (not so,), "->": (not so, so)}.get(f.operator, (so,) * len(f.operands))
    return frozenset[str]().union(*(_asked_for(g, sign) for g, sign in zip(f.operands, signs, strict=True)))


def _counts_changes(f: Formula) -> bool:
    return f.operator in ("X", "N") or any(map(_counts_changes, f.operands))


# Predicates that a grasp changes, and effects that help no other effect.
_CARRYING = frozenset({"in", "on", "at", "beside", "holding", "moved", "height", "clear"})
_ONLY_SPOKEN_OF = frozenset({"above", "closed", "lit", "clean", "toppled", "followed", "docked"})


def menu_for(task: Task, widest: bool = False) -> Menu:
    """Return the menu of calls worth considering: objects and rooms that some demand mentions.

    A mobile robot puts objects down only in rooms that some demand names. With `widest` it may go to every object,
    carry everything that is mentioned, and put it down in every room on the way. That seldom helps and there are many
    rooms, so it is the last resort.
    """
    items = spoken_of(task.judged)
    things = things_of(task)
    portable = [name for name in things if is_portable(task.scene.find(name))]
    carried = tuple(name for name in portable if widest or _is_carried(name, items, task))
    drops = {} if widest else {name: rooms for name in carried if (rooms := _rooms_for(name, items, task))}
    skills = {skill.name: skill for skill in task.skills if _matters(skill, items, task)}
    places = task.scene.names if widest and task.scene.building else things
    reached = {word for item in items for word in item.arguments[1:]}
    fetched = frozenset() if widest else frozenset(portable) - reached
    calls = (*task.calls, *_waits(task, skills))
    return Menu(skills, places, carried, drops, calls, _pushed(portable, task), fetched)


def _rooms_for(name: str, items: Sequence[Proposition], task: Task) -> frozenset[str]:
    """Return the rooms in which the object is wanted, or in which something is to be put down."""
    putting, building = _putting(task), task.scene.building
    if building is None:
        return frozenset()
    named = {
        item.arguments[1]
        for item in items
        if (item.predicate == "in" and item.arguments[0] == name)
        or (item.predicate == "did" and item.arguments[0] in putting)
    }
    if any(item.predicate == "holding" and item.arguments[0] == name for item in wanted(task.judged, so=False)):
        receivers = {item.arguments[1] for item in items if item.predicate == "near"} & set(task.scene.names)
        named |= {building.room_at(*task.scene.find(name).position[:2]) for name in receivers}  # it is handed over
    return frozenset(named.intersection(building.names))


def _putting(task: Task) -> frozenset[str]:
    return frozenset(skill.name for skill in task.skills if skill.empties_gripper)


def things_of(task: Task) -> tuple[str, ...]:
    """Return the objects that a demand or call mentions, what lies on them, and the drawers that contain them.

    If any object would do, the result is all objects.
    """
    words = {word for item in spoken_of(task.judged) for word in item.arguments}
    words |= {word for goal in task.goals for word in goal.objects}
    words |= {word for call in task.calls for word in call.arguments if isinstance(word, str)}
    named = set(task.scene.names) if _any_would_do(task) else words & set(task.scene.names)
    drawers = {item.name for item in task.scene.objects if item.kind == DRAWER}
    named |= {drawer for drawer in drawers if named.intersection(contents(task.scene, drawer))}
    return tuple(name for name in task.scene.names if name in with_what_lies_on(named, task.scene))


def _any_would_do(task: Task) -> bool:
    """Return whether an unnamed object could serve: to be held, put down, or put on what is to be covered."""
    putting = _putting(task)
    return any(
        (item.predicate == "holding" and item.arguments[0] == ANYTHING)
        or (item.predicate == "did" and item.arguments[0] in putting)
        for item in wanted(task.judged)
    ) or any(item.predicate == "clear" for item in wanted(task.judged, so=False))


def _pushed(names: Sequence[str], task: Task) -> tuple[str, ...]:
    """Return the objects to push: those that a demand wants pushed, or moved without a grasp."""
    pushing = {skill.name for skill in task.skills if slides(skill)}
    asked = wanted(task.judged)
    kept_off = {item.arguments[0] for item in wanted(task.judged, so=False) if item.predicate == "holding"}
    moved = {item.arguments[0] for item in asked if item.predicate == "moved"}
    pushed = {item.arguments[1] for item in asked if item.predicate == "did" and item.arguments[0] in pushing}
    return tuple(name for name in names if name in pushed or (name in moved and kept_off & {name, ANYTHING}))


def _is_carried(name: str, items: Sequence[Proposition], task: Task) -> bool:
    """Return whether the object may have to be carried.

    On a table any mentioned object may be in the way; in a building only objects that a demand places count.
    """
    if task.scene.building is None or _any_would_do(task):
        return True
    return (
        any(name in item.arguments and item.predicate in _CARRYING for item in items)
        or any(item.predicate == "did" and item.arguments[1] == name for item in items)
        or any(name in call.arguments for call in task.calls)
        or any(name in goal.objects for goal in task.goals)
    )


def _matters(skill: Signature, items: Sequence[Proposition], task: Task) -> bool:
    """Return whether the skill is worth a call.

    This holds if a demand asks for it, if it causes what a demand mentions, or if its effects may enable other skills.
    It does not hold if it only combines what other skills do one by one.
    """
    asked = {item.arguments[0] for item in items if item.predicate == "did"} | {call.skill for call in task.calls}
    spoken = {item.predicate for item in items} | {goal.atom.predicate for goal in task.goals}
    promised = {effect.predicate for effect in skill.effects}
    combines = any(effect.predicate in ("on", "at") and effect.arguments[0] != HELD for effect in skill.effects)
    useful = bool(promised & spoken or promised - _ONLY_SPOKEN_OF) and not combines
    return useful or skill.name in asked or _is_wait(skill)


def _is_wait(skill: Signature) -> bool:
    return not skill.effects and [parameter.name for parameter in skill.parameters] == ["seconds"]


def _waits(task: Task, skills: dict[str, Signature]) -> tuple[Call, ...]:
    """Return waits for as long as each window lasts, or until it begins or ends; () without windows."""
    windows = {window for one in task.judged for window in windows_of(one.formula)}
    times = sorted({time for first, last in windows for time in (last - first, first, last) if time > 0})
    longest = {skill.name: skill.parameters[0].maximum for skill in skills.values() if _is_wait(skill)}
    return tuple(
        Call(name, (time,))
        for name, maximum in longest.items()
        for time in times
        if time <= (inf if maximum is None else maximum)
    )


def problem_for(task: Task, menu: Menu, prior: StepPrior) -> Problem:
    """Build the search problem; raise InputError for formulas that cannot be decided here."""
    strict = [with_margin(one.formula, task.scene, task.caution) for one in task.judged]
    names = tuple(sorted({name for formula in strict for name in formula.propositions}))
    items, spare = tuple(map(parse_proposition, names)), 0.0 if task.scene.building else task.caution * MARGIN_ARM
    graph = SceneGraph(task.scene, menu, items, task.history.origins, spare)
    alphabet = alphabet_of(names, task.scene)
    read = [_bits(letter, names) for letter in task.history.letters]
    awaited = [awaited_rooms(one.formula, task.scene) if task.stops and one.goal else () for one in task.judged]
    stops = [_bits(rooms, names) for rooms in awaited]
    formulas = [untimed(formula) for formula in strict]
    obligations = Obligations(formulas, alphabet, names, (*read, graph.first_letter), stops)
    bound = DrivingBound(graph, obligations) if obligations.initial != DEAD else lambda scene, state: 0.0
    per_metre = 1.0 if task.scene.building else 0.0  # an arm's detour matters less than the order that the model chose
    windows = Windows(strict, names, graph.first_letter)
    return Problem(graph, obligations, prior, windows, task.goals, per_metre, bound)


def _bits(letter: Collection[str], names: Sequence[str]) -> int:
    return sum(1 << k for k, name in enumerate(names) if name in letter)
