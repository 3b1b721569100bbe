"""A task as the search sees it: what must be reached and kept, and what is worth considering on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from llm_planner.plan.choices import Call, Menu
from llm_planner.plan.decoding.bounds import DrivingBound
from llm_planner.plan.decoding.caution import MARGIN_ARM, with_margin
from llm_planner.plan.decoding.obligations import DEAD, Obligations
from llm_planner.plan.decoding.prior import StepPrior
from llm_planner.plan.decoding.scene_graph import SceneGraph
from llm_planner.plan.decoding.search import Problem, Weights
from llm_planner.plan.decoding.stops import awaited_rooms
from llm_planner.plan.decoding.windows import Windows
from llm_planner.plan.plan import Goal
from llm_planner.program.signatures import Signature
from llm_planner.temporal.alphabet import Trace
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.timed import untimed
from llm_planner.world.occurring import alphabet_of
from llm_planner.world.propositions import Proposition, parse_proposition
from llm_planner.world.scene import Scene, Vector3

Demand = Constraint | Goal
ARM_WEIGHTS = Weights(per_metre=0.0)  # a hand's detour matters less than the order that the model has chosen


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


def spoken_of(constraints: Sequence[Constraint]) -> tuple[Proposition, ...]:
    """All propositions of the formulas, in alphabetical order; raises InputError for one that no scene can show."""
    return tuple(map(parse_proposition, sorted({name for one in constraints for name in one.formula.propositions})))


def problem_for(task: Task, menu: Menu, prior: StepPrior) -> Problem:
    """The search for a plan; raises InputError for formulas that cannot be decided here."""
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
