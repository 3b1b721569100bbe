"""Limits of the motion, held against the words: each number that is said must be in the formula, and so must its time.

"Under 10 cm/s until the mug is in the bowl" is neither 10 m/s nor 10 cm/s for ever: who hears of a limit that is not
the one that was asked for is asked again, for the controller would keep it to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isclose

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.understanding.mentions import DURATION, RETRACTION
from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import Proposition, parse_proposition

_METRES = {"m": 1.0, "met": 1.0, "cm": 0.01, "centimet": 0.01, "mm": 0.001, "millimet": 0.001, "km": 1000.0}
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
AMOUNT = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>(?:cm|mm|km|m)\b|(?:centi|milli)?met(?=(?:er|re)s?\b))(?:(?:er|re)s?)?"
    r"(?:\s*(?:/|\b(?:per|an?)\b)\s*(?P<time>s|m|h)(?:ecs?|econds?|ins?|inutes?|ours?)?\b)?"
)
_UNTIL = re.compile(r"\b(?:until|till?|before|up to the moment)\b")
_PACE = re.compile(r"\b(?:slow|slowly|slower|gently|gentle|easy|pace|creep|crawl|carefully|careful|faster|quicker)\b")
_SLOWLY = re.compile(
    r"\b(?:slowly|(?:go|move|drive|be) slow|slow down|take it slow"
    r"|(?:not|dont|never)(?: \w+){0,4} (?:too|so|very|that) (?:fast|quick|quickly))\b"
)
NOT = r"\b(?:no|not|never|dont|nothing|nobody|without|avoid|cannot|cant|mustnt|shouldnt|nor|neither)\b"
_FASTER = re.compile(r"\b(?:faster|quicker|more|above|over) than\b|\b(?:faster|quicker)\b")
_AT_LEAST = re.compile(
    r"(?:at least|no less than|not less than|no slower than|not slower than|minimum(?: speed)?(?: of)?|min\.?"
    r"|(?:never|not)(?: \w+)? (?:slower than|below|under))\s*$"
)
_GIVEN = re.compile(
    r"\b(?:once|whenever|as (?:long|soon) as|(?:while|when|if) (?:you|holding|carrying|near|in|the|it)|after)\b"
)


def check_limits(constraint: Constraint) -> None:
    """Raises InputError where a speed or a distance, its side, or when it holds, is not what the words say."""
    said = RETRACTION.split(constraint.words.lower())[-1]
    measures = [item for name in constraint.formula.propositions if (item := parse_proposition(name)).comparison]
    _check_numbers(constraint, said, measures)
    _check_side(constraint, said, measures)
    text, formula = plain(said), constraint.formula
    if ends := _UNTIL.search(text):
        if measures and not _may_end(formula) and not DURATION.search(said):
            raise InputError(f"“{constraint.words}” sets a limit {ends[0]!r} something, but {formula} never ends it")
    elif (given := _GIVEN.search(text)) and any(map(_is_always, _parts(formula))):
        raise InputError(f"“{constraint.words}” sets a limit {given[0]!r} something is so, but {formula} always")


def check_pace(task: str, constraints: tuple[Constraint, ...]) -> None:
    """Raises QuestionError where the robot is to be slow, or gentle until something has happened, but not how slow."""
    if any("speed(" in name for constraint in constraints for name in constraint.formula.propositions):
        return
    for words in (task, *(constraint.words for constraint in constraints)):
        text = plain(words)
        if _SLOWLY.search(text) or (words != task and _PACE.search(text) and _UNTIL.search(text)):
            raise QuestionError(
                f"How fast may the robot be at most? Please say “{words}” with a speed, such as 0.1 m/s."
            )


def amount_of(found: re.Match[str]) -> float:
    """What a match of AMOUNT comes to, in [m] or [m/s]."""
    value = float(found["number"].replace(",", ".")) * _METRES[found["unit"]]
    return value / (_SECONDS[found["time"]] if found["time"] else 1.0)


def _check_numbers(constraint: Constraint, said: str, measures: list[Proposition]) -> None:
    for found in AMOUNT.finditer(said):
        value, of_speed = amount_of(found), found["time"] is not None
        bounds = [item.bound for item in measures if (item.predicate == "speed") == of_speed]
        if measures and not any(isclose(value, bound, rel_tol=1e-3) for bound in bounds):
            raise InputError(
                f"“{constraint.words}” says {found[0].strip()!r}, but {constraint.formula} has no such bound"
            )


def _check_side(constraint: Constraint, said: str, measures: list[Proposition]) -> None:
    """A least speed is not a limit, nor is what is allowed."""
    speeds = [found for found in AMOUNT.finditer(said) if found["time"]]
    least = next((match for found in speeds if (match := _AT_LEAST.search(said[: found.start()]))), None)
    faster = _FASTER.search(said) if speeds else None
    allowed = faster and not re.search(NOT, plain(said[: faster.start()]))
    wrong = least[0].strip() if least else faster[0] if faster and allowed else ""
    if wrong and any(item.predicate == "speed" and item.comparison == "<" for item in measures):
        raise InputError(f"“{constraint.words}” says {wrong!r} of a speed, but {constraint.formula} is a limit of it")


def _may_end(f: Formula) -> bool:
    """Whether a measure in it is to hold only until something else, as far as its operators tell."""
    if f.operator in ("U", "W"):
        return _measured(f.operands[0])
    if f.operator in ("R", "M"):
        return _measured(f.operands[1])
    return any(map(_may_end, f.operands))


def _is_always(f: Formula) -> bool:
    """Whether it holds a measure, and nothing else, at all times."""
    return f.operator == "G" and f.window is None and _is_measure(f.operands[0])


def _is_measure(f: Formula) -> bool:
    return _measured(f) if not f.operands else f.operator in ("&", "!") and all(map(_is_measure, f.operands))


def _measured(f: Formula) -> bool:
    return any(parse_proposition(name).comparison for name in f.propositions)


def _parts(f: Formula) -> Iterator[Formula]:
    """The formulas that hold together in it."""
    if f.operator == "&":
        for part in f.operands:
            yield from _parts(part)
    else:
        yield f
