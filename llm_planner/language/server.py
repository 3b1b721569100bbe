"""Any OpenAI-compatible server (OpenAI, vLLM, Ollama, llama.cpp) as a language model, through the `openai` client."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.model import ProgramReply, ProgramRequest, Usage
from llm_planner.language.plain_text import plain_text, shortened
from llm_planner.language.prompt import REPLY_SCHEMA, messages

if TYPE_CHECKING:
    from openai import OpenAI

_FENCE = re.compile(r"```(?:python|json)?\s*\n?(.*?)```", re.DOTALL)
_CALL = re.compile(r"\w\(")  # no program does anything without one


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

        chat = messages(request)
        try:
            return self._read(*self._complete(chat))
        except LanguageModelError:
            raise
        except openai.APITimeoutError as error:
            raise LanguageModelError(f"{self._where()} did not answer within {self._patience()}") from error
        except openai.APIConnectionError as error:
            raise LanguageModelError(
                f"{self._where()} cannot be reached; is it running, and is OPENAI_BASE_URL right?"
            ) from error
        except openai.APIStatusError as error:
            raise LanguageModelError(
                f"{self._where()} refused the request ({error.status_code}): {_brief(error.message)}"
            ) from error
        except Exception as error:  # what a server sends can break the client, and us, in any way
            raise LanguageModelError(
                f"{self._where()} gave an answer that cannot be used: {type(error).__name__}: {_brief(str(error))}"
            ) from error

    def _where(self) -> str:
        return f"the language model server {self._settings.base_url or 'OpenAI'} (model {self._settings.model})"

    def _patience(self) -> str:
        tries = self._settings.max_retries + 1
        return f"{self._settings.timeout:g} s" + (f", {tries} times" if tries > 1 else "")

    def _complete(self, chat: list[Any]) -> tuple[object, int]:
        """The completion and how many requests it took."""
        import openai

        if self._structured:
            try:
                return self._ask(chat, {"type": "json_schema", "json_schema": REPLY_SCHEMA}), 1
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                completion, requests = self._ask(chat, None), 2
                self._structured = False  # only now known: without the schema the same request was taken
                return completion, requests
        return self._ask(chat, None), 1

    def _ask(self, chat: list[Any], response_format: dict[str, Any] | None) -> object:
        options: dict[str, Any] = {"response_format": response_format} if response_format else {}
        return self._open().chat.completions.create(
            model=self._settings.model,
            messages=chat,
            temperature=0.0,
            max_tokens=self._settings.max_tokens,
            **options,
        )

    def _open(self) -> OpenAI:
        if self._client is None:
            from openai import OpenAI

            s = self._settings
            self._check_address_and_key()
            self._client = OpenAI(api_key=s.api_key, base_url=s.base_url, timeout=s.timeout, max_retries=s.max_retries)
        return self._client

    def _check_address_and_key(self) -> None:
        """The client itself fails on these in ways that do not say which setting is wrong; keys are never shown."""
        try:
            url = urlsplit(self._settings.base_url or "https://")
            valid = url.scheme in ("http", "https") and (url.port or 1) > 0
        except ValueError:  # brackets or port
            valid = False
        if not valid:
            raise LanguageModelError(
                f"{self._where()} has no valid address: set OPENAI_BASE_URL to one such as http://localhost:8000/v1"
            )
        key = self._settings.api_key
        if not (key.isascii() and key.isprintable()):
            raise LanguageModelError("OPENAI_API_KEY holds characters that no key has (a line break?): set it again")

    def _read(self, completion: object, requests: int) -> ProgramReply:
        from openai.types.chat import ChatCompletion

        if not isinstance(completion, ChatCompletion):  # the client hands on whatever JSON or text it got
            raise LanguageModelError(
                f"{self._where()} gave an answer that cannot be used, is OPENAI_BASE_URL right? "
                f"It begins: {_brief(str(completion))!r}"
            )
        if not completion.choices:
            raise LanguageModelError(f"{self._where()} answered with no choices")
        choice = completion.choices[0]
        if choice.finish_reason == "length":
            raise LanguageModelError(f"{self._where()} did not finish within {self._settings.max_tokens} tokens")
        spent = completion.usage
        tokens = (int(spent.prompt_tokens or 0), int(spent.completion_tokens or 0)) if spent else (0, 0)
        usage = Usage(*tokens, requests)
        program, question = read_answer(choice.message.content or "")
        if not program and not question:
            raise LanguageModelError(
                f"{self._where()} answered neither a program nor a question: {_brief(choice.message.content or '')!r}"
            )
        return ProgramReply("" if question else program, question, usage=usage)  # in doubt it asks


def read_answer(text: str) -> tuple[str, str]:
    """Program and question from an answer: our JSON object, or a program in a code fence, or bare, or a bare question.

    What a model thinks aloud before its answer, up to `</think>`, is passed over. Raises RecursionError for JSON that
    is nested without end.
    """
    text = text.rpartition("</think>")[2]
    fenced = _FENCE.search(text)
    body = (fenced.group(1) if fenced else text).strip()
    try:
        reply = json.loads(body)
    except ValueError:
        if not fenced and body.endswith("?") and not _CALL.search(body):
            return "", body
        return (body + "\n" if body else ""), ""
    if not isinstance(reply, dict):
        return "", ""
    program, question = (str(reply.get(key) or "").strip() for key in ("program", "question"))
    return (program + "\n" if program else ""), question


def _brief(text: str) -> str:
    return shortened(plain_text(text[:2000]), 200)
