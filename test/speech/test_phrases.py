"""The grammar of corrections: what may be said about the things that are there, and what it means."""

from __future__ import annotations

from random import Random

import pytest

from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Intent
from llm_planner.speech.correction_grammar import (
    START,
    Choice,
    drawn,
    meanings,
    phrases_about,
    read_grammar,
    said_words,
    without,
    word_graph,
)
from llm_planner.speech.recognisers import Vocabulary
from llm_planner.speech.sphinx_recogniser import pronounceable

TABLE = Vocabulary(("blue block", "green bowl", "red block", "vase"), ("block", "bowl"), ("blue", "green", "red"))
PHRASES = phrases_about(TABLE)
SMALL = read_grammar(
    """#JSGF V1.0; grammar small;  // a comment
    public <top> = [please] <verb> the (cup | <thing>);
    <verb> = (take | pick up) {pick} | drop {drop};
    <thing> = red block {red block};"""
)


def test_a_grammar_is_said_in_all_its_ways_and_in_no_other():
    sentences = {drawn(SMALL, "top", Random(seed)) for seed in range(300)}
    assert sentences == {
        f"{please}{verb} the {thing}"
        for please in ("", "please ")
        for verb in ("take", "pick up", "drop")
        for thing in ("cup", "red block")
    }
    assert list(meanings(SMALL, "top", said_words("please pick up the red block"))) == [("pick", "red block")]
    assert list(meanings(SMALL, "top", said_words("pick up the"))) == []
    assert list(meanings(SMALL, "top", said_words("pick up the cup please"))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a> = (one | two;", "rule <a> is not understood from '' on; check its brackets"),
        ("<a> = one) two;", r"rule <a> is not understood from '\) two' on"),
        ("hello <a> = one;", "this is not a rule of a grammar: 'hello <a> = one;'; a rule is written <name> = words;"),
    ],
)
def test_a_grammar_that_is_none_shows_where(text, message):
    with pytest.raises(InputError, match=message):
        read_grammar(text)


def test_what_needs_a_word_or_a_rule_that_is_not_there_cannot_be_said():
    left = without(SMALL, known={"take", "drop", "the", "cup", "red", "please"})
    assert "thing" not in left
    assert {drawn(left, "top", Random(seed)) for seed in range(100)} == {
        "take the cup", "please take the cup", "drop the cup", "please drop the cup",
    }  # fmt: skip
    assert "top" not in without(SMALL, known={"take", "the"})


def test_the_word_graph_takes_just_the_sentences_of_the_grammar():
    graph = word_graph(SMALL, "top")
    following: dict[int, list[tuple[int, str]]] = {}
    for begin, end, word in graph.arcs:
        following.setdefault(begin, []).append((end, word))

    def sentences(state: int) -> list[str]:
        if state == graph.end:
            return [""]
        return [f"{word} {rest}".strip() for end, word in following[state] for rest in sentences(end)]

    assert sorted(sentences(0)) == sorted({drawn(SMALL, "top", Random(seed)) for seed in range(300)})
    assert graph.states == 8  # of the 12 sentences' 45 words most are shared


def test_the_word_graph_of_all_corrections_stays_small():
    graph = word_graph(PHRASES.rules, START)
    assert graph.states < 600
    assert len(graph.arcs) < 4000


@pytest.mark.parametrize(
    ("words", "intent"),
    [
        ("a bit to the left", ("bit", "left", "shift")),
        ("A bit to the left, please!", ("bit", "left", "shift")),
        ("no, the blue one", ("blue", "other_thing")),
        ("the red, no, the green one", ("red", "green", "other_thing")),
        ("do the green bowl first", ("green bowl", "first")),
        ("always keep away from the vase", ("always", "vase", "keep away")),
        ("don't stop", ()),
        ("we should stop for lunch", ()),
        ("do the yellow bowl first", ()),
        ("", ()),
    ],
)
def test_a_phrase_means_its_tags_and_talk_means_nothing(words, intent):
    assert PHRASES.intent(words) == intent


def test_all_that_may_be_said_has_one_meaning():
    for sentence in set(PHRASES.sentences(400, Random(1))):
        assert len(set(meanings(PHRASES.rules, START, said_words(sentence)))) == 1, sentence


def test_every_phrase_says_what_kind_of_correction_it_is():
    kinds = {kind.value for kind in Intent}
    others = {"no", "yes"}
    for sentence in set(PHRASES.sentences(400, Random(2))):
        tags = {word for tag in PHRASES.intent(sentence) for word in (tag, tag.split()[-1])}
        assert tags & (kinds | others) or tags & {"away", "enter", "touch", "over", "careful", "everything"}, sentence


def test_answers_can_be_given_only_while_a_question_is_open():
    assert PHRASES.intent("yes") == ()
    assert phrases_about(Vocabulary(answers=("yes", "no"))).intent("yes") == ("yes",)


def test_every_word_of_the_grammar_can_be_pronounced():
    told = phrases_about(TABLE)
    assert set(told.rules) == set(phrases_about(TABLE, pronounceable()).rules)
    words = {word for sentence in told.sentences(6000, Random(3)) for word in sentence.split()}
    assert words - pronounceable() == set()


def test_a_thing_whose_name_cannot_be_pronounced_is_left_out_and_the_others_stay():
    phrases = phrases_about(Vocabulary(("mug", "xqzt")), pronounceable())
    assert phrases.intent("skip the mug") == ("mug", "skip")
    assert phrases.intent("skip the xqzt") == ()
    assert isinstance(phrases.rules["object"], Choice)
