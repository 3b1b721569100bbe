"""Contradictions between an edit and its words: an order that it reverses, a condition that it leaves out."""

from __future__ import annotations

from llm_planner.corrections.edits import AddRule, Edit, Insert, LiftRule, Move, Rebind, Remove, Replace
from llm_planner.corrections.situation import Situation
from llm_planner.language.understanding.clauses import conditions, orders


def contradicts(edit: Edit, words: str, situation: Situation) -> bool:
    """Return whether an edit contradicts the order of things in its words, or does regardless what they condition."""
    if not any(isinstance(one, AddRule | LiftRule) for one in edit.operations) and any(
        one.link == "unless" or (one.link == "if" and one.names) for one in conditions(words, situation.scene)
    ):
        return True
    begun: dict[str, int] = {}
    for place, names in enumerate(_names_after(edit, situation)):
        for name in names:
            begun.setdefault(name, place)
    for order in orders(words, situation.scene):
        before, after = ([begun[name] for name in some if name in begun] for some in (order.earlier, order.later))
        if before and after and min(after) < max(before):
            return True
    return False


def _names_after(edit: Edit, situation: Situation) -> list[set[str]]:
    """Return what each step is about that the edit leaves to do, without the step under way."""
    now = situation.running
    steps = {step.id: {*map(str, step.arguments.values())} for step in situation.ahead}
    order = [*steps]
    for number, one in enumerate(edit.operations):
        match one:
            case Insert(_, arguments, before):
                steps[f"new {number}"] = {*map(str, arguments.values())}
                order.insert(order.index(before) if before in order else len(order), f"new {number}")
            case Move(moved, before):
                order = [step for step in order if step not in moved]
                at = order.index(before) if before in order else len(order)
                order[at:at] = [step for step in moved if step in steps]
            case Remove(step) if step in order:
                order.remove(step)
            case Replace(step, _, arguments) if step in steps:
                steps[step] = {*map(str, arguments.values())}
            case Rebind(step, _, value) if step in steps:
                steps[step] = steps[step] | {str(value)}
    return [steps[step] for step in order if now is None or step != now.id]
