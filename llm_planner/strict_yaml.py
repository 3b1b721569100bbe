"""Strict YAML reader: entries know their line and key, and pydantic models can be read from them.

It refuses duplicate keys, anchors and aliases.

Plain YAML loading keeps the last of two equal keys, expands aliases without limit, and drops line numbers. In a file
that decides what a robot may do, each of these hides mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from llm_planner.errors import InputError

MAX_CHARACTERS = 100_000
MAX_DEPTH = 20  # of nested lists and mappings
_OPENING = (
    yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken, yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken,
)  # fmt: skip
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_PREFIX = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Entry:
    """Value found in `file` under `key` ("rules[2].where")."""

    file: str
    key: str
    node: yaml.Node

    @property
    def line(self) -> int:
        """Line number, counted from 1."""
        return int(self.node.start_mark.line) + 1

    def wrong(self, message: str) -> NoReturn:
        """Raise InputError with file, line and key before `message`."""
        raise InputError(f"{self.file}, line {self.line}: {self.key} {message}")

    def table(self, keys: Collection[str] = ()) -> dict[str, Entry]:
        """Return the entries of a mapping; if `keys` is not empty, refuse all other keys."""
        if not isinstance(self.node, yaml.MappingNode):
            self.wrong(f"must be a mapping{_with(keys)}, not {self.shown()}")
        found: dict[str, Entry] = {}
        for name_node, value in self.node.value:
            name = Entry(self.file, f"a key of {self.key}", name_node).text()
            entry = Entry(self.file, f"{self.key}.{name}" if self.key != _TOP else name, value)
            if name in found:
                entry.wrong("is given twice; leave one of the two out")
            if keys and name not in keys:
                entry.wrong(f"is unknown; the keys are: {', '.join(keys)}")
            found[name] = entry
        return found

    def items(self) -> tuple[Entry, ...]:
        """Return the entries of a non-empty list."""
        if not isinstance(self.node, yaml.SequenceNode) or not self.node.value:
            self.wrong(f"must be a list with one entry at least, not {self.shown()}")
        return tuple(Entry(self.file, f"{self.key}[{k + 1}]", node) for k, node in enumerate(self.node.value))

    def one_or_more(self) -> tuple[Entry, ...]:
        """Return the entries of a list, or this entry alone."""
        return self.items() if isinstance(self.node, yaml.SequenceNode) else (self,)

    @property
    def is_table(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_number(self) -> bool:
        return bool(self.node.tag in (_PREFIX + "int", _PREFIX + "float"))

    def text(self) -> str:
        """Return a non-empty text."""
        if self.node.tag != _PREFIX + "str" or not str(self.node.value).strip():
            self.wrong(f"must be a text, not {self.shown()}; put it in quotes if it is meant as one")
        return str(self.node.value)

    def number(self) -> float:
        """Return a finite number."""
        try:
            value = float(self.node.value) if self.is_number else math.nan
        except ValueError:  # YAML also has 0x10, 1_000 and 1:30
            value = math.nan
        if not math.isfinite(value):
            self.wrong(f"must be a number, not {self.shown()}")
        return value

    def choice(self, choices: Collection[str]) -> str:
        """Return a word from `choices`."""
        word = self.text()
        if word not in choices:
            self.wrong(f"is {word!r}; choose one of: {', '.join(choices)}")
        return word

    def shown(self) -> str:
        """Describe the value briefly for a message."""
        if isinstance(self.node, yaml.ScalarNode):
            return repr(str(self.node.value)[:60])
        kind = "mapping" if self.is_table else "list"
        return f"a {kind}" if self.node.value else f"an empty {kind}"


_TOP = "the file"


def read_strict(path: Path) -> Entry:
    """Read the YAML file at `path`; raise InputError that names the file and, if known, the line."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return parse_strict(text, path.name)


def parse_strict(text: str, file: str) -> Entry:
    """Parse YAML `text` strictly; messages call its source `file`."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{file} is longer than {MAX_CHARACTERS} characters: make it shorter")
    try:
        _check_tokens(text, file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise InputError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if node is None:
        raise InputError(f"{file} is empty")
    return Entry(file, _TOP, node)


def _check_tokens(text: str, file: str) -> None:
    """Refuse aliases and deep nesting by scanning tokens, before any node is built."""
    depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        place = f"{file}, line {token.start_mark.line + 1}"
        if isinstance(token, (yaml.AliasToken, yaml.AnchorToken)):
            raise InputError(f"{place}: anchors and aliases are not allowed; write the value out")
        if depth > MAX_DEPTH:
            raise InputError(f"{place}: lists and mappings are nested more than {MAX_DEPTH} deep")


def _with(keys: Collection[str]) -> str:
    return f" with the keys {', '.join(keys)}" if keys else ""


class FileModel(BaseModel):
    """Base of pydantic models that are read from files; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=FileModel)


def read_model(path: Path, model: type[Model]) -> Model:
    """Read the YAML file `path` as a `model`.

    Raises:
        InputError: The file is invalid. The message names the file, line, key, value and what is expected.
    """
    entry = read_strict(path)
    _check_keys(entry)
    try:
        return model.model_validate(_plain(entry.node))
    except ValidationError as invalid:
        first = invalid.errors()[0]
        place, given = _at(entry, first["loc"]), "" if first["type"] == "missing" else f", not {first['input']!r:.80}"
        keys = f"; the keys are: {', '.join(model.model_fields)}" if first["type"] == "extra_forbidden" else ""
        key = ".".join(str(part) for part in first["loc"]) or _TOP
        problem = f"{first['msg'][0].lower()}{first['msg'][1:]}{given}{keys}"
        raise InputError(f"{path}, line {place.line}: {key}: {problem}") from invalid


def _plain(node: yaml.Node) -> Any:
    return yaml.SafeLoader("").construct_document(node)


def _check_keys(entry: Entry) -> None:
    """Refuse duplicate keys anywhere."""
    if isinstance(entry.node, yaml.MappingNode):
        for value in entry.table().values():
            _check_keys(value)
    elif isinstance(entry.node, yaml.SequenceNode) and entry.node.value:
        for value in entry.items():
            _check_keys(value)


def _at(entry: Entry, keys: tuple[int | str, ...]) -> Entry:
    """Return the entry at `keys`, or the innermost one that is there."""
    for key in keys:
        if isinstance(key, int) and isinstance(entry.node, yaml.SequenceNode) and key < len(entry.node.value):
            entry = entry.items()[key]
        elif isinstance(key, str) and entry.is_table and key in (table := entry.table()):
            entry = table[key]
        else:
            break
    return entry
