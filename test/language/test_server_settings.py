"""Settings of the model server, and what is told of wrong ones."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import ProgramRequest
from llm_planner.language.server.connection import ServerSettings, settings_from_environment
from llm_planner.scene.scene import Scene

REQUEST = ProgramRequest("go home", Scene(0.0, ()))


@pytest.mark.parametrize("url", ["http://[::bad/v1", "localhost:8000", "http://h:port/v1", "ftp://h/v1"])
def test_an_address_that_is_none_is_told(loopback, url):
    with pytest.raises(LanguageModelError, match="has no valid address: set OPENAI_BASE_URL"):
        loopback.model_at(url).write_program(REQUEST)


@pytest.mark.parametrize("key", ["schlüssel", "ab\ncd"])
def test_a_key_that_cannot_be_one_is_told_but_not_shown(loopback, key):
    with pytest.raises(LanguageModelError, match="OPENAI_API_KEY holds characters that no key has") as caught:
        loopback.model_at("http://127.0.0.1:9/v1", key=key).write_program(REQUEST)
    assert key not in str(caught.value)


def test_settings_name_the_variable_that_is_missing():
    with pytest.raises(InputError, match="set LLM_PLANNER_OPENAI_MODEL"):
        settings_from_environment({})
    with pytest.raises(InputError, match="set OPENAI_API_KEY, or OPENAI_BASE_URL"):
        settings_from_environment({"LLM_PLANNER_OPENAI_MODEL": "m"})


@pytest.mark.parametrize("seconds", ["soon", "0", "-1", "inf", "nan"])
def test_a_timeout_that_is_none_is_told(seconds):
    given = {"LLM_PLANNER_OPENAI_MODEL": "m", "OPENAI_API_KEY": "k", "LLM_PLANNER_TIMEOUT": seconds}
    with pytest.raises(InputError, match=f"LLM_PLANNER_TIMEOUT must be a number of seconds above 0, not '{seconds}'"):
        settings_from_environment(given)


def test_a_server_of_ones_own_needs_no_key():
    settings = settings_from_environment(
        {"LLM_PLANNER_OPENAI_MODEL": "m", "OPENAI_BASE_URL": "http://localhost:8000/v1"}
    )
    assert settings.base_url == "http://localhost:8000/v1"


def test_one_question_takes_no_longer_than_all_tries_and_their_pauses():
    assert ServerSettings("m", timeout=30.0, max_retries=2).patience == pytest.approx(3 * 30.0 + 0.5 + 1.0 + 1.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "12"), ("MAX_TOKENS", "many"), ("TEMPERATURE", "3"), ("REASONING_EFFORT", "huge")],
)
def test_a_setting_out_of_bounds_is_told_with_its_name(name, value):
    given = {"LLM_PLANNER_OPENAI_MODEL": "m", "OPENAI_API_KEY": "k", f"LLM_PLANNER_{name}": value}
    with pytest.raises(InputError, match=f"LLM_PLANNER_{name} must be .*, not '{value}'"):
        settings_from_environment(given)


def test_every_setting_is_read():
    given = {
        "LLM_PLANNER_OPENAI_MODEL": "m", "OPENAI_API_KEY": "k", "LLM_PLANNER_TIMEOUT": "7.5",
        "LLM_PLANNER_MAX_TOKENS": "500", "LLM_PLANNER_TEMPERATURE": "0", "LLM_PLANNER_REASONING_EFFORT": "low",
    }  # fmt: skip
    settings = settings_from_environment(given)
    assert (settings.timeout, settings.max_tokens) == (7.5, 500)
    assert (settings.temperature, settings.reasoning_effort) == (0.0, "low")
