"""What the page shows: the newest value of each thing, what was said, and margins over a run."""

from __future__ import annotations

import json
import threading

import pytest

from llm_planner.console.board import MOST_SAID, MOST_SAMPLES, Board, Series, Talk


def test_a_new_viewer_gets_everything_and_later_only_what_changed():
    board = Board()
    board.put("plan", {"state": "idle"})
    board.put("motion", {"speed": 0.0})
    version, first = board.since(0, 0.0)
    board.put("motion", {"speed": 0.1})
    later, then = board.since(version, 0.0)

    assert json.loads(first) == {"plan": {"state": "idle"}, "motion": {"speed": 0.0}}
    assert json.loads(then) == {"motion": {"speed": 0.1}}
    assert json.loads(board.since(later, 0.0)[1]) == {}


def test_an_equal_value_is_no_change():
    board = Board()
    board.put("plan", [1])
    version, _ = board.since(0, 0.0)
    board.put("plan", [1])

    assert board.since(version, 0.0)[0] == version


def test_numbers_that_json_lacks_become_null():
    board = Board()
    board.put("motion", {"limit": float("inf"), "margins": [(float("nan"), 1.0)]})

    assert json.loads(board.since(0, 0.0)[1]) == {"motion": {"limit": None, "margins": [[None, 1.0]]}}


def test_closing_wakes_the_viewers():
    board, woken = Board(), threading.Event()
    viewer = threading.Thread(target=lambda: (board.since(0, 60.0), woken.set()))
    viewer.start()
    board.close()

    assert woken.wait(10.0)
    viewer.join()


def test_what_was_said_is_updated_by_its_key_and_bounded():
    talk = Talk()
    talk.update("1", "robot", "planning")
    talk.update("1", "robot", "done", outcome="succeeded")
    assert [(one["text"], one["outcome"]) for one in talk.lines] == [("done", "succeeded")]

    for number in range(2 * MOST_SAID):
        talk.add("person", str(number))
    assert len(talk.lines) == MOST_SAID


def test_what_is_heard_late_is_placed_where_it_was_said():
    talk = Talk()
    talk.at = 20
    talk.add("robot", "I wait")
    talk.at = 10
    talk.add("person", "hold")
    talk.at = 20
    talk.add("robot", "until you say go on")
    assert [one["text"] for one in talk.lines] == ["hold", "I wait", "until you say go on"]


def test_what_was_said_before_a_jump_in_a_recording_is_forgotten():
    talk = Talk()
    for talk.at in (10, 20):
        talk.update(f"{talk.at}", "person", f"said at {talk.at}")
    talk.forget(before=20)
    assert (talk.text_of("10"), talk.text_of("20")) == ("", "said at 20")


def test_a_series_keeps_the_whole_run_in_bounded_memory():
    series = Series(0.1)
    for tick in range(100_000):
        series.add(0.05 * tick, [float(tick)])

    assert len(series.times) <= MOST_SAMPLES
    assert series.times[0] == 0.0
    assert series.times[-1] > 4000.0


@pytest.mark.parametrize("command_first", [False, True])
def test_a_correction_that_becomes_a_command_is_said_once(command_first):
    talk = Talk()
    steps = [
        lambda: talk.add("person", "no, the blue one"),
        lambda: talk.update("c said", "person", "no, the blue one"),
    ]
    for step in reversed(steps) if command_first else steps:
        talk.at += 100_000_000
        step()
    assert [line["text"] for line in talk.lines] == ["no, the blue one"]
    assert talk.text_of("c said") == "no, the blue one"


def test_what_a_person_says_twice_is_said_twice():
    talk = Talk()
    for key in ("a", "b"):
        talk.add("person", "slower")
        talk.update(f"{key} said", "person", "pick up the mug")
    assert [line["text"] for line in talk.lines] == ["slower", "pick up the mug", "slower", "pick up the mug"]
