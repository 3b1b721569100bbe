"""Opens a language model by the name people give it in settings and on the command line."""

from __future__ import annotations

from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.language.model import LanguageModel

MODEL_NAMES = ("embedded", "openai", "scripted")


def check_model(name: str, script: Path | None = None) -> None:
    """Raises `InputError` for an unknown name, for the scripted model without its file and for another with one; opens
    nothing."""
    if name not in MODEL_NAMES:
        raise InputError(f"there is no language model {name!r}; choose one of: {', '.join(MODEL_NAMES)}")
    check_script(name, script)
    if name == "scripted" and script is None:
        raise InputError("the scripted model needs a file of replies: give its path as the model script")
    if name == "scripted" and script is not None and not script.exists():
        raise InputError(f"cannot read the model script {script}: there is no such file")


def check_script(name: str, script: Path | None) -> None:
    """Raises `InputError` for a file of replies that the model called `name` would never read."""
    if script is not None and name != "scripted":
        raise InputError(
            f"the model script {script} holds replies of the model scripted, but the model is {name}: "
            "choose the model scripted, or leave the script out"
        )


def open_model(name: str = "embedded", script: Path | None = None) -> LanguageModel:
    """The model called `name`; `script` is the reply file of the scripted one.

    `openai` reads `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `LLM_PLANNER_OPENAI_MODEL` from the environment.
    Raises `InputError` as `check_model`, and for a script that is wrong.
    """
    check_model(name, script)
    if name == "embedded":
        from llm_planner.language.embedded.model import load_model

        return load_model()
    if name == "openai":
        from llm_planner.language.server.model import ServerModel
        from llm_planner.language.server.settings import settings_from_environment

        return ServerModel(settings_from_environment())
    from llm_planner.language.scripted import read_script

    assert script is not None
    return read_script(script)
