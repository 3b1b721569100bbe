"""What all tests share: an interrupt means the same however they were started, and language is read from a list."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from llm_planner.corrections.reading import CorrectionReader, EmbeddedCorrections
from llm_planner.corrections.situation import Sources
from llm_planner.errors import SimulationError
from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.forms import WORD, WORDS, Forms, Term, Value, Words, slot_of
from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import Situation, Task, TermReading, plain
from llm_planner.simulation.offscreen import open_gl_context
from training.results import check_result, parse_result, symbols_of

# A shell that starts us in the background has us and our children ignore SIGINT; the tests send it on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)

FORMS = {Task.COMMAND: COMMANDS, Task.RULE: RULES, Task.CORRECTION: REQUESTS}
SURELY = 0.95


@dataclass(frozen=True)
class ListedReader:
    """Stands in for the embedded reader: reads each sentence as the result that is listed for it, and no other.

    What is listed as a command is no rule: asked for one, it reads nothing.
    """

    results: Mapping[str, str]
    probability: float = SURELY

    def read(self, task: Task, situation: Situation, words: str) -> tuple[TermReading, ...]:
        said = plain(words)
        terms = parse_result({plain(one): result for one, result in self.results.items()}[said])
        if task is Task.RULE and terms[0].name not in RULES.table["SPECIFICATION"]:
            return ()
        check_result(terms, FORMS[task])
        spans = [match.span() for match in WORD.finditer(said)]
        copied = [symbol[1] for symbol in symbols_of(terms, said) if isinstance(symbol, tuple)]
        places = zip(copied[::2], copied[1::2], strict=True)
        return (TermReading(terms, self.probability, tuple((spans[a][0], spans[b][1]) for a, b in places)),)


@pytest.fixture(scope="session")
def can_draw() -> bool:
    """Whether there is an off-screen OpenGL."""
    try:
        open_gl_context(16, 16).free()
    except SimulationError:
        return False
    return True


@pytest.fixture(scope="session")
def off_screen(can_draw: bool) -> None:
    """Skips a test that draws where nothing can be drawn."""
    if not can_draw:
        pytest.skip("no off-screen OpenGL here")


@pytest.fixture(scope="session")
def listed_reader() -> Callable[..., ListedReader]:
    """Makes a reader of the sentences and results of a table, such as {"pick up the mug": 'pick("mug")'}."""
    return ListedReader


@pytest.fixture(scope="session")
def listed_model() -> Callable[[Mapping[str, str]], EmbeddedModel]:
    """The embedded model over such a reader."""
    return lambda results: EmbeddedModel(ListedReader(results))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def listed_corrections() -> Callable[[Mapping[str, str], Sources], CorrectionReader]:
    """The reader of corrections over one; stops, reflexes and answers need no line in the table."""

    def made(results: Mapping[str, str], sources: Sources) -> CorrectionReader:
        reader = ListedReader(results)
        return CorrectionReader(sources, EmbeddedCorrections(reader, sources).read)  # type: ignore[arg-type]

    return made


@st.composite
def values(draw: st.DrawFn, forms: Forms, symbol: str, copies: Sequence[str], depth: int = 0) -> Value:
    """Anything that may stand for a symbol, as simple as can be where it is nested deeply."""
    if symbol == WORDS:
        return Words(draw(st.sampled_from(copies)))
    terms = forms.table[symbol]
    names = sorted(terms, key=lambda name: (len(terms[name]), name))
    if depth > 3:
        names = [name for name in names if not terms[name] or terms[name] == (WORDS,)] or names[:1]
    name = draw(st.sampled_from(names))
    if not name:
        return draw(values(forms, terms[name][0], copies, depth + 1))
    arguments: list[Value] = []
    keyed: list[tuple[str, Value]] = []
    for slot in map(slot_of, terms[name]):
        least, most = (0 if slot.optional else 1), (2 if slot.several else 1)
        for _ in range(draw(st.integers(least, most)) if depth < 3 else least):
            value = draw(values(forms, slot.symbol, copies, depth + 1))
            if slot.key:
                keyed.append((slot.key, value))
            else:
                arguments.append(value)
    return Term(name, tuple(arguments), tuple(keyed))


def results(forms: Forms, copies: Sequence[str]) -> st.SearchStrategy[tuple[Term, ...]]:
    """One to three items of the task."""
    item = st.sampled_from(forms.items).flatmap(lambda symbol: values(forms, symbol, copies))
    return st.lists(item, min_size=1, max_size=3).map(tuple)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def any_result() -> Callable[[Forms, Sequence[str]], st.SearchStrategy[tuple[Term, ...]]]:
    """Draws results that forms allow, of these words."""
    return results
