"""A mapping of a YAML file whose every wrong entry is told with its file, key, value and choices."""

from __future__ import annotations

import string
from collections.abc import Collection
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError


class Table:
    """A mapping of a YAML file, called `what` in errors, with these `keys`; raises InputError for any other."""

    def __init__(self, path: Path, what: str, values: object, keys: Collection[str]) -> None:
        if not isinstance(values, dict):
            raise InputError(f"{path}: {what} must be a mapping with the keys {', '.join(keys)}, not {values!r}")
        unknown = [str(key) for key in values if key not in keys]
        if unknown:
            raise InputError(f"{path}: {what} has the unknown key {unknown[0]!r}; the keys are: {', '.join(keys)}")
        self.path = path
        self.values: dict[str, Any] = values
        self._what = what

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{self.path}: {key} of {self._what} must be a text, not {value!r}")
        return value

    def sentence(self, key: str, names: Collection[str]) -> str:
        """A text in which {fields} stand for the values of `names`."""
        text = self.text(key)
        try:
            parts = [part for part in string.Formatter().parse(text) if part[1] is not None]
        except ValueError as error:
            raise InputError(f"{self.path}: {key} of {self._what}, {text!r}, has a stray brace: {error}") from error
        for _, name, form, conversion in parts:
            if name not in names or form or conversion:
                written = f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
                raise InputError(
                    f"{self.path}: {key} names {{{written}}}; it may name: {', '.join(names) or 'nothing'}"
                )
        return text

    def list(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if not isinstance(value, list):
            raise InputError(f"{self.path}: {key} of {self._what} must be a list (possibly empty: []), not {value!r}")
        return value

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{self.path}: {key} of {self._what} must be a number, not {value!r}")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise InputError(f"{self.path}: {key} of {self._what} must be true or false, not {value!r}")
        return value

    def count(self, key: str) -> int:
        value = self.values.get(key)
        if type(value) is not int or value < 1:
            raise InputError(f"{self.path}: {key} of {self._what} must be a whole number above 0, not {value!r}")
        return value

    def positive(self, key: str) -> float:
        value = self.number(key)
        if value is None or not 0.0 < value < float("inf"):
            raise InputError(f"{self.path}: {key} of {self._what} must be a number of seconds above 0, not {value!r}")
        return value
