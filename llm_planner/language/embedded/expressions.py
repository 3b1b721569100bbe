"""Writer of policy program expressions for objects, sets and conditions, with their words resolved in the scene.

`amount` and `count_of` read the numbers in a result: counts, lengths, times and speeds.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.forms import Term, Value, Words
from llm_planner.language.grounding.lifting import Amount, read_amount
from llm_planner.language.grounding.naming import PEOPLE
from llm_planner.language.grounding.resolution import Reference, Resolver
from llm_planner.scene.predicates import FIXED_KINDS

_HOW: dict[tuple[str, ...], str] = {("quantity",): "how far", ("seconds",): "how long"}
_COUNTS = {"once": 1, "twice": 2, "thrice": 3, "one": 1, "never": 0}


def amount(value: Value, *classes: str, unit: str = "") -> float:
    """Read an amount [m], [s], [m/s] or a plain number.

    Args:
        value: Words of the amount.
        classes: Accepted classes: "quantity", "seconds", "speed" or "number"; any if empty.
        unit: Unit of a bare number; with a unit, numbers below 1 are in metres.

    Raises:
        QuestionError: The words are not such an amount.
    """
    assert isinstance(value, Words), value
    try:
        found = read_amount(value.text, bare=True)
    except InputError:
        found = None
    if found is not None and not found.unit:
        found = Amount(found.number, "m" if unit and found.number < 1 else unit)
    if found is None or (classes and found.segment not in classes):
        how = _HOW.get(classes, "how much")
        raise QuestionError(f"I do not know {how} “{value.text}” is. Please say a number with its unit.")
    return found.value


def count_of(value: Value) -> int:
    """Read a count: `n2`, "twice", "three times"; raise QuestionError for other words."""
    if not isinstance(value, Words):
        return int(value.name[1:])
    known = [_COUNTS[word] for word in value.text.split()[:1] if word in _COUNTS]
    return known[0] if known else round(amount(value, "number"))


_LENGTHS = {"little": "0.05", "much": "0.2"}  # [m]
_CALLS = {  # terms that are not written as a call of the same name
    "closest": "closest({}, to={})",
    "farthest": "farthest({}, to={})",
    "closest_to": "closest({}, to={})",
    "side": "on_side({}, {}, of={})[0]",
    "atop": "contents({})[0]",
    "take": "{1}[:{0}]",
    "side_all": "on_side({}, {}, of={})",
    "at_place": "[each for each in {} if is_at(each, {})]",
    "empty": "is_clear({})",
    "not": "not {}",
    "and": "({}) and ({})",
    "or": "({}) or ({})",
}


@dataclass
class Expressions:
    """Writer of expressions; it raises QuestionError if words fit nothing in the scene, or several objects."""

    here: Resolver
    loops: list[str] = field(default_factory=list)  # loop variables, outermost first
    taken: list[str] = field(default_factory=list)  # sets that a statement has taken "any" from, once per use

    def write(self, symbol: str, value: Value) -> str:
        """Write the expression of a value of this grammar symbol."""
        match symbol, value:
            case "DIRECTION" | "REGION" | "AXIS", Term(name):
                return quoted(name.replace("_", " "))
            case "NUMBER", Term(name):
                return name[1:]
            case "AMOUNT", _:
                return f"{amount(value, 'quantity'):.3g}" if isinstance(value, Words) else _LENGTHS[value.name]
            case "OBJECT", Words():
                return self.object(value)
            case "OBJECT", Term("item" | "outer" as which):
                return self._loop(1 if which == "item" else 2)
            case "OBJECT", Term("any", (items,)):  # a different one each time
                text = self.set(items)
                self.taken.append(text)
                return f"{text}[{self.taken.count(text) - 1}]"
            case "OBJECT", Term("same_color", (like,)):
                return f"{self.of_same_color(like)}[0]"
            case "OBJECT", Term("nth", (items, direction, Term(number))):
                return f"from_side({self.set(items)}, {quoted(str(direction))})[{int(number[1:]) - 1}]"
            case "SET", Words(said):
                found = self.here.described(said)
                return f"[{quoted(found.name)}]" if found.entry == "person" else self._objects(found)
            case "SET", Term("all"):
                return self._objects(Reference())
            case "SET", Term("except", (items, *left_out)):
                text = self.set(items)
                taken, self.taken = self.taken, []  # "except any" means the one already taken
                for one in left_out:
                    text = _filtered(text, f"each != {self.object(one)}")
                self.taken = taken
                return text
            case "SET", Term("not_color", (items, Words(said))):
                color = self._present(Reference(color=self.here.described(said).color), said).color
                return _filtered(self._objects(Reference(kind=self.kind(items))), f"color(each) != {quoted(color)}")
            case "SET", Term("not_kind", (Words(said) as words,)):
                kind = self._present(Reference(kind=self.kind(words)), said).kind
                return _filtered("objects()", f"kind(each) != {quoted(kind)}")
            case "SET", Term("list", items):
                return f"[{', '.join(map(self.object, items))}]"
            case "SET", Term("contents", (place,)) if room := self.room(place):
                fixed = sorted(FIXED_KINDS & {item.kind for item in self.here.scene.objects})
                no_load = ", ".join(map(quoted, fixed))  # cannot be carried
                loads = _filtered("objects()", f"kind(each) not in [{no_load}]") if fixed else "objects()"
                return _filtered(loads, f"room_of(each) == {quoted(room)}")
            case "SET", Term("in_room", (items, room)):
                return _filtered(self.set(items), f"room_of(each) == {quoted(self.here.room(words_of(room)))}")
            case "SET", Term("people"):
                kinds = sorted(PEOPLE & {item.kind for item in self.here.scene.objects})
                return f"objects({quoted(kinds[0])})" if kinds else "[]"
            case "CONDITION", Term("is_in", (item, place)) if room := self.room(place):
                return f"room_of({self.object(item)}) == {quoted(room)}"
            case "CONDITION", Term("exists", (items,)):
                with suppress(QuestionError):  # a test for existence must not lead to a question
                    return f"len({self.set(items)}) > 0"
                return "len([]) > 0"
        assert isinstance(value, Term), value
        slots = COMMANDS.slots(symbol, value.name)
        parts = [self.write(slot.symbol, one) for slot, one in zip(slots, value.arguments, strict=False)]
        return _CALLS.get(value.name, f"{value.name}({', '.join(['{}'] * len(parts))})").format(*parts)

    def object(self, value: Value, without: Collection[str] = ()) -> str:
        """Write the expression of one object; a description does not fit the names in `without`."""
        if isinstance(value, Words):
            found = self.here.refer(value.text)
            is_named = found.entry in ("object", "person")
            return quoted(found.name if is_named else self.here.the(self.here.described(value.text), without))
        return self.write("OBJECT", value)

    def set(self, value: Value) -> str:
        """Write the expression of a set of objects."""
        return self.write("SET", value)

    def room(self, value: Value) -> str:
        """Return the room that the words name, "" for none."""
        found = self.here.refer(value.text) if isinstance(value, Words) else Reference()
        return found.name if found.entry == "room" else ""

    def kind(self, items: Value) -> str:
        """Return the kind that the words of a set name, "" for any."""
        return self.here.described(items.text).kind if isinstance(items, Words) else ""

    def of_same_color(self, like: Value) -> str:
        """Write the objects of the kind `like` with the colour of the loop variable."""
        return self._objects(Reference(kind=self.kind(like)), f"color({self._loop(1)})")

    def may_contain(self, items: Value, target: Value) -> bool:
        """Return whether the target, as words, may belong to the set."""
        match target:
            case Words(said) | Term("same_color", (Words(said),)):
                wanted = self.here.described(said)
            case _:
                return False
        match items:
            case Words() | Term("all") | Term("not_color"):
                among = items.arguments[0] if isinstance(items, Term) and items.arguments else items
                found = self.here.described(among.text) if isinstance(among, Words) else Reference()
                return found.kind in ("", wanted.kind) and (not found.color or wanted.color in ("", found.color))
            case Term("not_kind", (left_out,)):
                return self.kind(left_out) != wanted.kind
            case Term("except", (among, *left_out)):
                return target not in left_out and self.may_contain(among, target)
        return False

    def _loop(self, depth: int) -> str:
        """Return the variable of the enclosing loop (depth 1) or the one around it (depth 2)."""
        if len(self.loops) < depth:
            raise QuestionError("I do not see which thing that is about. Please name it.")
        return self.loops[-depth]

    def _objects(self, wanted: Reference, color: str = "") -> str:
        """Write a query for objects of a kind and colour; the expression `color` replaces the wanted colour."""
        if not self.here.matching(wanted):
            raise self.here.absent(f"no {wanted}")
        color = color or (quoted(wanted.color) if wanted.color else "")
        arguments = ([quoted(wanted.kind)] if wanted.kind else []) + ([f"color={color}"] if color else [])
        return f"objects({', '.join(arguments)})"

    def _present(self, wanted: Reference, said: str) -> Reference:
        if wanted == Reference() or not self.here.matching(wanted):
            raise self.here.absent(f"nothing that is {said!r}")
        return wanted


def is_simple(value: Value) -> bool:
    """Return whether a reference keeps its meaning after an object is picked up."""
    return isinstance(value, Words) or value.name in ("item", "outer", "same_color")


def words_of(value: Value) -> str:
    """Return the person's words, or the text form of a term."""
    return value.text if isinstance(value, Words) else str(value)


def quoted(text: str) -> str:
    """Return a string literal that no name can break out of."""
    return json.dumps(text, ensure_ascii=False)


def _filtered(items: str, condition: str) -> str:
    return f"[each for each in {items} if {condition}]"
