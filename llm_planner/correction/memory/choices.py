"""Operations held against each other: what they decide, what two amount to, and whether one is contrary to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import dist, hypot

from llm_planner.plan.edits import (
    QUANTITIES,
    AddRule,
    Adjust,
    Change,
    Insert,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
)

ALIKE = 0.25  # share by which two amounts may differ and still be the same
NOTHING = 0.02  # share from which a change of a quantity is one; of an offset, 1 mm
_MILLIMETRE = 0.001


def decides(operation: Operation) -> tuple[str, ...]:
    """What the operation decides: of several lessons that decide the same of a step, one is used."""
    match operation:
        case Adjust():
            return "adjust", operation.quantity, operation.step
        case Rebind():
            return "bind", operation.parameter
        case Insert():
            return "insert", operation.skill, *sorted(map(str, operation.arguments.values()))
        case AddRule():
            return "rule", operation.formula
        case Replace():
            return ("replace",)
        case _:
            return (type(operation).__name__.lower(),)


def together(before: Operation, after: Operation) -> Operation | None:
    """What two operations that decide the same amount to, one after the other; None where nothing is left of them."""
    if isinstance(before, Shift) and isinstance(after, Shift) and before.frame is after.frame:
        x, y, z = (round(a + b, 4) for a, b in zip(before.offset, after.offset, strict=True))
        return replace(after, offset=(x, y, z)) if hypot(x, y, z) >= _MILLIMETRE else None
    if isinstance(before, Adjust) and isinstance(after, Adjust):
        return _adjusted(before, after)
    return after


def _adjusted(before: Adjust, after: Adjust) -> Adjust | None:
    if after.change is Change.SCALE and before.change is not Change.SHIFT:
        both = replace(before, value=round(before.value * after.value, 4))
    elif after.change is Change.SHIFT and before.change is not Change.SCALE:
        both = replace(before, value=round(before.value + after.value, 4))
    else:  # set anew; or a share and an amount of what is not known here, so the newer one stands
        both = after
    return both if _sense(both) else None


def same_amount(one: Operation, other: Operation) -> bool:
    """Whether both are the same but for amounts that differ by at most `ALIKE`."""
    if isinstance(one, Shift) and isinstance(other, Shift):
        most = ALIKE * max(hypot(*one.offset), hypot(*other.offset))
        return one.frame is other.frame and dist(one.offset, other.offset) <= most
    if isinstance(one, Adjust) and isinstance(other, Adjust):
        most = ALIKE * max(abs(one.value), abs(other.value))
        return replace(one, value=0.0) == replace(other, value=0.0) and abs(one.value - other.value) <= most
    if isinstance(one, AddRule) and isinstance(other, AddRule):
        return one.formula == other.formula
    return one == other


def same_operations(some: Sequence[Operation], others: Sequence[Operation]) -> bool:
    """Whether they are the same in pairs, but for amounts."""
    return len(some) == len(others) and all(map(same_amount, some, others))


def contrary(one: Operation, other: Operation) -> bool:
    """Whether two operations that decide the same cannot both be meant; amounts that differ are not contrary."""
    match one, other:
        case Shift(), Shift():
            return sum(a * b for a, b in zip(one.offset, other.offset, strict=True)) < 0
        case Adjust(), Adjust():
            return _sense(one) * _sense(other) < 0
        case (Rebind(), Rebind()) | (Replace(), Replace()) | (Move(), Move()):
            return one != other
        case (Remove(), Insert()) | (Insert(), Remove()):
            return True
        case _:
            return False


def _sense(operation: Adjust) -> int:
    """1 for more of the quantity, -1 for less, 0 for neither, or where that is not known."""
    normal = 0.0
    if operation.change is Change.SCALE:
        normal = 1.0
    elif operation.change is Change.SET:
        if operation.quantity not in QUANTITIES or operation.step:
            return 1
        normal = QUANTITIES[operation.quantity].normal
    change = operation.value - normal
    return 0 if abs(change) <= NOTHING * abs(normal) else 1 if change > 0 else -1
