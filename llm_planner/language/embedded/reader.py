"""Reader that turns words into terms with the embedded model, with equal results merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.derivation import Symbol, terms_of
from llm_planner.language.embedded.encoding import Situation, Task, plain
from llm_planner.language.embedded.forms import WORD, Forms, Term, Value, Words, result_text
from llm_planner.language.embedded.network import Network, load_network, source_of

WEIGHTS = Path(__file__).parent / "weights"
MOST_WORDS = 80
MOST_PIECES = 160  # word pieces of words and scene
REMEMBERED = 256  # cached readings, since callers ask for the same command several times
_ARTICLES = ("the ", "a ", "an ")
_CONTRACTED = re.compile(r"'(?:s|ll|d|re|ve)(?: do)?$")


@dataclass(frozen=True)
class TermReading:
    """Reading as terms with its probability; `spans` are the character ranges that the terms copy."""

    terms: tuple[Term, ...]
    probability: float
    spans: tuple[tuple[int, int], ...] = ()

    def covers(self, begin: int, end: int) -> bool:
        """Return whether a copied span contains the characters from `begin` to `end`."""
        return any(first <= begin and end <= last for first, last in self.spans)

    def __str__(self) -> str:
        return result_text(self.terms)


@dataclass
class EmbeddedReader:
    """Reader of words with a network; `forms` holds the grammar of each task."""

    network: Network
    forms: Mapping[Task, Forms]
    _known: dict[tuple[Task, str, str], tuple[TermReading, ...]] = field(default_factory=dict, repr=False)

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        """Read words as a task; return the readings, the most probable first.

        Raises LanguageModelError if there are no words, or more than `MOST_WORDS`.
        """
        said = plain(words)
        count = len(WORD.findall(said))
        if not 0 < count <= MOST_WORDS:
            raise LanguageModelError(f"{count} words were said; the embedded model reads 1 to {MOST_WORDS}")
        key = (task, situation.line(said), said)
        if key not in self._known:
            while len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[key] = self._read(*key)
        return self._known[key]

    def _read(self, task: Task, line: str, said: str) -> tuple[TermReading, ...]:
        source = source_of(self.network.pieces, task, line, said)
        if len(source.pieces) > MOST_PIECES:
            raise LanguageModelError("that is too long for the embedded model; say it in shorter parts")
        found: dict[str, TermReading] = {}
        for one in self.network.read(source, self.forms[task]):
            terms = tuple(_changed(term, _owner) for term in terms_of(one.symbols, said))
            key = result_text([_changed(term, _bare) for term in terms])
            known = found.get(key)
            best = known.terms if known else terms
            spans = known.spans if known else _spans(one.symbols, said)
            found[key] = TermReading(best, (known.probability if known else 0.0) + one.probability, spans)
        return tuple(sorted(found.values(), key=lambda one: -one.probability))


def _spans(symbols: Sequence[Symbol], said: str) -> tuple[tuple[int, int], ...]:
    """Return the character ranges that the symbols copy."""
    words = [match.span() for match in WORD.finditer(said)]
    places = [symbol[1] for symbol in symbols if isinstance(symbol, tuple)]
    return tuple((words[begin][0], words[end][1]) for begin, end in zip(places[::2], places[1::2], strict=True))


def _changed(term: Term, change: Callable[[str], str]) -> Term:
    """Return the term with its copied words changed."""

    def changed(value: Value) -> Value:
        return Words(change(value.text)) if isinstance(value, Words) else _changed(value, change)

    return Term(term.name, tuple(map(changed, term.arguments)), tuple((key, changed(one)) for key, one in term.keyed))


def _owner(text: str) -> str:
    """Remove a contraction: "anna's" becomes anna."""
    return _CONTRACTED.sub("", text)


def _bare(text: str) -> str:
    """Remove the article, which distinguishes nothing."""
    for article in _ARTICLES:
        text = text.removeprefix(article)
    return text


@lru_cache(maxsize=1)
def load_reader(folder: Path = WEIGHTS) -> EmbeddedReader:
    """Load the network in `folder`; raise LanguageModelError if it is incomplete."""
    from llm_planner.language.correction_requests import REQUESTS
    from llm_planner.language.embedded.command_forms import COMMANDS, RULES

    forms = {Task.COMMAND: COMMANDS, Task.RULE: RULES, Task.CORRECTION: REQUESTS}
    return EmbeddedReader(load_network(folder), forms)
