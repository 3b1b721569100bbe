"""Opens a recogniser by the name people give it in settings and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from llm_planner.correction.speech.recogniser import Recogniser
from llm_planner.errors import InputError

RECOGNISER_NAMES = ("pocketsphinx", "server", "faster-whisper")


def open_recogniser(
    name: str = "pocketsphinx", weights: Path | None = None, environment: Mapping[str, str] | None = None
) -> Recogniser:
    """The recogniser called `name`; `weights` is the folder of a faster-whisper model.

    Behind a server stands the offline one, for when it does not answer. Raises InputError for a name that there is
    not, or settings that do not fit it, and SpeechError for one that is not installed.
    """
    if name not in RECOGNISER_NAMES:
        raise InputError(f"there is no recogniser {name!r}; choose one of: {', '.join(RECOGNISER_NAMES)}")
    if name == "faster-whisper":
        from llm_planner.correction.speech.whisper_recogniser import WhisperRecogniser

        if weights is None:
            raise InputError("faster-whisper needs the folder of a model's weights; give it with --weights")
        return WhisperRecogniser(weights)
    from llm_planner.correction.speech.sphinx_recogniser import SphinxRecogniser

    if name == "pocketsphinx":
        return SphinxRecogniser()
    from llm_planner.correction.speech.fallback import FallbackRecogniser
    from llm_planner.correction.speech.server_recogniser import ServerRecogniser, transcription_server

    return FallbackRecogniser(ServerRecogniser(transcription_server(environment)), SphinxRecogniser())
