"""Results of corrections stand for requests."""

from __future__ import annotations

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.correction_requests import (
    REQUESTS,
    Frame,
    Intent,
    Lifetime,
    Request,
    Scope,
    Sense,
    Size,
    When,
    requests_of,
)
from training.results import check_result, parse_result


def read(text: str, words: str = "") -> tuple[Request, ...]:
    terms = parse_result(text)
    check_result(terms, REQUESTS)
    return requests_of(terms, words)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("nothing", Request(Intent.NOTHING)),
        ("hold", Request(Intent.HOLD)),
        ("speed(less, bit)", Request(Intent.SPEED, sense=Sense.LESS, size=Size.BIT)),
        ("speed(exact, by=half_of)", Request(Intent.SPEED, sense=Sense.EXACT, number=50.0, unit="%")),
        ('speed(more, by="twenty percent")', Request(Intent.SPEED, number=20.0, unit="percent")),
        ('speed(less, near="vase")', Request(Intent.SPEED, sense=Sense.LESS, near="vase")),
        ('clearance(more, carrying="mug")', Request(Intent.CLEARANCE, thing="mug")),
        ('shift(left, by="2 cm")', Request(Intent.SHIFT, direction="left", number=2.0, unit="cm")),
        ('shift(right, much, frame=robot, thing="mug")',
         Request(Intent.SHIFT, direction="right", size=Size.MUCH, frame=Frame.ROBOT, thing="mug")),
        ('shift(towards, target="me")', Request(Intent.SHIFT, direction="towards", target="me")),
        ("too_far", Request(Intent.TOO_FAR)),
        ("distance(push, less)", Request(Intent.DISTANCE, text="push", sense=Sense.LESS)),
        ('other_thing("blue one", instead="red one")',
         Request(Intent.OTHER_THING, thing="blue one", instead_of="red one")),
        ('other_thing(instead="mug")', Request(Intent.OTHER_THING, instead_of="mug", negated=True)),
        ('other_thing("mug", target="box")', Request(Intent.OTHER_THING, thing="mug", target="box", relation="for")),
        ('other_target(in, "bowl")', Request(Intent.OTHER_TARGET, relation="in", target="bowl")),
        ('other_target(on, "plate", thing="mug")',
         Request(Intent.OTHER_TARGET, relation="on", target="plate", thing="mug")),
        ('first("mug", before, target="vase")', Request(Intent.FIRST, thing="mug", relation="before", target="vase")),
        ('skip("mug", how=except)', Request(Intent.SKIP, thing="mug", relation="except")),
        ('add("press the button", next)', Request(Intent.ADD, text="press the button", when=When.NEXT)),
        ('rule("stay out")', Request(Intent.RULE, text="stay out")),
        ("remember(always)", Request(Intent.REMEMBER, scope=Scope.ALWAYS)),
        ('forget(about="mugs")', Request(Intent.FORGET, about="mugs")),
        ("forget(everything)", Request(Intent.FORGET, about="everything")),
        ("option(two)", Request(Intent.OPTION, text="2")),
        ('option("blue one")', Request(Intent.OPTION, text="blue one")),
    ],
)  # fmt: skip
def test_a_result_stands_for_a_request(text: str, asked: Request) -> None:
    assert read(text) == (asked,)


@pytest.mark.parametrize(
    ("text", "lifetime"),
    [
        ("speed(less)", Lifetime.STEP),
        ("speed(less, scope=once)", Lifetime.STEP),
        ("speed(less, scope=always)", Lifetime.PLAN),
        ("speed(less, scope=task)", Lifetime.PLAN),
        ("speed(less, scope=always, lifetime=step)", Lifetime.STEP),
    ],
)
def test_what_is_said_for_longer_holds_for_the_plan(text: str, lifetime: Lifetime) -> None:
    assert [one.lifetime for one in read(text)] == [lifetime]


def test_several_are_several_in_their_order() -> None:
    found = read('speed(less); skip("mug"); undo')
    assert [one.intent for one in found] == [Intent.SPEED, Intent.SKIP, Intent.UNDO]


def test_what_is_waited_or_followed_longer_is_in_the_words() -> None:
    assert read("duration(more)", "follow her a bit longer")[0].text == "follow"
    assert read("duration(more)", "wait longer")[0].text == "wait"
    assert read("duration(more)", "longer")[0].text == ""


def test_of_what_is_left_alone_all_that_was_said_is_kept() -> None:
    assert read('skip("mug")', "leave the mug alone")[0].text == "leave the mug alone"


@pytest.mark.parametrize(
    "text", ["speed", "fly", 'shift(left, by="blue")', "other_target(left, left, left)", "nothing; hold", "hold(less)"]
)
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(LanguageModelError):
        read(text)
