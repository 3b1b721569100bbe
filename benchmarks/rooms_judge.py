"""What a run in a building shows: scenes recorded as they come, judged by the definition of the true formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist, inf

from reference_semantics import holds as holds_on
from rooms_tasks import Clause, RoomsTask

from llm_planner.ltl.alphabet import Trace
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.parser import parse
from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.robots.motion import JointState, JointTrajectory, Observation
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import Scene
from llm_planner.skills.episode import EpisodeWorld


class Recorder:
    """A world that keeps every scene it was seen in, from the first on, and one every `look` [s]."""

    def __init__(self, world: EpisodeWorld, look: float = inf) -> None:
        self._world, self._look = world, look
        self.scenes: list[Scene] = [world.observation().scene]

    @property
    def time(self) -> float:
        return self._world.time

    def observation(self) -> Observation:
        return self._world.observation()

    def joint_state(self) -> JointState:
        return self._world.joint_state()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        steps = max(1, round(duration / self._look))
        for _ in range(steps):
            self._world.follow(trajectory, duration / steps)
            self.scenes.append(self._world.observation().scene)


@dataclass(frozen=True)
class Judged:
    """Rules that the run has broken (in words), whether it shows all goals, and how far the robot drove [m].

    A run that was given up has broken a rule only where no way of going on could have kept it.
    """

    broken: tuple[str, ...]
    reached: bool
    metres: float


def judge(task: RoomsTask, scenes: Sequence[Scene], finished: bool) -> Judged:
    """What the recorded scenes say of the task."""
    broken = tuple(clause.words for clause in task.rules if _is_broken(clause, scenes, finished))
    reached = all(holds_on(formula, trace_of(formula, scenes)) for formula in map(_formula, task.goals))
    return Judged(broken, reached, metres_driven(scenes))


def _formula(clause: Clause) -> Formula:
    return parse(clause.formula)


def _is_broken(clause: Clause, scenes: Sequence[Scene], finished: bool) -> bool:
    formula = _formula(clause)
    trace = trace_of(formula, scenes)
    if finished:
        return not holds_on(formula, trace)
    watching = automaton(formula, alphabet_of(formula.propositions, scenes[0]))
    return watching.run(trace) not in watching.live


def trace_of(formula: Formula, scenes: Sequence[Scene]) -> Trace:
    """The changes of the formula's own propositions."""
    items = [parse_proposition(name) for name in formula.propositions]
    origins = {item.name: item.position for item in scenes[0].objects}
    letters = [frozenset(str(item) for item in items if holds(item, Moment(scene, origins))) for scene in scenes]
    return (letters[0], *(after for before, after in pairwise(letters) if after != before))


def metres_driven(scenes: Sequence[Scene]) -> float:
    """Length of the robot's path in the plane [m]."""
    path = [scene.robot.position[:2] for scene in scenes if scene.robot is not None]
    return sum(dist(a, b) for a, b in pairwise(path))
