"""Holds a large model's reading against the words: goals and rules that say something else, or more, than they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llm_planner.language.grounding.amounts import LENGTHS, TIMES
from llm_planner.language.understanding.grounding import amounts_of
from llm_planner.language.understanding.said import (
    denies,
    exchanged,
    has_denial,
    is_known_language,
    numbers,
    sign,
    turns,
)
from llm_planner.language.understanding.unasked import unnamed
from llm_planner.language.understanding.vote import Grounded
from llm_planner.language.understanding.wording import is_english, words_of
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import SLOW, Moment, holds, parse_proposition
from llm_planner.world.scene import Scene

_ORDERED = frozenset(("!", "->", "<->", "U", "W", "R", "M", "|"))  # with these an order in time may be turned round


def unfaithful(reading: Grounded, command: str, said: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """What the reading says otherwise than the command, a sentence each; `said` are the command and those before it."""
    found = [*_of_goals(reading, command, said, scene)]
    for constraint in reading.constraints:
        found += [*_of_constraint(constraint, command, said, scene)]
    if sign(command, "speed") < 0 and not any(_is_of_speed(one.formula) for one in reading.constraints):
        found.append("the command asks for slowness, but no constraint limits the speed")
    return tuple(dict.fromkeys(found))


def _of_goals(reading: Grounded, command: str, said: Sequence[str], scene: Scene) -> Iterator[str]:
    rooms = scene.building.names if scene.building else ()
    items = {name: parse_proposition(name) for goal in reading.goals for name in goal.propositions}
    unnegated = [parse_proposition(goal.name) for goal in reading.goals if not goal.operator]
    about = [one for item in unnegated for one in item.arguments if one in (*scene.names, *rooms)]
    known = is_known_language(" . ".join(said), scene)
    others = [one.formula for one in reading.constraints] if known else []  # elsewhere goals are judged by the plan
    for name in unnamed(about, said, scene, others):
        yield f"the command does not speak of {name!r}, but a goal does"
    moment = Moment(scene, {item.name: item.position for item in scene.objects})
    for goal in reading.goals:
        if goal.operator != "!" or has_denial(command):
            continue
        item = items[goal.operands[0].name]
        if item.predicate != "moved" and not holds(item, moment) and not unnamed(item.arguments, said, scene):
            yield f"{goal} is so already, and the command denies nothing"
    pairs = [(item.arguments[0], item.arguments[1]) for item in unnegated if len(item.arguments) == 2]
    for a, b in exchanged(pairs, command, scene):
        yield f"the command does not name {a!r} together with {b!r}, but a goal does"


def _of_constraint(constraint: Constraint, command: str, said: Sequence[str], scene: Scene) -> Iterator[str]:
    formula, words = constraint.formula, constraint.words
    yield from opposed(formula, words)
    wanted = [number for text in said for number in numbers(text, scene)]
    told = bool(wanted) or is_english(command)  # numbers may be words that are not known here
    usual = () if any(number.dimension == "m/s" for number in wanted) else (SLOW[scene.robot_kind],)
    for bound in amounts_of(formula) if told else ():
        if bound in usual and _is_of_speed(formula):
            continue
        if not any(number.is_among((bound,)) for number in wanted) and (wanted or not _may_count(command)):
            yield f"the command does not say {bound:g}, but {formula} does"
    depths = dict[str, int]()
    if not _operators(formula) & _ORDERED:
        _nesting(formula, 0, depths)
        latest = -1
        for part in turns(command, scene):
            found = [depths[name] for name in part if name in depths]
            if found and min(found) < latest:
                yield f"the command tells one thing after the other, but {formula} has them in another order"
            latest = max((latest, *found))


def opposed(formula: Formula, words: str) -> Iterator[str]:
    """What a rule turns round: a denial that it has not, at most for at least."""
    operators = _operators(formula)
    measures = [item for item in map(parse_proposition, formula.propositions) if item.comparison]
    if denies(words) and not operators & {"!", "G", "W", "R", "U", "M"} and not measures:
        yield f"“{words}” denies something, but {formula} does not"
    wanted = sign(words, "bound")
    if wanted and len(measures) == 1 and "!" not in operators:
        (measure,) = measures
        if (measure.comparison == ">") != (wanted > 0):
            yield f"“{words}” is {'at least' if wanted > 0 else 'at most'}, but {formula} is not"
    lifts = sign(words, "height")
    if lifts > 0 and denies(words):
        lifts = -lifts
    if lifts < 0 and denies(words) and len(measures) == 1 and "!" not in operators and measures[0].comparison == ">":
        yield f"“{words}” sets a bound above, but {formula} one below"


def _operators(formula: Formula) -> set[str]:
    return {formula.operator}.union(*map(_operators, formula.operands))


def _is_of_speed(formula: Formula) -> bool:
    return any(parse_proposition(name).predicate == "speed" for name in formula.propositions)


def _nesting(formula: Formula, depth: int, found: dict[str, int]) -> None:
    """How many times "F" each name stands within."""
    if formula.name:
        for name in parse_proposition(formula.name).arguments:
            found.setdefault(name, depth)
    for operand in formula.operands:
        _nesting(operand, depth + (formula.operator == "F"), found)


def _may_count(command: str) -> bool:
    """Whether a unit stands in it: its number may be written in a way that is not known here."""
    return not {*words_of(command)}.isdisjoint({*LENGTHS, *TIMES} - {"s", "m", "h"})
