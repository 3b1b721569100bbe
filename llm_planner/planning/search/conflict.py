"""Why there is no plan: the smallest set of demands that cannot be met together, in plain words.

What a search has tried, and what it has left out although it could matter: it proves something only without that.
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

_OPEN = frozenset({"number", "integer", "place", "point", "location"})  # types with more values than can be tried
_EXACT = OF_THE_ROBOT | {"at", "beside", "moved", "height"}  # these depend on where exactly a thing or the hand is


@dataclass(frozen=True)
class Effort:
    """Skills of which every call that could matter was `tried`, and those of which only some or none, `partly`."""

    tried: tuple[str, ...]
    partly: tuple[str, ...]


def effort_of(task: Task, menu: Menu) -> Effort:
    """What a search for a plan for `task` among the calls of `menu` comes to. A mobile robot's calls are all tried: it
    is sent to rooms and things only, and there is no more to be done with them than to carry them away."""
    partly = () if task.scene.building else tuple(_partly(task))
    others = (name for name in menu.skills if name not in partly)
    return Effort(tuple(name for name in others if not _moves_nothing(menu.skills[name])), partly)


def _partly(task: Task) -> Iterator[str]:
    spoken = {item.predicate for item in spoken_of(task.judged)} | {goal.atom.predicate for goal in task.goals}
    for skill in task.skills:
        if slides(skill):
            matters = bool(_EXACT & spoken) or _may_upset(task) or _asked_to(skill, task)
        elif not skill.effects:  # only the hand may move
            matters = bool(OF_THE_ROBOT & spoken)
        else:
            matters = bool(_EXACT & spoken) and (_has_choices(skill) or _moves_nothing(skill))
        if matters:
            yield skill.name


def _may_upset(task: Task) -> bool:
    """Whether it would help that a thing no longer rests on or in another: that can be pushed away from under it."""
    gone = {item.predicate for item in wanted(task.judged, so=False)}
    return bool(SUPPORTS & gone) or any(item.predicate == "clear" for item in wanted(task.judged))


def _asked_to(skill: Signature, task: Task) -> bool:
    return any(item.predicate == "did" and item.arguments[0] == skill.name for item in wanted(task.judged))


def _has_choices(skill: Signature) -> bool:
    return any(parameter.type in _OPEN for parameter in skill.parameters)


def _moves_nothing(skill: Signature) -> bool:
    """But the hand, and what it lets fall."""
    return not any(atom.predicate != "empty" for atom in skill.effects)


Impossible = Callable[[Task], bool]  # whether a search has ruled every plan out


def contradiction(task: Task) -> tuple[Demand, ...]:
    """The fewest constraints that contradict each other in any order of events; () where none do, or nobody knows."""
    constraints = task.judged
    try:
        found = Meanings(task.scene).conflict([_without_the_absurd(one.formula, task) for one in constraints])
    except InputError:  # too large to decide
        return ()
    return tuple(constraints[k] for k in found)


def _without_the_absurd(formula: Formula, task: Task) -> Formula:
    """With `false` for what no plan can bring about."""

    def judged(part: Formula) -> Formula:
        return FALSE if part.name and _is_absurd(parse_proposition(part.name), task) else part

    return substituted(formula, judged)


def _is_absurd(item: Proposition, task: Task) -> bool:
    """That a thing is in itself or in what is no container; or on or in another, where it has not been so yet and no
    skill puts things on or in others."""
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
    """The fewest demands of `task` that `impossible` finds cannot be met together here; () where it finds none.

    Sets are tried by size up to the `largest`, as long as it is `in_time`: no smaller set is known to be impossible.
    """
    for size in range(1, largest + 1):
        for chosen in combinations(task.demands, size):
            if not in_time():
                return ()
            if impossible(with_only(task, chosen)):
                return chosen
    return ()


def with_only(task: Task, demands: Sequence[Demand]) -> Task:
    """The task with only these demands, and only the calls that concern them."""
    constraints = tuple(one for one in demands if isinstance(one, Constraint))
    goals = tuple(one for one in demands if isinstance(one, Goal))
    smaller = replace(task, constraints=constraints, goals=goals, calls=())
    others = frozenset(task.scene.names).difference(things_of(smaller))
    calls = [call for call in task.calls if not others & {a for a in call.arguments if isinstance(a, str)}]
    return replace(smaller, calls=tuple(calls))


def because(demands: Sequence[Demand], viewpoint: Viewpoint) -> str:
    """One or two sentences for a person."""
    said = [_said(demand, viewpoint) for demand in demands]
    if len(said) == 1:
        return f"No plan can satisfy this, because here it cannot be that {said[0]}."
    together = "; and that ".join(said)
    return f"No plan can satisfy this, because these cannot be kept together here: that {together}."


def whereabouts(demands: Sequence[Demand], scene: Scene) -> str:
    """In which rooms the things are of which the demands speak, for a person; "" where there are none."""
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
    """The same where not everything that might help has been tried."""
    together = "; and that ".join(_said(demand, viewpoint) for demand in demands)
    tried = f"with {listed(effort.tried)}, nor with" if effort.tried else "with"
    return (
        f"I found no plan {tried} the few calls of {listed(effort.partly)} that I try, by which it comes about that "
        f"{together}. Others may do it, so this is no proof that there is none."
    )


def _said(demand: Demand, viewpoint: Viewpoint) -> str:
    if isinstance(demand, Goal):
        return demand.sentence(viewpoint)
    return read_back(demand.formula)
