"""What a language model is asked and replies reaches a listener as plain values."""

from __future__ import annotations

import json

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.factory import Script, ScriptedLanguageModel
from llm_planner.language.model import (
    Attempt,
    HeardModel,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingRequest,
)
from llm_planner.language.server.connection import ServerSettings
from llm_planner.language.server.model import ServerModel
from llm_planner.scene.scene import Scene
from llm_planner.text import REDACTED

EMPTY = Scene(0.0, ())
WAVE = Script((ProgramReply("go_home()"),), ((Reading("wave", (ReadConstraint("G !near(vase)", "mind the vase"),)),),))


@pytest.fixture
def heard():
    return []


@pytest.fixture
def model(heard):
    return HeardModel(ScriptedLanguageModel({"wave": WAVE}), heard.append)


def test_a_reading_is_heard_with_its_command_and_constraints(model, heard):
    reply = model.read_command(ReadingRequest("wave", EMPTY))
    assert reply.readings[0].task == "wave"
    (told,) = heard
    assert (told["model"], told["asks"], told["command"]) == ("scripted", "reading", "wave")
    assert told["replies"][0]["constraints"] == [{"formula": "G !near(vase)", "words": "mind the vase"}]
    json.dumps(told)


def test_a_program_is_heard_with_its_rules_and_the_answers_that_were_refused(model, heard):
    refused = (Attempt("fly()", ("there is no skill fly",)),)
    assert model.write_program(ProgramRequest("wave", EMPTY, refused, rules=("mind the vase",))).program == "go_home()"
    (told,) = heard
    assert told["replies"][0]["program"] == "go_home()"
    assert told["rules"] == ("mind the vase",)
    assert told["refused"] == [{"answer": "fly()", "problems": ("there is no skill fly",)}]
    json.dumps(told)


def test_a_model_that_does_not_answer_is_not_heard(model, heard):
    with pytest.raises(LanguageModelError):
        model.read_command(ReadingRequest("jump", EMPTY))
    assert heard == []


def test_a_request_to_a_server_is_heard_with_its_prompt_and_the_answer_as_it_came_without_secrets(loopback, heard):
    answer = json.dumps({"program": "go_home()", "question": "", "note": "your key is sk-12345678"})
    settings = ServerSettings("m", loopback.serve(lambda n, body: loopback.completion(answer)), "sk-12345678", 5.0)
    server = ServerModel(settings, hear=heard.append)
    server.write_program(ProgramRequest("wave", EMPTY))
    server.close()
    (told,) = heard
    assert (told["model"], told["asks"]) == ("m", "chat")
    assert told["messages"] == loopback.bodies[0]["messages"]
    assert told["replies"] == [answer.replace("sk-12345678", REDACTED)]


def test_a_server_that_fails_is_heard_with_the_prompt_and_the_reason(loopback, heard):
    settings = ServerSettings("m", loopback.serve(lambda n, body: loopback.error(400)), "key", 5.0, max_retries=0)
    server = ServerModel(settings, hear=heard.append)
    with pytest.raises(LanguageModelError):
        server.write_program(ProgramRequest("wave", EMPTY))
    server.close()
    assert heard[-1]["replies"] == []
    assert "refused the request (400)" in heard[-1]["error"]
    assert heard[-1]["messages"]


def test_it_stands_for_the_model_in_all_else(model):
    assert (model.name, model.chooses, model.is_large, model.guess) == ("scripted", True, False, None)
