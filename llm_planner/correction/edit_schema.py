"""The JSON schema of edits, made from the operations themselves: what a language model is bound to where it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from enum import Enum
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

from llm_planner.correction.edit_json import MOST_OPERATIONS, OPERATIONS, json_fields
from llm_planner.plan.edits import Operation, Scope
from llm_planner.skills.contract import Argument
from llm_planner.world.scene import Vector3

_PLAIN = {str: "string", float: "number", bool: "boolean"}


@lru_cache(maxsize=1)
def edit_schema() -> dict[str, Any]:
    """Of the operations, the scope and what it is about. `edit_from_json` reads all that fits it, and a little more."""
    operations = {
        "type": "array",
        "maxItems": MOST_OPERATIONS,
        "items": {"anyOf": [_operation(name) for name in OPERATIONS]},
    }
    properties = {"operations": operations, "scope": _value(Scope), "about": _value(str)}
    return _object(properties, list(properties))


def _operation(name: str) -> dict[str, Any]:
    kind: type[Operation] = OPERATIONS[name]
    hints = get_type_hints(kind)
    items = json_fields(kind)
    required = [item.name for item in items if item.default is MISSING and item.default_factory is MISSING]
    return _object(
        {"op": {"const": name}, **{item.name: _value(hints[item.name]) for item in items}}, ["op", *required]
    )


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _value(hint: Any) -> dict[str, Any]:
    """The schema of a field of this type."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint == Argument:
        return {"anyOf": [_value(part) for part in get_args(hint)]}
    if hint == Vector3:
        return {"type": "array", "items": _value(float), "minItems": 3, "maxItems": 3}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _value(get_args(hint)[0])}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _value(get_args(hint)[1])}
    assert issubclass(hint, Enum)
    return {"enum": [member.value for member in hint]}
