"""Constrained decoding of the plan nearest to the model's preference that keeps every constraint.

Each next call is chosen among those that can start and that leave every constraint satisfiable (as SELP does for single
steps, arXiv:2409.19471), with backtracking across steps. Without a plan the result explains why: by the smallest set
of demands that cannot be met together. A search proves this only if it has tried every call that could matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations

from llm_planner.errors import InputError
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.formula import FALSE, Constraint, Formula, substituted
from llm_planner.ltl.phrases import listed
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.choices import Call, Menu, slides
from llm_planner.planning.search.bounds import DEAD
from llm_planner.planning.search.prior import StepPrior, Uniform
from llm_planner.planning.search.search import Found, Limits, search
from llm_planner.planning.search.task import (
    Demand,
    History,
    Task,
    awaited_rooms,
    menu_for,
    problem_for,
    spoken_of,
    things_of,
    wanted,
)
from llm_planner.plans.plan import Goal
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HERE
from llm_planner.scene.names import the
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.predicates import SUPPORTS, is_container
from llm_planner.scene.propositions import OF_THE_ROBOT, Moment, Proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene

Clock = Callable[[], float]
QUICK = 0.1  # fraction of the limits for the first search
RULES_TRIED = 4  # rules that are tested as possible obstacles
PROOF_STATES = 4000  # states of each search for a reason
_LESS = "Ask for less at once, or drop a constraint."


class Verdict(str, Enum):
    """Result of decoding."""

    PLAN = "plan"
    IMPOSSIBLE = "impossible"  # every relevant sequence of calls is ruled out in the symbolic model
    GAVE_UP = "gave up"  # limits reached without a plan or a proof


@dataclass(frozen=True)
class Decoded:
    """A plan as `calls` and as a straight-line `program` in the speaker's words, or the `reason` why there is none.

    `conflict` are the demands that the reason names. `metres` and `seconds` are forecasts; `states` is the number of
    visited states.
    """

    verdict: Verdict
    calls: tuple[Call, ...] = ()
    program: str = ""
    reason: str = ""
    conflict: tuple[Demand, ...] = ()
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
    """Find the best plan that keeps every rule, meets every goal, and ends with all effects in `goals`.

    Args:
        skills: Skills of the robot that fit the scene (`SkillLibrary.for_scene`).
        constraints: Rules and goals.
        goals: Effects that a program for the task is judged by (`Forecast.goals`).
        prior: Preferences of a model among next calls; uniform by default.
        calls: The model's own calls (`ActionTree.calls`), options besides those that the scene suggests.
        caution: Fraction of the robot's distance margin to keep where possible (`with_margin`).
        history: What happened before `scene`; by default the run begins there.
        clock: Clock that limits the search [s]; by default CPU time, so that other processes do not affect the result.

    Raises:
        InputError: A constraint cannot be shown by a scene or is too large to decide.
        LanguageModelError: The prior's model does not answer.
    """
    waits = any(one.goal and awaited_rooms(one.formula, scene) for one in constraints)
    given = (tuple(skills), tuple(constraints), tuple(goals), tuple(calls))
    task = Task(scene, *given, caution, history or History(), stops=waits)
    return _Decoder(task, prior or Uniform(), limits or Limits(), viewpoint, clock).decode()


@dataclass(frozen=True)
class _Decoder:
    task: Task
    prior: StepPrior
    limits: Limits
    viewpoint: Viewpoint
    clock: Clock

    def decode(self) -> Decoded:
        """Run a short search, then one for a reason, then a long search: most tasks and most proofs are easy.

        A contradiction among the constraints needs no search.
        """
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
        """Return the conflict as a proof only if every relevant call was tried."""
        part = with_only(self.task, conflict)
        partly = _partly_tried(part)
        if not partly or contradiction(part):
            return self._impossible(conflict, found.states)
        problem = problem_for(replace(part, caution=0.0, stops=False), Menu({}), Uniform())
        if problem.obligations.initial == DEAD:  # before the robot does anything
            return self._impossible(conflict, found.states)
        menu = menu_for(part, widest=True)
        tried = [name for name in menu.skills if name not in partly and not _moves_nothing(menu.skills[name])]
        reason = f"{not_with(conflict, tried, partly, self.viewpoint)} {_LESS}"
        return Decoded(Verdict.GAVE_UP, reason=reason, conflict=conflict, states=found.states)

    def _impossible(self, conflict: tuple[Demand, ...], states: int) -> Decoded:
        now = whereabouts(conflict, self.task.scene) if states else ""  # a contradiction does not depend on the scene
        reason = because(conflict, self.viewpoint) + now
        return Decoded(Verdict.IMPOSSIBLE, reason=reason, conflict=conflict, states=states)

    def _search(self, task: Task, share: float) -> Found:
        limits = Limits(round(share * self.limits.states), share * self.limits.seconds)
        return _find(task, self.prior, limits, self.clock)

    def _conflict(self, found: Found) -> tuple[Demand, ...]:
        """Return a smallest set of demands that cannot be met together, or all of them; () if nothing is proved."""
        deadline = self.clock() + self.limits.seconds

        def impossible(part: Task) -> bool:
            limits = Limits(PROOF_STATES, deadline - self.clock())
            answer = _find(replace(part, caution=0.0, stops=False), Uniform(), limits, self.clock)
            return answer.calls is None and answer.exhausted

        count = len(self.task.demands)
        largest = count if found.exhausted else min(2, count - 1)  # a long search for all of them follows
        conflict = smallest_conflict(self.task, impossible, lambda: self.clock() < deadline, largest)
        return conflict or (self.task.demands if found.exhausted else ())

    def _in_the_way(self) -> tuple[Constraint, ...]:
        """Return the rules whose removal lets a short search find a plan."""

        def without(rule: Constraint) -> Task:
            return replace(self.task, constraints=tuple(one for one in self.task.constraints if one is not rule))

        rules = [one for one in self.task.judged if not one.goal][:RULES_TRIED]
        return tuple(rule for rule in rules if self._search(without(rule), QUICK).calls is not None)

    def _planned(self, found: Found) -> Decoded:
        assert found.calls is not None
        skills = {skill.name: skill for skill in self.task.skills}
        lines = [call.text(skills[call.skill], self.viewpoint) for call in found.calls]
        program = "".join(f"{line}\n" for line in lines)
        return Decoded(
            Verdict.PLAN, found.calls, program, metres=found.metres, seconds=found.seconds, states=found.states
        )


def _find(task: Task, prior: StepPrior, limits: Limits, clock: Clock) -> Found:
    """Search with stops in rooms, distance margins and the narrow menu, and relax these in turn after exhaustion."""
    for attempt in _attempts(task):
        found = search(problem_for(*attempt, prior), limits, clock)
        if found.calls is not None or not found.exhausted:
            break
    return found


def _attempts(task: Task) -> Iterator[tuple[Task, Menu]]:
    """Iterate over the attempts; the last has all relevant calls and exact distances, so its exhaustion is a proof."""
    passing = replace(task, stops=False)
    exact, menu, widest = replace(passing, caution=0.0), menu_for(task), menu_for(task, widest=True)
    if task.stops:
        yield task, menu
    yield passing, menu
    if task.keeps_distances:
        yield exact, menu
    if widest != menu:
        yield exact, widest


def _no_proof(found: Found, in_the_way: Sequence[Constraint]) -> str:
    if found.untimely:
        return f"Every plan that I found comes too early or too late, as far as I can foresee. {_LESS}"
    looked = f"I found no plan that satisfies this among {found.states} situations, and no proof that there is none."
    if in_the_way:
        rules = " or ".join(f"“{read_back(rule.formula)}”" for rule in in_the_way)
        return f"{looked} Without {rules} there is a plan: drop that, or move things apart."
    return f"{looked} {_LESS}"


_OPEN = frozenset({"number", "integer", "place", "point", "location"})  # types with too many values to try all
_EXACT = OF_THE_ROBOT | {"at", "beside", "moved", "height"}  # predicates that depend on exact positions


def _partly_tried(task: Task) -> tuple[str, ...]:
    """Return the skills of which a search tries only some of the calls that could matter.

    A mobile robot has none: it goes only to rooms and objects, and carries objects.
    """
    if task.scene.building:
        return ()
    found = []
    spoken = {item.predicate for item in spoken_of(task.judged)} | {goal.atom.predicate for goal in task.goals}
    for skill in task.skills:
        if slides(skill):
            asked = any(item.predicate == "did" and item.arguments[0] == skill.name for item in wanted(task.judged))
            matters = bool(_EXACT & spoken) or _may_upset(task) or asked
        elif not skill.effects:  # it moves the end effector at most
            matters = bool(OF_THE_ROBOT & spoken)
        else:
            has_choices = any(parameter.type in _OPEN for parameter in skill.parameters)
            matters = bool(_EXACT & spoken) and (has_choices or _moves_nothing(skill))
        if matters:
            found.append(skill.name)
    return tuple(found)


def _may_upset(task: Task) -> bool:
    """Return whether it would help to push an object out from under or off another."""
    gone = {item.predicate for item in wanted(task.judged, so=False)}
    return bool(SUPPORTS & gone) or any(item.predicate == "clear" for item in wanted(task.judged))


def _moves_nothing(skill: Signature) -> bool:
    """Return whether the skill moves only the end effector and what it drops."""
    return not any(atom.predicate != "empty" for atom in skill.effects)


def contradiction(task: Task) -> tuple[Demand, ...]:
    """Return the fewest constraints that contradict each other in any order of events; () if none or unknown."""

    def without_the_absurd(part: Formula) -> Formula:
        return FALSE if part.name and _is_absurd(parse_proposition(part.name), task) else part

    constraints = task.judged
    try:
        found = Meanings(task.scene).conflict([substituted(one.formula, without_the_absurd) for one in constraints])
    except InputError:  # too large to decide
        return ()
    return tuple(constraints[k] for k in found)


def _is_absurd(item: Proposition, task: Task) -> bool:
    """Return whether the proposition is impossible: an object in itself or in a non-container.

    So is an object on or in another one, if that never held so far and no skill puts objects there.
    """
    scene = task.scene
    if item.predicate not in SUPPORTS or not set(item.arguments) <= set(scene.names):
        return False
    what, where = item.arguments
    if what == where or (item.predicate == "in" and not is_container(scene.find(where))):
        return True
    been_so = holds(item, Moment(scene)) or any(str(item) in letter for letter in task.history.letters)
    effects = [atom for skill in task.skills for atom in skill.effects]
    return not been_so and not any(atom.predicate in SUPPORTS and atom.arguments[1] != HERE for atom in effects)


def smallest_conflict(
    task: Task, impossible: Callable[[Task], bool], in_time: Callable[[], bool], largest: int
) -> tuple[Demand, ...]:
    """Return the fewest demands without a plan, () if `impossible` finds none.

    `impossible` returns whether a search has ruled out every plan. Sets are tried in increasing size up to `largest`,
    while `in_time`.
    """
    for size in range(1, largest + 1):
        for chosen in combinations(task.demands, size):
            if not in_time():
                return ()
            if impossible(with_only(task, chosen)):
                return chosen
    return ()


def with_only(task: Task, demands: Sequence[Demand]) -> Task:
    """Return the task with only these demands and the calls that concern them."""
    constraints = tuple(one for one in demands if isinstance(one, Constraint))
    goals = tuple(one for one in demands if isinstance(one, Goal))
    smaller = replace(task, constraints=constraints, goals=goals, calls=())
    others = frozenset(task.scene.names).difference(things_of(smaller))
    calls = [call for call in task.calls if not others & {a for a in call.arguments if isinstance(a, str)}]
    return replace(smaller, calls=tuple(calls))


def because(demands: Sequence[Demand], viewpoint: Viewpoint) -> str:
    """Explain the conflict to a person in one or two sentences."""
    said = [_said(demand, viewpoint) for demand in demands]
    if len(said) == 1:
        return f"No plan of my skills can satisfy this, because here it cannot be that {said[0]}."
    together = "; and that ".join(said)
    return f"No plan of my skills can satisfy this, because these cannot be kept together here: that {together}."


def whereabouts(demands: Sequence[Demand], scene: Scene) -> str:
    """Describe in which rooms the mentioned objects are, for a person; "" if there are none."""
    if scene.building is None:
        return ""
    words = {
        word for item in spoken_of([one for one in demands if isinstance(one, Constraint)]) for word in item.arguments
    }
    words |= {word for one in demands if isinstance(one, Goal) for word in one.objects}
    things = [item for item in scene.objects if item.name in words and item.name != scene.held]
    rooms = [(item.name, scene.building.room_at(*item.position[:2])) for item in things]
    found = [f"{the(name)} is in {the(room)}" for name, room in rooms if room]
    return f" Now {listed(found)}." if found else ""


def not_with(demands: Sequence[Demand], tried: Sequence[str], partly: Sequence[str], viewpoint: Viewpoint) -> str:
    """Explain that no plan was found although not every relevant call was tried."""
    together = "; and that ".join(_said(demand, viewpoint) for demand in demands)
    others = f"with {listed(tried)}, nor with" if tried else "with"
    return (
        f"I found no plan {others} the few calls of {listed(partly)} that I try, by which it comes about that "
        f"{together}. Others may do it, so this does not prove that there is none."
    )


def _said(demand: Demand, viewpoint: Viewpoint) -> str:
    if isinstance(demand, Goal):
        return demand.sentence(viewpoint)
    return read_back(demand.formula)
