"""Explanation of why there is no plan: the smallest set of demands that cannot be met together, in plain words.

A search proves this only if it has tried every call that could matter; `Effort` is what it has tried and omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from llm_planner.errors import InputError
from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.formula import FALSE, Constraint, Formula, substituted
from llm_planner.ltl.phrases import listed
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.choices import Menu, slides
from llm_planner.planning.search.considered import things_of, wanted
from llm_planner.planning.search.task import Demand, Task, spoken_of
from llm_planner.plans.plan import Goal
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HERE
from llm_planner.scene.names import the
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.predicates import SUPPORTS, is_container
from llm_planner.scene.propositions import OF_THE_ROBOT, Moment, Proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene

_OPEN = frozenset({"number", "integer", "place", "point", "location"})  # types with too many values to try all
_EXACT = OF_THE_ROBOT | {"at", "beside", "moved", "height"}  # predicates that depend on exact positions


@dataclass(frozen=True)
class Effort:
    """Coverage of a search: skills whose relevant calls were all `tried`, and the others (`partly`)."""

    tried: tuple[str, ...]
    partly: tuple[str, ...]


def effort_of(task: Task, menu: Menu) -> Effort:
    """Return the coverage of a search for `task` among the calls of `menu`.

    The calls of a mobile robot are always all tried: it goes only to rooms and objects, and carries objects.
    """
    partly = () if task.scene.building else tuple(_partly(task))
    others = (name for name in menu.skills if name not in partly)
    return Effort(tuple(name for name in others if not _moves_nothing(menu.skills[name])), partly)


def _partly(task: Task) -> Iterator[str]:
    spoken = {item.predicate for item in spoken_of(task.judged)} | {goal.atom.predicate for goal in task.goals}
    for skill in task.skills:
        if slides(skill):
            matters = bool(_EXACT & spoken) or _may_upset(task) or _asked_to(skill, task)
        elif not skill.effects:  # it moves the end effector at most
            matters = bool(OF_THE_ROBOT & spoken)
        else:
            matters = bool(_EXACT & spoken) and (_has_choices(skill) or _moves_nothing(skill))
        if matters:
            yield skill.name


def _may_upset(task: Task) -> bool:
    """Return whether it would help to push an object out from under or off another."""
    gone = {item.predicate for item in wanted(task.judged, so=False)}
    return bool(SUPPORTS & gone) or any(item.predicate == "clear" for item in wanted(task.judged))


def _asked_to(skill: Signature, task: Task) -> bool:
    return any(item.predicate == "did" and item.arguments[0] == skill.name for item in wanted(task.judged))


def _has_choices(skill: Signature) -> bool:
    return any(parameter.type in _OPEN for parameter in skill.parameters)


def _moves_nothing(skill: Signature) -> bool:
    """Return whether the skill moves only the end effector and what it drops."""
    return not any(atom.predicate != "empty" for atom in skill.effects)


Impossible = Callable[[Task], bool]  # returns whether a search has ruled out every plan


def contradiction(task: Task) -> tuple[Demand, ...]:
    """Return the fewest constraints that contradict each other in any order of events; () if none or unknown."""
    constraints = task.judged
    try:
        found = Meanings(task.scene).conflict([_without_the_absurd(one.formula, task) for one in constraints])
    except InputError:  # too large to decide
        return ()
    return tuple(constraints[k] for k in found)


def _without_the_absurd(formula: Formula, task: Task) -> Formula:
    """Replace what no plan can bring about with `false`."""

    def judged(part: Formula) -> Formula:
        return FALSE if part.name and _is_absurd(parse_proposition(part.name), task) else part

    return substituted(formula, judged)


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
    return not been_so and not any(map(_puts_on_things, task.skills))


def _puts_on_things(skill: Signature) -> bool:
    return any(atom.predicate in SUPPORTS and atom.arguments[1] != HERE for atom in skill.effects)


def smallest_conflict(
    task: Task, impossible: Impossible, in_time: Callable[[], bool], largest: int
) -> tuple[Demand, ...]:
    """Return the fewest demands that `impossible` finds cannot be met together, or () if it finds none.

    Sets are tried in increasing size up to `largest`, while `in_time`.
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


def not_with(demands: Sequence[Demand], effort: Effort, viewpoint: Viewpoint) -> str:
    """Explain that no plan was found although not every relevant call was tried."""
    together = "; and that ".join(_said(demand, viewpoint) for demand in demands)
    tried = f"with {listed(effort.tried)}, nor with" if effort.tried else "with"
    return (
        f"I found no plan {tried} the few calls of {listed(effort.partly)} that I try, by which it comes about that "
        f"{together}. Others may do it, so this does not prove that there is none."
    )


def _said(demand: Demand, viewpoint: Viewpoint) -> str:
    if isinstance(demand, Goal):
        return demand.sentence(viewpoint)
    return read_back(demand.formula)
