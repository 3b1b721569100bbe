"""Tables of what results may say, and how terms are checked against them.

A table gives for each symbol its terms, and for each term its slots. A slot is a symbol with marks: `KEY=` before it is
written, `?` behind it may be left out, `+` stands for one or more. `WORDS` are words of the person. A term without a
name, "", stands for its only slot. Slots are written in the order of the table.

The text form of every result: terms, such as `never(in("the lab"), near("anna")); put("red mug", in("box"))`.

A term is a name with arguments in brackets. An argument is a term, the person's own words in double quotes, or one of
these behind a key: `shift(left, by="2 cm")`. A result is one or more terms joined by "; ". There is one way to write
each result, so texts can be compared, and a model is trained on exactly what it is to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

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


WORDS = "WORDS"
MOST_TERMS = 8  # of a result
Table = Mapping[str, Mapping[str, tuple[str, ...]]]
_SLOT = re.compile(r"(?:(?P<key>[a-z]+)=)?(?P<symbol>[A-Z_]+)(?P<mark>[?+]?)")


@dataclass(frozen=True)
class Slot:
    """What stands in one place of a term."""

    symbol: str
    key: str = ""
    optional: bool = False
    several: bool = False


def slot_of(text: str) -> Slot:
    """Read a slot as tables write it: `DIRECTION`, `STATE+`, `by=AMOUNT?`."""
    match = _SLOT.fullmatch(text)
    assert match is not None, text
    return Slot(match["symbol"], match["key"] or "", match["mark"] == "?", match["mark"] == "+")


@dataclass(frozen=True)
class Forms:
    """The results of one task: one or more of `items`, or one of `alone` by itself; by `table`."""

    table: Table
    items: tuple[str, ...]
    alone: tuple[str, ...] = ()
    _slots: dict[str, dict[str, tuple[Slot, ...]]] = field(init=False, repr=False, compare=False, default_factory=dict)

    _heads: dict[str, tuple[tuple[str, tuple[Slot, ...] | None], ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for symbol, terms in self.table.items():
            self._slots[symbol] = {name: tuple(map(slot_of, slots)) for name, slots in terms.items()}

    @cached_property
    def first(self) -> dict[str, frozenset[str]]:
        """The names with which each symbol may begin, `WORDS` among them."""
        found: dict[str, frozenset[str]] = {WORDS: frozenset((WORDS,))}

        def begin(symbol: str) -> frozenset[str]:
            if symbol not in found:
                names = self._slots[symbol]
                inner = [begin(slots[0].symbol) for name, slots in names.items() if not name]
                found[symbol] = frozenset(name for name in names if name).union(*inner)
            return found[symbol]

        for symbol in self._slots:
            begin(symbol)
        return found

    def heads(self, symbol: str) -> tuple[tuple[str, tuple[Slot, ...] | None], ...]:
        """Return how a value of this symbol may begin: a name with the slots behind its bracket, or None where it has
        no bracket; and `WORDS`."""
        if symbol == WORDS:
            return ((WORDS, None),)
        if symbol not in self._heads:
            found: list[tuple[str, tuple[Slot, ...] | None]] = []
            for name, slots in self._slots[symbol].items():
                if not name:
                    found += self.heads(slots[0].symbol)
                    continue
                found += [(f"{name}(", slots)] if slots else []
                found += [(name, None)] if all(slot.optional for slot in slots) else []
            self._heads[symbol] = tuple(found)
        return self._heads[symbol]

    def slots(self, symbol: str, name: str) -> tuple[Slot, ...]:
        """The slots of the term of that name; raise LanguageModelError where the symbol has none such."""
        if name not in self._slots[symbol]:
            raise LanguageModelError(f"{name!r} is no {symbol}; there is {', '.join(sorted(self._slots[symbol]))}")
        return self._slots[symbol][name]

    def check(self, terms: Sequence[Term]) -> None:
        """Raise LanguageModelError where the terms are no result of this task."""
        if len(terms) == 1 and any(terms[0].name in self.first[symbol] for symbol in self.alone):
            return
        for term in terms:
            self._check(self._symbol_of(term, self.items), term)

    def filled(self, symbol: str, term: Term) -> dict[str, list[Value]]:
        """What stands in the slots of a term, by key or symbol; raise LanguageModelError where it does not fit."""
        slots = list(self.slots(symbol, term.name))
        found: dict[str, list[Value]] = {}
        for value in term.arguments:
            while slots and not (not slots[0].key and self._fits(slots[0].symbol, value)):
                self._skip(slots, term)
            if not slots:
                raise LanguageModelError(f"{value} has no place in {term}")
            found.setdefault(slots[0].symbol, []).append(value)
            slot = slots.pop(0)
            if slot.several:
                slots.insert(0, replace(slot, optional=True))
        for key, value in term.keyed:
            while slots and not (slots[0].key == key and self._fits(slots[0].symbol, value)):
                self._skip(slots, term)
            if not slots:
                raise LanguageModelError(f"{key}={value} has no place in {term}")
            found[slots.pop(0).key] = [value]
        while slots:
            self._skip(slots, term)
        return found

    def _skip(self, slots: list[Slot], term: Term) -> None:
        slot = slots.pop(0)
        if not slot.optional:
            raise LanguageModelError(f"{term} has no {slot.key or slot.symbol}")

    def _fits(self, symbol: str, value: Value) -> bool:
        return (WORDS if isinstance(value, Words) else value.name) in self.first[symbol]

    def _symbol_of(self, term: Term, symbols: Sequence[str]) -> str:
        for symbol in symbols:
            if term.name in self._slots[symbol]:
                return symbol
        raise LanguageModelError(f"{term.name!r} is none of {', '.join(symbols)}")

    def _check(self, symbol: str, value: Value) -> None:
        if symbol == WORDS:
            if not isinstance(value, Words) or not value.text:
                raise LanguageModelError(f"{value} should be words")
            return
        names = self._slots[symbol]
        if isinstance(value, Words) or value.name not in names:
            inner = [
                slots[0].symbol for name, slots in names.items() if not name and self._fits(slots[0].symbol, value)
            ]
            if not inner:
                raise LanguageModelError(f"{value} is no {symbol}")
            self._check(inner[0], value)
            return
        by_slot = {slot.key or slot.symbol: slot.symbol for slot in names[value.name]}
        for slot, values in self.filled(symbol, value).items():
            for one in values:
                self._check(by_slot[slot], one)


WORD = re.compile(r"[^\s,.;:!?()\[\]{}\"]+(?:[.,:][^\s,.;:!?()\[\]{}\"]+)*")  # of the person
