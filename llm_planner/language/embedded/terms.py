"""The text form of every result: terms, such as `never(in("the lab"), near("anna")); put("red mug", in("box"))`.

A term is a name with arguments in brackets. An argument is a term, the person's own words in double quotes, or one of
these behind a key: `shift(left, by="2 cm")`. A result is one or more terms joined by "; ". There is one way to write
each result, so texts can be compared, and a model is trained on exactly what it is to write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llm_planner.errors import LanguageModelError

_TOKEN = re.compile(r'\s*(?:(?P<words>"[^"\n]*")|(?P<name>[a-z_][a-z_0-9]*)|(?P<mark>[(),;=]))')


@dataclass(frozen=True)
class Words:
    """Words of the person, as they were said."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True)
class Term:
    """A name and what it is about: `arguments` in their order, then `keyed` ones."""

    name: str
    arguments: tuple[Value, ...] = ()
    keyed: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        inside = [*map(str, self.arguments), *(f"{key}={value}" for key, value in self.keyed)]
        return f"{self.name}({', '.join(inside)})" if inside else self.name


Value = Term | Words  # of an argument


def result_text(terms: Sequence[Term]) -> str:
    """Write the terms of a result; inverse of `parse_result`."""
    return "; ".join(map(str, terms))


def parse_result(text: str) -> tuple[Term, ...]:
    """Parse a result of one or more terms; raise LanguageModelError where the text is none."""
    parser = _Parser(text, _tokens(text))
    terms = [parser.term()]
    while parser.next_is(";"):
        terms.append(parser.term())
    parser.expect("")
    return tuple(terms)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise LanguageModelError(f"the result {text!r} cannot be read from column {at + 1} on")
        found.append(match[0].strip())
        at = match.end()
    return [*found, ""]


@dataclass
class _Parser:
    text: str
    tokens: list[str]
    at: int = 0

    def term(self) -> Term:
        name = self._take()
        if not re.fullmatch(r"[a-z_][a-z_0-9]*", name):
            raise self._wrong("a name", name)
        arguments: list[Value] = []
        keyed: list[tuple[str, Value]] = []
        if self.next_is("("):
            self._argument(arguments, keyed)
            while self.next_is(","):
                self._argument(arguments, keyed)
            self.expect(")")
        return Term(name, tuple(arguments), tuple(keyed))

    def _argument(self, arguments: list[Value], keyed: list[tuple[str, Value]]) -> None:
        if self.tokens[self.at + 1 : self.at + 2] == ["="]:
            key = self._take()
            self.expect("=")
            keyed.append((key, self._value()))
        elif keyed:
            raise self._wrong("a key", self.tokens[self.at])
        else:
            arguments.append(self._value())

    def _value(self) -> Value:
        if self.tokens[self.at].startswith('"'):
            return Words(self._take()[1:-1])
        return self.term()

    def next_is(self, mark: str) -> bool:
        if self.tokens[self.at] != mark:
            return False
        self.at += 1
        return True

    def expect(self, mark: str) -> None:
        if self._take() != mark:
            raise self._wrong(f"{mark!r}" if mark else "the end", self.tokens[self.at - 1])

    def _take(self) -> str:
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1) if token else self.at
        return token

    def _wrong(self, wanted: str, found: str) -> LanguageModelError:
        return LanguageModelError(f"the result {self.text!r} has {found!r} where {wanted} should be")
