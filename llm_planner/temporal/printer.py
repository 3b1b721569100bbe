"""Formulas as text: infix with the fewest parentheses, and prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.temporal.formula import Formula

UNARY = ("!", "X", "N", "F", "G")
BINARY = {"<->": 1, "->": 2, "|": 3, "&": 4, "U": 5, "W": 5, "R": 5, "M": 5}  # binding strength; weakest first
UNARY_STRENGTH = 6
ATOM_STRENGTH = 7
ASSOCIATIVE = ("&", "|")  # the others group to the right
PREFIX_SPELLING = {"->": "i", "<->": "e"}


def infix(f: Formula) -> str:
    """Reads back as the same formula."""
    if not f.operands:
        return f.name or f.operator
    if f.operator in UNARY:
        return f"{_symbol(f)}{'' if f.operator == '!' else ' '}{_within(f.operands[0], UNARY_STRENGTH)}"
    strength = BINARY[f.operator]
    left = [_within(g, strength + 1) for g in f.operands[:-1]]
    return f" {_symbol(f)} ".join([*left, _within(f.operands[-1], strength + (f.operator in ASSOCIATIVE))])


def _within(f: Formula, strength: int) -> str:
    own = BINARY.get(f.operator, UNARY_STRENGTH if f.operands else ATOM_STRENGTH)
    return f"({f})" if own < strength else str(f)


def _symbol(f: Formula) -> str:
    return f"{f.operator}[{f.window[0]:.12g},{f.window[1]:.12g}]" if f.window else f.operator


def prefix(f: Formula) -> str:
    """Operators first; `&` and `|` take two operands, so three are nested to the right.

    Raises InputError for a proposition called `i` or `e`, which are operators there.
    """
    if f.name in PREFIX_SPELLING.values():
        raise InputError(f"prefix notation cannot name the proposition {f.name!r}: it is an operator there; rename it")
    if not f.operands:
        return f.name or f.operator
    symbol = PREFIX_SPELLING.get(_symbol(f), _symbol(f))
    words = [prefix(g) for g in f.operands]
    if f.operator in UNARY:
        return f"{symbol} {words[0]}"
    return " ".join([*(part for word in words[:-1] for part in (symbol, word)), words[-1]])
