"""YAML files read strictly as pydantic models; errors name the file, line, key, value and choices.

Plain YAML loading keeps the last of two equal keys, expands aliases without limit, and drops line numbers. In a file
that decides what a robot may do, each of these hides mistakes. This reader refuses duplicate keys, anchors and aliases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from llm_planner.errors import InputError

MAX_CHARACTERS = 100_000
MAX_DEPTH = 20  # of nested lists and mappings
_OPENING = (
    yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken, yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken,
)  # fmt: skip
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_PREFIX = "tag:yaml.org,2002:"
_WORDS = {"string": "text", "tuple": "list", "dictionary": "mapping", "integer": "whole number"}  # by pydantic's
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, where PyYAML was built with libyaml
QUOTES = "; put it in quotes if it is meant as one"

Positive = Annotated[float, Field(gt=0.0)]
Text = Annotated[str, Field(pattern=r"\S")]


def one_or_more(item: Any) -> BeforeValidator:
    """Return the annotation of a tuple that a file may give as one `item` instead of a list."""
    return BeforeValidator(lambda given: given if isinstance(given, tuple) else (given,), item | tuple[item, ...])


Texts = Annotated[tuple[Text, ...], Field(min_length=1), one_or_more(Text)]


@dataclass(frozen=True)
class Among:
    """Annotation of a text that is one of `choices`."""

    choices: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], Any]) -> Any:
        return handler(Literal[self.choices])


class LocatedError(InputError, ValueError):
    """Error in the value at `keys`, such as ("rules", 2, "where"); the message continues a sentence about the key."""

    def __init__(self, message: str, *keys: str | int) -> None:
        super().__init__(message)
        self.keys = keys


def _ascending(interval: tuple[float, float]) -> tuple[float, float]:
    if interval[0] >= interval[1]:
        raise LocatedError("must be [from, to], the smaller one first")
    return interval


Interval = Annotated[tuple[float, float], AfterValidator(_ascending)]


@contextmanager
def at(*keys: str | int) -> Iterator[None]:
    """Locate each InputError of the block at `keys`, which are followed by the error's own."""
    try:
        yield
    except LocatedError as error:
        raise LocatedError(str(error), *keys, *error.keys) from error
    except InputError as error:
        raise LocatedError(f"is wrong: {error}", *keys) from error


def no_choice(shown: str, choices: Collection[str], *keys: str | int) -> LocatedError:
    """Return the error of a value at `keys`, as it is `shown`, that is none of `choices`."""
    return LocatedError(f"is {shown}; choose one of: {', '.join(choices)}{did_you_mean(shown, choices)}", *keys)


def unknown_key(key: str, keys: Collection[str]) -> LocatedError:
    """Return the error of a mapping whose `key` is none of `keys`."""
    return LocatedError(f"is unknown; the keys are: {', '.join(keys)}{did_you_mean(key, keys)}", key)


def did_you_mean(word: str, choices: Collection[str]) -> str:
    """Return ` (did you mean ...?)` with the choice closest to `word`, or "" if none is similar."""
    close = get_close_matches(word, choices, n=1, cutoff=0.75)
    return f" (did you mean {close[0]!r}?)" if close else ""


class FileModel(BaseModel):
    """Base of the models of files; refuses unknown keys, and values of another type than the declared one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, given: object) -> object:
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        if not isinstance(given, Mapping):
            raise ValueError(f"must be a mapping with the keys {', '.join(fields)}")
        for key in given:
            if key not in fields:
                raise unknown_key(key, fields)
        needed = [key for key, field in fields.items() if field.is_required()]
        for key in needed:
            if key not in given:
                raise LocatedError(f"has no key {key!r}; it needs: {', '.join(needed)}")
        return given


Model = TypeVar("Model", bound=FileModel)
Built = TypeVar("Built")


def read_file(path: Path, model: type[Model], build: Callable[[Model], Built]) -> Built:
    """Read the YAML file `path` as a `model`, and build what it describes.

    Args:
        path: File.
        model: Model of its content.
        build: Converts the content; `at` locates its errors.

    Raises:
        InputError: The file is invalid. The message names the file, line, key, value and what is expected.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return parse_file(text, path, model, build)


