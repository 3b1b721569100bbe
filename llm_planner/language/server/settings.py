"""Where the language model server is, and how long to wait for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.redaction import redacted, secrets_of_url

TIMEOUT = 120.0  # [s] a model that thinks says nothing meanwhile
MAX_TOKENS = 8000
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
FIRST_PAUSE = 0.5  # [s] before a failed request is sent again; doubled every time
ALLOWANCE = 1.0  # [s] for all else, so that a silence is told as one


@dataclass(frozen=True)
class ServerSettings:
    """Where the server is and how long to wait for it.

    `timeout` [s] is the longest silence of one request, `max_tokens` the most that one answer may take, thoughts
    included. `temperature` and `reasoning_effort` are sent only where they are set: many servers take no other than
    their own. Failures that may pass (no connection, 429, 5xx, a broken answer) are tried `max_retries` times more,
    with growing pauses.
    """

    model: str
    base_url: str | None = None  # None is the OpenAI service itself
    api_key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    max_retries: int = 2
    max_tokens: int = MAX_TOKENS
    temperature: float | None = None
    reasoning_effort: str = ""

    @property
    def patience(self) -> float:
        """The most time that one question may take, with all its tries and pauses [s]."""
        pauses = sum(FIRST_PAUSE * 2.0**n for n in range(self.max_retries))
        return self.timeout * (self.max_retries + 1) + pauses + ALLOWANCE

    def __str__(self) -> str:
        return f"the language model server {redacted(self.base_url or 'OpenAI')} (model {self.model})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text may show: the key, and the credentials in the address."""
        return (self.api_key, *secrets_of_url(self.base_url or ""))

    @property
    def cut_off(self) -> str:
        """What to say of an answer that did not come to its end."""
        return f"did not finish within {self.max_tokens} tokens: raise LLM_PLANNER_MAX_TOKENS, or ask for less at once"

    def check(self) -> None:
        """The client itself fails on these in ways that do not say which setting is wrong; keys are never shown.

        Raises `LanguageModelError`.
        """
        try:
            url = urlsplit(self.base_url or "https://")
            valid = url.scheme in ("http", "https") and (url.port or 1) > 0
        except ValueError:  # brackets or port
            valid = False
        if not valid:
            raise LanguageModelError(
                f"{self} has no valid address: set OPENAI_BASE_URL to one such as http://localhost:8000/v1"
            )
        if not (self.api_key.isascii() and self.api_key.isprintable()):
            raise LanguageModelError("OPENAI_API_KEY holds characters that no key has (a line break?): set it again")


def settings_from_environment(environment: Mapping[str, str] | None = None) -> ServerSettings:
    """Settings from `LLM_PLANNER_OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`, and `LLM_PLANNER_` with `TIMEOUT`,
    `MAX_TOKENS`, `TEMPERATURE` and `REASONING_EFFORT`.

    A server of one's own needs no key. Raises `InputError` that says which variable to set.
    """
    env = os.environ if environment is None else environment
    base_url = env.get("OPENAI_BASE_URL")
    model = env.get("LLM_PLANNER_OPENAI_MODEL")
    if not model:
        raise InputError("the openai model needs a name: set LLM_PLANNER_OPENAI_MODEL to one that your server offers")
    if not env.get("OPENAI_API_KEY") and not base_url:
        raise InputError(
            "set OPENAI_API_KEY, or OPENAI_BASE_URL to a server of your own (such as http://localhost:8000/v1)"
        )
    timeout = _number(env, "LLM_PLANNER_TIMEOUT", TIMEOUT, "a number of seconds above 0")
    max_tokens = int(_number(env, "LLM_PLANNER_MAX_TOKENS", MAX_TOKENS, "a number of tokens, 100 or more", 100.0))
    temperature = None
    if env.get("LLM_PLANNER_TEMPERATURE"):
        temperature = _number(env, "LLM_PLANNER_TEMPERATURE", 0.0, "a number from 0 to 2", 0.0, 2.0)
    effort = env.get("LLM_PLANNER_REASONING_EFFORT", "")
    if effort and effort not in EFFORTS:
        raise InputError(f"LLM_PLANNER_REASONING_EFFORT must be one of {', '.join(EFFORTS)}, not {effort!r}")
    key = env.get("OPENAI_API_KEY") or "none"
    return ServerSettings(
        model, base_url, key, timeout, max_tokens=max_tokens, temperature=temperature, reasoning_effort=effort
    )


def _number(
    env: Mapping[str, str], name: str, default: float, wanted: str, least: float = 1e-9, most: float = 1e9
) -> float:
    """The number in a variable of the environment; raises InputError that says what is `wanted`."""
    text = env.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise InputError(f"{name} must be {wanted}, not {text!r}")
    return value
