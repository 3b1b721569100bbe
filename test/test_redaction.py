"""What is a secret, and what is only a word."""

from __future__ import annotations

import base64

import pytest

from llm_planner.text import REDACTED, redacted, redacted_data, secrets_of_url

KEY = "sk-live-0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Authorization: Bearer {KEY}",
        f'{{"headers": {{"authorization": "Bearer {KEY}"}}}}',
        f"curl -H 'Authorization: {KEY}' host",
        f"Proxy-Authorization=Basic {KEY}",
        f"a bearer {KEY} is not valid here",
        f"GET /v1/models?api_key={KEY}&n=1",
        f"https://host/act?access_token={KEY}",
        f"http://user:{KEY}@host:8000/v1 cannot be reached",
        f"http://{KEY}@host/v1",
        f"https://us@er:p@{KEY}@host/v1",
    ],
)
def test_what_has_the_form_of_a_secret_is_taken_out(text, monkeypatch):
    known = redacted(text, [KEY])
    unknown = redacted(text) if not text.startswith("Incorrect") else known
    for shown in (known, unknown):
        assert KEY not in shown
        assert REDACTED in shown


def test_the_keys_in_the_environment_are_known(monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_API_KEY", KEY)
    monkeypatch.setenv("KEYBOARD_LAYOUT", "qwertyuiop")
    assert redacted(f"no such key: {KEY}; layout qwertyuiop") == f"no such key: {REDACTED}; layout qwertyuiop"


@pytest.mark.parametrize(
    "text",
    [
        "put the red block in the green bowl, and never reach over the vase",
        "basic movements; the bearer instruments are in place",
        "the key is none",
        "http://localhost:8000/v1 (model m) answered at 10:30",
        "G(!over(vase)) & F(in(red block, green bowl))",
        "the author's authorization is missing",
        "keys = [1, 2]; token = 3",
        "mail@host.org has no scheme",
    ],
)
def test_words_stay_as_they_are(text):
    assert redacted(text, ["none", ""]) == text


def test_of_two_keys_the_longer_one_goes_as_a_whole():
    assert redacted("abcdefgh12345", ["abcdefgh", "abcdefgh12345"]) == REDACTED


def test_every_text_in_data_is_looked_at():
    data = {"words": [f"Bearer {KEY}", 3, None, ("x", {"y": f"?key={KEY}"})], "time": 1.5}
    assert redacted_data(data) == {
        "words": [f"Bearer {REDACTED}", 3, None, ["x", {"y": f"?key={REDACTED}"}]],
        "time": 1.5,
    }


def test_the_credentials_of_an_address_are_known_in_every_spelling():
    found = secrets_of_url("http://user:p%40ss%2Fword@host/v1")
    assert {"p@ss/word", "p%40ss%2Fword", base64.b64encode(b"user:p@ss/word").decode()} <= set(found)
    assert secrets_of_url("http://host/v1") == ()
    assert secrets_of_url("http://[host") == ()
