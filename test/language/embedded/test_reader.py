"""Readings that say the same are counted together, and nothing is read twice or beyond what the model can take."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.network import BETWEEN, FIRST, UNKNOWN, Hypothesis, Network, Source, WordPieces
from llm_planner.language.embedded.reader import MOST_WORDS, EmbeddedReader, Situation, Task, load_reader
from training.results import parse_result, symbols_of

SAID = "put the mug away"
FORMS = {Task.COMMAND: COMMANDS}


class Writes:
    """A network that writes these results with these probabilities; counts how often it is asked."""

    pieces = WordPieces.of((UNKNOWN, FIRST, BETWEEN))

    def __init__(self, *results: tuple[str, float]) -> None:
        self.results, self.asked = results, 0

    def read(self, source: Source, forms: object) -> list[Hypothesis]:
        self.asked += 1
        return [Hypothesis(tuple(symbols_of(parse_result(text), SAID)), (log(p),)) for text, p in self.results]


def reader_of(*results: tuple[str, float]) -> tuple[EmbeddedReader, Writes]:
    network = Writes(*results)
    return EmbeddedReader(network, FORMS), network  # type: ignore[arg-type]


def test_results_that_differ_in_articles_are_one_reading() -> None:
    reader, _ = reader_of(('pick("the mug")', 0.4), ('reach("mug")', 0.3), ('pick("mug")', 0.2))
    first, second = reader.read(Task.COMMAND, Situation(), SAID)
    assert (str(first), str(second)) == ('pick("the mug")', 'reach("mug")')
    assert (first.probability, second.probability) == pytest.approx((0.6, 0.3))


def test_a_reading_that_is_likelier_together_comes_first() -> None:
    reader, _ = reader_of(('reach("mug")', 0.4), ('pick("the mug")', 0.3), ('pick("mug")', 0.3))
    assert str(reader.read(Task.COMMAND, Situation(), SAID)[0]) == 'pick("the mug")'


def test_a_reading_knows_which_characters_it_copies() -> None:
    reader, _ = reader_of(('pick("the mug")', 0.9))
    (reading,) = reader.read(Task.COMMAND, Situation(), SAID)
    assert reading.spans == ((SAID.index("the"), SAID.index(" away")),)
    assert reading.covers(SAID.index("mug"), SAID.index(" away"))
    assert not reading.covers(SAID.index("away"), len(SAID))


def test_the_same_is_read_once() -> None:
    reader, network = reader_of(('pick("mug")', 0.9))
    for words in (SAID, "Put  the mug away", SAID):
        reader.read(Task.COMMAND, Situation(), words)
    assert network.asked == 1


def test_the_same_words_in_another_scene_are_read_anew() -> None:
    reader, network = reader_of(('pick("mug")', 0.9))
    for situation in (Situation(), Situation(("red mug",)), Situation(held="red block")):
        reader.read(Task.COMMAND, situation, SAID)
    assert network.asked == 3


@pytest.mark.parametrize("words", ["", "   ", "?!", "put it " * MOST_WORDS])
def test_no_words_and_too_many_are_refused(words: str) -> None:
    with pytest.raises(LanguageModelError, match=r"words were said; the embedded model reads 1 to \d+"):
        reader_of()[0].read(Task.COMMAND, Situation(), words)


def test_what_is_too_long_in_pieces_is_refused(drawn_network: Callable[[int], Network]) -> None:
    reader = EmbeddedReader(drawn_network(0), FORMS)
    with pytest.raises(LanguageModelError, match="too long for the embedded model"):
        reader.read(Task.COMMAND, Situation(), " ".join(["5.5.5"] * 60))


def test_the_model_that_ships_is_loaded_once() -> None:
    assert load_reader() is load_reader()
