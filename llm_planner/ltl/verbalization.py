"""Verbalization of formulas in plain English for people who do not know the notation.

Common patterns become idiomatic: "the robot never enters the server room", "the robot does not enter the lab before it
has been in the office". Any other formula is worded part by part, correctly but clumsily. The module also builds and
recognises compound patterns in the forms of Lang2LTL's data (arXiv 2302.11649): counts, visits and orders. A count
treats each stretch of moments in which the formula holds as one occurrence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm_planner.errors import InputError
from llm_planner.ltl.formula import (
    FALSE,
    TRUE,
    Formula,
    conj,
    disj,
    dual,
    finally_,
    globally,
    neg,
    strong_release,
    until,
)
from llm_planner.ltl.phrases import (
    atom_of,
    happening,
    having_been,
    is_literal,
    is_momentary,
    momentary,
    not_yet,
    phrase_of,
    shared,
)

MAX_COUNT = 12  # larger counts give formulas that are too deep


def at_least(times: int, f: Formula) -> Formula:
    """Return that `f` holds in at least so many stretches. Raises InputError unless `times` is 0 to 12."""
    _check(times)
    if times == 0:
        return TRUE
    found = finally_(f)
    for _ in range(times - 1):
        found = finally_(conj(f, until(f, conj(neg(f), until(neg(f), found)))))
    return found


def at_most(times: int, f: Formula) -> Formula:
    """Return that `f` holds in at most so many stretches. Raises InputError unless `times` is 0 to 11."""
    return neg(at_least(times + 1, f))


def exactly(times: int, f: Formula) -> Formula:
    """Return that `f` holds in exactly so many stretches. Raises InputError unless `times` is 0 to 12."""
    _check(times)
    if times == 0:
        return globally(neg(f))
    begun, over = f, globally(neg(f))
    for _ in range(times - 1):
        begun = conj(f, finally_(conj(neg(f), finally_(begun))))
        over = globally(disj(neg(f), globally(disj(f, over))))
    return strong_release(begun, disj(neg(f), globally(disj(f, over))))


def _check(times: int) -> None:
    if not 0 <= times <= MAX_COUNT:
        raise InputError(f"{times} times cannot be written as a formula; give a number from 0 to {MAX_COUNT}")


_COUNTS: tuple[tuple[str, Callable[[int, Formula], Formula], int], ...] = (
    ("at least", at_least, 2),
    ("at most", at_most, 1),
    ("exactly", exactly, 1),
)


@dataclass(frozen=True)
class Count:
    """Count of the stretches in which `formula` holds; `words` is "at least", "at most" or "exactly"."""

    words: str
    times: int
    formula: Formula


def count_in(f: Formula) -> Count | None:
    """Recognise a counting formula; None for any other."""
    if len(f.propositions) != 1 or f.operator not in ("F", "M", "!"):
        return None
    inner = f.operands[0] if f.operator == "!" else f
    if inner.operator not in ("F", "M") or inner.window:
        return None
    awaited = inner.operands[0]
    item = awaited.operands[0] if awaited.operator == "&" else awaited  # the smallest operand
    for words, formula_of, fewest in _COUNTS:
        for times in range(fewest, MAX_COUNT):
            found = formula_of(times, item)
            if found is f:
                return Count(words, times, item)
            if found.size > f.size:
                break
    return None


@dataclass(frozen=True)
class Visit:
    """Moment at which `formula` holds, after the previous visit if `later`, otherwise possibly at the same time."""

    formula: Formula
    later: bool


def visits_in(f: Formula) -> tuple[Visit, ...]:
    """Return a, b, c of `F (a & F (b & F c))`; () for any other formula. X before an F makes the next visit `later`."""
    found: list[Visit] = []
    after = False
    while f.operator == "F" and f.window is None:
        inside = f.operands[0]
        if is_momentary(inside):
            return (*found, Visit(inside, after))
        parts = inside.operands if inside.operator == "&" else ()
        later = [part for part in parts if not is_momentary(part)]
        rest = conj(*(part for part in parts if is_momentary(part)))
        if len(later) != 1 or len(parts) < 2:
            return ()
        found.append(Visit(rest, after))
        after = later[0].operator == "X"
        f = later[0].operands[0] if after else later[0]
    return ()


def once_before(f: Formula) -> tuple[Formula, Formula] | None:
    """Return a, b of `!a U (a U (!a U b))`: b comes, and before it a holds in at most one stretch."""
    if f.operator != "U" or f.operands[0].operator != "!" or f.operands[1].operator != "U":
        return None
    item, last = neg(f.operands[0]), f.operands[1].operands[1]
    awaited = last.operands[-1] if last.operator == "U" else last
    if not (item.name and is_momentary(awaited)):
        return None
    return (item, awaited) if f is until(neg(item), until(item, until(neg(item), awaited))) else None


@dataclass(frozen=True)
class Order:
    """Visits in fixed order, none before its turn; with `once`, each for one stretch before the next one."""

    visits: tuple[Formula, ...]
    once: bool


def order_in(parts: Sequence[Formula]) -> Order | None:
    """Recognise a conjunction that demands exactly an order; None for any other."""
    ahead = {
        u.operands[1]: neg(u.operands[0]) for u in parts if u.operator == "U" and u.operands[1].name and not u.window
    }
    ahead = {first: then for first, then in ahead.items() if then.name}
    starts = [first for first in ahead if first not in ahead.values()]
    if len(starts) != 1:
        return None
    chain = [starts[0]]
    while chain[-1] in ahead and ahead[chain[-1]] not in chain:
        chain.append(ahead[chain[-1]])
    pairs = list(pairwise(chain))
    plain = {*(until(neg(then), first) for first, then in pairs), finally_(chain[-1])}
    if {once_before(f) for f in set(parts) - plain} == set(pairs) and plain <= set(parts):
        return Order(tuple(chain), once=True)
    return Order(tuple(chain), once=False) if set(parts) == plain else None


def read_back(f: Formula) -> str:
    """Word a formula as one sentence without capital and full stop."""
    if f in (TRUE, FALSE):
        return "anything may happen" if f is TRUE else "nothing can satisfy this"
    if is_momentary(f):
        return f"at the start, {momentary(f)}"
    return _over_time(f, read_back, since="now")


def _part(f: Formula) -> str:
    if is_momentary(f):
        return momentary(f)
    text = _over_time(f, _part)
    if f.operator == "G" and is_momentary(f.operands[0]):
        return f"{text} from then on"
    return f"({text})" if f.operator in ("&", "|", "->", "<->", "!") else text


def _over_time(f: Formula, say: Callable[[Formula], str], since: str = "then") -> str:
    """Word a temporal formula. `say` words the operands of Boolean operators; windows count from `since`."""
    if (count := count_in(f)) is not None:
        times = {1: "once", 2: "twice"}.get(count.times, f"{count.times} times")
        return f"{happening(count.formula)} {count.words} {times}"
    match f.operator:
        case "&":
            return _all(f.operands, say)
        case "|":
            return f"either {' or '.join(_grouped(g, say) for g in f.operands)}"
        case "->":
            return f"if {_grouped(f.operands[0], say)}, then {_grouped(f.operands[1], say)}"
        case "<->":
            return f"{_grouped(f.operands[0], say)} exactly if {_grouped(f.operands[1], say)}"
        case "!" if (opposite := dual(f.operands[0])) is not None:
            return say(opposite)
        case "!":
            return f"this must not be so: ({_over_time(f.operands[0], say, since)})"
        case "X":
            return f"at the next change, which must come, {_part(f.operands[0])}"
        case "N":
            return f"at the next change, if there is one, {_part(f.operands[0])}"
        case "F":
            return _eventually(f, since)
        case "G":
            return _always(f, since)
        case "U" | "W":
            return _until(f, since)
        case _:
            return _release(f)


def _grouped(f: Formula, say: Callable[[Formula], str]) -> str:
    text = say(f)
    return f"({text})" if f.operator in ("&", "|", "->", "<->") and not text.startswith("(") else text


def _all(parts: tuple[Formula, ...], say: Callable[[Formula], str]) -> str:
    if (order := order_in(parts)) is not None:
        once = ", each only once before the next" if order.once else ""
        visits = [Visit(visit, later=False) for visit in order.visits]
        return f"{_in_turn(visits)}, none of them before its turn{once}"
    alike: dict[str, list[Formula]] = {"": []}
    for f in parts:
        alike.setdefault(_alike(f), []).append(f)
    said, single = [], alike.pop("")
    for kind, fs in alike.items():
        if len(fs) > 1:
            said.append(_together(kind, fs))
        else:
            single += fs
    said += [_grouped(f, say) for f in parts if f in single]
    return "; and ".join(said)


def _together(kind: str, fs: list[Formula]) -> str:
    """Word several conjuncts of one kind in one clause."""
    if kind == "never":
        return shared([f.operands[0] for f in fs], lambda verb: verb.never, "or")
    atoms = [f.operands[0] if kind == "ever" else f.operands[0].operands[0] for f in fs]
    how = " at some point, in any order" if kind == "ever" else ", each again and again and at the end"
    return f"{shared(atoms, lambda verb: verb.affirmed, 'and')}{how}"


def _in_turn(visits: Sequence[Visit]) -> str:
    text, before = "", ""
    for visit in visits:
        link = "" if not text else ", then later " if visit.later else ", then "
        text += link + happening(visit.formula, before)
        before = atom_of(visit.formula).subject if is_literal(visit.formula) else ""
    return text


def _eventually(f: Formula, since: str) -> str:
    if len(visits := visits_in(f)) > 1:
        return f"at some point {_in_turn(visits)}, in this order"
    inside, when = f.operands[0], _when(f, since) or "at some point"
    if _is_plain("F", f) and _is_plain("G", inside) and is_momentary(inside.operands[0]):
        return f"{momentary(inside.operands[0])} in the end"  # equivalent on finite traces
    if is_momentary(inside):
        return f"{happening(inside)} {when}"
    return f"{when} this becomes so: {_part(inside)}"


def _always(f: Formula, since: str) -> str:
    inside, when = f.operands[0], _when(f, since)
    when = when and f" {when}"
    if inside.operator in ("->", "<->") and not when:
        return _whenever(inside)
    if is_momentary(inside):
        if inside.operator == "!":
            return _never(neg(inside), when)
        if inside.name:
            item = phrase_of(inside.name)
            return f"{item.subject} {item.state.always}{when}"
        return f"at every moment{when} {momentary(inside)}"
    if inside.operator == "F" and is_momentary(inside.operands[0]) and not when:
        if inside.window is None:
            return f"{momentary(inside.operands[0])} again and again and at the end"
        if inside.window[0] == 0:
            return f"{momentary(inside.operands[0])} at least once in every {inside.window[1]:g} seconds"
    return f"at every moment{when} this is so: {_part(inside)}"


def _never(f: Formula, when: str) -> str:
    if f.name:
        item = phrase_of(f.name)
        return f"{item.subject} {item.event.never}{when}"
    first = f.operands[0]
    if f.operator == "&" and first.name and len(f.operands) == 2:
        item = phrase_of(first.name)
        return f"{item.subject} {item.state.never} while {momentary(f.operands[1], item.subject)}{when}"
    return f"at no moment{when} {momentary(f)}"


def _whenever(f: Formula) -> str:
    cause, effect = f.operands
    if f.operator == "<->":
        return f"at every moment, {_part(cause)} exactly if {_part(effect)}"
    about = atom_of(cause).subject if is_literal(cause) else ""
    if effect.operator == "F" and is_momentary(effect.operands[0]):
        then = f"{happening(effect.operands[0], about)} {_when(effect) or 'then or later'}"
    else:
        then = momentary(effect, about) if is_momentary(effect) else _part(effect)
    return f"whenever {_part(cause)}, {then}"


def _until(f: Formula, since: str) -> str:
    held, awaited = f.operands
    when = _when(f, since) or "at some point"
    if (pair := once_before(f)) is not None:
        item, last = pair
        about = atom_of(item).subject
        often = f"{happening(item)} at most once before {having_been(last, about)}"
        return f"{often}, and {happening(last, about)} at some point"
    if _is_plain("G", awaited) and awaited.operands[0] == neg(held) and is_momentary(held):
        comes = f"and that comes {when}" if f.operator == "U" else "if that ever comes"
        return f"as soon as {momentary(awaited.operands[0])}, it stays so for ever, {comes}"
    if not (is_momentary(held) and is_momentary(awaited)):
        ends = f"which comes {when}" if f.operator == "U" else "or for ever"
        return f"until ({_part(awaited)}), {ends}, this is so: ({_part(held)})"
    about = atom_of(held).subject if is_literal(held) else ""
    comes = f", and {happening(awaited, about)} {when}" if f.operator == "U" else ""
    if held.operator == "!" and is_literal(held):
        return f"{not_yet(held)} before {having_been(awaited, about)}{comes}"
    return f"{momentary(held)} until {momentary(awaited, about)}{comes or ', or for ever'}"


def _release(f: Formula) -> str:
    awaited, held = f.operands
    comes = "which comes" if f.operator == "M" else "or for ever"
    return f"up to and at the moment when {_part(awaited)}, {comes}, {_part(held)}"


def _is_plain(operator: str, f: Formula) -> bool:
    return f.operator == operator and f.window is None


def _when(f: Formula, since: str = "then") -> str:
    """Word the formula's window: "within 10 seconds"."""
    if f.window is None:
        return ""
    first, last = f.window
    if first == 0:
        return f"{'during the next' if f.operator == 'G' else 'within'} {last:g} seconds"
    return f"between {first:g} and {last:g} seconds from {since}"


def _alike(f: Formula) -> str:
    """Return the kind of a conjunct that can share a clause with others of its kind; "" for any other."""
    if not (_is_plain("F", f) or _is_plain("G", f)):
        return ""
    inside = f.operands[0]
    if f.operator == "F":
        return "ever" if inside.name else ""
    if inside.operator == "!" and is_literal(inside):
        return "never"
    return "again" if _is_plain("F", inside) and inside.operands[0].name else ""
