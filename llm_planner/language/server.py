"""Any OpenAI-compatible server (OpenAI, vLLM, Ollama, llama.cpp) as a language model, through the `openai` client."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import ProgramReply, ProgramRequest, Usage
from llm_planner.language.prompt import REPLY_SCHEMA, messages

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion

_FENCE = re.compile(r"```(?:python|json)?\s*\n?(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class ServerSettings:
    """Where the server is and how long to wait for it.

    `timeout` [s] is for one request; failures that may pass (no connection, 429, 5xx) are tried `max_retries` times
    more, with the client's own growing pauses.
    """

    model: str
    base_url: str | None = None  # None is the OpenAI service itself
    api_key: str = ""
    timeout: float = 30.0
    max_retries: int = 2
    max_tokens: int = 1500


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


class ServerModel:
    """Asks the server for a program as structured output, or as plain text where the server has none."""

    name = "openai"

    def __init__(self, settings: ServerSettings, client: OpenAI | None = None) -> None:
        self._settings = settings
        self._client = client
        self._structured = True  # until the server says that it cannot

    def write_program(self, request: ProgramRequest) -> ProgramReply:
        """The server's program or question; raises `LanguageModelError` saying what failed and what to do."""
        import openai

        try:
            completion, requests = self._complete(request)
        except openai.APITimeoutError as error:
            raise LanguageModelError(f"{self._where()} did not answer within {self._settings.timeout:g} s") from error
        except openai.APIConnectionError as error:
            raise LanguageModelError(
                f"{self._where()} cannot be reached; is it running, and is OPENAI_BASE_URL right?"
            ) from error
        except openai.APIStatusError as error:
            raise LanguageModelError(
                f"{self._where()} refused the request ({error.status_code}): {_brief(error.message)}"
            ) from error
        except openai.OpenAIError as error:
            raise LanguageModelError(
                f"{self._where()} gave an answer that cannot be used: {_brief(str(error))}"
            ) from error
        return self._read(completion, requests)

    def _where(self) -> str:
        return f"the language model server {self._settings.base_url or 'OpenAI'} (model {self._settings.model})"

    def _complete(self, request: ProgramRequest) -> tuple[ChatCompletion, int]:
        """The completion and how many requests it took."""
        import openai

        if self._structured:
            try:
                return self._ask(request, {"type": "json_schema", "json_schema": REPLY_SCHEMA}), 1
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                completion, requests = self._ask(request, None), 2
                self._structured = False  # only now known: without the schema the same request was taken
                return completion, requests
        return self._ask(request, None), 1

    def _ask(self, request: ProgramRequest, response_format: dict[str, Any] | None) -> ChatCompletion:
        options: dict[str, Any] = {"response_format": response_format} if response_format else {}
        completion: ChatCompletion = self._open().chat.completions.create(
            model=self._settings.model,
            messages=messages(request),
            temperature=0.0,
            max_tokens=self._settings.max_tokens,
            **options,
        )
        return completion

    def _open(self) -> OpenAI:
        if self._client is None:
            from openai import OpenAI

            s = self._settings
            self._client = OpenAI(api_key=s.api_key, base_url=s.base_url, timeout=s.timeout, max_retries=s.max_retries)
        return self._client

    def _read(self, completion: ChatCompletion, requests: int) -> ProgramReply:
        if not completion.choices:
            raise LanguageModelError(f"{self._where()} answered with no choices")
        choice = completion.choices[0]
        if choice.finish_reason == "length":
            raise LanguageModelError(f"{self._where()} did not finish within {self._settings.max_tokens} tokens")
        spent = completion.usage
        usage = Usage(spent.prompt_tokens if spent else 0, spent.completion_tokens if spent else 0, requests)
        program, question = read_answer(choice.message.content or "")
        if not program and not question:
            raise LanguageModelError(
                f"{self._where()} answered neither a program nor a question: {_brief(choice.message.content or '')!r}"
            )
        return ProgramReply(program, "" if program else question, usage=usage)


def read_answer(text: str) -> tuple[str, str]:
    """Program and question from an answer: our JSON object, or a program in a code fence, or a bare program."""
    fenced = _FENCE.search(text)
    body = (fenced.group(1) if fenced else text).strip()
    try:
        reply = json.loads(body)
    except ValueError:
        return (body + "\n" if body else ""), ""
    if not isinstance(reply, dict):
        return "", ""
    program, question = (str(reply.get(key) or "").strip() for key in ("program", "question"))
    return (program + "\n" if program else ""), question


def _brief(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else flat[:200] + "…"
