"""A server on loopback that does everything wrong: each time a clear error, within a bounded time."""

from __future__ import annotations

import itertools
import json
import time

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.model import ChoiceRequest, ProgramRequest, ReadingRequest
from llm_planner.language.server.connection import ServerSettings
from llm_planner.language.server.model import ServerModel
from llm_planner.scene.scene import Scene

SCENE = Scene(0.0, ())
REQUEST = ProgramRequest("go home", SCENE)
TEXT = '{"program": "go_home()", "question": ""}'
QUICKLY = 3.0  # [s] that a fault may take to be told, on a busy machine


@pytest.fixture
def fails(loopback):
    """The error, in whole, that a server answering so leads to; it must come soon."""

    def run(answer, timeout=5.0, retries=0):
        model = loopback.model(answer, timeout, retries)
        began = time.monotonic()
        with pytest.raises(LanguageModelError, match=r"^the language model server http://127\.0\.0\.1") as caught:
            model.write_program(REQUEST)
        assert time.monotonic() - began < model._settings.patience + QUICKLY
        assert len(str(caught.value)) < 500
        assert str(caught.value).isprintable()
        return str(caught.value)

    return run


def reply(loopback, body, **changes):
    made = loopback.completion("")
    return type(made)(body, **changes)


def test_a_stall_before_the_answer_is_told_with_the_time_waited(loopback, fails):
    def answer(n, body):
        loopback.hold.wait(10)
        return loopback.completion(TEXT)

    assert "did not answer within 0.2 s" in fails(answer, timeout=0.2)


def test_when_several_tries_stall_they_are_counted(loopback, fails):
    def answer(n, body):
        loopback.hold.wait(10)
        return loopback.completion(TEXT)

    assert "did not answer within 0.1 s, 2 times" in fails(answer, timeout=0.1, retries=1)
    assert len(loopback.bodies) == 2


def test_a_stall_in_the_middle_is_told(loopback, fails):
    stalling = lambda n, body: loopback.events(loopback.event("{"), loopback.stall())  # noqa: E731
    assert "fell silent for 0.2 s in the middle of its answer" in fails(stalling, timeout=0.2)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_that_drips_for_ever_is_given_up_in_the_end(loopback, fails, kind):
    def drip():
        while not loopback.hold.wait(0.05):
            yield b" "

    message = fails(lambda n, body: reply(loopback, drip(), content_type=kind), timeout=0.4)
    assert "did not come to an end with its answer within 1.4 s" in message


def test_a_refusal_that_drips_for_ever_is_given_up_too(loopback, fails):
    def drip():
        while not loopback.hold.wait(0.05):
            yield b"no "

    message = fails(lambda n, body: reply(loopback, drip(), status=500), timeout=0.4)
    assert "did not come to an end with its answer within 1.4 s" in message


def test_after_a_server_was_given_up_the_next_question_is_asked_anew(loopback):
    def answer(n, body):
        return reply(loopback, loopback.stall()) if n == 1 else loopback.completion(TEXT)

    model = loopback.model(answer, timeout=0.3)
    with pytest.raises(LanguageModelError, match=r"in the middle of its answer|did not come to an end"):
        model.write_program(REQUEST)
    assert model.write_program(REQUEST).program == "go_home()\n"


@pytest.mark.parametrize(
    "how",
    [
        lambda loopback: loopback.events(loopback.event("{"), loopback.event('"pro')),
        lambda loopback: reply(loopback, b'{"choices": [', missing=100),
        lambda loopback: reply(loopback, loopback.event("{"), content_type="text/event-stream", missing=9),
    ],
    ids=["end of stream", "half an object", "half a stream"],
)
def test_a_connection_that_drops_in_the_middle_is_told_and_tried_again(loopback, fails, how):
    assert "broke off in the middle of its answer" in fails(lambda n, body: how(loopback))
    again = loopback.model(lambda n, body: how(loopback) if n == 1 else loopback.completion(TEXT), retries=1)
    answer = again.write_program(REQUEST)
    assert (answer.program, answer.usage.requests) == ("go_home()\n", 2)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_busy_or_failing_server_is_tried_again(loopback, status):
    model = loopback.model(lambda n, body: loopback.error(status) if n == 1 else loopback.completion(TEXT), retries=1)
    assert model.write_program(REQUEST).program == "go_home()\n"


@pytest.mark.parametrize("status", [429, 500])
def test_one_that_stays_so_is_told_with_the_tries(loopback, fails, status):
    message = fails(lambda n, body: loopback.error(status, "too busy"), retries=2)
    assert f"refused the request ({status}): " in message
    assert "too busy" in message
    assert message.endswith(", 3 times")


def test_the_pause_is_the_one_that_the_server_asks_for_else_it_grows(loopback):
    pauses = []
    waits = iter(["3", "soon", None])

    def answer(n, body):
        wait = next(waits)
        return loopback.error(429, **({"Retry_After": wait} if wait else {})) if n < 4 else loopback.completion(TEXT)

    settings = ServerSettings("m", loopback.serve(answer), "key", 30.0, 2)
    model = ServerModel(settings, sleep=pauses.append)
    with pytest.raises(LanguageModelError, match=r"\(429\)"):
        model.write_program(REQUEST)
    model.close()
    assert pauses == [3.0, 1.0]


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(loopback, fails):
    message = fails(lambda n, body: loopback.error(429, "slow down", Retry_After="3600"), retries=2)
    assert "slow down" in message
    assert "the next try would be in 3600 s, but only 1" in message
    assert len(loopback.bodies) == 1


