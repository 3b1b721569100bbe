"""Stop words, reflexes and answers are read exactly; all else by a language model, which asks where it is not sure."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.corrections.building import Pending
from llm_planner.corrections.edits import Adjust, Cancel, Change, Clarify, Confirm, Edit, Hold, Rebind, Resume, Shift
from llm_planner.corrections.reading import CorrectionReader, EmbeddedCorrections, mentioned, open_reader
from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.forms import result_text
from llm_planner.language.embedded.reader import TermReading
from training.results import parse_result

SLOWER = Edit((Adjust("speed", Change.SCALE, 0.5),), "slower")


class Dictated:
    """A reader that gives these results with these probabilities, whatever it is asked."""

    def __init__(self, *results):
        self.results = results

    def read(self, task, situation, words):
        spans = tuple((at, at + 1) for at in range(len(words)))
        whole = ((0, len(words)),)
        return tuple(TermReading(parse_result(text), p, whole or spans) for text, p in self.results)


@pytest.fixture
def heard(sources, at_table):
    """What comes of words that are read so."""

    def read(words, *results, running=1, **kwargs):
        reader = CorrectionReader(sources, EmbeddedCorrections(Dictated(*results), sources).read)
        return reader.read(words, at_table(running=running, **kwargs))

    return read


def nobody(words, situation):
    raise LanguageModelError(f"asked for “{words}”")


def test_stop_words_and_reflexes_ask_no_model(at_table):
    reader = CorrectionReader(other=nobody)
    assert reader.read("stop", at_table(running=1)).operations == (Cancel(),)
    assert reader.read("slower", at_table(running=1)).operations == SLOWER.operations
    assert reader.read("2 cm to the left", at_table(running=1)).operations == (Shift((0.0, 0.02, 0.0)),)
    with pytest.raises(LanguageModelError, match="asked for “a tad gentler”"):
        reader.read("a tad gentler", at_table(running=1))


def test_what_is_said_with_a_stop_is_read_and_the_robot_stays_held(heard):
    assert heard("stop, take it easy there", ("speed(less)", 0.9)).operations == (*SLOWER.operations, Hold())
    assert heard("stop right there, I need my phone", ("hold", 0.9)).operations == (Hold(),)
    assert heard("stop, that is the wrong job", ("cancel", 0.9)).operations == (Cancel(),)
    hold, asked = heard("stop, mumble mumble", ("speed(less)", 0.4)).operations
    assert (hold, asked.question) == (Hold(), "Do you mean: go slower?")
    assert heard("stop, the weather is nice", ("nothing", 0.9)).operations == (Hold(),)


def test_a_stop_of_what_is_left_out_then_goes_on_with_the_rest(heard):
    removed = heard("stop going on with that red block", ('skip("red block")', 0.9)).operations
    assert isinstance(removed[-1], Resume)
    assert heard("stop, skip the red block", ('skip("red block")', 0.9)).operations[-1] == Hold()


def test_faster_is_asked_about_where_the_words_are_for_slower(heard):
    (asked,) = heard("never go quicker than now", ("speed(more)", 0.95)).operations
    assert asked.question == "Do you mean: go faster?"


def test_after_an_exclamation_the_robot_goes_on_with_what_was_said(heard):
    assert heard("whoa, take it easy", ("speed(less)", 0.9)).operations == SLOWER.operations
    hold, asked = heard("whoa, mumble", ("unclear", 0.9)).operations
    assert (hold, asked.question[:14]) == (Hold(), "I am not sure ")


def test_what_the_model_is_sure_of_is_done(heard):
    edit = heard("take it easy there", ("speed(less)", 0.9))
    assert (edit.operations, edit.words) == (SLOWER.operations, "take it easy there")


def test_talk_does_nothing(heard):
    assert heard("the weather is nice today", ("nothing", 0.7), ("speed(less)", 0.2)).operations == ()


def test_what_the_model_is_not_sure_of_is_asked_and_a_yes_does_it(heard):
    (question,) = heard("take it easy there", ("speed(less)", 0.4)).operations
    assert (question.question, question.options) == ("Do you mean: go slower?", ("go slower",))
    assert heard("yes", asked=question).operations == SLOWER.operations
    assert heard("the first one", asked=question).operations == SLOWER.operations
    (again,) = heard("no", asked=question).operations
    assert "in other words" in again.question


def test_what_makes_no_sense_is_asked_in_other_words(heard):
    for results in ((("unclear", 0.9),), (("speed(less)", 0.1),), ()):
        (question,) = heard("mumble mumble", *results).operations
        assert question.question == "I am not sure what you mean by “mumble mumble”. Please say it in another way."


def test_a_thing_that_the_reading_leaves_out_is_asked_about(at_table, sources):
    class Forgetful(Dictated):
        def read(self, task, situation, words):
            return (TermReading(parse_result("speed(less)"), 0.9, ()),)

    reader = CorrectionReader(sources, EmbeddedCorrections(Forgetful(), sources).read)
    (question,) = reader.read("slower with the mug please friend", at_table(running=1)).operations
    assert isinstance(question, Clarify)


def test_a_thing_of_an_errand_that_changes_is_named_in_passing(at_table, sources):
    def heard(words):
        reading = TermReading(parse_result('other_thing("blue block")'), 0.9, ((0, len("the blue block")),))
        model = type("Once", (), {"read": lambda self, *_: (reading,)})()
        return EmbeddedCorrections(model, sources).read(words, at_table(running=1))

    assert not heard("the blue block goes into the green bowl").asks
    assert heard("the blue block goes onto the plate").asks


def test_the_answer_to_which_completes_what_was_asked_for(heard):
    (question,) = heard("no, the block", ('other_thing("block")', 0.9), running=3).operations
    assert question.options == ("the red block", "the blue block", "the yellow block")
    assert isinstance(question.pending, Pending)
    for answer in ("the blue one", "the second", "blue"):
        assert heard(answer, running=3, asked=question).operations == (Rebind("3", "object", "blue block"),), answer


def test_a_yes_is_one_only_while_a_question_is_open(heard):
    assert heard("yes", ("nothing", 0.9)).operations == ()
    assert heard("yes", asked=Clarify("Really?")).operations == (Confirm(True),)


def test_a_language_model_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="there is no language model 'large'; choose one of: embedded, openai"):
        open_reader("large")


def test_any_result_is_an_edit_or_a_question(at_table, sources, any_result):
    names = ("red block", "the blocks", "bowl", "the blue one", "mug", "cat", "5 cm", "20 s", "half", "it", "vase")

    @settings(max_examples=500, deadline=None)
    @given(any_result(REQUESTS, names), st.sampled_from([(0, ""), (1, ""), (2, "red block"), (4, "mug"), (6, "")]))
    def check(terms, moment):
        model = EmbeddedCorrections(Dictated((result_text(terms), 0.9)), sources)
        edit = model.read("the red block and the mug", at_table(*moment))
        assert edit.words == "the red block and the mug"

    check()


def test_readings_that_make_the_same_edit_count_together(heard):
    same = (('other_thing("blue block")', 0.5), ('other_thing("blue block", instead="red block")', 0.4))
    assert heard("wrong block, I want the blue block", *same).operations[0] == Rebind("1", "object", "blue block")


def test_meanings_that_differ_are_offered_and_an_answer_chooses(heard):
    (question,) = heard("a bit over there", ("shift(left, bit)", 0.4), ("shift(right, bit)", 0.35)).operations
    assert question.options == ("a bit to the left", "a bit to the right")
    assert heard("the second", asked=question).operations == (Shift((0.0, -0.02, 0.0)),)


def test_an_option_of_a_question_that_another_asked_is_read_as_said(heard):
    asked = Clarify("Which?", ("take the mug", "go slower"))
    edit = heard("number two", ("speed(less)", 0.9), asked=asked)
    assert edit.operations == SLOWER.operations
    assert edit.words == "number two"


WHICH = Clarify("Which one should I take?", ("the blue block", "the yellow block"))


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("The yellow one, naturally.", 1),
        ("I believe the blue block will do", 0),
        ("either, I'm really not fussed", 0),
        ("whichever you like", 0),
        ("uhh second one", 1),
        ("The former, if I may", 0),
        ("the latter of them", 1),
        ("give me a second", None),
        ("the third", None),
        ("either put the mug down or stop", None),
        ("is the yellow block heavy?", None),
        ("not the yellow one", None),
        ("put the blue one left of the yellow one", None),
        ("the block", None),
        ("when you have put the mug down take the yellow one", None),
    ],
)
def test_a_short_answer_may_mention_one_option_by_what_sets_it_apart(words, number):
    assert mentioned(words, WHICH) == number


def test_an_edit_against_the_order_of_its_words_is_offered(heard):
    words = "do the yellow block after the mug"
    (asked,) = heard(words, ('first("yellow block", before, target="mug")', 0.99)).operations
    assert asked.question == "Do you mean: do the yellow block before the mug?"


def test_a_state_that_nothing_can_watch_is_asked_about(heard):
    (asked,) = heard("don't spill it", ("clearance(more)", 0.99)).operations
    assert asked.question.startswith("I cannot watch “don't spill”. I can watch what is moved or held")
