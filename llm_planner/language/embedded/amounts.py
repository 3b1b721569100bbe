"""Numbers that the words of a result say: counts, lengths, times and speeds."""

from __future__ import annotations

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.terms import Value, Words
from llm_planner.language.grounding.lifting import lift

_HOW: dict[tuple[str, ...], str] = {("quantity",): "how far", ("seconds",): "how long"}
_COUNTS = {"once": 1, "twice": 2, "thrice": 3, "one": 1, "never": 0}


def amount(value: Value, *classes: str) -> float:
    """Metres, seconds, metres a second or a plain number, of these `classes` of words; raise QuestionError for none."""
    assert isinstance(value, Words), value
    said = lift(f"for {value.text}")  # "for a second" is a time, "a second" may be another thing
    found = [word.value for word in said if word.segment in classes or (not classes and word.segment != "word")]
    if not found:
        how = _HOW.get(classes, "how much")
        raise QuestionError(f"I do not know {how} “{value.text}” is. Please say a number with its unit.")
    return found[0]


def count_of(value: Value) -> int:
    """How often: `n2`, "twice", "three times"; raise QuestionError where that is not said."""
    if not isinstance(value, Words):
        return int(value.name[1:])
    known = [_COUNTS[word] for word in value.text.split()[:1] if word in _COUNTS]
    return known[0] if known else round(amount(value, "number"))
