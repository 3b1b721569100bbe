"""Formulas kept with something to spare: a forecast of distances is not exact, so a plan should not depend on the last
few centimetres."""

from __future__ import annotations

from llm_planner.temporal.formula import Formula, atom
from llm_planner.temporal.substitution import rebuilt
from llm_planner.world.propositions import NEAR_ARM, NEAR_BASE, parse_proposition
from llm_planner.world.scene import Scene

MARGIN_BASE, MARGIN_ARM = 0.15, 0.02  # [m]


def with_margin(formula: Formula, scene: Scene, share: float = 1.0) -> Formula:
    """What demands `formula` and, of every distance in it, `share` of the robot's margin besides.

    A distance on which both more and less is asked (as in `<->`) is left as it is.
    """
    bound = NEAR_BASE if scene.building else NEAR_ARM
    margin = share * (MARGIN_BASE if scene.building else MARGIN_ARM)
    return _stricter(formula, bound, margin) if margin else formula


def _stricter(f: Formula, near: float, margin: float) -> Formula:
    """`margin` is negative where `f` is denied: there a weaker formula demands more."""
    if f.operator == "":
        return atom(_moved_bound(f.name, near, margin))
    if f.operator == "<->":
        return f
    signs = {"!": (-1,), "->": (-1, 1)}.get(f.operator, (1,) * len(f.operands))
    return rebuilt(f, [_stricter(g, near, sign * margin) for g, sign in zip(f.operands, signs, strict=True)])


def _moved_bound(name: str, near: float, margin: float) -> str:
    item = parse_proposition(name)
    where = f"distance({', '.join(item.arguments)})"
    if item.predicate == "near":
        return f"{where} < {near - margin:g}"
    if item.predicate != "distance":
        return name
    bound = item.bound + margin if item.comparison == ">" else item.bound - margin
    return f"{where} {item.comparison} {max(0.0, bound):g}"
