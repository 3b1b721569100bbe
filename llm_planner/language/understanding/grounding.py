"""From a model's reading to formulas about this scene, or the reason why it has no meaning here."""

from __future__ import annotations

import json

from llm_planner.errors import InputError
from llm_planner.language.model import Attempt, ReadConstraint, Reading
from llm_planner.language.understanding.absent import check_here
from llm_planner.language.understanding.anything import in_general
from llm_planner.language.understanding.contraries import check_contraries
from llm_planner.language.understanding.denials import check_negation
from llm_planner.language.understanding.distances import check_distances
from llm_planner.language.understanding.endings import check_ending
from llm_planner.language.understanding.forbidden import check_task
from llm_planner.language.understanding.limits import check_limits, check_pace
from llm_planner.language.understanding.mentions import check_amounts, check_conditions, check_names, check_people
from llm_planner.language.understanding.scope import check_scope
from llm_planner.language.understanding.substance import check_present, check_reachable, check_substance
from llm_planner.language.understanding.vote import Grounded
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.parser import parse
from llm_planner.world.propositions import check_proposition, parse_proposition
from llm_planner.world.scene import Scene


def ground(reading: Reading, scene: Scene, propositions: tuple[str, ...] = (), insisted: bool = False) -> Grounded:
    """The reading with its formulas parsed and checked against the scene, or against bare `propositions`; `insisted`:
    its model has heard what was wrong with the one before.

    Raises InputError that says which formula has no meaning here and why, QuestionError for what is not here.
    """
    if reading.question:
        return Grounded(question=reading.question)
    constraints = tuple(_constraint(written, scene, propositions) for written in reading.constraints)
    goals = tuple(_goal(text, scene) for text in reading.goals)
    if not reading.task and not constraints:
        raise InputError("the reading has neither a task nor a constraint; give one of them, or a question")
    if not reading.whole:
        check_conditions(reading.task, constraints, insisted)
    if not propositions:
        check_pace(reading.task, constraints)
        for constraint in constraints:
            check_task(reading.task, constraint, scene)
    return Grounded(reading.task, constraints, goals=goals)


def _constraint(written: ReadConstraint, scene: Scene, propositions: tuple[str, ...]) -> Constraint:
    constraint = Constraint(in_general(parse(written.formula), scene), written.words, written.goal)
    check_negation(constraint)
    check_substance(constraint)
    if propositions:
        _check_bare(constraint.formula, propositions)
    else:
        _check_in_scene(constraint, scene)
    return constraint


def _goal(text: str, scene: Scene) -> Formula:
    """A state of the last scene; raises InputError for one that is none, or speaks of what is not here."""
    goal = parse(text)
    literal = goal.operands[0] if goal.operator == "!" else goal
    if literal.operands or not literal.name:
        raise InputError(f"the goal {text} is no single proposition or its negation; give a list of these")
    check_proposition(parse_proposition(literal.name), scene)
    return goal


def _check_in_scene(constraint: Constraint, scene: Scene) -> None:
    for name in constraint.formula.propositions:
        check_proposition(parse_proposition(name), scene)
    check_here(constraint.words, scene)
    check_names(constraint, scene)
    check_ending(constraint)
    check_scope(constraint, scene)
    check_people(constraint, scene)
    check_amounts(constraint)
    check_limits(constraint)
    check_distances(constraint, scene)
    check_contraries(constraint, scene)
    check_reachable(constraint)
    check_present(constraint, scene)


def _check_bare(formula: Formula, propositions: tuple[str, ...]) -> None:
    unknown = [name for name in formula.propositions if name not in propositions]
    if unknown:
        raise InputError(f"{unknown[0]!r} in {formula} is none of the propositions: {', '.join(propositions)}")


def as_attempt(reading: Reading, problem: InputError) -> Attempt:
    """What a model is shown of a reading that could not be used."""
    return Attempt(str(reading), (str(problem),), _shown(reading))


def _shown(reading: Reading) -> str:
    constraints = [{"formula": one.formula, "words": one.words, "goal": one.goal} for one in reading.constraints]
    answer = {
        "reasoning": "", "task": reading.task, "goals": list(reading.goals), "constraints": constraints,
        "sure": reading.sure, "question": reading.question,
    }  # fmt: skip
    return json.dumps(answer, ensure_ascii=False)
