"""Requests have one text each, from which they are read again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_planner.correction.request_text import REQUESTS, request_terms, requests_of
from llm_planner.correction.requests import DIRECTIONS, RELATIONS, Intent, Request, Sense, Size, When
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.terms import parse_result, result_text
from llm_planner.plan.edits import Frame, Lifetime, Scope

WORDS = st.sampled_from(["blue one", "mug", "server room 3", "anna's cup"])
MAYBE = st.one_of(st.just(""), WORDS)
LASTING = st.fixed_dictionaries(
    {"scope": st.sampled_from(Scope), "lifetime": st.sampled_from(Lifetime), "about": MAYBE}
)
SENSES = {"sense": st.sampled_from(Sense), "size": st.sampled_from(Size), "thing": MAYBE}
AMOUNTS = st.sampled_from(
    [{}, {"number": 2.5, "unit": "cm"}, {"number": 50.0, "unit": "%"}, {"number": 2.0, "unit": "times"}]
)
SLOTS = {
    Intent.SHIFT: {"direction": st.sampled_from(DIRECTIONS), "frame": st.sampled_from(Frame), "thing": MAYBE,
                   "size": st.sampled_from(Size), "target": MAYBE},
    Intent.TOO_FAR: {"direction": st.sampled_from(("", *DIRECTIONS))},
    Intent.SPEED: SENSES, Intent.HEIGHT: SENSES, Intent.CLEARANCE: SENSES,
    Intent.DISTANCE: {**SENSES, "text": st.sampled_from(["", "push", "place", "follow"])},
    Intent.OTHER_TARGET: {"relation": st.sampled_from(RELATIONS), "target": MAYBE, "thing": MAYBE, "instead_of": MAYBE},
    Intent.FIRST: {"thing": MAYBE, "relation": st.sampled_from(["", "before", "after"]), "target": MAYBE},
    Intent.LAST: {"thing": MAYBE}, Intent.PUT_BACK: {"thing": MAYBE}, Intent.AGAIN: {"thing": MAYBE},
    Intent.ADD: {"text": WORDS, "when": st.sampled_from(When)},
    Intent.RULE: {"text": WORDS}, Intent.LIFT: {"text": WORDS},
}  # fmt: skip
PLAIN = (Intent.HOLD, Intent.RESUME, Intent.CANCEL, Intent.UNDO, Intent.YES, Intent.NO, Intent.NOTHING)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    intent = draw(st.sampled_from([*SLOTS, *PLAIN]))
    slots = draw(st.fixed_dictionaries(SLOTS.get(intent, {})))
    if intent in SLOTS:
        slots |= draw(LASTING)
    if "sense" in slots or intent is Intent.SHIFT:
        slots |= draw(AMOUNTS)
    return Request(intent, **slots)


@settings(max_examples=400, deadline=None)
@given(st.lists(requests().filter(lambda one: one.intent is not Intent.NOTHING), min_size=1, max_size=3))
def test_requests_are_read_from_their_text(asked: list[Request]) -> None:
    terms = request_terms(asked)
    REQUESTS.check(terms)
    assert requests_of(parse_result(result_text(terms)), "") == tuple(asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("nothing", Request(Intent.NOTHING)),
        ("speed(less, bit)", Request(Intent.SPEED, sense=Sense.LESS, size=Size.BIT)),
        ('shift(left, by="2 cm")', Request(Intent.SHIFT, direction="left", number=2.0, unit="cm")),
        ("speed(exact, by=half_of)", Request(Intent.SPEED, sense=Sense.EXACT, number=50.0, unit="%")),
        ('other_thing("blue one", instead="red one")',
         Request(Intent.OTHER_THING, thing="blue one", instead_of="red one")),
        ('other_thing(instead="mug")', Request(Intent.OTHER_THING, instead_of="mug", negated=True)),
        ('other_target(in, "bowl")', Request(Intent.OTHER_TARGET, relation="in", target="bowl")),
        ('add("press the button", next)', Request(Intent.ADD, text="press the button", when=When.NEXT)),
        ("forget(everything)", Request(Intent.FORGET, about="everything")),
        ("option(two)", Request(Intent.OPTION, text="2")),
        ('skip("mug", scope=always)',
         Request(Intent.SKIP, thing="mug", scope=Scope.ALWAYS, lifetime=Lifetime.PLAN)),
    ],
)  # fmt: skip
def test_texts_stand_for_requests(text: str, asked: Request) -> None:
    assert requests_of(parse_result(text), "") == (asked,)


def checked(text: str) -> tuple[Request, ...]:
    terms = parse_result(text)
    REQUESTS.check(terms)
    return requests_of(terms, "")


@pytest.mark.parametrize("text", ["speed", "fly", 'shift(left, by="blue")', "other_target(left, left, left)"])
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(LanguageModelError):
        checked(text)
