"""Requests for rules: one to keep from now on, or one to keep no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from llm_planner.correction.building_order import without
from llm_planner.correction.errands import Errand, errands_ahead, goals, subject
from llm_planner.correction.references import UnclearError, names_in
from llm_planner.correction.requests import Request
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.errors import LlmPlannerError
from llm_planner.language.understanding.mentions import arguments_of
from llm_planner.plan.edits import AddRule, LiftRule, Operation, Scope
from llm_planner.temporal.formula import Formula
from llm_planner.temporal.words import read_back

_UNTIL = re.compile(r"\b(?:until|till)\b(?! (?:i|we|further)\b)")  # "until I say otherwise" is for good here


def add_rule(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """The formulas that the words stand for, and without the errands that they forbid; that is all where they are not
    said to last.

    Raises UnclearError where they are no rule here.
    """
    try:
        at_rest = replace(situation.scene, speed=0.0)  # how fast it is now does not say what is meant
        constraints = sources.formalise(request.text, at_rest)
    except LlmPlannerError as error:
        raise UnclearError(str(error)) from error
    kept = [one.formula for one in constraints if not one.goal]
    if kept and _UNTIL.search(request.text) and not any(map(_has_end, kept)):
        meant = " and ".join(map(read_back, kept))
        example = "for instance “until the green block is on the red block”"
        raise UnclearError(f"I understood that {meant}, but not until when. Please say what is where then, {example}.")
    rules = tuple(AddRule(str(one.formula), one.words) for one in constraints if not one.goal)
    if not rules:
        raise UnclearError(
            f"“{request.text}” is no rule that I could keep. Please say what must never, or always, be so."
        )
    left_out = tuple(one for errand in _forbidden(kept, situation) for one in without(errand, situation))
    return left_out if left_out and request.scope is Scope.ONCE else (*left_out, *rules)


def _forbidden(rules: Sequence[Formula], situation: Situation) -> tuple[Errand, ...]:
    """The errands ahead whose thing is never to be moved, or that lead to the room where the robot is never to be."""
    if len(rules) != 1 or rules[0].operator != "G" or rules[0].operands[0].operator != "!":
        return ()
    name, about = rules[0].operands[0].operands[0].name, set(arguments_of(rules[0]))
    left = errands_ahead(situation)
    if name.startswith("moved("):
        return tuple(one for one in left if subject(one, situation) in about)
    return tuple(one for one in left if goals(one, situation) & about) if name.startswith("in(robot, ") else ()


def _has_end(formula: Formula) -> bool:
    """Whether some of it holds only up to a moment."""
    ends = formula.window is not None or formula.operator in ("U", "W", "R", "M")
    return ends or any(map(_has_end, formula.operands))


def lift_rule(request: Request, situation: Situation) -> tuple[Operation, ...]:
    """The rule of the plan that speaks of the same things; raises UnclearError unless there is one."""
    rules = [one for one in situation.plan.constraints if not one.goal]
    if exact := [rule for rule in rules if rule.words == request.text]:
        return (LiftRule(str(exact[0].formula)),)
    names = set(names_in(request.text, situation.scene))
    fitting = [rule for rule in rules if names.intersection(arguments_of(rule.formula))] if names else rules
    if len(fitting) == 1:
        return (LiftRule(str(fitting[0].formula)),)
    if fitting:
        options = [f"forget the rule {rule.words}" for rule in fitting]
        words = [rule.words for rule in fitting]
        raise UnclearError("Which of these rules do you mean?", options, request.text, words)
    listed = "; ".join(rule.words for rule in rules) or "none"
    raise UnclearError(f"There is no rule about that. The rules are: {listed}. Which do you mean?")
