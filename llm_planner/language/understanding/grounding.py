"""From a model's reading to formulas about this scene, or the reason why it has no meaning here.

A constraint must say something that can be done or kept: it rules something out, no goal is a speed, and it does not
demand at once what is not so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from llm_planner.errors import InputError
from llm_planner.language.model import Attempt, ReadConstraint, Reading
from llm_planner.language.understanding.equivalence import in_general
from llm_planner.language.understanding.said import UNITS
from llm_planner.language.understanding.vote import Grounded
from llm_planner.language.understanding.wording import arguments_of, names_in, plain
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.ltl.monitor import Monitor, Verdict
from llm_planner.ltl.parser import parse
from llm_planner.scene.propositions import Moment, check_proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene


def check_substance(constraint: Constraint) -> None:
    """Raises InputError for a constraint without words, or one that every run keeps."""
    if not constraint.words.strip():
        raise InputError(f"{constraint.formula} stands for no words of the command")
    if Monitor(constraint.formula).verdict is Verdict.SATISFIED:
        raise InputError(f"“{constraint.words}” must rule something out, but every run keeps {constraint.formula}")


def check_reachable(constraint: Constraint) -> None:
    """Raises InputError for a goal that speaks of a speed: what is not foreseen cannot be planned for."""
    if constraint.goal and any(name.startswith("speed(") for name in constraint.formula.propositions):
        raise InputError(
            f"“{constraint.words}” makes a speed part of a goal, but a speed can only be watched, not planned for; say "
            "what to do without it, and the speed as a limit on all of it: G speed(robot) < 0.3"
        )


def check_present(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError for a constraint that is lost at once in `scene`, for something that is not so in it.

    "Stay in the lab" cannot begin elsewhere. What is forbidden and is so already is another matter: "not again".
    """
    formula = constraint.formula
    moment = Moment(scene, {item.name: item.position for item in scene.objects})
    now = frozenset(name for name in formula.propositions if holds(parse_proposition(name), moment))
    if all(Monitor(formula).observe(letter, scene.time).lost for letter in (now, frozenset[str]())):
        raise InputError(f"“{constraint.words}” as {formula} demands at once what is not so now")


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
