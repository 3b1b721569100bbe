"""Formulas of linear temporal logic on finite traces (LTLf; De Giacomo and Vardi 2013), as immutable values.

The module builds, prints and rewrites formulas. Equal formulas are the same object, so compare with `is` or `==`.
Constructors simplify without changing the meaning: constants, repetition and `!!a`. They sort the operands of `&`, `|`
and `<->`, and flatten nested `&` and `|`.

    next_ X      at the next change, which comes        weak_next N   at the next change, if one comes
    finally_ F   now or later                           globally G    now and always
    until U      g comes, and f holds until then        weak_until W  the same, but g need not come
    release R    g holds until and with the first f     strong_release M  the same, and f comes
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from weakref import WeakValueDictionary

from llm_planner.errors import InputError

UNARY = ("!", "X", "N", "F", "G")
BINARY = {"<->": 1, "->": 2, "|": 3, "&": 4, "U": 5, "W": 5, "R": 5, "M": 5}  # binding strength, weakest first
UNARY_STRENGTH = 6
ATOM_STRENGTH = 7
ASSOCIATIVE = ("&", "|")  # the others are right-associative
PREFIX_SPELLING = {"->": "i", "<->": "e"}


def infix(f: Formula) -> str:
    """Write a formula in infix notation with the fewest parentheses; parsing it gives the same formula."""
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
    """Write a formula in prefix notation. `&` and `|` take two operands, so longer ones are nested to the right.

    Raises InputError for a proposition called `i` or `e`, which are operators in this notation.
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


RESERVED = ("X", "N", "F", "G", "U", "W", "R", "M", "true", "false")
PROPOSITION = re.compile(
    r"(?P<name>[^\W\d]\w*)"
    r'(?:\((?P<arguments>[^()<>&|!"]*)\))?'
    r"(?:\s*(?P<comparison>[<>])\s*(?P<bound>\d+(?:\.\d+)?(?:e[+-]?\d+)?))?"
)
CONSTANTS = ("true", "false")
SPELLING = "a name such as a, in(robot, server room) or distance(robot, vase) > 0.3"


def normal_name(text: str) -> str:
    """Return the normal form of a proposition: `on( a,b )` becomes `on(a, b)`. Raises InputError if it is not valid."""
    match = PROPOSITION.fullmatch(text.strip())
    if match is None or match["name"] in RESERVED:
        why = f"{match['name']} is an operator" if match else "its form is wrong"
        raise InputError(f"{text!r} cannot name a proposition ({why}); write {SPELLING}")
    return spelt(match)


def spelt(match: re.Match[str]) -> str:
    """Return the normal form of a match of `PROPOSITION`. Raises InputError for an empty argument, True or FALSE."""
    name = match["name"]
    if name.lower() in CONSTANTS:
        raise InputError(f"{name!r} names no proposition: the constants are written true and false")
    if match["arguments"] is not None:
        arguments = [" ".join(part.split()) for part in match["arguments"].split(",")]
        if not all(arguments):
            raise InputError(f"{match[0]!r} has an empty argument; write {SPELLING}")
        name = f"{name}({', '.join(arguments)})"
    return f"{name} {match['comparison']} {float(match['bound']):g}" if match["comparison"] else name


MAX_DEPTH = 100  # of nested operators; keeps recursion within Python's stack
MAX_SIZE = 4000  # propositions and operators

Window = tuple[float, float]  # [s] from now: earliest, latest


@dataclass(frozen=True, eq=False)
class Formula:
    """Node of a formula; build formulas with the functions below, which keep equal formulas one object.

    Attributes:
        operator: Operator as written, "" for a proposition.
        operands: Subformulas.
        name: Name of a proposition, otherwise "".
        window: Time window of a timed operator [s], or None.
    """

    operator: str
    operands: tuple[Formula, ...] = ()
    name: str = ""
    window: Window | None = None

    @cached_property
    def depth(self) -> int:
        return 1 + max((f.depth for f in self.operands), default=0)

    @cached_property
    def size(self) -> int:
        """Number of propositions and operators."""
        return 1 + sum(f.size for f in self.operands)

    @cached_property
    def propositions(self) -> tuple[str, ...]:
        """Sorted names of all propositions."""
        names = {self.name} if self.name else set()
        return tuple(sorted(names.union(*(f.propositions for f in self.operands))))

    @cached_property
    def timed(self) -> bool:
        """Whether any operator has a time window."""
        return self.window is not None or any(f.timed for f in self.operands)

    @cached_property
    def _text(self) -> str:
        return infix(self)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"parse({self._text!r})"

    def __reduce__(self) -> tuple[object, ...]:  # unpickled formulas are interned too
        return _interned, (self.operator, self.operands, self.name, self.window)


