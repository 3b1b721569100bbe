"""Who reads what: stop words, rules, and whoever reads what the rules leave."""

import pytest

from llm_planner.correction.compact_reader import load_compact_reader
from llm_planner.correction.reading import CorrectionReader, open_reader, warm_up
from llm_planner.errors import InputError, LanguageModelError
from llm_planner.plan.edits import Adjust, Cancel, Change, Clarify, Edit

SLOWER = Edit((Adjust("speed", Change.SCALE, 0.5),), "slower")


def nobody(words, situation):
    raise LanguageModelError(f"asked for “{words}”")


def test_a_stop_word_and_what_the_rules_read_are_asked_of_nobody(at_table):
    reader = CorrectionReader(other=nobody)
    assert reader.read("stop", at_table(running=1)).operations == (Cancel(),)
    assert reader.read("slower", at_table(running=1)).operations == SLOWER.operations


def test_what_the_rules_leave_is_asked_of_the_other_reader(at_table):
    reader = CorrectionReader(other=lambda words, situation: SLOWER)
    assert reader.read("zzz qqq", at_table(running=1)).operations == SLOWER.operations
    assert CorrectionReader().read("zzz qqq", at_table(running=1)).operations == ()


def test_what_the_rules_can_only_ask_about_may_be_clear_to_the_other_reader(at_table):
    words, (question,) = "no, the purple one", CorrectionReader().read("no, the purple one", at_table(1)).operations
    asking, silent = Edit((Clarify("What?"),)), Edit(())
    for read, operations in ((SLOWER, SLOWER.operations), (asking, (question,)), (silent, (question,))):
        assert CorrectionReader(other=lambda *_, read=read: read).read(words, at_table(1)).operations == operations
    assert CorrectionReader(other=nobody).read(words, at_table(1)).operations == (question,)
    with pytest.raises(LanguageModelError, match="asked for “zzz qqq”"):
        CorrectionReader(other=nobody).read("zzz qqq", at_table(1))


def test_a_change_of_all_motion_does_not_stand_for_one_of_a_things(at_table):
    reader = CorrectionReader(other=lambda words, situation: SLOWER)
    (asked,) = reader.read("slower with the teapot", at_table(1)).operations
    assert "I see nothing here that is “the teapot”" in asked.question


def test_the_reader_that_ships_takes_talk_for_no_correction(at_table):
    assert open_reader("compact").read("the weather is nice today", at_table(running=1)).operations == ()


def test_what_was_loaded_beforehand_is_not_loaded_again(at_table):
    warm_up()
    loaded = load_compact_reader.cache_info().misses
    open_reader("compact").read("could it be a little less rushed", at_table(1))
    assert load_compact_reader.cache_info().misses == loaded


def test_words_of_another_language_are_named(at_table):
    (question,) = open_reader("compact").read("nein, den blauen", at_table(running=1)).operations
    assert question.question == "I do not know “nein” or “den” or “blauen”; say it in other words, in English"


def test_a_language_model_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="there is no language model 'large'; choose one of: compact, openai"):
        open_reader("large")
