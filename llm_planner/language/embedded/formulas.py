"""Writer of formulas for specifications, after the patterns of Lang2LTL (arXiv:2302.11649).

"Not q before p" does not require p (`!q W p`), nor does "slower than v until p". In a scene "never q after p" includes
the moment of p. A rule within a scope concerns the moments of the scope (Dwyer, Avrunin and Corbett).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from llm_planner.errors import LanguageModelError, QuestionError
from llm_planner.language.embedded.command_forms import SPECIFICATIONS
from llm_planner.language.embedded.expressions import amount, count_of
from llm_planner.language.embedded.forms import Term, Value, Words
from llm_planner.language.embedded.states import States
from llm_planner.ltl.formula import (
    Formula,
    conj,
    disj,
    finally_,
    globally,
    iff,
    implies,
    neg,
    next_,
    rebuilt,
    until,
    weak_next,
    weak_until,
)
from llm_planner.ltl.verbalization import at_least, at_most, exactly

MOST = 9  # maximum count of visits


def specification(term: Term, states: States) -> Formula:
    """Write the formula of a rule or goal; raise QuestionError if it refers to what is not there."""
    match term:
        case Term("never", places):
            return conj(*(globally(neg(p)) for p in states.each(map(_any_of_them, places))))
        case Term("patrol", places) if states.bare:
            return conj(*(globally(finally_(p)) for p in states.each(places)))
        case Term("patrol", places):  # in a scene, where plans end, twice in the given order
            listed = states.each(places)
            return _sequence([*listed, *listed]) if len(listed) > 1 else at_least(2, listed[0])
        case Term("only_after", (first, *later)):
            before, waiting = states.state(first), [states.started(_any_of_them(p), first) for p in later]
            return conj(*(weak_until(neg(p), before) for p in waiting))
        case Term("never_after", (first, *later)):
            cause, ended = states.state(first), [states.started(_any_of_them(p), first) for p in later]
            return conj(*(_no_more(cause, p, states.bare) for p in ended))
        case Term("stay_until", (stay, end)):
            return (weak_until if _is_limit(stay) else until)(states.state(stay), states.state(end))
        case Term("whenever", (cause, rule)) if not states.bare:
            there = states.carrying((cause,))
            return globally(implies(there.state(cause), there.state(rule)))
        case Term("sequence", places) if not states.bare:
            listed = _with_hand_overs(states.each(places), states)
            waits = [until(neg(b), a) for a, b in pairwise(listed) if states.comes_about(b)]
            return conj(_sequence(listed), *waits)  # a place lasts, so it must not come early
        case Term("visit", places) if not states.bare:
            return conj(*(_sequence(_with_hand_overs([p], states)) for p in states.each(places)))
        case Term(name, places) if name in _OF_LISTS:
            return _at_the_end(_OF_LISTS[name](states.each(places)))
        case Term(name, (count, state)) if name in _OF_COUNTS:
            number = count_of(count)
            if not 0 <= number <= MOST:
                raise QuestionError(f"I can count visits up to {MOST}, not {number}. How often do you mean?")
            return _OF_COUNTS[name](number, states.state(state))
        case Term(name, (time, state)) if name in _OF_TIMES:
            return _OF_TIMES[name](amount(time), states.state(state))
        case Term(name, (*bounds, Term() as rule)) if name in _SCOPES:
            return _SCOPES[name](*map(states.state, bounds), specification(rule, states))
        case Term(name, arguments) if name in _OF_STATES:
            return _at_the_end(_OF_STATES[name](*map(states.state, arguments)))
    raise LanguageModelError(f"{term} is neither a rule nor a goal; these are {', '.join(SPECIFICATIONS)}")


def _at_the_end(rule: Formula, wanted: bool = True) -> Formula:
    """Weaken prohibitions about the next moment so that they hold at the end: "no p twice in a row"."""
    if rule.operator == "X" and wanted and _forbids(rule.operands[0]):
        return neg(next_(_forbidden(rule.operands[0])))
    match rule.operator:
        case "!":
            return neg(_at_the_end(rule.operands[0], not wanted))
        case "->":
            return implies(_at_the_end(rule.operands[0], not wanted), _at_the_end(rule.operands[1], wanted))
        case "<->":
            return rule
    return rebuilt(rule, [_at_the_end(part, wanted) for part in rule.operands])


def _forbids(state: Formula) -> bool:
    if state.operator == "!":
        return all(not part.operands for part in state.operands)
    return state.operator in ("G", "&", "|") and not state.timed and all(map(_forbids, state.operands))


def _forbidden(state: Formula) -> Formula:
    """Negate a formula for which `_forbids` holds."""
    if state.operator == "!":
        return state.operands[0]
    parts = [_forbidden(part) for part in state.operands]
    if state.operator == "G":
        return finally_(parts[0])
    return disj(*parts) if state.operator == "&" else conj(*parts)


def _any_of_them(value: Value) -> Value:
    """Replace "each" by "any": "never touch all the mugs" forbids touching any of them."""
    if isinstance(value, Words):
        return value
    name = "any" if value.name == "each" else value.name
    return Term(name, tuple(map(_any_of_them, value.arguments)), value.keyed)


def _is_limit(value: Value) -> bool:
    """Return whether the state only bounds the motion of the robot."""
    if isinstance(value, Term) and value.name == "and":
        return all(map(_is_limit, value.arguments))
    return isinstance(value, Term) and value.name in ("slower", "farther", "lower")


def _no_more(cause: Formula, late: Formula, bare: bool) -> Formula:
    """Forbid `late` after `cause`.

    Bare propositions are forbidden from the next moment on, as in the data sets. A state that shares propositions with
    the cause may last, but not begin again.
    """
    never = globally(neg(late))
    if bare:
        return globally(implies(cause, next_(never)))
    if cause is late:
        return neg(at_least(2, late))
    lasts = set(cause.propositions) & set(late.propositions)
    return globally(implies(cause, globally(implies(neg(late), never)) if lasts else never))


def _up_to(f: Formula, end: Formula) -> Formula:
    """Restrict `f` to the moments before `end`, which does not hold now."""
    if not f.operands:
        return f
    parts = [_up_to(operand, end) for operand in f.operands]
    inside = neg(end)
    writers: dict[str, Callable[..., Formula]] = {
        "!": neg, "&": conj, "|": disj, "->": implies, "<->": iff,
        "X": lambda p: next_(conj(inside, p)),
        "N": lambda p: weak_next(disj(end, p)),
        "F": lambda p: until(inside, conj(inside, p)),
        "G": lambda p: weak_until(p, end),
        "U": lambda p, q: until(conj(inside, p), conj(inside, q)),
        "W": lambda p, q: weak_until(p, disj(end, q)),
        "R": lambda p, q: weak_until(q, disj(end, conj(p, q))),
        "M": lambda p, q: until(conj(inside, q), conj(inside, p, q)),
    }  # fmt: skip
    if f.window is not None:
        raise QuestionError("I cannot keep a time in seconds only up to another moment. Please say one of the two.")
    return writers[f.operator](*parts)


def _sequence(places: list[Formula]) -> Formula:
    formula = finally_(places[-1])
    for place in reversed(places[:-1]):
        formula = finally_(conj(place, formula))
    return formula


def _with_hand_overs(places: Sequence[Formula], states: States) -> list[Formula]:
    """Insert a hand-over after each delivery to a person, unless a later state concerns the object."""
    found: list[Formula] = []
    for k, place in enumerate(places):
        given = states.handed_over(place)
        later = {name for one in places[k + 1 :] for name in _held(one)}
        found += [place, given] if given and not later.intersection(_held(place)) else [place]
    return found


def _held(state: Formula) -> list[str]:
    return [name for name in state.propositions if name.startswith("holding(")]


def _ordered(places: list[Formula]) -> Formula:
    return conj(*(until(neg(after), before) for before, after in pairwise(places)), finally_(places[-1]))


def _steps(count: int, p: Formula) -> Formula:
    """Require that `p` holds at `count` or more moments."""
    formula = p
    for _ in range(count - 1):
        formula = conj(p, next_(finally_(formula)))
    return finally_(formula) if count else disj(p, neg(p))


_OF_LISTS: Mapping[str, Callable[[list[Formula]], Formula]] = {
    "visit": lambda ps: conj(*map(finally_, ps)),
    "always": lambda ps: conj(*map(globally, ps)),
    "sequence": _sequence,
    "ordered": _ordered,
    "strictly": lambda ps: conj(_ordered(ps), *(until(neg(a), until(a, until(neg(a), b))) for a, b in pairwise(ps))),
}
_OF_COUNTS: Mapping[str, Callable[[int, Formula], Formula]] = {
    "at_least": at_least,
    "at_most": at_most,
    "exactly": exactly,
    "at_least_steps": _steps,
    "at_most_steps": lambda n, p: neg(_steps(n + 1, p)),
    "exactly_steps": lambda n, p: conj(_steps(n, p), neg(_steps(n + 1, p))),
}
_OF_TIMES: Mapping[str, Callable[[float, Formula], Formula]] = {
    "within": lambda time, p: finally_(p, within=time),
    "from_now": lambda time, p: globally(p, within=time),
    "lasting": lambda time, p: finally_(globally(p, within=time)),
}
_OF_STATES: Mapping[str, Callable[..., Formula]] = {
    "responds": lambda p, q: globally(implies(p, finally_(q))),
    "at_once": lambda p, q: globally(implies(p, next_(q))),
    "just_then": lambda p, q: globally(iff(p, next_(q))),
    "whenever": lambda p, q: globally(implies(p, q)),
    "finish": lambda p: finally_(globally(p)),
    "initially": lambda p: p,
    "next": next_,
}
_SCOPES: Mapping[str, Callable[..., Formula]] = {  # each only if its end comes
    "before": lambda end, rule: implies(finally_(end), disj(end, _up_to(rule, end))),
    "after": lambda start, rule: weak_until(neg(start), conj(start, rule)),
    "between": lambda start, end, rule: globally(implies(conj(start, neg(end), finally_(end)), _up_to(rule, end))),
}