_known: WeakValueDictionary[tuple[object, ...], Formula] = WeakValueDictionary()


def _interned(
    operator: str, operands: tuple[Formula, ...] = (), name: str = "", window: Window | None = None
) -> Formula:
    key = (operator, operands, name, window)
    found = _known.get(key)
    if found is not None:
        return found
    formula = Formula(*key)
    if formula.depth > MAX_DEPTH:
        raise InputError(f"the formula nests operators more than {MAX_DEPTH} deep; give its parts as several formulas")
    if formula.size > MAX_SIZE:
        raise InputError(f"the formula has more than {MAX_SIZE} operators; give its parts as several formulas")
    return _known.setdefault(key, formula)


TRUE = _interned("true")
FALSE = _interned("false")


def atom(name: str) -> Formula:
    """Return the proposition `name`. Raises InputError if a formula cannot contain it."""
    return _interned("", name=normal_name(name))


def neg(f: Formula) -> Formula:
    if f.operator == "!":
        return f.operands[0]
    return {TRUE: FALSE, FALSE: TRUE}.get(f) or _interned("!", (f,))


def conj(*fs: Formula) -> Formula:
    """Return the conjunction; TRUE without operands."""
    return _joined("&", fs, TRUE, FALSE)


def disj(*fs: Formula) -> Formula:
    """Return the disjunction; FALSE without operands."""
    return _joined("|", fs, FALSE, TRUE)


def _joined(operator: str, fs: Iterable[Formula], unit: Formula, zero: Formula) -> Formula:
    parts: set[Formula] = set()
    for f in fs:
        parts.update(f.operands if f.operator == operator else (f,))
    parts.discard(unit)
    if zero in parts or any(f.operator == "!" and f.operands[0] in parts for f in parts):
        return zero
    if len(parts) < 2:
        return next(iter(parts), unit)
    return _interned(operator, tuple(sorted(parts, key=_order)))


def _order(f: Formula) -> tuple[int, str]:
    return f.size, str(f)


def implies(f: Formula, g: Formula) -> Formula:
    if f is FALSE or g is TRUE or f is g:
        return TRUE
    if f is TRUE:
        return g
    return neg(f) if g is FALSE else _interned("->", (f, g))


def iff(f: Formula, g: Formula) -> Formula:
    if f is g:
        return TRUE
    if f is neg(g):
        return FALSE
    for constant, other in ((f, g), (g, f)):
        if constant is TRUE:
            return other
        if constant is FALSE:
            return neg(other)
    return _interned("<->", tuple(sorted((f, g), key=_order)))


def next_(f: Formula) -> Formula:
    """Return `X f`: `f` at the next change, false if there is none."""
    return FALSE if f is FALSE else _interned("X", (f,))


def weak_next(f: Formula) -> Formula:
    """Return `N f`: `f` at the next change, true if there is none."""
    return TRUE if f is TRUE else _interned("N", (f,))


def finally_(f: Formula, within: float | Window | None = None) -> Formula:
    """Return `F f`: `f` now or later. `within` limits the time from now, as latest or (earliest, latest) [s]."""
    if within is not None:
        return FALSE if f is FALSE else _interned("F", (f,), window=window_of(within))
    return f if f in (TRUE, FALSE) or _is_untimed("F", f) else _interned("F", (f,))


def globally(f: Formula, within: float | Window | None = None) -> Formula:
    """Return `G f`: `f` now and always. `within` limits the time from now, as latest or (earliest, latest) [s]."""
    if within is not None:
        return TRUE if f is TRUE else _interned("G", (f,), window=window_of(within))
    return f if f in (TRUE, FALSE) or _is_untimed("G", f) else _interned("G", (f,))


