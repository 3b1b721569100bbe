"""Opens a language model by the name people give it in settings and on the command line."""

from __future__ import annotations

from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.language.model import LanguageModel

MODEL_NAMES = ("compact", "openai", "scripted")


def open_model(name: str = "compact", script: Path | None = None) -> LanguageModel:
    """The model called `name`; `script` is the reply file of the scripted one.

    `openai` reads `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `LLM_PLANNER_OPENAI_MODEL` from the environment.
    Raises `InputError` for an unknown name or a missing script.
    """
    if name == "compact":
        from llm_planner.language.compact.model import load_compact_model

        return load_compact_model()
    if name == "openai":
        from llm_planner.language.server.model import ServerModel
        from llm_planner.language.server.settings import settings_from_environment

        return ServerModel(settings_from_environment())
    if name == "scripted":
        if script is None:
            raise InputError("the scripted model needs a file of replies: give its path as the model script")
        from llm_planner.language.scripted import read_script

        return read_script(script)
    raise InputError(f"there is no language model {name!r}; choose one of: {', '.join(MODEL_NAMES)}")
