"""Reads corrections with a large language model on an OpenAI-compatible server."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from llm_planner.correction.edit_json import edit_from_json
from llm_planner.correction.edit_prompt import edit_messages, with_refusal
from llm_planner.correction.edit_schema import edit_schema
from llm_planner.correction.fidelity import check_faithful
from llm_planner.correction.situation import Situation
from llm_planner.errors import InputError, LanguageModelError, LlmPlannerError
from llm_planner.language.plain_text import server_text, shortened
from llm_planner.language.server.answers import json_in
from llm_planner.language.server.connection import Connection, Part, common_parts
from llm_planner.language.server.settings import ServerSettings
from llm_planner.plan.edits import Edit

ROUNDS = 2  # the second with what was wrong with the first

Check = Callable[[Edit], object]  # raises LlmPlannerError where the edit does not fit the plan


class LanguageReader:
    """Asks a server for the edit in a person's words. `clock` [s] is monotonic; it and `sleep` bound how long it takes.

    Stop words are not for it: they never wait for a model.
    """

    def __init__(
        self,
        settings: ServerSettings,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._connection = Connection(settings, clock, sleep)

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def read(self, words: str, situation: Situation, check: Check = lambda edit: None) -> Edit:
        """The edit for the plan's version; one that is malformed, or that `check` refuses, is asked for once more.

        Raises LanguageModelError saying what failed and what to do: no answer in time, or none that can be used.
        """
        chat = edit_messages(words, situation)
        problem = text = ""
        for _ in range(ROUNDS):
            text = self.answer(chat)
            try:
                edit = replace(edit_from_json(_json_in(text)), words=words, version=situation.version)
                check_faithful(edit, situation)
                check(edit)
            except LlmPlannerError as error:
                problem = str(error)
                chat = with_refusal(chat, shortened(text, 4000), problem)
            else:
                return edit
        raise LanguageModelError(
            f"{self._settings} gave no edit that can be used, {ROUNDS} times: {self._brief(problem)}; its last answer "
            f"begins {self._brief(text)!r}; say it in other words, or choose a larger model"
        )

    def answer(self, chat: list[Any]) -> str:
        """One text; structured where the server can, plain JSON where it cannot."""
        schema = {"name": "edit", "schema": edit_schema()}
        parts = [
            *common_parts(self._settings),
            Part({"stream": True}),
            Part({"response_format": {"type": "json_schema", "json_schema": schema}}),
        ]
        choice = self._connection.ask(chat, parts).completion.choices[0]
        if choice.finish == "length":
            raise LanguageModelError(f"{self._settings} {self._settings.cut_off}")
        return choice.text

    def _brief(self, text: str) -> str:
        return server_text(text, 200, self._settings.secrets)


def _json_in(text: str) -> Any:
    """The object in an answer, whatever stands around it; raises InputError."""
    try:
        return json_in(text)
    except ValueError as error:
        raise InputError(f"the answer is no JSON object ({error}); write one, and nothing else") from error
