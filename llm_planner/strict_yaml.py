"""YAML read strictly: every entry knows its line and its key, nothing may be given twice, and nothing is shared.

Plain YAML loading keeps the last of two equal keys, follows aliases however often, and forgets lines; in a file that
decides what a robot may do, each of these hides a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import yaml

from llm_planner.errors import InputError

MAX_CHARACTERS = 100_000
MAX_DEPTH = 20  # of lists and mappings within each other
_OPENING = (
    yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken, yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken,
)  # fmt: skip
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_PREFIX = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Entry:
    """One value of the file `file`, found under `key` ("rules[2].where")."""

    file: str
    key: str
    node: yaml.Node

    @property
    def line(self) -> int:
        """Counted from 1."""
        return int(self.node.start_mark.line) + 1

    def wrong(self, message: str) -> NoReturn:
        """Raises InputError with the place before `message`."""
        raise InputError(f"{self.file}, line {self.line}: {self.key} {message}")

    def table(self, keys: Collection[str] = ()) -> dict[str, Entry]:
        """The entries of a mapping; where `keys` are given there may be no others."""
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
        """The entries of a list that is not empty."""
        if not isinstance(self.node, yaml.SequenceNode) or not self.node.value:
            self.wrong(f"must be a list with one entry at least, not {self.shown()}")
        return tuple(Entry(self.file, f"{self.key}[{k + 1}]", node) for k, node in enumerate(self.node.value))

    def one_or_more(self) -> tuple[Entry, ...]:
        """The entries of a list, or this one alone."""
        return self.items() if isinstance(self.node, yaml.SequenceNode) else (self,)

    @property
    def is_table(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_number(self) -> bool:
        return bool(self.node.tag in (_PREFIX + "int", _PREFIX + "float"))

    def text(self) -> str:
        """A text that is not empty."""
        if self.node.tag != _PREFIX + "str" or not str(self.node.value).strip():
            self.wrong(f"must be a text, not {self.shown()}; put it in quotes if it is meant as one")
        return str(self.node.value)

    def number(self) -> float:
        """A finite number."""
        try:
            value = float(self.node.value) if self.is_number else math.nan
        except ValueError:  # YAML also has 0x10, 1_000 and 1:30
            value = math.nan
        if not math.isfinite(value):
            self.wrong(f"must be a number, not {self.shown()}")
        return value

    def choice(self, choices: Collection[str]) -> str:
        """One of the words `choices`."""
        word = self.text()
        if word not in choices:
            self.wrong(f"is {word!r}; choose one of: {', '.join(choices)}")
        return word

    def shown(self) -> str:
        """The value in a message: short, and never a whole branch of the file."""
        if isinstance(self.node, yaml.ScalarNode):
            return repr(str(self.node.value)[:60])
        kind = "mapping" if self.is_table else "list"
        return f"a {kind}" if self.node.value else f"an empty {kind}"


_TOP = "the file"


def read_strict(path: Path) -> Entry:
    """What the YAML file `path` holds; raises InputError naming the file and, where there is one, the line."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return parse_strict(text, path.name)


def parse_strict(text: str, file: str) -> Entry:
    """As `read_strict`, of a text that came from the file called `file`."""
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
    """Before anything is built of them; the scanner itself builds nothing."""
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
