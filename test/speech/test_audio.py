"""Sound of all kinds becomes mono at 16 kHz, the same however a stream is cut into chunks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.speech.audio import RATES, AudioFormat, AudioReader


def tone(rate: int, frequency: float = 440.0, seconds: float = 0.5) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * frequency * np.arange(round(rate * seconds)) / rate)


def s16(samples: np.ndarray) -> bytes:
    return np.round(samples * 32768).astype("<i2").tobytes()


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_of_any_rate_is_that_tone_at_16_kilohertz(rate):
    heard = AudioReader(AudioFormat(rate)).read(s16(tone(rate)))
    assert len(heard) == pytest.approx(8000, abs=640)  # the rest waits for more
    spectrum = np.abs(np.fft.rfft(heard[1000:7000] * np.hanning(6000)))
    assert np.argmax(spectrum) * 16000 / 6000 == pytest.approx(440.0, abs=3.0)
    assert np.abs(heard[1000:7000]).max() == pytest.approx(0.5, abs=0.01)


def test_what_16_kilohertz_cannot_hold_is_taken_out_and_not_folded_back():
    heard = AudioReader(AudioFormat(48_000)).read(s16(tone(48_000, frequency=11_000.0)))
    assert np.abs(heard[1000:7000]).max() < 0.02


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_chunks_of_any_length_give_what_the_whole_gives(rate):
    data = s16(tone(rate))
    reader = AudioReader(AudioFormat(rate))
    cuts = [0, 1, 7, 1000, 1003, 5001, len(data)]
    pieces = [reader.read(data[begin:end]) for begin, end in pairwise(cuts)]
    np.testing.assert_allclose(np.concatenate(pieces), AudioReader(AudioFormat(rate)).read(data), atol=1e-6)


@pytest.mark.parametrize(
    ("encoding", "data", "wanted"),
    [
        ("s16le", np.array([0, 16384, -32768], "<i2"), [0.0, 0.5, -1.0]),
        ("s32le", np.array([0, 2**30, -(2**31)], "<i4"), [0.0, 0.5, -1.0]),
        ("f32le", np.array([0.0, 0.5, -3.0, np.nan], "<f4"), [0.0, 0.5, -1.0, 0.0]),
        ("u8", np.array([128, 192, 0], "u1"), [0.0, 0.5, -1.0]),
        ("mulaw", np.array([0xFF, 0x7F, 0x80, 0x00, 0xB0], "u1"), [0.0, 0.0, 32124, -32124, 3900]),
    ],
)
def test_every_encoding_gives_the_samples_that_it_stands_for(encoding, data, wanted):
    scale = 32768 if encoding == "mulaw" else 1
    np.testing.assert_allclose(
        AudioReader(AudioFormat(encoding=encoding)).read(data.tobytes()) * scale, wanted, atol=1e-6
    )


def test_two_channels_become_one():
    data = np.array([[0.5, -0.5], [0.25, 0.75]], "<f4").tobytes()
    np.testing.assert_allclose(AudioReader(AudioFormat(encoding="f32le", channels=2)).read(data), [0.0, 0.5])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 12_345}, "12345 Hz is not known; the rates are 8000, .*set the rate"),
        ({"encoding": "mp3"}, "no encoding 'mp3' of sound; there are: s16le, .*decoded first"),
        ({"channels": 0}, "1 to 8 channels, not 0"),
    ],
)
def test_a_format_that_is_not_known_is_refused_with_those_that_are(values, message):
    with pytest.raises(InputError, match=message):
        AudioFormat(**values)