def test_all_tries_together_have_one_deadline_on_the_clock_handed_in(loopback):
    now = [0.0]

    def pass_time(seconds):
        now[0] += seconds

    def answer(n, body):
        pass_time(60.0)
        return loopback.error(503)

    settings = ServerSettings("m", loopback.serve(answer), "key", 30.0, 5)
    model = ServerModel(settings, clock=lambda: now[0], sleep=pass_time)
    with pytest.raises(LanguageModelError, match=r"refused the request \(503\).*, 4 times$"):
        model.write_program(REQUEST)
    model.close()


def test_a_refusal_is_quoted_without_what_a_terminal_would_act_on(loopback, fails):
    assert "(401): " in (message := fails(lambda n, body: loopback.error(401, "\x1b[2J\x1b[31mbad\x07 key")))
    assert "bad key" in message


def test_a_server_that_is_not_there_is_named(loopback):
    with pytest.raises(LanguageModelError, match="cannot be reached; is it running, and is OPENAI_BASE_URL right"):
        loopback.model_at("http://127.0.0.1:9/v1").write_program(REQUEST)


CHOICE = {"index": 0, "finish_reason": "stop", "message": {"content": TEXT}}


@pytest.mark.parametrize(
    ("junk", "says"),
    [
        (b"\xff\xfe\x00binary", "it is not JSON"),
        (b"not json", "it is not JSON; it begins 'not json'"),
        (b"[" * 200_000, "it is not JSON"),
        (b"[1,2]", "the answer is a list"),
        (b'"text"', "the answer is 'text'"),
        (b"null", "the answer is None"),
        (b'{"choices": 5}', "choices is 5"),
        (b'{"choices": {"a": 1}}', "choices is an object"),
        (b'{"choices": ["a"]}', "an item of choices is 'a'"),
        (b'{"choices": [{"finish_reason": "stop", "message": null}]}', "a message is None"),
        (b'{"choices": [{"message": {"content": 5}}]}', "the content is 5"),
        (b'{"choices": [{"message": {}, "index": "0"}]}', "an index is '0'"),
        (b'{"choices": [{"message": {}, "finish_reason": 7}]}', "the finish reason is 7"),
        (json.dumps({"choices": [CHOICE], "usage": {"prompt_tokens": "many"}}).encode(), "prompt_tokens is 'many'"),
        (json.dumps({"choices": [{**CHOICE, "logprobs": [1]}]}).encode(), "logprobs is a list"),
        (
            json.dumps({"choices": [{**CHOICE, "logprobs": {"content": [{"token": "a"}]}}]}).encode(),
            "a log-probability is None",
        ),
    ],
    ids=lambda junk: repr(junk[:30]) if isinstance(junk, bytes) else "",
)
def test_junk_is_an_error_of_the_server(loopback, fails, junk, says):
    message = fails(lambda n, body: reply(loopback, junk))
    assert "gave an answer that cannot be used" in message
    assert says in message


def test_junk_in_a_stream_is_too(loopback, fails):
    assert "it is not JSON" in fails(lambda n, body: loopback.events(b"data: {\n\n"))
    assert "a delta is 5" in fails(lambda n, body: loopback.events(b'data: {"choices": [{"delta": 5}]}\n\n'))


def test_an_error_in_the_middle_of_a_stream_is_quoted(loopback, fails):
    for error in (b'"out of memory"', b'{"message": "out of memory", "code": 500}'):
        events = (loopback.event("{"), b'data: {"error": ' + error + b"}\n\n")
        message = fails(lambda n, body, events=events: loopback.events(*events))
        assert "gave up in the middle of its answer: 'out of memory'" in message


def test_a_command_that_no_server_can_be_sent_is_told(loopback):
    model = loopback.model(lambda n, body: loopback.completion(TEXT))
    with pytest.raises(LanguageModelError, match="cannot be asked, or gave an answer that cannot be used: Unicode"):
        model.write_program(ProgramRequest("go \ud800", SCENE))


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "", "image/png"])
def test_a_wrong_content_type_is_told(loopback, fails, kind):
    message = fails(lambda n, body: reply(loopback, b"<html>502 bad gateway</html>", content_type=kind))
    assert "is OPENAI_BASE_URL right? It sends " in message


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": None}, {}])
def test_an_answer_without_choices_is_told(loopback, fails, body):
    assert "answered with no choices" in fails(lambda n, _: reply(loopback, json.dumps(body).encode()))


def test_an_answer_cut_off_at_the_limit_of_tokens_is_told(loopback, fails):
    assert "did not finish within 8000 tokens" in fails(lambda n, body: loopback.completion("go(", finish="length"))
    assert "did not finish within 8000 tokens" in fails(lambda n, body: loopback.stream("go(", finish="length"))


def test_an_endless_stream_is_cut_off(loopback, fails):
    endless = (loopback.event("go_home()\n" * 100) for _ in itertools.count())
    assert "did not come to an end within 40000 characters" in fails(lambda n, body: loopback.events(endless))


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_endless_line_is_cut_off(loopback, fails, kind):
    endless = (b"x" * 1_000_000 for _ in itertools.count())
    message = fails(lambda n, body: reply(loopback, endless, content_type=kind))
    assert "did not come to an end within 16000000 bytes" in message


def test_an_empty_answer_is_told(loopback, fails):
    assert "it is neither a program nor a question" in fails(lambda n, body: loopback.completion("{}"))
    assert "it is neither a program nor a question" in fails(lambda n, body: loopback.completion("[" * 20_000))


def test_readings_and_choices_fail_as_clearly(loopback):
    model = loopback.model(lambda n, body: loopback.error(401, "bad key"))
    with pytest.raises(LanguageModelError, match=r"refused the request \(401\).*bad key"):
        model.read_command(ReadingRequest("x", SCENE))
    with pytest.raises(LanguageModelError, match=r"refused the request \(401\).*bad key"):
        model.choose(ChoiceRequest("x", SCENE, (), ("a()", "b()")))
