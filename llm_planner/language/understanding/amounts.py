"""Amounts in a command that no robot can keep or do: below nothing, in a unit that is not known, or in none."""

from __future__ import annotations

import re

from llm_planner.errors import QuestionError
from llm_planner.language.compact.words import NUMBERS
from llm_planner.language.understanding.limits import AMOUNT

_MINUS = re.compile(r"(?:(?<![\w.,)])[-−–]|\b(?:minus|negative)\s+)$")
_MINUS_WORD = re.compile(rf"\b(?:minus|negative) (?:{'|'.join(NUMBERS)})\b")
_FOREIGN = re.compile(
    r"\d+(?:[.,]\d+)?\s*(?P<unit>(?:mph|kph|kmph|fps|kn|kts?|knots?|miles?|yards?)\b"
    r"|(?:inch(?:es)?|foot|feet|ft)\s*(?:/|\b(?:per|an?)\b)\s*(?:s|m|h)\w*)"
)
_END = r"(?=\s*(?:$|[;,!?]|\.(?!\d)|(?:and|but|until|till|while|when|from|of|to|the|away|please)\b))"
_DECIMAL = r"[-−–]?\d+[.,]\d+"
_BARE = re.compile(
    r"\b(?:(?:(?:max|min)(?:imum|\.)?|speed|distance)(?: limit)?(?: of)?|at|at most|at least|(?:more|less) than|within"
    rf"|below|under|above|over)\s+(?P<decimal>{_DECIMAL}){_END}"
    r"|\b(?:(?:faster|quicker|slower|closer|nearer|farther|further) than|speed(?: limit)?(?: of)?)\s+"
    rf"(?P<number>{_DECIMAL}|\d+){_END}"
)


def check_amounts_said(command: str) -> None:
    """Raises QuestionError where a speed or length is not above zero, its unit is unknown, or it has none."""
    said = command.lower()
    for found in AMOUNT.finditer(said):
        if minus := _MINUS.search(said[: found.start()]):
            raise _not_positive(minus[0] + found[0].strip())
        if float(found["number"].replace(",", ".")) == 0.0:
            raise _not_positive(found[0].strip())
    if word := _MINUS_WORD.search(said):
        raise _not_positive(word[0])
    if foreign := _FOREIGN.search(said):
        raise QuestionError(
            f"How much is “{foreign[0]}”? I do not know {foreign['unit']!r} as a unit here; please say a speed in m/s, "
            "cm/s or km/h, a length in m, cm or mm."
        )
    if bare := _BARE.search(said):
        number = bare["decimal"] or bare["number"]
        raise QuestionError(
            f"{number} of what? “{bare[0]}” has no unit; please add it, such as m/s to a speed or cm to a distance."
        )


def _not_positive(said: str) -> QuestionError:
    return QuestionError(f"What do you mean by “{said}”? A speed or a distance must be above zero; please say it so.")
