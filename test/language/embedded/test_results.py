"""Every result has one text and one series of symbols, which the grammar lets through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.errors import LanguageModelError
from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.forms import (
    CLOSE,
    STOP,
    WORD,
    Derivation,
    Forms,
    Symbol,
    Term,
    result_text,
    terms_of,
)
from training.results import check_result, parse_result, symbols_of, vocabulary

SAID = "no, put the blue one 2.5 cm left of anna's mug: not in the server room 3"
COPIES = ("blue one", "the blue one", "2.5 cm", "anna's mug", "server room 3", "no", "3", "mug: not in")
FORMS = (COMMANDS, RULES, REQUESTS)
Drawn = Callable[[Forms, Sequence[str]], st.SearchStrategy[tuple[Term, ...]]]


@pytest.mark.parametrize("forms", FORMS)
def test_a_result_is_read_from_its_text_and_from_its_symbols(forms: Forms, any_result: Drawn) -> None:
    known = set(vocabulary([forms]))

    @settings(max_examples=150, deadline=None)
    @given(any_result(forms, COPIES))
    def check(terms: tuple[Term, ...]) -> None:
        assert parse_result(result_text(terms)) == terms
        check_result(terms, forms)
        symbols = symbols_of(terms, SAID)
        assert terms_of(symbols, SAID) == terms
        state = Derivation(forms, len(WORD.findall(SAID)))
        for symbol in symbols:
            assert isinstance(symbol, tuple) or symbol in known
            state = state.allowed()[symbol]

    check()


@pytest.mark.parametrize("forms", FORMS)
def test_whatever_the_grammar_allows_is_a_result(forms: Forms) -> None:
    @settings(max_examples=150, deadline=None)
    @given(st.randoms(use_true_random=False))
    def check(random: Random) -> None:
        state, symbols = Derivation(forms, 3), list[Symbol]()
        while not symbols or symbols[-1] != "<stop>":
            allowed = state.allowed()
            ends = [one for one in (CLOSE, STOP) if one in allowed]
            symbol = random.choice(ends if ends and len(symbols) > 8 else sorted(allowed, key=str))
            symbols.append(symbol)
            state = allowed[symbol]
            if len(symbols) > 60:  # deep nesting is well-formed, too, and never ends by chance
                return
        terms = terms_of(symbols, "one two three")
        check_result(terms, forms)
        assert symbols_of(terms, "one two three") == symbols

    check()


def test_words_that_nobody_said_cannot_be_copied() -> None:
    with pytest.raises(ValueError, match="was not said"):
        symbols_of(parse_result('pick("purple")'), SAID)


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
        check_result(parse_result(text), COMMANDS)
