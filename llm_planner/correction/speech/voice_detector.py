"""Whether somebody speaks: Silero VAD, as a network in ONNX.

The file comes with the package silero-vad (MIT licence, github.com/snakers4/silero-vad). That package is never
imported: it would load torch.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from llm_planner.correction.speech.errors import SpeechError
from llm_planner.correction.speech.recogniser import RATE, Samples

WINDOW = 512  # samples at a time, 32 ms
_CONTEXT = 64  # samples of the window before, which the network wants again
_MODEL = "silero_vad_16k_op15.onnx"


class VoiceDetector(Protocol):
    """How sure it is, window by window, that there is a voice."""

    def probability(self, window: Samples) -> float:
        """Of a voice in the next `WINDOW` samples (512,); windows come in their order, without gaps."""

    def reset(self) -> None:
        """Forget what was heard."""


class SileroDetector:
    """Silero VAD; about 0.2 ms a window on one core. Raises SpeechError where it is not installed."""

    def __init__(self, model: Path | None = None) -> None:
        try:
            from onnxruntime import InferenceSession, SessionOptions
        except ImportError as error:
            raise SpeechError("listening needs the package onnxruntime; run make setup") from error
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = InferenceSession(str(model or model_file()), options, providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self) -> None:
        self._state = np.zeros((2, 1, 128), np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def probability(self, window: Samples) -> float:
        heard = np.concatenate((self._context, window)).astype(np.float32)
        inputs = {"input": heard[None], "state": self._state, "sr": np.array(RATE, np.int64)}
        voice, self._state = self._session.run(None, inputs)
        self._context = heard[-_CONTEXT:]
        return float(voice[0, 0])


def model_file(package: str = "silero_vad") -> Path:
    """Where the network is that the `package` carries; raises SpeechError where it is not."""
    found = find_spec(package)
    folders = (found.submodule_search_locations or ()) if found else ()
    for folder in folders:
        if (path := Path(folder, "data", _MODEL)).is_file():
            return path
    raise SpeechError(f"listening needs {_MODEL} from the package silero-vad, which is not there; run make setup")
