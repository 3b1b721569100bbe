"""Grammars in the JSpeech Grammar Format (W3C note, 2000): parsing, pruning, writing, sampling and matching.

The supported subset has sequences, alternatives, groups, optional parts, tags and rule references. It has no weights,
repetition, imports or recursive rules.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from llm_planner.errors import InputError


@dataclass(frozen=True)
class Word:
    text: str


@dataclass(frozen=True)
class Rule:
    """Reference to the rule of that name."""

    name: str


@dataclass(frozen=True)
class Tag:
    """Meaning of the surrounding words; the tag itself is not spoken."""

    meaning: str


@dataclass(frozen=True)
class Series:
    """Sequence of parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    """Alternatives."""

    options: tuple[Part, ...]


Part = Word | Rule | Tag | Series | Choice
Rules = Mapping[str, Part]

NOTHING = Series(())
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADER = re.compile(r"\s*#JSGF[^;]*;|\bgrammar\s+\S+\s*;")
_RULE = re.compile(r"\s*(?:public\s+)?<(\w+)>\s*=([^;]*);")
_TOKEN = re.compile(r"\s*(?:<(\w+)>|\{([^}]*)\}|([][()|])|([\w'.-]+))")


def read_grammar(text: str) -> dict[str, Part]:
    """Parse a grammar into rules by name; raise InputError that shows where the syntax is wrong."""
    rest = _HEADER.sub("", _COMMENT.sub("", text)).strip()
    rules: dict[str, Part] = {}
    while rest:
        found = _RULE.match(rest)
        if not found:
            raise InputError(f"this is not a rule of a grammar: {rest[:60]!r}; a rule is written <name> = words;")
        rules[found[1]] = _Reader(found[1], found[2]).whole()
        rest = rest[found.end() :].strip()
    return rules


class _Reader:
    """Recursive descent parser of one expansion."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text.rstrip()
        self._place = 0

    def whole(self) -> Part:
        part = self._choice()
        if self._place < len(self._text):
            raise self._wrong()
        return part

    def _choice(self) -> Part:
        options = [self._series()]
        while self._next("|"):
            options.append(self._series())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _series(self) -> Part:
        parts: list[Part] = []
        while (part := self._item()) is not None:
            parts.append(part)
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _item(self) -> Part | None:
        if self._next("("):
            return self._closed(self._choice(), ")")
        if self._next("["):
            return Choice((self._closed(self._choice(), "]"), NOTHING))
        found = _TOKEN.match(self._text, self._place)
        if not found or found[3]:
            return None
        self._place = found.end()
        rule, tag, _, word = found.groups()
        return Rule(rule) if rule else Word(word.lower()) if word else Tag(tag.strip())

    def _closed(self, part: Part, bracket: str) -> Part:
        if not self._next(bracket):
            raise self._wrong()
        return part

    def _next(self, bracket: str) -> bool:
        found = _TOKEN.match(self._text, self._place)
        if not found or found[3] != bracket:
            return False
        self._place = found.end()
        return True

    def _wrong(self) -> InputError:
        rest = self._text[self._place :].strip()[:40]
        return InputError(f"the rule <{self._name}> is not understood from {rest!r} on; check its brackets")


def without(rules: Rules, known: Container[str] | None = None) -> dict[str, Part]:
    """Remove every alternative that needs a missing rule, or a word that is not `known` (None: all words are known)."""
    done: dict[str, Part | None] = {}

    def pruned(part: Part) -> Part | None:
        if isinstance(part, Rule):
            return part if rule(part.name) is not None else None
        if isinstance(part, Word):
            return part if known is None or part.text in known else None
        if isinstance(part, Series):
            kept = [pruned(item) for item in part.parts]
            return None if None in kept else Series(tuple(item for item in kept if item is not None))
        if isinstance(part, Choice):
            options = tuple(item for item in map(pruned, part.options) if item is not None)
            return Choice(options) if options else None
        return part

    def rule(name: str) -> Part | None:
        if name not in done:
            done[name] = pruned(rules[name]) if name in rules else None
        return done[name]

    return {name: part for name in rules if (part := rule(name)) is not None}


def drawn(rules: Rules, start: str, random: Random) -> str:
    """Sample one sentence, with equal probability for each option of a choice."""
    words: list[str] = []
    waiting: list[Part] = [Rule(start)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Word):
            words.append(part.text)
        elif isinstance(part, Rule):
            waiting.append(rules[part.name])
        elif isinstance(part, Choice):
            waiting.append(random.choice(part.options))
        elif isinstance(part, Series):
            waiting.extend(reversed(part.parts))
    return " ".join(words)


def meanings(rules: Rules, start: str, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the tags of every parse of exactly these words, in grammar order."""
    return (tags for place, tags in _matches(rules, Rule(start), words, 0) if place == len(words))


def _matches(rules: Rules, part: Part, words: Sequence[str], place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    if isinstance(part, Word):
        if place < len(words) and words[place] == part.text:
            yield place + 1, ()
    elif isinstance(part, Tag):
        yield place, (part.meaning,)
    elif isinstance(part, Rule):
        yield from _matches(rules, rules[part.name], words, place)
    elif isinstance(part, Choice):
        for option in part.options:
            yield from _matches(rules, option, words, place)
    elif not part.parts:
        yield place, ()
    else:
        for middle, before in _matches(rules, part.parts[0], words, place):
            for end, after in _matches(rules, Series(part.parts[1:]), words, middle):
                yield end, (*before, *after)
