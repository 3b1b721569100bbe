"""Sound in WAV files."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from llm_planner.correction.speech.audio import AudioFormat
from llm_planner.correction.speech.recogniser import RATE, Samples
from llm_planner.errors import InputError

_ENCODINGS = {1: "u8", 2: "s16le", 4: "s32le"}  # by the bytes of a sample


def pcm(samples: Samples) -> bytes:
    """The samples (n,) as signed 16 bits."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def wave_bytes(samples: Samples) -> bytes:
    """The samples (n,) as a WAV file."""
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(pcm(samples))
        return buffer.getvalue()


def read_wave(path: Path, chunk: float = 0.1) -> tuple[AudioFormat, Iterator[bytes]]:
    """What the file holds and its sound in chunks of so many seconds; raises InputError for what is no such file."""
    try:
        with wave.open(str(path), "rb") as file:
            rate, width, channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
            data = file.readframes(file.getnframes())
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (wave.Error, EOFError) as error:
        raise InputError(f"{path} is no WAV file of plain PCM: {error or 'it ends too early'}") from error
    if width not in _ENCODINGS:
        raise InputError(f"{path} has {8 * width} bits a sample; there may be 8, 16 or 32")
    size = round(rate * chunk) * width * channels
    chunks = (data[begin : begin + size] for begin in range(0, len(data), size))
    return AudioFormat(rate, _ENCODINGS[width], channels), chunks
