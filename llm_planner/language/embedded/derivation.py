"""Results as sequences of symbols, and the grammar of `forms` as a pushdown automaton over them.

A result such as `never(moved("mug")); speed(less, by="5 cm")` is written as the symbols

    never(  moved(  <begin 3>  <end 3>  )  )  ;  speed(  less  by=  <begin 7>  <end 8>  )  <stop>

where `<begin n>` and `<end n>` point at the n-th word of the person. A name with and without arguments has two symbols,
so that the symbol determines whether arguments follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from llm_planner.language.embedded.forms import MOST_TERMS, WORD, WORDS, Forms, Slot, Term, Value, Words

CLOSE, NEXT, STOP = ")", ";", "<stop>"
Symbol = str | tuple[str, int]  # a word of the vocabulary, or ("begin" | "end", number of the person's word)


def vocabulary(several: Sequence[Forms]) -> tuple[str, ...]:
    """Return all symbols of these tasks without the pointers, sorted."""
    found = {CLOSE, NEXT, STOP}
    for forms in several:
        for symbol in forms.table:
            for name in filter(None, forms.table[symbol]):
                slots = forms.slots(symbol, name)
                found |= {f"{name}("} if slots else set()
                found |= {name} if all(slot.optional for slot in slots) else set()
                found |= {f"{slot.key}=" for slot in slots if slot.key}
    return tuple(sorted(found))


def symbols_of(terms: Sequence[Term], words: str) -> list[Symbol]:
    """Write a result as symbols; raise ValueError if it has words that are not in `words`."""
    spans = [match.span() for match in WORD.finditer(words)]
    found: list[Symbol] = []
    for number, term in enumerate(terms):
        found += [NEXT] if number else []
        found += _written(term, words, spans)
    return [*found, STOP]


def _written(value: Value, words: str, spans: Sequence[tuple[int, int]]) -> Iterator[Symbol]:
    if isinstance(value, Words):
        begins = {begin: number for number, (begin, _) in enumerate(spans)}
        ends = {end: number for number, (_, end) in enumerate(spans)}
        at = words.find(value.text)
        while at >= 0 and not (at in begins and at + len(value.text) in ends):
            at = words.find(value.text, at + 1)
        if at < 0:
            raise ValueError(f"{value} was not said")
        yield "begin", begins[at]
        yield "end", ends[at + len(value.text)]
        return
    if not value.arguments and not value.keyed:
        yield value.name
        return
    yield f"{value.name}("
    for argument in value.arguments:
        yield from _written(argument, words, spans)
    for key, argument in value.keyed:
        yield f"{key}="
        yield from _written(argument, words, spans)
    yield CLOSE


def terms_of(symbols: Sequence[Symbol], words: str) -> tuple[Term, ...]:
    """Convert complete symbols back to terms; inverse of `symbols_of`."""
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
