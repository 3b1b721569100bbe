"""Results of the embedded model as training writes them: their text, their symbols, and the check against a grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.forms import (
    CLOSE,
    NEXT,
    STOP,
    WORD,
    Derivation,
    Forms,
    Symbol,
    Term,
    Value,
    Words,
    result_text,
)
from llm_planner.language.embedded.network import SCALE, Array

_TOKEN = re.compile(r'\s*("[^"\n]*"|[a-z_][a-z_0-9]*|[(),;=])|\s*\S')
_NAME = re.compile(r"[a-z_]\w*")
Span = tuple[int, int]  # numbers of the first and the last word


def parse_result(text: str) -> tuple[Term, ...]:
    """Parse a result of one or more terms; inverse of `result_text`. Raises LanguageModelError for other texts."""
    tokens = [match[1] or "" for match in _TOKEN.finditer(text)]

    def take(wanted: str = "") -> str:
        token = tokens.pop(0) if tokens else ""
        if not token or (wanted and token != wanted):
            raise LanguageModelError(f"the result {text!r} has {token!r} where {wanted or 'more'!r} should be")
        return token

    def value() -> Value:
        name = take()
        if name.startswith('"'):
            return Words(name[1:-1])
        if not _NAME.fullmatch(name):
            raise LanguageModelError(f"the result {text!r} has {name!r} where a name should be")
        arguments: list[Value] = []
        keyed: list[tuple[str, Value]] = []
        mark = "("
        while tokens[:1] == [mark]:
            take()
            if tokens[1:2] == ["="]:
                keyed.append((take(), (take("="), value())[1]))
            elif keyed:
                raise LanguageModelError(f"the result {text!r} has {tokens[:1]} where a key should be")
            else:
                arguments.append(value())
            mark = ","
        if mark == ",":
            take(")")
        return Term(name, tuple(arguments), tuple(keyed))

    found = [value()]
    while tokens:
        take(";")
        found.append(value())
    terms = tuple(one for one in found if isinstance(one, Term))
    if len(terms) < len(found):
        raise LanguageModelError(f"the result {text!r} has words where a term should be")
    return terms


def check_result(terms: Sequence[Term], forms: Forms) -> None:
    """Raise LanguageModelError if the terms are not a result that the grammar allows; any words may be copied."""
    state = Derivation(forms, words=1)
    for symbol in _symbols(terms, lambda words: (0, 0)):
        allowed = state.allowed()
        if symbol not in allowed:
            wanted = ", ".join(map(str, allowed))
            raise LanguageModelError(f"{result_text(terms)!r} has {symbol!r} where one of {wanted} should be")
        state = allowed[symbol]


def symbols_of(terms: Sequence[Term], words: str) -> list[Symbol]:
    """Write a result as symbols; raise ValueError if it has words that are not in `words`."""
    spans = [match.span() for match in WORD.finditer(words)]
    begins = {begin: number for number, (begin, _) in enumerate(spans)}
    ends = {end: number for number, (_, end) in enumerate(spans)}

    def place(copied: Words) -> Span:
        for match in re.finditer(f"(?={re.escape(copied.text)})", words):
            at = match.start()
            if at in begins and at + len(copied.text) in ends:
                return begins[at], ends[at + len(copied.text)]
        raise ValueError(f"{copied} was not said")

    return list(_symbols(terms, place))


def _symbols(terms: Sequence[Term], place: Callable[[Words], Span]) -> Iterator[Symbol]:
    """Yield the symbols of a result; `place` finds the words that it copies."""

    def written(value: Value) -> Iterator[Symbol]:
        if isinstance(value, Words):
            begin, end = place(value)
            yield from (("begin", begin), ("end", end))
        elif not value.arguments and not value.keyed:
            yield value.name
        else:
            yield f"{value.name}("
            for key, argument in (*(("", one) for one in value.arguments), *value.keyed):
                yield from (f"{key}=",) if key else ()
                yield from written(argument)
            yield CLOSE

    for number, term in enumerate(terms):
        yield from (NEXT,) if number else ()
        yield from written(term)
    yield STOP


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


def quantised(name: str, matrix: Array) -> dict[str, NDArray[np.generic]]:
    """Quantise a matrix to int8 with a scale per row; convert vectors and small tables to half precision."""
    if matrix.ndim < 2 or matrix.shape[0] < 16:
        return {name: matrix.astype(np.float16)}
    scale = np.maximum(np.abs(matrix).max(1), 1e-8) / 127.0
    return {
        name: np.round(matrix / scale[:, None]).astype(np.int8),
        f"{name}{SCALE}": scale.astype(np.float32),
    }
