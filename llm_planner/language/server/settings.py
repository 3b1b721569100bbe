"""Where the language model server is, and how long to wait for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from llm_planner.errors import InputError, LanguageModelError

FIRST_PAUSE = 0.5  # [s] before a failed request is sent again; doubled every time
ALLOWANCE = 1.0  # [s] for all else, so that a silence is told as one


@dataclass(frozen=True)
class ServerSettings:
    """Where the server is and how long to wait for it.

    `timeout` [s] is the longest silence of one request; failures that may pass (no connection, 429, 5xx, a broken
    answer) are tried `max_retries` times more, with growing pauses.
    """

    model: str
    base_url: str | None = None  # None is the OpenAI service itself
    api_key: str = ""
    timeout: float = 30.0
    max_retries: int = 2
    max_tokens: int = 1500

    @property
    def patience(self) -> float:
        """The most time that one question may take, with all its tries and pauses [s]."""
        pauses = sum(FIRST_PAUSE * 2.0**n for n in range(self.max_retries))
        return self.timeout * (self.max_retries + 1) + pauses + ALLOWANCE

    def __str__(self) -> str:
        return f"the language model server {self.base_url or 'OpenAI'} (model {self.model})"

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
    """Settings from `LLM_PLANNER_OPENAI_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `LLM_PLANNER_TIMEOUT`.

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
    seconds = env.get("LLM_PLANNER_TIMEOUT", "30")
    try:
        timeout = float(seconds)
    except ValueError:
        timeout = -1.0
    if not 0 < timeout < float("inf"):
        raise InputError(f"LLM_PLANNER_TIMEOUT must be a number of seconds above 0, not {seconds!r}")
    return ServerSettings(model, base_url, env.get("OPENAI_API_KEY") or "none", timeout)
