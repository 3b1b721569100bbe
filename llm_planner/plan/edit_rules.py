"""Edits of what a plan has to keep: a rule more from now on, or one less."""

from __future__ import annotations

from dataclasses import replace

from llm_planner.errors import InputError
from llm_planner.plan.draft import EditError
from llm_planner.plan.edits import AddRule, LiftRule
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.watch import check_watchable
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.decide import satisfiable, smallest_conflict
from llm_planner.temporal.formula import Formula, globally, neg, until
from llm_planner.temporal.parser import parse
from llm_planner.temporal.words import read_back
from llm_planner.world.occurring import alphabet_of
from llm_planner.world.scene import Scene


def with_rule(state: Execution, added: AddRule, scene: Scene) -> Execution:
    """With the rule kept from now on; one that is not so at this moment, from when it is.

    Raises EditError where nothing can keep it, alone or with the rules that there are.
    """
    formula = _parsed(added.formula)
    if any(one.formula == formula for one in state.plan.constraints):
        raise EditError(f"that is a rule already: {read_back(formula)}")
    try:
        check_watchable([Constraint(formula, added.words)], scene)
        state_now = _kept_from_now(state, formula, added.words, scene)
    except InputError as error:
        raise EditError(str(error)) from error
    _check_agrees(state_now, scene)
    return state_now


def _parsed(text: str) -> Formula:
    try:
        return parse(text)
    except InputError as error:
        raise EditError(f"the rule {text!r} cannot be read: {error}") from error


def _kept_from_now(state: Execution, formula: Formula, words: str, scene: Scene) -> Execution:
    for candidate in (formula, *_once_left(formula)):
        rule = Constraint(candidate, words)
        watch = state.watch.with_rule(rule, scene)
        if not watch.watched[-1].verdict.lost:
            constraints = (*state.plan.constraints, rule)
            return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))
    raise EditError(f"“{words}” is broken already and nothing can mend that: {read_back(formula)}")


def _once_left(formula: Formula) -> tuple[Formula, ...]:
    """Of a rule that forbids for ever what is so now: that it ends, and does not come again."""
    if formula.operator == "G" and formula.window is None:
        kept = formula.operands[0]
        return (until(neg(kept), globally(kept)),)
    return ()


def _check_agrees(state: Execution, scene: Scene) -> None:
    constraints = state.plan.constraints
    formulas = [one.formula for one in constraints]
    alphabet = alphabet_of((name for formula in formulas for name in formula.propositions), scene)
    if satisfiable(formulas, alphabet):
        return
    guilty = smallest_conflict(formulas, alphabet)
    told = " and ".join(f"“{constraints[index].words}”" for index in guilty)
    raise EditError(f"nothing can keep {told} together; lift one of them first, or say the new one otherwise")


def without_rule(state: Execution, lifted: LiftRule) -> Execution:
    """With the rule kept no more; raises EditError where there is none such, listing those that there are."""
    formula = _parsed(lifted.formula)
    rules = [one for one in state.plan.constraints if not one.goal]
    rule = next((one for one in rules if formula in (one.formula, *_original(one.formula))), None)
    if rule is None:
        listed = "; ".join(f"“{one.words}”" for one in rules) or "none"
        raise EditError(f"no rule of this plan says: {read_back(formula)}; its rules: {listed}")
    constraints = tuple(one for one in state.plan.constraints if one is not rule)
    watch = state.watch.without_rule(rule.formula)
    return replace(state, watch=watch, plan=replace(state.plan, constraints=constraints))


def _original(formula: Formula) -> tuple[Formula, ...]:
    """The rule that was to be kept once it could be."""
    return (formula.operands[1],) if formula.operator == "U" and formula.operands[1].operator == "G" else ()
