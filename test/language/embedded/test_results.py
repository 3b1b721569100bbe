"""Every result has one text, which parses back to the same, and which the grammar for its words lets through."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.correction.request_text import REQUESTS
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.forms import WORDS, Forms, Rules, gbnf, slot_of
from llm_planner.language.embedded.reader import spaced
from llm_planner.language.embedded.terms import Term, Value, Words, parse_result, result_text

SAID = "no, put the blue one 2.5 cm left of anna's mug: not in the server room 3"
COPIES = ("blue one", "the blue one", "2.5 cm", "anna's mug", "server room 3", "no", "3", "mug: not in")
FORMS = (COMMANDS, RULES, REQUESTS)


@st.composite
def values(draw: st.DrawFn, forms: Forms, symbol: str, depth: int = 0) -> Value:
    """Anything that may stand for a symbol, as simple as can be where it is nested deeply."""
    if symbol == WORDS:
        return Words(draw(st.sampled_from(COPIES)))
    terms = forms.table[symbol]
    names = sorted(terms, key=lambda name: (len(terms[name]), name))
    if depth > 3:
        names = [name for name in names if not terms[name] or terms[name] == (WORDS,)] or names[:1]
    name = draw(st.sampled_from(names))
    if not name:
        return draw(values(forms, terms[name][0], depth + 1))
    arguments: list[Value] = []
    keyed: list[tuple[str, Value]] = []
    for slot in map(slot_of, terms[name]):
        least, most = (0 if slot.optional else 1), (2 if slot.several else 1)
        for _ in range(draw(st.integers(least, most)) if depth < 3 else least):
            value = draw(values(forms, slot.symbol, depth + 1))
            if slot.key:
                keyed.append((slot.key, value))
            else:
                arguments.append(value)
    return Term(name, tuple(arguments), tuple(keyed))


def results(forms: Forms) -> st.SearchStrategy[tuple[Term, ...]]:
    """One to three items of the task."""
    item = st.sampled_from(forms.items).flatmap(lambda symbol: values(forms, symbol))
    return st.lists(item, min_size=1, max_size=3).map(tuple)  # type: ignore[arg-type]


def accepts(rules: Rules, text: str) -> bool:
    """Whether the grammar derives the text; all ways are followed at once."""

    def ends(name: str, begins: frozenset[int], known: dict[tuple[str, int], frozenset[int]]) -> frozenset[int]:
        found: set[int] = set()
        for begin in begins:
            if (name, begin) not in known:
                known[name, begin] = frozenset()
                known[name, begin] = frozenset(end for one in rules[name] for end in sequence(one, begin, known))
            found |= known[name, begin]
        return frozenset(found)

    def sequence(parts: list[str], begin: int, known: dict[tuple[str, int], frozenset[int]]) -> frozenset[int]:
        places = frozenset((begin,))
        for part in parts:
            if part.startswith('"'):
                places = frozenset(at + len(part) - 1 for at in places if text.startswith(part[1:], at))
            else:
                places = ends(part, places, known)
        return places

    return len(text) in ends("root", frozenset((0,)), {})


@pytest.mark.parametrize("forms", FORMS)
def test_a_result_is_read_from_its_text_and_passes_its_grammar(forms: Forms) -> None:
    rules = spaced(forms, SAID)

    @settings(max_examples=150, deadline=None)
    @given(results(forms))
    def check(terms: tuple[Term, ...]) -> None:
        text = result_text(terms)
        assert parse_result(text) == terms
        assert accepts(rules, f" {text}")
        forms.check(terms)

    check()


@pytest.mark.parametrize("forms", FORMS)
def test_every_rule_of_the_grammar_is_defined_once_and_used(forms: Forms) -> None:
    rules = forms.rules(SAID)
    used = {part for alternatives in rules.values() for one in alternatives for part in one if part[:1] != '"'}
    assert used <= {*rules}
    lines = gbnf(rules).splitlines()
    assert len({line.split(" ::= ")[0] for line in lines}) == len(lines)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "put",
        'put("mug")',
        'put("mug", in("box"), "cup")',
        'never(in("lab")',
        "never()",
        'never(in("lab")) and',
        "nothing; nothing",
        'visit(near("a"), 3)',
    ],
)
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(LanguageModelError):
        COMMANDS.check(parse_result(text))


def test_only_words_that_were_said_can_be_copied() -> None:
    rules = RULES.rules("never touch the green vase")
    assert accepts(rules, 'never(moved("green vase"))')
    assert not accepts(rules, 'never(moved("red vase"))')
    assert not accepts(rules, 'never(moved("reen vase"))')


def test_grammars_quote_what_llama_would_read_otherwise() -> None:
    rules: Mapping[str, list[list[str]]] = RULES.rules('a\\b "c" d')
    assert '"a\\\\b' in gbnf(dict(rules))
