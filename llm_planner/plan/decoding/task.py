"""A task as the search sees it: what must be reached and kept, and what is worth considering on the way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from llm_planner.plan.choices import Call, Menu, with_what_lies_on
from llm_planner.plan.decoding.bounds import DrivingBound
from llm_planner.plan.decoding.caution import with_margin
from llm_planner.plan.decoding.obligations import DEAD, Obligations
from llm_planner.plan.decoding.prior import StepPrior
from llm_planner.plan.decoding.scene_graph import Edge, SceneGraph
from llm_planner.plan.decoding.search import Problem, Weights
from llm_planner.plan.decoding.stops import awaited_rooms
from llm_planner.plan.plan import Goal
from llm_planner.program.signatures import Signature
from llm_planner.temporal.alphabet import Trace
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.semantics import holds_in_time
from llm_planner.temporal.timed import untimed
from llm_planner.world.occurring import alphabet_of
from llm_planner.world.predicates import is_portable
from llm_planner.world.propositions import ANYTHING, Proposition, parse_proposition
from llm_planner.world.scene import Scene, Vector3

Demand = Constraint | Goal
SAMPLING = 0.5  # [s] between the moments by which windows in seconds are judged
ARM_WEIGHTS = Weights(per_metre=0.0)  # a hand's detour matters less than the order that the model has chosen
_CARRYING = frozenset(
    {"in", "on", "at", "beside", "holding", "moved", "height", "clear"}
)  # what taking a thing changes


@dataclass(frozen=True)
class History:
    """What a run has shown so far: the letters that its constraints have read, and where each object lay when it began
    [m, base frame]; None where it begins now."""

    letters: Trace = ()
    origins: Mapping[str, Vector3] | None = None


@dataclass(frozen=True)
class Task:
    """`constraints` (goals and rules) and `goals` (effects that must hold in the end), for a robot with `skills`.

    `calls` are the model's own: they are options too, whatever their arguments. `history` is what came before `scene`.
    `stops`: rooms that a goal waits for are to be visited, not passed.
    """

    scene: Scene
    skills: tuple[Signature, ...]
    constraints: tuple[Constraint, ...]
    goals: tuple[Goal, ...] = ()
    calls: tuple[Call, ...] = ()
    caution: float = 1.0  # share of the robot's margin by which distances are kept
    history: History = field(default_factory=lambda: History())
    stops: bool = False

    @property
    def judged(self) -> tuple[Constraint, ...]:
        """Those that can be foreseen: speeds cannot, the controller and the monitor keep them."""
        return tuple(one for one in self.constraints if not any(p.predicate == "speed" for p in spoken_of([one])))

    @property
    def keeps_distances(self) -> bool:
        """Whether caution makes a difference."""
        return self.caution > 0 and any(with_margin(one.formula, self.scene) is not one.formula for one in self.judged)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """All that a plan has to satisfy."""
        return (*self.judged, *self.goals)

    def part(self, constraints: Sequence[Constraint], goals: Sequence[Goal]) -> Task:
        """The same with only these demands, and only the calls that concern them."""
        smaller = replace(self, constraints=tuple(constraints), goals=tuple(goals), calls=())
        near = frozenset(_things(smaller))
        others = frozenset(self.scene.names) - near
        calls = tuple(call for call in self.calls if not others & {a for a in call.arguments if isinstance(a, str)})
        return replace(smaller, calls=calls)


def spoken_of(constraints: Sequence[Constraint]) -> tuple[Proposition, ...]:
    """All propositions of the formulas, in alphabetical order; raises InputError for one that no scene can show."""
    return tuple(map(parse_proposition, sorted({name for one in constraints for name in one.formula.propositions})))


def menu_for(task: Task, drop_anywhere: bool = False) -> Menu:
    """What is worth considering: the things that some demand speaks of, put down in the rooms that some demand names.

    With `drop_anywhere` a mobile robot may put things down in every room on the way. It seldom helps and there are many
    rooms, so it is tried only when nothing else works.
    """
    items = spoken_of(task.judged)
    things = _things(task)
    carried = [name for name in things if _is_carried(name, items, task) and is_portable(task.scene.find(name))]
    drops = {} if drop_anywhere else {name: rooms for name in carried if (rooms := _rooms_for(name, items))}
    skills = {skill.name: skill for skill in task.skills if _matters(skill, items, task)}
    return Menu(skills, things, tuple(carried), drops, (*task.calls, *_waits(task, skills)))


def _rooms_for(name: str, items: Sequence[Proposition]) -> frozenset[str]:
    return frozenset(item.arguments[1] for item in items if item.predicate == "in" and item.arguments[0] == name)


def _things(task: Task) -> tuple[str, ...]:
    """Objects that some demand or call speaks of, and what lies on them; any, where it is about holding anything."""
    words = {word for item in spoken_of(task.judged) for word in item.arguments}
    words |= {word for goal in task.goals for word in goal.objects}
    words |= {word for call in task.calls for word in call.arguments if isinstance(word, str)}
    named = words & set(task.scene.names)
    if not named and ANYTHING in words:
        named = set(task.scene.names)
    return tuple(name for name in task.scene.names if name in with_what_lies_on(named, task.scene))


def _is_carried(name: str, items: Sequence[Proposition], task: Task) -> bool:
    """On a table whatever is spoken of may be in the way; in a building only what a demand places matters."""
    if task.scene.building is None:
        return True
    taken = any(name in item.arguments and item.predicate in _CARRYING for item in items)
    return taken or any(name in call.arguments for call in task.calls) or _did(name, items) or _placed(name, task)


def _did(name: str, items: Sequence[Proposition]) -> bool:
    return any(item.predicate == "did" and item.arguments[1] == name for item in items)


def _placed(name: str, task: Task) -> bool:
    return any(name in goal.objects for goal in task.goals)


def _matters(skill: Signature, items: Sequence[Proposition], task: Task) -> bool:
    """A skill without an effect is worth a call only where somebody asks for it."""
    asked = {item.arguments[0] for item in items if item.predicate == "did"} | {call.skill for call in task.calls}
    return bool(skill.effects) or skill.name in asked or _is_wait(skill)


def _is_wait(skill: Signature) -> bool:
    return not skill.effects and [parameter.name for parameter in skill.parameters] == ["seconds"]


def _waits(task: Task, skills: dict[str, Signature]) -> tuple[Call, ...]:
    """Waiting for as long as some window says; without windows there is nothing to wait for."""
    times = sorted({bound for one in task.judged for bound in _bounds(one.formula) if bound > 0})
    return tuple(Call(skill.name, (seconds,)) for skill in skills.values() if _is_wait(skill) for seconds in times)


def _bounds(f: Formula) -> set[float]:
    return set(f.window or ()).union(*(_bounds(g) for g in f.operands))


def problem_for(task: Task, menu: Menu, prior: StepPrior) -> Problem:
    """The search for a plan; raises InputError for formulas that cannot be decided here."""
    strict = [with_margin(one.formula, task.scene, task.caution) for one in task.judged]
    names = tuple(sorted({name for formula in strict for name in formula.propositions}))
    graph = SceneGraph(task.scene, menu, tuple(map(parse_proposition, names)), task.history.origins)
    alphabet = alphabet_of(names, task.scene)
    read = [_bits(letter, names) for letter in task.history.letters]
    stops = [_bits(awaited_rooms(one.formula, task.scene), names) if _visits(one, task) else 0 for one in task.judged]
    formulas = [untimed(formula) for formula in strict]
    obligations = Obligations(formulas, alphabet, names, (*read, graph.first_letter), stops)
    bound = DrivingBound(graph, obligations) if obligations.initial != DEAD else lambda scene, state: 0.0
    weights = Weights() if task.scene.building else ARM_WEIGHTS
    timed = [formula for formula in strict if formula.timed]
    horizon = sum(max(_bounds(formula)) for formula in timed)
    return Problem(graph, obligations, prior, task.goals, weights, bound, _in_time(timed, graph), horizon)


def _bits(letter: Collection[str], names: Sequence[str]) -> int:
    return sum(1 << k for k, name in enumerate(names) if name in letter)


def _visits(constraint: Constraint, task: Task) -> bool:
    return task.stops and constraint.goal


def _in_time(timed: Sequence[Formula], graph: SceneGraph) -> Callable[[Sequence[Edge]], bool]:
    """Judges the windows in seconds of a whole plan, by the letters at regular moments."""
    names = tuple(map(str, graph.propositions))

    def letter(mask: int) -> frozenset[str]:
        return frozenset(name for k, name in enumerate(names) if mask >> k & 1)

    def judge(edges: Sequence[Edge]) -> bool:
        if not timed:
            return True
        masks, times = _sampled(graph.first_letter, edges)
        letters = [letter(mask) for mask in masks]
        return all(holds_in_time(formula, letters, times) for formula in timed)

    return judge


def _sampled(first: int, edges: Sequence[Edge]) -> tuple[list[int], list[float]]:
    """Every change, and between two changes the same letter at regular moments [s after the start]."""
    starts = list(accumulate((edge.seconds for edge in edges), initial=0.0))
    changes = [(0.0, first)]
    for began, edge in zip(starts, edges, strict=False):
        changes += [(began + time, mask) for time, mask in zip(edge.times, edge.letters, strict=True)]
    samples = []
    for (begin, mask), (end, _) in pairwise([*changes, (starts[-1], changes[-1][1])]):
        count = max(1, round((end - begin) / SAMPLING))
        samples += [(begin + (end - begin) * k / count, mask) for k in range(count)]
    samples.append((starts[-1], changes[-1][1]))
    return [mask for _, mask in samples], [time for time, _ in samples]
