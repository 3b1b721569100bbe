"""What people and models send is read as a person would see it."""

import pytest

from llm_planner.text import in_one_sentence, plain_text, shortened


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("put the \x1b[31mred\x07 block in the bowl", "put the red block in the bowl"),
        ("re\x07d", "red"),
        ("\x1b]0;a title\x07pick \x1b]8;;http://a.b\x1b\\it\x1b]8;;\x1b\\ up", "pick it up"),
        ("\x9b1mbold\x1b(B text", "bold text"),
        ("\x1b7saved\x1bc", "saved"),
        ("left\u202etfel\u200b \u00a0now", "lefttfel now"),
        ("a\tb\r\nc", "a b c"),
        ("\x1b", ""),
        ("lift the grüne Schüssel 🙂", "lift the grüne Schüssel 🙂"),
        ("bad \udcff byte", "bad byte"),
    ],
)
def test_text_is_what_a_person_sees(text, seen):
    assert plain_text(text) == seen


def test_what_is_too_long_is_cut_with_an_ellipsis():
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        (["it falls"], "it falls."),
        (["It falls.", "it breaks. "], "It falls; it breaks."),
        (["it falls. What now?"], "it falls. What now?"),
        (["Stop!"], "Stop!"),
    ],
)
def test_reasons_become_one_sentence_with_one_end(reasons, sentence):
    assert in_one_sentence(reasons) == sentence
