"""Terms of the embedded model's results, their text and symbols, and the grammar that decides which may follow.

A result is one or more terms, such as `never(in("the lab"), near("anna")); put("red mug", in("box"))`. A term is a name
with arguments in brackets. An argument is a term, words of the person in double quotes, or one of these with a key:
`shift(left, by="2 cm")`. Each result has a unique text, so that texts can be compared and serve as training targets.

A grammar table gives the terms of each symbol and the slots of each term, in order. A slot is a symbol with marks: a
prefix `KEY=` is written before the argument, `?` marks an optional slot and `+` one or more arguments. `WORDS` stands
for words of the person. A term with the name "" stands for its only slot.

The network writes a result such as `never(moved("mug")); speed(less, by="5 cm")` as the symbols

    never(  moved(  <begin 3>  <end 3>  )  )  ;  speed(  less  by=  <begin 7>  <end 8>  )  <stop>

where `<begin n>` and `<end n>` point at the n-th word of the person. A name with and without arguments has two symbols,
so that the symbol determines whether arguments follow. `Derivation` is the grammar as a pushdown automaton over them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_planner.errors import LanguageModelError

WORD = re.compile(r"[^\s,.;:!?()\[\]{}\"]+(?:[.,:][^\s,.;:!?()\[\]{}\"]+)*")  # word of the person


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
    """Write the terms of a result as text."""
    return "; ".join(map(str, terms))


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
        name = WORDS if isinstance(value, Words) else value.name
        return any(head.removesuffix("(") == name for head, _ in self.heads(symbol))


CLOSE, NEXT, STOP = ")", ";", "<stop>"
Symbol = str | tuple[str, int]  # a word of the vocabulary, or ("begin" | "end", number of the person's word)


def terms_of(symbols: Sequence[Symbol], words: str) -> tuple[Term, ...]:
    """Convert complete symbols to terms; `words` are those that they point at."""
    spans = [match.span() for match in WORD.finditer(words)]
    rest = list(symbols)

    def value() -> Value:
        symbol = rest.pop(0)
        if isinstance(symbol, tuple):
            end = rest.pop(0)
            return Words(words[spans[symbol[1]][0] : spans[int(end[1])][1]])
        if not symbol.endswith("("):
            return Term(symbol)
        arguments: list[Value] = []
        keyed: list[tuple[str, Value]] = []
        while rest[0] != CLOSE:
            head = rest[0]
            if isinstance(head, str) and head.endswith("="):
                rest.pop(0)
                keyed.append((head[:-1], value()))
            else:
                arguments.append(value())
        rest.pop(0)
        return Term(symbol[:-1], tuple(arguments), tuple(keyed))

    terms = []
    while rest and rest[0] != STOP:
        if rest[0] == NEXT:
            rest.pop(0)
        found = value()
        assert isinstance(found, Term)
        terms.append(found)
    return tuple(terms)


@dataclass(frozen=True)
class _Frame:
    """Open bracket: the slots that may still be filled, and whether no argument has come yet."""

    slots: tuple[Slot, ...]
    empty: bool = True


@dataclass(frozen=True)
class Derivation:
    """State of the automaton for a partial result of `forms` over an utterance of `words` words."""

    forms: Forms
    words: int
    frames: tuple[_Frame, ...] = ()
    wanted: str = ""  # grammar symbol that must come next, after "key="
    begun: int = -1  # word at which an open copy begins
    terms: int = 0  # terms begun
    alone: bool = False  # whether the term must be the only one
    between: bool = False  # whether a term has just ended

    def allowed(self) -> dict[Symbol, Derivation]:
        """Return each symbol that may follow, with the next state."""
        if self.begun >= 0:
            return {("end", n): replace(self, begun=-1)._filled() for n in range(self.begun, self.words)}
        if self.wanted:
            return self._values(self.wanted, replace(self, wanted=""))
        if not self.frames:
            return self._outside()
        frame = self.frames[-1]
        found: dict[Symbol, Derivation] = {}
        for place, slot in enumerate(frame.slots):
            rest = frame.slots[place:] if slot.several else frame.slots[place + 1 :]
            if slot.several:
                rest = (replace(slot, optional=True), *frame.slots[place + 1 :])
            after = replace(self, frames=(*self.frames[:-1], _Frame(rest, False)))
            if slot.key:
                found[f"{slot.key}="] = replace(after, wanted=slot.symbol)
            else:
                for symbol, state in self._values(slot.symbol, after).items():
                    found.setdefault(symbol, state)
            if not slot.optional:
                break
        else:
            if not frame.empty:
                found[CLOSE] = replace(self, frames=self.frames[:-1])._filled()
        return found

    def _outside(self) -> dict[Symbol, Derivation]:
        if self.between:
            found: dict[Symbol, Derivation] = {STOP: self}
            if not self.alone and self.terms < MOST_TERMS:
                found[NEXT] = replace(self, between=False)
            return found
        kinds = self.forms.items if self.terms else (*self.forms.items, *self.forms.alone)
        found = {}
        for kind in kinds:
            begun = replace(self, terms=self.terms + 1, alone=kind in self.forms.alone)
            found |= self._values(kind, begun)
        return found

    def _values(self, kind: str, after: Derivation) -> dict[Symbol, Derivation]:
        """Return the first symbols of a value of this kind with the next states; `after` is the state behind it."""
        found: dict[Symbol, Derivation] = {}
        for head, slots in self.forms.heads(kind):
            if head == WORDS:
                found |= {("begin", n): replace(after, begun=n) for n in range(self.words)}
            elif slots is None:
                found.setdefault(head, after._filled())
            else:
                found.setdefault(head, replace(after, frames=(*after.frames, _Frame(slots))))
        return found

    def _filled(self) -> Derivation:
        return self if self.frames else replace(self, between=True)
