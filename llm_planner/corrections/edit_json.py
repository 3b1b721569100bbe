"""JSON form of edits, and its schema.

`llm-planner edit` prints this form, services carry it, journals keep it and language models write it. The schema is
derived from the operations; language models are constrained to it where the server supports that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from llm_planner.corrections.edits import Edit, Operation
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Scope
from llm_planner.programs.values import Argument
from llm_planner.scene.scene import Vector3

OPERATIONS: Mapping[str, type[Operation]] = {
    re.sub(r"\B(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(Operation)
}
_NAMES = {kind: name for name, kind in OPERATIONS.items()}
MOST_OPERATIONS = 24  # in one edit
EnumT = TypeVar("EnumT", bound=Enum)


def edit_json(edit: Edit) -> dict[str, Any]:
    """Convert an edit to plain values; `level` is for readers only, `edit_from_json` ignores it."""
    return {
        "level": edit.level.value if edit.level else None,
        "operations": [operation_json(operation) for operation in edit.operations],
        "words": edit.words,
        "version": edit.version,
        "scope": edit.scope.value,
        "about": edit.about,
    }


def operation_json(operation: Operation) -> dict[str, Any]:
    """Convert an operation to plain values: its name under `op`, then its fields."""
    values = {item.name: _plain(getattr(operation, item.name)) for item in json_fields(type(operation))}
    return {"op": _NAMES[type(operation)], **values}


def json_fields(kind: type[Operation]) -> tuple[Field[Any], ...]:
    """Return the fields of an operation that its JSON contains."""
    return tuple(item for item in fields(kind) if item.metadata.get("json", True))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return value


def edit_from_json(values: Any) -> Edit:
    """Parse an edit; raise InputError that names the malformed field, its value and the permitted values."""
    if not isinstance(values, dict) or not isinstance(values.get("operations"), list):
        raise InputError(f"an edit is an object with a list of operations, not {values!r:.80}")
    if len(values["operations"]) > MOST_OPERATIONS:
        raise InputError(f"an edit has at most {MOST_OPERATIONS} operations, not {len(values['operations'])}")
    version = values.get("version", 0)
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**32:
        raise InputError(f"an edit's version is a whole number from 0 on, not {version!r}")
    operations = tuple(operation_from_json(item) for item in values["operations"])
    words, about = (_text(name, values.get(name, "")) for name in ("words", "about"))
    return Edit(operations, words, version, _choice("scope", Scope, values.get("scope", "once")), about)


def operation_from_json(values: Any) -> Operation:
    """Parse one operation; raise InputError like `edit_from_json`."""
    if not isinstance(values, dict) or not isinstance(values.get("op"), str) or values["op"] not in OPERATIONS:
        shown = values.get("op") if isinstance(values, dict) else values
        raise InputError(f"{shown!r:.80} is not an operation; there are: {', '.join(OPERATIONS)}")
    name = values["op"]
    kind = OPERATIONS[name]
    wanted = {item.name: item for item in json_fields(kind)}
    unknown = [key for key in values if key != "op" and key not in wanted]
    if unknown:
        raise InputError(f"{name} has no field {unknown[0]!r}; it has: {', '.join(wanted) or 'none'}")
    missing = [key for key in _required(kind) if key not in values]
    if missing:
        raise InputError(f"{name} needs the field {missing[0]!r}")
    hints = get_type_hints(kind)
    return kind(**{key: _parsed(key, hints[key], values[key]) for key in wanted if key in values})


def _required(kind: type[Operation]) -> list[str]:
    fields = json_fields(kind)
    return [item.name for item in fields if item.default is MISSING and item.default_factory is MISSING]


def _parsed(name: str, hint: Any, value: Any) -> Any:
    """Parse the value of a field with this type; `_schema` describes the same types."""
    if hint is str:
        return _text(name, value)
    if hint is bool:
        if not isinstance(value, bool):
            raise InputError(f"{name} is true or false, not {value!r:.80}")
        return value
    if hint == Vector3 or (hint == Argument and isinstance(value, list)):
        if not isinstance(value, list) or len(value) != 3:
            raise InputError(f"{name} is [x, y, z] in metres, not {value!r:.80}")
        return tuple(_number(name, part) for part in value)
    if hint is float or hint == Argument:
        if hint is float:
            return _number(name, value, "a number")
        return _text(name, value) if isinstance(value, str) else _number(name, value)
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise InputError(f"{name} is a list of words, not {value!r:.80}")
        return tuple(_text(name, part) for part in value)
    if get_origin(hint) is Mapping:
        if not isinstance(value, dict):
            raise InputError(f"{name} are an object, by the names of parameters, not {value!r:.80}")
        return {_text("the name of an argument", key): _parsed(name, Argument, part) for key, part in value.items()}
    return _choice(name, hint, value)


def _number(name: str, value: Any, wanted: str = "a number, a word or a point [x, y, z]") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        raise InputError(f"{name} is {wanted}, not {value!r:.80}")
    return float(value)


def _text(name: str, value: Any) -> str:
    """Check that the value is text without lone surrogates, which messages and files cannot hold."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(f"{name} is text, not {value!a:.80}")
    return value


def _choice(name: str, kind: type[EnumT], value: Any) -> EnumT:
    choices = [item.value for item in kind]
    if value not in choices:
        raise InputError(f"{name} is one of {', '.join(choices)}, not {value!r:.80}")
    return kind(value)


_PLAIN = {str: "string", float: "number", bool: "boolean"}


@lru_cache(maxsize=1)
def edit_schema() -> dict[str, Any]:
    """Return the JSON schema of an edit's operations, scope and `about`.

    `edit_from_json` accepts everything that fits the schema, and a little more.
    """
    shapes = []
    for name, kind in OPERATIONS.items():
        hints = get_type_hints(kind)
        values = {item.name: _schema(hints[item.name]) for item in json_fields(kind)}
        shapes.append(_object({"op": {"const": name}, **values}, ["op", *_required(kind)]))
    operations = {"type": "array", "maxItems": MOST_OPERATIONS, "items": {"anyOf": shapes}}
    properties = {"operations": operations, "scope": _schema(Scope), "about": _schema(str)}
    return _object(properties, list(properties))


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint == Argument:
        return {"anyOf": [_schema(part) for part in get_args(hint)]}
    if hint == Vector3:
        return {"type": "array", "items": _schema(float), "minItems": 3, "maxItems": 3}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _schema(get_args(hint)[1])}
    assert issubclass(hint, Enum)
    return {"enum": [member.value for member in hint]}
