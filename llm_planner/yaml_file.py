"""Reading of YAML files into pydantic models: errors name the file, the line, the key and the value."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from llm_planner.errors import InputError


class Entry(BaseModel):
    """Base of everything that is read from a file: unknown keys and converted types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=Entry)


def read_model(path: Path, model: type[Model]) -> Model:
    """Read the YAML file `path` as a `model`.

    Raises:
        InputError: the file cannot be read or is not valid; names the line, the key, the value and what is expected.
    """
    try:
        text = path.read_text(encoding="utf-8")
        node, values = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML: {error}") from error
    try:
        return model.model_validate(values)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        given = "" if first["type"] == "missing" else f", not {first['input']!r:.80}"
        keys = f"; its keys are: {', '.join(model.model_fields)}" if first["type"] == "extra_forbidden" else ""
        problem = f"{first['msg'][0].lower()}{first['msg'][1:]}{given}{keys}"
        raise InputError(f"{path}, line {_line(node, first['loc'])}: {key}: {problem}") from invalid


def _line(node: Any, keys: tuple[int | str, ...]) -> int:
    """Line of the entry at `keys`, or of the innermost one that is there."""
    line = node.start_mark.line if node is not None else 0
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(key)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line
        else:
            break
    return int(line) + 1
