"""Lessons in words."""

from datetime import timezone

import pytest

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, Move, Rebind, Remove, Replace, Shift
from llm_planner.corrections.preferences.preference import (
    FIRST,
    THING,
    THIS,
    Occasion,
    Preference,
    Slots,
    State,
    announcement,
    day,
    explained,
    gist,
    of_what,
)
from llm_planner.language.correction_requests import Frame, Scope

NOVEMBER = 1_793_707_200.0  # 3 November 2026, noon
UTC = timezone.utc


def lesson(operation, slots=Slots(kind="mug"), **others):  # noqa: B008 - a frozen value
    values = {"case": slots, "scope": Scope.ALWAYS, "provenance": Occasion(NOVEMBER, "Anna", "", "c1", "s1")}
    return Preference("words", (operation,), slots, **values | others)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (Adjust("speed", Change.SCALE, 0.5), "slower with mugs"),
        (Adjust("speed", Change.SET, 0.5), "speed 0.5 with mugs"),
        (Adjust("clearance", Change.SHIFT, 0.02), "with more room with mugs"),
        (Adjust("turns", Change.SCALE, 0.5, THIS), "less turns with mugs"),
        (Shift((0.0, 0.02, -0.01), Frame.OBJECT), "2 cm more left, 1 cm more down with mugs"),
        (Rebind(THIS, "object", "blue bowl"), "“blue bowl” instead with mugs"),
        (Insert("open_drawer", {"object": "drawer"}, THIS), "first open drawer drawer with mugs"),
        (Insert("press", {"object": THING}), "at the end press it with mugs"),
        (Replace(THIS, "place_in", {"object": "bowl"}), "place in bowl instead with mugs"),
        (Remove(THIS), "nothing done with mugs"),
        (Move((THIS,), FIRST), "first with mugs"),
        (Move((THIS,)), "last with mugs"),
        (AddRule("G(a)", "keep away from mugs"), "keep away from mugs with mugs"),
    ],
)
def test_the_gist_says_what_is_done_otherwise_and_with_what(operation, words):
    assert gist(lesson(operation)) == words


@pytest.mark.parametrize(
    ("slots", "words"),
    [
        (Slots(), ""),
        (Slots("pick", "box", "red"), "with red boxes during “pick”"),
        (Slots(kind="person"), "with people"),
        (Slots(kind="person", name="Anna", place="kitchen"), "with Anna in the kitchen"),
        (Slots("place_at", place="left side"), "during “place at” at the left side"),
    ],
)
def test_a_case_in_words(slots, words):
    assert of_what(slots) == words


def test_days_are_told_as_one_would():
    assert day(NOVEMBER, NOVEMBER + 60, UTC) == "today"
    assert day(NOVEMBER, NOVEMBER + 86400, UTC) == "on 3 November"
    assert day(NOVEMBER, NOVEMBER + 100 * 86400, UTC) == "on 3 November 2026"


def test_an_announcement_tells_each_lesson_once():
    slower = lesson(Adjust("speed", Change.SCALE, 0.5))
    told = announcement([slower, slower, lesson(Remove(THIS), Slots(kind="vase"))], NOVEMBER + 86400, UTC)
    assert told == "using what you told me on 3 November: slower with mugs, nothing done with vases"
    assert announcement([], NOVEMBER, UTC) == ""


def test_an_explanation_tells_where_it_comes_from_where_it_holds_and_how_it_has_done():
    slower = lesson(
        Adjust("speed", Change.SCALE, 0.5),
        Slots(kind="mug", user="Anna"),
        case=Slots("pick", "mug", "red"),
        state=State.RETIRED,
        uses=3,
        failures=1,
        used=NOVEMBER + 86400,
        supersedes=4,
        id=5,
    )
    newer = lesson(Adjust("speed", Change.SCALE, 2.0), id=6, supersedes=5)
    assert explained(slower, [slower, newer], NOVEMBER + 86400, UTC) == (
        "5: slower with mugs",
        "Told on 3 November by Anna during step s1: “words”",
        "It was said of: with red mugs during “pick”",
        "It holds: with mugs, always, when Anna commands",
        "It is used no more.",
        "Used 3 times, last today; 1 of those steps failed.",
        "It came in the place of lesson 4.",
        "Lesson 6 came in its place: faster with mugs",
    )