def parse_file(text: str, file: Path | str, model: type[Model], build: Callable[[Model], Built]) -> Built:
    """Parse the YAML `text` of `file`; arguments and errors are those of `read_file`."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{file} is longer than {MAX_CHARACTERS} characters: make it shorter")
    try:
        _check_tokens(text, file)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise InputError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if root is None:
        raise InputError(f"{file} is empty")
    try:
        return build(model.model_validate(_content(root)))
    except ValidationError as invalid:
        keys, message = _first_problem(invalid.errors(), root)
    except LocatedError as error:
        keys, message = error.keys, str(error)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    name, node = _find(root, keys)
    raise InputError(f"{file}, line {node.start_mark.line + 1}: {name or 'the file'} {message}")


def _check_tokens(text: str, file: Path | str) -> None:
    """Refuse aliases and deep nesting by scanning tokens, before any node is built."""
    depth = 0
    for token in yaml.scan(text, Loader=_LOADER):
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        place = f"{file}, line {token.start_mark.line + 1}"
        if isinstance(token, (yaml.AliasToken, yaml.AnchorToken)):
            raise InputError(f"{place}: anchors and aliases are not allowed; write the value out")
        if depth > MAX_DEPTH:
            raise InputError(f"{place}: lists and mappings are nested more than {MAX_DEPTH} deep")


def _content(node: yaml.Node) -> Any:
    """Return the value of `node`; scalars that are no text, number or truth value stay nodes, which no field takes."""
    if isinstance(node, yaml.SequenceNode):
        return tuple(_content_at(k, value) for k, value in enumerate(node.value))
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for name, value in node.value:
            if not isinstance(key := _content(name), str) or not key.strip():
                raise LocatedError(f"has a key that must be a text, not {_shown(name)}{QUOTES}")
            if key in found:
                raise LocatedError("is given twice; leave one of the two out", key)
            found[key] = _content_at(key, value)
        return found
    kind = node.tag.removeprefix(_PREFIX)
    if kind in ("int", "float"):
        with suppress(ValueError):  # YAML also has 0x10 and 1:30
            return int(node.value) if kind == "int" else float(node.value)
    if kind == "bool":
        return yaml.SafeLoader.bool_values.get(node.value.lower(), node)
    return node.value if kind == "str" else node


def _content_at(key: str | int, node: yaml.Node) -> Any:
    with at(key):
        return _content(node)


def _find(node: yaml.Node, keys: tuple[str | int, ...]) -> tuple[str, yaml.Node]:
    """Return name and node of the value at `keys`, or of the innermost one that is there."""
    name = ""
    for key in keys:
        if isinstance(key, int) and isinstance(node, yaml.SequenceNode) and key < len(node.value):
            name, node = f"{name}[{key + 1}]", node.value[key]
        elif isinstance(node, yaml.MappingNode) and key in [k.value for k, _ in node.value]:
            name, node = f"{name}.{key}".removeprefix("."), [value for k, value in node.value if k.value == key][-1]
        elif isinstance(node, yaml.ScalarNode):
            break  # any other key that is not there names an alternative of a type
    return name, node


def _first_problem(errors: Sequence[Any], root: yaml.Node) -> tuple[tuple[str | int, ...], str]:
    """Return place and message of the first error; further errors at the place are alternatives of the same value."""
    first = errors[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, LocatedError):
        return (*first["loc"], *cause.keys), str(cause)
    node = _find(root, first["loc"])[1]
    same = [error for error in errors if _find(root, error["loc"])[1] is node]
    if first["type"] in ("literal_error", "enum"):
        choices = re.findall("'(.*?)'", first["ctx"]["expected"])
        if first["loc"][-1] == "[key]":
            return first["loc"], str(unknown_key(str(first["loc"][-2]), choices))
        return first["loc"], str(no_choice(_shown(node), choices))
    if first["type"] == "missing":  # of a list; missing keys are reported by FileModel
        return first["loc"], f"must have {len(node.value) + len(same)} entries, not {len(node.value)}"
    expected = " or ".join(dict.fromkeys(map(_expected, same))).replace(" or must be ", " or ")
    quotes = QUOTES if expected == "must be a text" and isinstance(node, yaml.ScalarNode) else ""
    return first["loc"], f"{expected}, not {_shown(node)}{quotes}"


def _expected(error: Any) -> str:
    if error["type"] == "string_pattern_mismatch":
        return "must be a text"
    if error["type"] == "too_short":
        return f"must have {error['ctx']['min_length']} or more entries"
    if error["type"] == "too_long":
        return f"must have {error['ctx']['max_length']} entries at most"
    text = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return re.sub(r"a(?: valid|) (\w+)$", lambda kind: f"a {_WORDS.get(kind[1], kind[1])}", text)


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return repr(str(node.value)[:60])
    kind = "mapping" if isinstance(node, yaml.MappingNode) else "list"
    return f"a {kind} of {len(node.value)}" if node.value else f"an empty {kind}"