def _is_untimed(operator: str, f: Formula) -> bool:
    return f.operator == operator and f.window is None


def until(f: Formula, g: Formula, within: float | Window | None = None) -> Formula:
    """Return `f U g`: `g` now or later, and `f` until then. `within` limits the time of `g` as in `finally_` [s]."""
    if within is not None:
        return FALSE if g is FALSE else _interned("U", (f, g), window=window_of(within))
    if g in (TRUE, FALSE) or f in (FALSE, g) or (_is_untimed("U", g) and g.operands[0] is f):
        return g
    return finally_(g) if f is TRUE else _interned("U", (f, g))


def weak_until(f: Formula, g: Formula) -> Formula:
    """Return `f W g`: `f` until `g`, or for ever."""
    if g is TRUE or f in (FALSE, TRUE, g):
        return g if f is not TRUE else TRUE
    return globally(f) if g is FALSE else _interned("W", (f, g))


def release(f: Formula, g: Formula) -> Formula:
    """Return `f R g`: `g` up to and including the moment of `f`, or for ever."""
    if g in (TRUE, FALSE) or f in (TRUE, g):
        return g
    return globally(g) if f is FALSE else _interned("R", (f, g))


def strong_release(f: Formula, g: Formula) -> Formula:
    """Return `f M g`: `g` up to and including the moment of `f`, which comes."""
    if f in (FALSE, TRUE, g) or g is FALSE:
        return FALSE if f is FALSE else g
    return finally_(f) if g is TRUE else _interned("M", (f, g))


def window_of(within: float | Window) -> Window:
    """Return the window (earliest, latest) from now [s]. Raises InputError unless 0 <= earliest <= latest < inf."""
    first, last = within if isinstance(within, tuple) else (0.0, within)
    if not (isfinite(last) and 0 <= first <= last):
        raise InputError(f"the window [{first:g},{last:g}] must be two times from now in seconds, earlier first")
    return float(f"{first:.12g}"), float(f"{last:.12g}")  # rounded as printed, so that parsing gives the same window


CONSTRUCTORS: dict[str, Callable[..., Formula]] = {  # by operator, as it is written
    "!": neg, "X": next_, "N": weak_next, "F": finally_, "G": globally, "U": until, "W": weak_until, "R": release,
    "M": strong_release, "&": conj, "|": disj, "->": implies, "<->": iff,
}  # fmt: skip


@dataclass(frozen=True)
class Constraint:
    """Formula and the words that it came from. A `goal` is part of the task; the others limit how it is done."""

    formula: Formula
    words: str
    goal: bool = False

    def __str__(self) -> str:
        return f"{self.words} ({self.formula})"


def rebuilt(f: Formula, operands: Sequence[Formula]) -> Formula:
    """Return the operator of `f`, including its window, applied to other operands."""
    if f.window is not None:
        return CONSTRUCTORS[f.operator](*operands, within=f.window)
    return CONSTRUCTORS[f.operator](*operands) if f.operands else f


def substituted(f: Formula, replace: Callable[[Formula], Formula]) -> Formula:
    """Apply `replace` to every subformula, innermost first. It returns the part unchanged or a replacement."""
    return replace(rebuilt(f, [substituted(g, replace) for g in f.operands]))


_DUALS: dict[str, Callable[..., Formula]] = {
    "&": disj, "|": conj, "X": weak_next, "N": next_, "F": globally, "G": finally_,
    "U": release, "R": until, "W": strong_release, "M": weak_until,
}  # fmt: skip


def dual(f: Formula) -> Formula | None:
    """Return `!f` with the negation moved inwards by one operator, None where the logic has no dual for it."""
    if f.operator == "->":
        return conj(f.operands[0], neg(f.operands[1]))
    if f.operator == "<->":
        return iff(neg(f.operands[0]), f.operands[1])
    if f.operator not in _DUALS or (f.operator == "U" and f.window):
        return None
    operands = [neg(g) for g in f.operands]
    return _DUALS[f.operator](*operands, within=f.window) if f.window else _DUALS[f.operator](*operands)
