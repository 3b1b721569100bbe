"""From a model's reading to formulas about this scene, or the reason why it has no meaning here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from llm_planner.errors import InputError
from llm_planner.language.model import Attempt, ReadConstraint, Reading
from llm_planner.language.understanding.anything import in_general
from llm_planner.language.understanding.mentions import arguments_of, names_in
from llm_planner.language.understanding.said import UNITS
from llm_planner.language.understanding.substance import check_present, check_reachable, check_substance
from llm_planner.language.understanding.vote import Grounded
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.parser import parse
from llm_planner.world.propositions import check_proposition, parse_proposition
from llm_planner.world.scene import Scene

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")


def ground(reading: Reading, scene: Scene, propositions: tuple[str, ...] = (), insisted: bool = False) -> Grounded:
    """Return the reading with its formulas parsed and checked against the scene, or against bare `propositions`.

    A name or a number in the words of a constraint that its formula has not is an error; for a name the model may have
    `insisted`, where the formula lists all others ("every room except the lab"). A model whose reading is `whole` has
    accounted for each word itself.

    Raises:
        InputError: a formula has no meaning here; the message says which and why.
        QuestionError: the reading speaks of what is not here.
    """
    if reading.question:
        return Grounded(question=reading.question)
    constraints = tuple(_constraint(written, scene, propositions) for written in reading.constraints)
    goals = tuple(_goal(text, scene) for text in reading.goals)
    if not reading.task and not constraints:
        raise InputError("the reading has neither a task nor a constraint; give one of them, or a question")
    if not (reading.whole or propositions):
        for constraint in constraints:
            _check_said(constraint, scene, insisted)
    return Grounded(reading.task, constraints, goals=goals)


def _constraint(written: ReadConstraint, scene: Scene, propositions: tuple[str, ...]) -> Constraint:
    constraint = Constraint(in_general(parse(written.formula), scene), written.words, written.goal)
    check_substance(constraint)
    if propositions:
        _check_bare(constraint.formula, propositions)
        return constraint
    for name in constraint.formula.propositions:
        check_proposition(parse_proposition(name), scene)
    check_reachable(constraint)
    check_present(constraint, scene)
    return constraint


def _goal(text: str, scene: Scene) -> Formula:
    """A state of the last scene; raises InputError for one that is none, or speaks of what is not here."""
    goal = parse(text)
    literal = goal.operands[0] if goal.operator == "!" else goal
    if literal.operands or not literal.name:
        raise InputError(f"the goal {text} is no single proposition or its negation; give a list of these")
    check_proposition(parse_proposition(literal.name), scene)
    return goal


def _check_said(constraint: Constraint, scene: Scene, insisted: bool) -> None:
    """Raise InputError where the words have a name or a number that the formula has not, in any human language."""
    about, named = {*arguments_of(constraint.formula)}, names_in(plain(constraint.words), scene)
    missing = [name for name in named if name not in about]
    if missing and not (insisted and about >= _alike(missing, scene) - {*named}):
        raise InputError(f"“{constraint.words}” speaks of {missing[0]!r}, but {constraint.formula} does not")
    bounds = amounts_of(constraint.formula)
    for found in _NUMBER.findall(constraint.words) if bounds else ():
        number = float(found.replace(",", "."))
        if not any(math.isclose(number * unit, bound, rel_tol=2e-3) for unit in UNITS for bound in bounds):
            raise InputError(f"“{constraint.words}” says {found}, but {constraint.formula} has no such bound")


def _alike(names: list[str], scene: Scene) -> set[str]:
    """All things or rooms of the kinds that these are of."""
    kinds = {item.kind for item in scene.objects if item.name in names}
    rooms = scene.building.names if scene.building and {*names} & {*scene.building.names} else ()
    return {item.name for item in scene.objects if item.kind in kinds} | {*rooms}


def amounts_of(formula: Formula) -> list[float]:
    """Bounds of its measures [m, m/s, degrees] and of its windows [s]."""
    return list(_amounts(formula))


def _amounts(formula: Formula) -> Iterator[float]:
    if formula.window is not None:
        yield from (bound for bound in formula.window if 0.0 < bound < math.inf)
    if formula.name:
        item = parse_proposition(formula.name)
        if item.comparison:
            yield item.bound
    for operand in formula.operands:
        yield from _amounts(operand)


def _check_bare(formula: Formula, propositions: tuple[str, ...]) -> None:
    unknown = [name for name in formula.propositions if name not in propositions]
    if unknown:
        raise InputError(f"{unknown[0]!r} in {formula} is none of the propositions: {', '.join(propositions)}")


def as_attempt(reading: Reading, problem: InputError) -> Attempt:
    """Return what a model is shown of a reading that could not be used."""
    constraints = [{"formula": one.formula, "words": one.words, "goal": one.goal} for one in reading.constraints]
    answer = {
        "reasoning": reading.reasoning, "task": reading.task, "goals": list(reading.goals), "constraints": constraints,
        "sure": reading.sure, "question": reading.question,
    }  # fmt: skip
    return Attempt(str(reading), (str(problem),), json.dumps(answer, ensure_ascii=False))
