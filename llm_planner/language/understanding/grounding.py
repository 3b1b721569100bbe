"""Grounding of a model's reading: parses its formulas and checks them against the scene.

A constraint must rule something out, must not make a speed a goal, and must not be violated from the start.
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
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.propositions import Moment, check_proposition, holds, parse_proposition
from llm_planner.scene.scene import Scene


def check_substance(constraint: Constraint) -> None:
    """Raise InputError for a constraint without words, or that every run satisfies."""
    if not constraint.words.strip():
        raise InputError(f"{constraint.formula} stands for no words of the command")
    if Monitor(constraint.formula).verdict is Verdict.SATISFIED:
        raise InputError(f"“{constraint.words}” must rule something out, but every run keeps {constraint.formula}")


def check_reachable(constraint: Constraint) -> None:
    """Raise InputError for a goal about a speed, because the planner does not predict speeds."""
    if constraint.goal and any(name.startswith("speed(") for name in constraint.formula.propositions):
        raise InputError(
            f"“{constraint.words}” makes a speed part of a goal, but a speed can only be watched, not planned for; say "
            "what to do without it, and the speed as a limit on all of it: G speed(robot) < 0.3"
        )


def check_present(constraint: Constraint, scene: Scene) -> None:
    """Raise InputError for a constraint that requires at once what does not hold in `scene`.

    "Stay in the lab" cannot begin elsewhere. A forbidden state that holds already is allowed: "not again".
    """
    formula = constraint.formula
    moment = Moment(scene, fixed_places(scene))
    now = frozenset(name for name in formula.propositions if holds(parse_proposition(name), moment))
    if all(Monitor(formula).observe(letter, scene.time).lost for letter in (now, frozenset[str]())):
        raise InputError(f"“{constraint.words}” as {formula} demands at once what is not so now")


_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")


def ground(reading: Reading, scene: Scene, propositions: tuple[str, ...] = (), insisted: bool = False) -> Grounded:
    """Parse the formulas of a reading and check them against the scene.

    A formula must have every name and number in the words of its constraint, unless the reading is `whole`.

    Args:
        reading: Reading of a model.
        scene: Scene that the formulas refer to.
        propositions: Bare propositions to check against instead.
        insisted: Whether the model repeats its reading; the formula may then omit a name if it lists all others of its
            kind ("every room except the lab").

    Raises:
        InputError: A formula has no meaning here; the message says which and why.
        QuestionError: The reading refers to what is not here.
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
    """Parse a goal, a literal about the last scene; raise InputError for other formulas or unknown names."""
    goal = parse(text)
    literal = goal.operands[0] if goal.operator == "!" else goal
    if literal.operands or not literal.name:
        raise InputError(f"the goal {text} is not a single proposition or its negation; give a list of these")
    check_proposition(parse_proposition(literal.name), scene)
    return goal


def _check_said(constraint: Constraint, scene: Scene, insisted: bool) -> None:
    """Raise InputError if the formula lacks a name or a number of its words, in any human language."""
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
    """Return all objects or rooms of the same kinds as these."""
    kinds = {item.kind for item in scene.objects if item.name in names}
    rooms = scene.building.names if scene.building and {*names} & {*scene.building.names} else ()
    return {item.name for item in scene.objects if item.kind in kinds} | {*rooms}


def amounts_of(formula: Formula) -> list[float]:
    """Return the bounds of measures [m, m/s, degrees] and time windows [s] in a formula."""
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
    """Convert a refused reading and its problem into an attempt for the next round."""
    constraints = [{"formula": one.formula, "words": one.words, "goal": one.goal} for one in reading.constraints]
    answer = {
        "reasoning": reading.reasoning, "task": reading.task, "goals": list(reading.goals), "constraints": constraints,
        "sure": reading.sure, "question": reading.question,
    }  # fmt: skip
    return Attempt(str(reading), (str(problem),), json.dumps(answer, ensure_ascii=False))
