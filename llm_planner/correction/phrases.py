"""The table of phrases, as `written/phrases.txt` has it: what is said, and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from llm_planner.correction.patterns import compiled, words_in
from llm_planner.correction.requests import Intent, Sense, Size, When
from llm_planner.errors import InputError
from llm_planner.plan.edits import Scope

TABLE = Path(__file__).parent / "written" / "phrases.txt"
_MACRO = re.compile(r"(\w+) = (.+)")
_HEAD = re.compile(r"(\w+):((?: \w+=\S+)*)")
_READ = {
    "sense": Sense,
    "size": Size,
    "when": When,
    "number": float,
    "negated": bool,
    "scope": Scope,
}  # a slot's value from its text; others are words


@dataclass(frozen=True)
class Phrase:
    """One pattern, with the slots that it fills whatever stands in its own; `words` are all that it may match, None
    where those may be any."""

    intent: Intent
    written: str
    slots: Mapping[str, Any]
    words: frozenset[str] | None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Made once it is needed."""
        return compiled(self.written)

    def match(self, text: str, words: frozenset[str]) -> re.Match[str] | None:
        """Whether the pattern fits the whole of a `spaced` text; `words` are the text's, without its marks."""
        return self.pattern.fullmatch(text) if self.words is None or words <= self.words else None


@lru_cache(maxsize=1)
def phrases() -> tuple[Phrase, ...]:
    """Those that the package knows, in the order in which they are tried."""
    return tuple(read_phrases(TABLE.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Every word in them."""
    return frozenset(word for phrase in phrases() for word in phrase.words or ())


def read_phrases(text: str) -> Iterator[Phrase]:
    """The phrases of a table; raises InputError that names the line which is wrong."""
    macros: dict[str, str] = {}
    intent, slots = None, {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if macro := _MACRO.fullmatch(line):
            macros[macro[1]] = _filled(macro[2], macros, number)
        elif head := _HEAD.fullmatch(line):
            intent, slots = _intent(head[1], number), _slots(head[2], number)
        elif line.startswith("  ") and intent is not None:
            pattern = _filled(line.strip(), macros, number)
            yield Phrase(intent, pattern, slots, words_in(pattern))
        else:
            raise InputError(f"line {number} of the phrases, {line!r}, is no pattern below an intent; indent it by two")


def _intent(name: str, number: int) -> Intent:
    try:
        return Intent(name)
    except ValueError:
        intents = ", ".join(intent.value for intent in Intent)
        raise InputError(f"line {number} of the phrases asks for {name!r}; write one of: {intents}") from None


def _slots(text: str, number: int) -> dict[str, Any]:
    pairs = (pair.split("=") for pair in text.split())
    try:
        return {name: _READ.get(name, str)(value) for name, value in pairs}
    except ValueError as error:
        raise InputError(f"line {number} of the phrases has a slot that cannot be read: {error}") from None


def _filled(pattern: str, macros: Mapping[str, str], number: int) -> str:
    missing = [name for name in re.findall(r"\{(\w+)\}", pattern) if name not in macros]
    if missing:
        raise InputError(f"line {number} of the phrases uses {{{missing[0]}}}; there are: {', '.join(macros)}")
    return re.sub(r"\{(\w+)\}", lambda found: macros[found[1]], pattern)
