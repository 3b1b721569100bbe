"""faster-whisper, where a user has it and its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llm_planner.correction.speech.errors import SpeechError
from llm_planner.correction.speech.hint import hint
from llm_planner.correction.speech.recogniser import Samples, Transcript
from llm_planner.correction.speech.segments import transcript_of
from llm_planner.correction.speech.vocabulary import Vocabulary


class WhisperRecogniser:
    """A Whisper model on this machine (arXiv:2212.04356), by faster-whisper.

    `weights` is a folder with the model; nothing is ever downloaded. Raises SpeechError where it, or the package, is
    missing.
    """

    name = "faster-whisper"
    is_cheap = False

    def __init__(self, weights: Path) -> None:
        if not (weights / "model.bin").is_file():
            raise SpeechError(
                f"{weights} holds no weights of faster-whisper (no model.bin); give the folder of a model, "
                "or choose another recogniser"
            )
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise SpeechError(
                "the recogniser faster-whisper is not installed; run: pip install faster-whisper, "
                "or choose another recogniser"
            ) from error
        self._model: Any = WhisperModel(str(weights), local_files_only=True)

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """What it hears, with the names of things in its prompt."""
        found, _ = self._model.transcribe(
            samples, language="en", beam_size=5, temperature=0.0, initial_prompt=hint(vocabulary)
        )
        return transcript_of(list(found))
