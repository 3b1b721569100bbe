"""Constrained decoding: the plan nearest to what the model would do that keeps every constraint, or why there is none.

Each next call is chosen only among those that can start and that leave every constraint a way to be met (as SELP does
for single steps, arXiv:2409.19471), with backtracking across steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.choices import Call, Menu
from llm_planner.planning.search.bounds import DEAD
from llm_planner.planning.search.conflict import (
    because,
    contradiction,
    effort_of,
    not_with,
    smallest_conflict,
    whereabouts,
    with_only,
)
from llm_planner.planning.search.considered import menu_for
from llm_planner.planning.search.prior import StepPrior, Uniform
from llm_planner.planning.search.search import Found, Limits, search
from llm_planner.planning.search.task import Demand, History, Task, awaited_rooms, problem_for
from llm_planner.plans.plan import Goal
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene

Clock = Callable[[], float]
QUICK = 0.1  # share of the limits that the first search may take
RULES_TRIED = 4  # of those that may be in the way
PROOF_STATES = 4000  # of each search for a reason
_LESS = "Ask for less at once, or drop a constraint."


class Verdict(str, Enum):
    """How decoding ended."""

    PLAN = "plan"
    IMPOSSIBLE = "impossible"  # every sequence of calls that could matter is ruled out, in the symbolic model
    GAVE_UP = "gave up"  # at its limits, with neither a plan nor a proof


@dataclass(frozen=True)
class Decoded:
    """A plan as `calls` and as the text of a straight-line `program`, in the speaker's words, both empty where nothing
    need be done; or the `reason` for none.

    `conflict` are the demands that the reason names. `unjudged` are constraints on what cannot be foreseen (speeds).
    `metres` and `seconds` are forecasts; `states` is how many were looked at.
    """

    verdict: Verdict
    calls: tuple[Call, ...] = ()
    program: str = ""
    reason: str = ""
    conflict: tuple[Demand, ...] = ()
    unjudged: tuple[Constraint, ...] = ()
    metres: float = 0.0
    seconds: float = 0.0
    states: int = 0


def decode_plan(
    scene: Scene,
    skills: Sequence[Signature],
    constraints: Sequence[Constraint],
    goals: Sequence[Goal] = (),
    prior: StepPrior | None = None,
    calls: Sequence[Call] = (),
    limits: Limits | None = None,
    viewpoint: Viewpoint = BEHIND,
    caution: float = 1.0,
    history: History | None = None,
    clock: Clock = time.thread_time,
) -> Decoded:
    """The best plan for a robot with `skills`, those that fit the scene (`SkillLibrary.for_scene`).

    It keeps every rule and meets every goal among `constraints`, and ends with all effects in `goals`: those that a
    program for the task is judged by (`Forecast.goals`). `prior` says what a model would do next, nobody where it is
    left out. `calls` are the model's own calls (`ActionTree.calls`): options besides those that the scene suggests.
    `caution` is the share of the robot's margin by which distances are kept where they can be (see `with_margin`).
    `history` is what came before `scene`, none where the run begins there. `clock` [s] bounds the search: by default
    the time that it computes, so that what it finds does not depend on what else a computer does.

    Raises InputError for constraints that no scene can show or that are too large to decide, `LanguageModelError` as
    the prior does.
    """
    waits = any(one.goal and awaited_rooms(one.formula, scene) for one in constraints)
    given = (tuple(skills), tuple(constraints), tuple(goals), tuple(calls))
    task = Task(scene, *given, caution, history or History(), stops=waits)
    decoded = _Decoder(task, prior or Uniform(), limits or Limits(), viewpoint, clock).decode()
    return replace(decoded, unjudged=tuple(one for one in constraints if one not in task.judged))


@dataclass(frozen=True)
class _Decoder:
    task: Task
    prior: StepPrior
    limits: Limits
    viewpoint: Viewpoint
    clock: Clock

    def decode(self) -> Decoded:
        """A short search, then one for a reason, then a long search: most tasks are easy, and so are most proofs. What
        contradicts itself needs none."""
        if conflict := contradiction(self.task):
            return self._impossible(conflict, 0)
        found = self._search(self.task, QUICK)
        conflict = () if found.calls is not None else self._conflict(found)
        if found.calls is None and not conflict:
            found = self._search(self.task, 1.0)
            conflict = self.task.demands if found.exhausted else ()
        if found.calls is not None:
            return self._planned(found)
        if conflict:
            return self._refuted(conflict, found)
        return Decoded(Verdict.GAVE_UP, reason=_no_proof(found, self._in_the_way()), states=found.states)

    def _refuted(self, conflict: tuple[Demand, ...], found: Found) -> Decoded:
        """A search proves something only where all that could matter was tried."""
        part = with_only(self.task, conflict)
        effort = effort_of(part, menu_for(part, widest=True))
        if effort.partly and not contradiction(part) and not _is_lost(part):
            reason = f"{not_with(conflict, effort, self.viewpoint)} {_LESS}"
            return Decoded(Verdict.GAVE_UP, reason=reason, conflict=conflict, states=found.states)
        return self._impossible(conflict, found.states)

    def _impossible(self, conflict: tuple[Demand, ...], states: int) -> Decoded:
        now = whereabouts(conflict, self.task.scene) if states else ""  # what contradicts itself does so anywhere
        reason = because(conflict, self.viewpoint) + now
        return Decoded(Verdict.IMPOSSIBLE, reason=reason, conflict=conflict, states=states)

    def _search(self, task: Task, share: float) -> Found:
        limits = Limits(round(share * self.limits.states), share * self.limits.seconds)
        return _find(task, self.prior, limits, self.clock)

    def _conflict(self, found: Found) -> tuple[Demand, ...]:
        """The demands that cannot be met together, all of them where no fewer are found; () where nothing is proved."""
        deadline = self.clock() + self.limits.seconds

        def impossible(part: Task) -> bool:
            limits = Limits(PROOF_STATES, deadline - self.clock())
            answer = _find(replace(part, caution=0.0, stops=False), Uniform(), limits, self.clock)
            return answer.calls is None and answer.exhausted

        count = len(self.task.demands)
        largest = count if found.exhausted else min(2, count - 1)  # a long search for all of them is to come
        conflict = smallest_conflict(self.task, impossible, lambda: self.clock() < deadline, largest)
        return conflict or (self.task.demands if found.exhausted else ())

    def _in_the_way(self) -> tuple[Constraint, ...]:
        """The rules without any one of which a short search finds a plan."""
        rules = [one for one in self.task.judged if not one.goal][:RULES_TRIED]
        return tuple(rule for rule in rules if self._search(self._without(rule), QUICK).calls is not None)

    def _without(self, rule: Constraint) -> Task:
        return replace(self.task, constraints=tuple(one for one in self.task.constraints if one is not rule))

    def _planned(self, found: Found) -> Decoded:
        assert found.calls is not None
        skills = {skill.name: skill for skill in self.task.skills}
        lines = [call.text(skills[call.skill], self.viewpoint) for call in found.calls]
        program = "".join(f"{line}\n" for line in lines)
        return Decoded(
            Verdict.PLAN, found.calls, program, metres=found.metres, seconds=found.seconds, states=found.states
        )


def _find(task: Task, prior: StepPrior, limits: Limits, clock: Clock) -> Found:
    """First with rooms visited, distances to spare and only the ways that a demand suggests; what that rules out is
    tried without the first, the second, and the third."""
    for attempt in _attempts(task):
        found = search(problem_for(*attempt, prior), limits, clock)
        if found.calls is not None or not found.exhausted:
            break
    return found


def _attempts(task: Task) -> Iterator[tuple[Task, Menu]]:
    """The last is for all that is worth considering, with distances kept exactly: what that rules out is impossible."""
    passing = replace(task, stops=False)
    exact, menu, widest = replace(passing, caution=0.0), menu_for(task), menu_for(task, widest=True)
    if task.stops:
        yield task, menu
    yield passing, menu
    if task.keeps_distances:
        yield exact, menu
    if widest != menu:
        yield exact, widest


def _is_lost(task: Task) -> bool:
    """Whether a constraint is broken for good before anything is done."""
    problem = problem_for(replace(task, caution=0.0, stops=False), Menu({}), Uniform())
    return problem.obligations.initial == DEAD


def _no_proof(found: Found, in_the_way: Sequence[Constraint]) -> str:
    if found.untimely:
        return f"Every plan that I found comes too early or too late, as far as I can foresee. {_LESS}"
    looked = f"I found no plan that satisfies this among {found.states} situations, and no proof that there is none."
    if in_the_way:
        rules = " or ".join(f"“{read_back(rule.formula)}”" for rule in in_the_way)
        return f"{looked} Without {rules} there is a plan: drop that, or move things apart."
    return f"{looked} {_LESS}"
