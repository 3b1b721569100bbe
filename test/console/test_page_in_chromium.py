"""The page in a real browser, with a board in place of a robot: what a person sees, clicks and types."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("websockets", reason="the console needs the package websockets")

from llm_planner.console.access import Access
from llm_planner.console.board import Board
from llm_planner.console.server import ConsoleServer
from test.console.chromium import PROGRAM, Chromium

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium is installed (Debian: apt install chromium)")
PLAN = {
    "id": "p", "state": "running", "command": "pick the red block", "message": "", "program": 'pick("red block")',
    "source": "console", "version": 1, "complete": True, "edits": ["slower"],
    "steps": [{"id": "s", "line": 1, "text": 'pick("red block")', "status": "running", "message": ""}],
}  # fmt: skip
RULE = {"words": "never over the vase", "plain": "the robot is never over the vase", "formula": "G !over(robot, vase)",
        "goal": False, "verdict": "pending", "holds": True, "margin": 0.2}  # fmt: skip
TALK = [
    {"id": 1, "who": "person", "text": "no, <b>the</b> blue one"},
    {"id": 2, "who": "robot", "text": "which?", "outcome": "question", "options": ["the mug", "the bowl"]},
]


class Robot:
    def __init__(self) -> None:
        self.said: list[dict[str, object]] = []
        self.stops = 0
        self.gone = threading.Event()

    def say(self, request) -> None:
        self.said.append(dict(request))
        if request.get("words") == "hang":
            self.gone.wait(60.0)

    def stop(self) -> str:
        self.stops += 1
        return "Stopped; the robot is at rest."


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Chromium(tmp_path_factory.mktemp("browser"))
    yield one
    one.close()


@pytest.fixture
def page(browser):
    robot, board = Robot(), Board()
    server = ConsoleServer(Access.to("127.0.0.1"), 0, board, robot.say, lambda sound: None, robot.stop)
    board.put("live", {"scene": True, "executor": True})
    board.put("plan", PLAN)
    board.put("rules", [RULE])
    board.put("margins", {"rules": [RULE["formula"]], "times": [0, 1, 2], "values": [[0.3], [None], [0.25]]})
    board.put("motion", {"speed": 0.1, "limit": 0.2, "state": "moving", "reason": "", "held": "red block"})
    board.put("talk", TALK)
    browser.open(server.address)
    browser.wait(lambda: browser.text("#state") == "running")
    yield browser, robot, board, server
    robot.gone.set()
    server.close()


def test_what_the_robot_does_is_on_one_screen(page):
    browser, *_ = page
    assert browser.text("#command") == "pick the red block"
    assert 'pick("red block")' in browser.text("#steps .running")
    assert browser.text("#program .now") == 'pick("red block")'
    assert browser.text("#rules b") == "the robot is never over the vase"
    assert browser.text("#rules code") == "G !over(robot, vase)"
    assert "0.25" in browser.text("#rules .plot")
    assert browser.text("#speed") == "0.10 m/s of 0.20"
    assert browser.text("#held") == "holds: red block"
    assert browser.run(
        "document.documentElement.scrollHeight <= innerHeight && document.body.scrollWidth <= innerWidth"
    )


def test_text_of_people_is_never_markup(page):
    browser, *_ = page
    assert browser.text("#said .person") == "no, <b>the</b> blue one"
    assert browser.run("document.querySelector('#said b')") is None


def test_options_undo_words_and_preview_are_sent(page):
    browser, robot, *_ = page
    browser.run("document.querySelectorAll('.options button')[1].click(); byId('undo').click()")
    browser.run("byId('words').value = 'slower'; byId('form').requestSubmit()")
    browser.run("byId('words').value = 'faster'; byId('preview').click()")
    browser.wait(lambda: len(robot.said) == 4)
    assert robot.said == [
        {"do": "say", "words": "the bowl"},
        {"do": "correct", "words": "undo"},
        {"do": "say", "words": "slower"},
        {"do": "preview", "words": "faster"},
    ]


def test_what_was_done_last_is_corrected_and_put_back_once_it_is_done(page):
    browser, robot, board, _ = page
    board.put("plan", {**PLAN, "state": "done", "edits": []})
    browser.wait(lambda: browser.text("#undo") == "Put back")
    assert browser.text("#preview") == "Correct"
    browser.run("byId('words').value = 'no, the blue one'; byId('preview').click(); byId('undo').click()")
    browser.run("byId('words').value = 'put the mug on the plate'; byId('form').requestSubmit()")
    browser.wait(lambda: len(robot.said) == 3)
    assert robot.said == [
        {"do": "correct", "words": "no, the blue one"},
        {"do": "correct", "words": "undo"},
        {"do": "say", "words": "put the mug on the plate"},
    ]


def test_what_was_sent_is_shown_at_once_until_the_robot_repeats_it(page):
    browser, _, board, _ = page
    browser.run("byId('words').value = 'the  mug'; byId('form').requestSubmit()")
    assert browser.text("#said .unheard") == "the mug"
    assert browser.run("document.querySelectorAll('.options button').length") == 0
    board.put("talk", [*TALK, {"id": 3, "who": "person", "text": "the mug"}])
    browser.wait(lambda: not browser.text("#said .unheard"))
    assert browser.text("#said .person:last-child") == "the mug"


def test_while_it_connects_the_page_does_not_call_anything_old(browser, page):
    browser.run("heard = 0; link = 'Connecting to the robot …'; state.live = undefined; showLife()")
    assert (browser.text("#state"), browser.text("#alarm")) == ("connecting", "Connecting to the robot …")


def test_escape_stops_while_the_rest_hangs(page):
    browser, robot, *_ = page
    browser.run("send({do: 'say', words: 'hang'})")
    browser.wait(lambda: robot.said)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Escape", code="Escape", windowsVirtualKeyCode=27)
    browser.wait(lambda: robot.stops == 1)
    browser.wait(lambda: "at rest" in browser.text("#alarm"))


def test_old_data_is_called_old(page):
    browser, _, board, server = page
    board.put("live", {"scene": False, "executor": True})
    browser.wait(lambda: "Nothing shows the scene" in browser.text("#alarm"))
    assert browser.text("#state") == "old"
    server.close()
    browser.wait(lambda: "connection to the robot is lost" in browser.text("#alarm"))
    browser.run("byId('stop').click()")
    browser.wait(lambda: "NOT stopped" in browser.text("#alarm"))


def test_a_phone_has_the_step_undo_talk_and_stop(page):
    browser, *_ = page
    browser.resize(390, 844, mobile=True)
    try:
        names = "['steps','rules','now','undo','hold','talk','stop']"
        shown = browser.run(f"{names}.map(id => byId(id).getBoundingClientRect().height > 0)")
        assert shown == [False, False, True, True, True, True, True]
        assert browser.text("#now") == '1/1 pick("red block")'
        assert browser.run("byId('stop').getBoundingClientRect().width") > 300
    finally:
        browser.resize(1280, 720)
