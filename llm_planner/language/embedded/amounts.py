"""Numbers that the words of a result say: counts, lengths, times and speeds."""

from __future__ import annotations

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.embedded.terms import Value, Words
from llm_planner.language.grounding.amounts import Amount, read_amount

_HOW: dict[tuple[str, ...], str] = {("quantity",): "how far", ("seconds",): "how long"}
_COUNTS = {"once": 1, "twice": 2, "thrice": 3, "one": 1, "never": 0}


def amount(value: Value, *classes: str, unit: str = "") -> float:
    """Metres, seconds, metres a second or a plain number, of these `classes` of words; a number alone is of the `unit`
    where one is given, a share of 1 in metres then. Raise QuestionError for none."""
    assert isinstance(value, Words), value
    try:
        found = read_amount(value.text, bare=True)
    except InputError:
        found = None
    if found is not None and not found.unit:
        found = Amount(found.number, "m" if unit and found.number < 1 else unit)
    if found is None or (classes and _class(found) not in classes):
        how = _HOW.get(classes, "how much")
        raise QuestionError(f"I do not know {how} “{value.text}” is. Please say a number with its unit.")
    return found.value


def _class(found: Amount) -> str:
    return "speed" if found.is_speed else "quantity" if found.is_length else "seconds" if found.is_time else "number"


def count_of(value: Value) -> int:
    """How often: `n2`, "twice", "three times"; raise QuestionError where that is not said."""
    if not isinstance(value, Words):
        return int(value.name[1:])
    known = [_COUNTS[word] for word in value.text.split()[:1] if word in _COUNTS]
    return known[0] if known else round(amount(value, "number"))
