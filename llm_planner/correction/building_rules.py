"""Requests for rules: one to keep from now on, or one to keep no more."""

from __future__ import annotations

from dataclasses import replace

from llm_planner.correction.references import UnclearError, names_in
from llm_planner.correction.requests import Request
from llm_planner.correction.situation import Situation
from llm_planner.correction.sources import Sources
from llm_planner.errors import LlmPlannerError
from llm_planner.language.understanding.mentions import arguments_of
from llm_planner.plan.edits import AddRule, LiftRule, Operation


def add_rule(request: Request, situation: Situation, sources: Sources) -> tuple[Operation, ...]:
    """The formulas that the words stand for; raises UnclearError where they are no rule here."""
    try:
        at_rest = replace(situation.scene, speed=0.0)  # how fast it is now does not say what is meant
        constraints = sources.formalise(request.text, at_rest)
    except LlmPlannerError as error:
        raise UnclearError(str(error)) from error
    rules = tuple(AddRule(str(one.formula), one.words) for one in constraints if not one.goal)
    if not rules:
        raise UnclearError(
            f"“{request.text}” is no rule that I could keep. Please say what must never, or always, be so."
        )
    return rules


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
