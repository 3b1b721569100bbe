"""Distances, held against the words: "at most 15 cm away" is not at least that far, and from what is said is not
from something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isclose

from llm_planner.errors import InputError
from llm_planner.language.understanding.limits import AMOUNT, NOT, amount_of
from llm_planner.language.understanding.mentions import RETRACTION, names_in
from llm_planner.language.understanding.wording import is_english, plain
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import Proposition, parse_proposition
from llm_planner.world.scene import Scene

_CUT = re.compile(r"[,;:!?]|\.(?!\d)|\b(?:and|but|while|then)\b")
_FILLED = r"\s*(?:(?:a|an|the|about|roughly|around|of|distance|radius|range)\s+)*$"
_THAN = r"(?:\s+\w+){0,6}?\s+than"
_AT_MOST = re.compile(r"\b(?:at (?:the )?(?:very )?most|up to|max(?:imum\b|\.|\b))" + _FILLED)
_AT_LEAST = re.compile(r"\b(?:at (?:the )?(?:very )?least|min(?:imum\b|\.|\b))" + _FILLED)
_CLOSER = re.compile(rf"\b(?:within|inside|(?:closer|nearer|less|smaller){_THAN}|under|below){_FILLED}")
_FARTHER = re.compile(rf"\b(?:(?:farther|further|more|greater|larger){_THAN}|beyond|outside|over|above){_FILLED}")
_MOST_AFTER = re.compile(r"\b(?:at (?:the )?most|max(?:imum)?|or (?:less|closer|nearer))\s*$")
_LEAST_AFTER = re.compile(r"\b(?:at (?:the )?least|min(?:imum)?|or (?:more|farther|further))\s*$")
_SHUN = re.compile(rf"{NOT}|\b(?:away|clear|off|out|forbidden|refuse|refrain|prevent|stop)\b")
_FORBIDDEN = re.compile(rf"{NOT}|\b(?:forbidden|prohibited|taboo|off limits|too (?:close|near)|bad|dangerous)\b")
_GIVEN = re.compile(r"\b(?:if|when|whenever|once|unless|as (?:soon|long) as|in case)\b")
_FROM = re.compile(r"^(?: \w+){0,2}? (?:from|of|to) (?:(?:the|a|an|my|your|our|any) )?(?P<what>.*)")
_OF_SOMETHING = re.compile(r"\b(?:from|of|to|off|near|around|than|clear|between|it|them|others?) \w|\b(?:it|them)\b")
_OPPOSITE = {"<": ">", ">": "<"}
_IN_WORDS = {"<": "most", ">": "least"}


def check_distances(constraint: Constraint, scene: Scene) -> None:
    """Raises InputError where a distance is kept on the other side than the words say, or from another thing."""
    said = RETRACTION.split(constraint.words.lower())[-1]
    distances = list(_required(constraint.formula))
    for found in AMOUNT.finditer(said):
        if found["time"]:
            continue
        before, after = _CUT.split(said[: found.start()])[-1], _CUT.split(said[found.end() :])[0]
        meant = [pair for pair in distances if isclose(amount_of(found), pair[0].bound, rel_tol=1e-3)]
        side = _side(before, after)
        if side and meant and all(kept != side for _, kept in meant):
            raise InputError(
                f"“{constraint.words}” says {found[0].strip()!r} as the {_IN_WORDS[side]}, but {constraint.formula} "
                f"as the {_IN_WORDS[_OPPOSITE[side]]} of a distance"
            )
        if meant:
            _check_thing(constraint, after, {name for item, _ in meant for name in item.arguments}, scene)


def _check_thing(constraint: Constraint, after: str, things: set[str], scene: Scene) -> None:
    text = plain(constraint.words)
    spoken = _FROM.search(f" {plain(after)}")
    named = names_in(spoken["what"], scene) if spoken else []
    first = named[0] if spoken and named and spoken["what"].startswith(plain(named[0])) else ""
    if first and first not in things:
        raise InputError(f"“{constraint.words}” sets a distance from {first!r}, but {constraint.formula} does not")
    if not names_in(text, scene) and is_english(text) and not _OF_SOMETHING.search(text):
        raise InputError(f"“{constraint.words}” does not say from what, but {constraint.formula} does")


def _side(before: str, after: str) -> str:
    """ "<" for what is said as the most, ">" as the least, "" where the words leave it open."""
    if _AT_MOST.search(before) or _MOST_AFTER.search(after):
        return "<"
    if _AT_LEAST.search(before) or _LEAST_AFTER.search(after):
        return ">"
    if _GIVEN.search(before):
        return ""
    if closer := _CLOSER.search(before):
        shunned = _SHUN.search(plain(before[: closer.start()])) or _FORBIDDEN.search(plain(after))
        return ">" if shunned else "<"
    if farther := _FARTHER.search(before):
        return "<" if re.search(NOT, plain(before[: farther.start()])) else ">"
    return ""


def _required(f: Formula, wanted: bool = True) -> Iterator[tuple[Proposition, str]]:
    """Distances that it bounds while nothing else is so, each with the side on which it is to be."""
    if not f.operands:
        item = parse_proposition(f.name) if f.name else None
        if item and item.predicate == "distance":
            yield item, item.comparison if wanted else _OPPOSITE[item.comparison]
    elif f.operator == "!":
        yield from _required(f.operands[0], not wanted)
    elif f.operator in ("G", "F", "X", "N") or f.operator == ("&" if wanted else "|"):
        for operand in f.operands:
            yield from _required(operand, wanted)
    elif f.operator in ("U", "W"):
        yield from _required(f.operands[0], wanted)
    elif f.operator in ("R", "M") or (f.operator == "->" and wanted):
        yield from _required(f.operands[1], wanted)
