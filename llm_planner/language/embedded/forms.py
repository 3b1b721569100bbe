"""Terms of the embedded model's results, their text form, and the grammar that they are checked against.

A result is one or more terms, such as `never(in("the lab"), near("anna")); put("red mug", in("box"))`. A term is a name
with arguments in brackets. An argument is a term, words of the person in double quotes, or one of these with a key:
`shift(left, by="2 cm")`. Each result has a unique text, so that texts can be compared and serve as training targets.

A grammar table gives the terms of each symbol and the slots of each term, in order. A slot is a symbol with marks: a
prefix `KEY=` is written before the argument, `?` marks an optional slot and `+` one or more arguments. `WORDS` stands
for words of the person. A term with the name "" stands for its only slot.
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
    """Words of the person, as said."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True)
class Term:
    """Term with a name, positional `arguments` and then `keyed` ones."""

    name: str
    arguments: tuple[Value, ...] = ()
    keyed: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        inside = [*map(str, self.arguments), *(f"{key}={value}" for key, value in self.keyed)]
        return f"{self.name}({', '.join(inside)})" if inside else self.name


Value = Term | Words  # argument of a term


def result_text(terms: Sequence[Term]) -> str:
    """Write the terms of a result as text; inverse of `parse_result`."""
    return "; ".join(map(str, terms))


def parse_result(text: str) -> tuple[Term, ...]:
    """Parse a result of one or more terms; raise LanguageModelError for other texts."""
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
MOST_TERMS = 8  # per result
Table = Mapping[str, Mapping[str, tuple[str, ...]]]
_SLOT = re.compile(r"(?:(?P<key>[a-z]+)=)?(?P<symbol>[A-Z_]+)(?P<mark>[?+]?)")


@dataclass(frozen=True)
class Slot:
    """Slot of a term: the grammar symbol of its argument, its key and its marks."""

    symbol: str
    key: str = ""
    optional: bool = False
    several: bool = False


def slot_of(text: str) -> Slot:
    """Parse a slot as written in tables: `DIRECTION`, `STATE+`, `by=AMOUNT?`."""
    match = _SLOT.fullmatch(text)
    assert match is not None, text
    return Slot(match["symbol"], match["key"] or "", match["mark"] == "?", match["mark"] == "+")


@dataclass(frozen=True)
class Forms:
    """Grammar of the results of one task.

    Attributes:
        table: Slots of the terms of each symbol.
        items: Symbols of the terms of a result.
        alone: Symbols of terms that must be the only one.
    """

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
        """Names that each symbol may begin with, including `WORDS`."""
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
        """Return how a value of this symbol may begin: a name, or `WORDS`, with its slots or None without a bracket."""
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
        """Return the slots of a term; raise LanguageModelError if the symbol has no term of that name."""
        if name not in self._slots[symbol]:
            raise LanguageModelError(
                f"{name!r} is not a term of {symbol}; its terms are {', '.join(sorted(self._slots[symbol]))}"
            )
        return self._slots[symbol][name]

    def check(self, terms: Sequence[Term]) -> None:
        """Raise LanguageModelError if the terms are not a result of this task."""
        if len(terms) == 1 and any(terms[0].name in self.first[symbol] for symbol in self.alone):
            return
        for term in terms:
            self._check(self._symbol_of(term, self.items), term)

    def filled(self, symbol: str, term: Term) -> dict[str, list[Value]]:
        """Return the values of a term's slots by key or symbol; raise LanguageModelError if the term does not fit."""
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
                raise LanguageModelError(f"{value} does not fit {symbol}")
            self._check(inner[0], value)
            return
        by_slot = {slot.key or slot.symbol: slot.symbol for slot in names[value.name]}
        for slot, values in self.filled(symbol, value).items():
            for one in values:
                self._check(by_slot[slot], one)


WORD = re.compile(r"[^\s,.;:!?()\[\]{}\"]+(?:[.,:][^\s,.;:!?()\[\]{}\"]+)*")  # word of the person
