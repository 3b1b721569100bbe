"""Audio decoding: conversion of PCM streams and WAV files to the recogniser format (mono, 16 kHz, float32)."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

RATE = 16_000  # [Hz] sampling rate of recogniser input
RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000)  # [Hz]
MOST_CHANNELS = 8
_ZERO_CROSSINGS = 10  # zero crossings of the resampling filter on each side

Samples = NDArray[np.float32]  # (n,) mono, within [-1, 1], at RATE


def _companded(data: NDArray[np.uint8]) -> Samples:
    """Decode µ-law (ITU-T G.711): sign, exponent and mantissa of the complement, with a bias of 33 (132 in 16 bits)."""
    bits = (~data).astype(np.int32)
    magnitude = (((bits & 0x0F) << 3) + 132 << ((bits & 0x70) >> 4)) - 132
    return (np.where(bits & 0x80, -magnitude, magnitude) / 32768.0).astype(np.float32)


ENCODINGS: Mapping[str, tuple[str, Callable[[NDArray[np.generic]], Samples]]] = {  # numpy's type, and decoder
    "s16le": ("<i2", lambda data: np.divide(data, 32768, dtype=np.float32)),
    "s32le": ("<i4", lambda data: (data.astype(np.float64) / 2**31).astype(np.float32)),
    "f32le": ("<f4", lambda data: np.clip(np.nan_to_num(data.astype(np.float32)), -1, 1)),
    "u8": ("u1", lambda data: np.divide(data, 128, dtype=np.float32) - np.float32(1)),
    "mulaw": ("u1", lambda data: _companded(data.astype(np.uint8))),
}


@dataclass(frozen=True)
class AudioFormat:
    """Raw PCM with a `rate` [Hz] of `RATES`, an encoding of `ENCODINGS` and interleaved channels; else InputError."""

    rate: int = RATE
    encoding: str = "s16le"
    channels: int = 1

    def __post_init__(self) -> None:
        if self.rate not in RATES:
            raise InputError(
                f"sound of {self.rate} Hz is not known; the rates are {', '.join(map(str, RATES))} Hz: set the rate "
                "to the one that the microphone gives"
            )
        if self.encoding not in ENCODINGS:
            raise InputError(
                f"there is no encoding {self.encoding!r} of sound; there are: {', '.join(ENCODINGS)}. "
                "MP3 and the like have to be decoded first"
            )
        if not 1 <= self.channels <= MOST_CHANNELS:
            raise InputError(f"sound has 1 to {MOST_CHANNELS} channels, not {self.channels}")


class AudioReader:
    """Decoder of a chunked audio stream; an incomplete frame at the end of a chunk waits for the next chunk."""

    def __init__(self, format: AudioFormat) -> None:
        self._dtype, self._decoded = ENCODINGS[format.encoding]
        self._channels = format.channels
        self._frame = np.dtype(self._dtype).itemsize * format.channels  # [bytes]
        self._rest = b""
        self._resampler = Resampler(format.rate) if format.rate != RATE else None

    def read(self, chunk: bytes) -> Samples:
        """Return the mono samples (n,) that are complete with this chunk."""
        data = self._rest + chunk
        whole = len(data) - len(data) % self._frame
        self._rest = data[whole:]
        sound = self._decoded(np.frombuffer(data[:whole], self._dtype))
        mono = sound.reshape(-1, self._channels).mean(axis=1, dtype=np.float32)
        return self._resampler.resample(mono) if self._resampler else mono


class Resampler:
    """Streaming polyphase resampler from `rate` [Hz] to 16 kHz, without seams between chunks.

    The delay is half the filter length, about 0.6 ms for rates of 16 kHz and above.
    """

    def __init__(self, rate: int) -> None:
        from scipy.signal import firwin, upfirdn

        self._upfirdn = upfirdn
        common = gcd(rate, RATE)
        self._up, self._down = RATE // common, rate // common
        widest = max(self._up, self._down)
        self._filter = self._up * firwin(2 * _ZERO_CROSSINGS * widest + 1, 1 / widest)
        taps = -(-len(self._filter) // self._up)  # input samples that one output sample depends on
        self._past = np.zeros(-(-taps // self._down) * self._down, np.float32)
        self._rest = np.zeros(0, np.float32)

    def resample(self, samples: Samples) -> Samples:
        """Return the output samples (m,) that the input so far determines."""
        fresh = np.concatenate((self._rest, samples))
        whole = len(fresh) - len(fresh) % self._down
        self._rest = fresh[whole:]
        heard = np.concatenate((self._past, fresh[:whole]))
        self._past = heard[whole:]
        begin = (len(heard) - whole) // self._down * self._up
        made: Samples = self._upfirdn(self._filter, heard, self._up, self._down).astype(np.float32)
        return made[begin : begin + whole // self._down * self._up]


_ENCODINGS = {1: "u8", 2: "s16le", 4: "s32le"}  # by sample width [bytes]


def pcm(samples: Samples) -> bytes:
    """Encode the samples (n,) as signed 16-bit PCM."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def wave_bytes(samples: Samples) -> bytes:
    """Encode the samples (n,) as a WAV file."""
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(pcm(samples))
        return buffer.getvalue()


def read_wave(path: Path, chunk: float = 0.1) -> tuple[AudioFormat, Iterator[bytes]]:
    """Read a WAV file as its audio format and chunks of raw PCM, each of `chunk` [s].

    Raises InputError if the file is missing, or not a WAV file of 8, 16 or 32-bit PCM.
    """
    try:
        with wave.open(str(path), "rb") as file:
            rate, width, channels = file.getframerate(), file.getsampwidth(), file.getnchannels()
            data = file.readframes(file.getnframes())
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (wave.Error, EOFError) as error:
        raise InputError(f"{path} is not a WAV file of plain PCM: {error or 'it ends too early'}") from error
    if width not in _ENCODINGS:
        raise InputError(f"{path} has {8 * width} bits a sample; there may be 8, 16 or 32")
    size = round(rate * chunk) * width * channels
    chunks = (data[begin : begin + size] for begin in range(0, len(data), size))
    return AudioFormat(rate, _ENCODINGS[width], channels), chunks
