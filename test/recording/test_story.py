"""What a recording tells: events in order, and explanations that state recorded facts only."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("mcap_ros2")

from llm_planner.errors import InputError
from llm_planner.recording.explanation import exchanged, explained
from llm_planner.recording.reading import Heard
from llm_planner.recording.story import Story
from llm_planner.recording.writing import Sample, Topic

WORDS = "put the red block in the bowl, but never over the vase"
PENDING, RUNNING, DONE, FAILED = 0, 1, 2, 3


def heard(name: str, seconds: float, **fields: object) -> Heard:
    message = SimpleNamespace(**fields)
    return Heard(Topic(f"/{name}", "", ""), Sample(b"", round(1e9 * seconds), 0), lambda data: message)


def call(number: str, skill: str, thing: str, status: int, message: str = "") -> SimpleNamespace:
    argument = SimpleNamespace(name="object", type=0, word=thing)
    return SimpleNamespace(
        id=number, line=int(number), skill=skill, arguments=[argument], status=status, message=message
    )


def status(seconds: float, *steps: SimpleNamespace, version: int = 0, edits: tuple[str, ...] = ()) -> Heard:
    stamp = SimpleNamespace(sec=int(seconds), nanosec=0)
    return heard(
        "plan_status", seconds, header=SimpleNamespace(stamp=stamp), plan_id="p", command=WORDS, version=version,
        edits=list(edits), constraints=[], steps=list(steps),
    )  # fmt: skip


RULE = SimpleNamespace(formula="G(!over(vase))", words=WORDS, plain="the robot is never over the vase", goal=False)
FORECAST = {
    "plan_id": "p",
    "rehearsal": {"verdict": "allow", "branches": 4, "reasons": []},
    "steps": [
        {"id": "1", "call": 'pick("red block")', "effects": ["the red block is in the gripper"], "seconds": 4.6,
         "metres": 0.7, "doubt": ""}
    ],
}  # fmt: skip
PICK, PLACE = call("1", "pick", "red block", PENDING), call("2", "place_in", "bowl", PENDING)
BEGINNING = (
    heard("command_status", 1, id="p", command=WORDS, state=1, error_code=0, message="planning"),
    heard("forecast", 2, data=json.dumps(FORECAST)),
    heard("plan", 2, id="p", command=WORDS, program="pick()\nplace_in()", version=0, steps=[PICK, PLACE],
          constraints=[RULE]),
    status(3, call("1", "pick", "red block", RUNNING), PLACE),
)  # fmt: skip
EDITED = (
    heard("motion_constraints", 4, zones=[SimpleNamespace(name="the vase", clearance=0.05)], speed=0.25),
    status(5, call("1", "pick", "blue block", RUNNING), PLACE, version=1, edits=['{"words": "the blue one"}']),
    heard("correction_result", 5, words="the blue one", outcome=0, message="changed",
          difference=['1 pick("red block") -> pick("blue block")']),
)  # fmt: skip
END = (
    status(9, call("1", "pick", "blue block", DONE), call("2", "place_in", "bowl", RUNNING), version=1),
    status(12, call("1", "pick", "blue block", DONE), call("2", "place_in", "bowl", FAILED, "it fell"), version=1),
    heard("constraint_status", 12, plan_id="p",
          constraints=[SimpleNamespace(constraint=RULE, verdict=0, holds=True, robustness=0.031)]),
    heard("command_status", 12, id="p", command=WORDS, state=3, error_code=5, message="The block fell."),
)  # fmt: skip


def told(*messages: Heard) -> tuple[Story, list[str]]:
    story = Story()
    return story, [f"{event.time:g} {event.text}" for message in messages for event in story.hear(message)]


def test_what_models_were_asked_and_replied_is_shown_word_for_word():
    chat = {"model": "m", "asks": "chat", "messages": [{"role": "user", "content": "Scene:\n{}"}], "replies": ["{"],
            "usage": "12 + 3 tokens"}  # fmt: skip
    failed = {"model": "m", "asks": "chat", "messages": [], "replies": [], "error": "it did not answer within 5 s"}
    recording = SimpleNamespace(
        messages=lambda names: [heard(*names, 9, data=json.dumps(one)) for one in (chat, failed)]
    )
    shown = exchanged(recording)
    assert "m, chat (12 + 3 tokens)\n--- user\nScene:\n{}\n--- reply\n{\n" in shown
    assert shown.endswith("--- error\nit did not answer within 5 s")


def test_words_plan_rules_steps_edits_and_the_end_are_told_once_each_in_order():
    _, lines = told(*BEGINNING, *BEGINNING[2:], *EDITED, *END)  # a further file repeats latched messages
    assert lines == [
        f"1 command “{WORDS}”",
        '2 plan: pick("red block"), place_in("bowl")',
        "2   rule: the robot is never over the vase",
        '3 step 1 pick("red block"): running',
        '5 step 1 pick("blue block"): running',
        "5 correction “the blue one” applied: changed",
        '5   1 pick("red block") -> pick("blue block")',
        '9 step 1 pick("blue block"): done',
        '9 step 2 place_in("bowl"): running',
        '12 step 2 place_in("bowl"): failed, it fell',
        "12 not done: The block fell.",
    ]


def test_a_step_that_a_program_asked_for_names_words_line_forecast_and_result():
    story, _ = told(*BEGINNING, status(7, call("1", "pick", "red block", DONE), PLACE))
    text = explained(story, "1")
    assert f"you said “{WORDS}”" in text
    assert "line 1 of the program asks for the step: pick()" in text
    assert "the red block is in the gripper" in text
    assert "about 4.6 s, 0.7 m of motion" in text
    assert "the rehearsal of the plan: allow, 4 branches followed" in text
    assert "done after 4.0 s, as the scene showed its effect" in text
    assert "the recording ends before the command did" in text


def test_a_step_that_an_edit_made_names_the_edit_and_what_bound_its_motion():
    story, _ = told(*BEGINNING, *EDITED, *END)
    text = explained(story, "1")
    assert "by “the blue one”, which put this step into the plan" in text
    assert 'this step is from “the blue one”: 1 pick("red block") -> pick("blue block")' in text
    assert "nothing: an edit made the step" in text
    assert "keep out of the zone of the vase, and 0.05 m from it; at most 0.25 m/s" in text
    assert "the robot is never over the vase" in text
    assert "at last held, margin 0.031" in text


def test_a_failed_step_gives_the_reason_and_the_end_of_the_command():
    text = explained(told(*BEGINNING, *EDITED, *END)[0], "2")
    assert "failed after 3.0 s: it fell" in text
    assert "the command did not succeed: The block fell." in text


def test_without_a_step_every_step_is_listed_and_an_unknown_one_names_the_known():
    story, _ = told(*BEGINNING, *EDITED, *END)
    assert '1  pick("blue block") (by “the blue one”): done' in explained(story)
    with pytest.raises(InputError, match="there is no step '7' in this run; the steps are: 1, 2 of"):
        explained(story, "7")


def test_a_run_in_which_nothing_moved_says_what_became_of_the_words():
    refused = heard("command_status", 1, id="p", command="fly", state=3, error_code=4, message="I cannot.")
    with pytest.raises(InputError, match=r"nothing was carried out in this run.*“fly”: I cannot"):
        explained(told(refused)[0])
