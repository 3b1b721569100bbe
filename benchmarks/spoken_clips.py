"""Clips of synthetic speech, by the voices that Debian has, and what makes them hard to hear."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.speech.audio import RATE, AudioReader, Samples, read_wave

BEFORE, AFTER = 0.5, 1.2  # [s] without speech around a clip
FLOOR = 1e-4  # amplitude of the noise in a clean clip, -80 dB
MISSING = "the voices are missing; install them (for instance: apt install flite espeak-ng)"


@dataclass(frozen=True)
class Voice:
    """One voice of a program, at a speed of its own: a stretch for flite, words a minute for espeak-ng."""

    program: str
    name: str
    speed: str

    def command(self, text: str, path: Path) -> list[str]:
        if self.program == "flite":
            return [
                "flite",
                "-voice",
                self.name,
                "--setf",
                f"duration_stretch={self.speed}",
                "-t",
                text,
                "-o",
                str(path),
            ]
        return ["espeak-ng", "-v", self.name, "-s", self.speed, "-w", str(path), text]

    def __str__(self) -> str:
        return f"{self.program} {self.name} {self.speed}"


VOICES = (
    Voice("flite", "slt", "1.0"), Voice("flite", "rms", "0.9"), Voice("flite", "awb", "1.1"),
    Voice("flite", "kal16", "1.1"), Voice("flite", "slt", "1.2"), Voice("flite", "rms", "1.15"),
    Voice("espeak-ng", "en-us", "140"), Voice("espeak-ng", "en-gb", "150"), Voice("espeak-ng", "en-us+f2", "145"),
)  # fmt: skip


def voices_there() -> bool:
    return all(shutil.which(voice.program) for voice in VOICES)


def spoken(text: str, voice: Voice) -> Samples:
    """The clip (n,), without silence around it, at a loudness as people speak."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clip.wav")
        subprocess.run(voice.command(text, path), check=True, capture_output=True)
        format, chunks = read_wave(path)
        samples = AudioReader(format).read(b"".join(chunks))
    loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
    samples = samples[loud[0] : loud[-1] + 1]
    return (samples * 0.08 / loudness(samples)).astype(np.float32)


def loudness(samples: Samples) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def placed(clip: Samples, noise: Samples, decibels: float | None, before: float = BEFORE) -> Samples:
    """The clip amid the noise (m,), so many decibels louder than that, `before` [s] after it; None is a quiet room."""
    begin, length = round(before * RATE), len(clip) + round((before + AFTER) * RATE)
    amplitude = FLOOR if decibels is None else loudness(clip) * 10 ** (-decibels / 20)
    sound = noise[:length] * np.float32(amplitude / loudness(noise[:length]))
    sound[begin : begin + len(clip)] += clip
    return sound


def white(length: int, rng: np.random.Generator) -> Samples:
    return rng.standard_normal(length, dtype=np.float32)


def babble(length: int, clips: Sequence[Samples], rng: np.random.Generator, talkers: int = 6) -> Samples:
    """Several who speak at once, each without a pause: clips in random order, from a random moment on."""
    voices = []
    for _ in range(talkers):
        said = np.concatenate([clips[index] for index in rng.permutation(len(clips))])
        said = np.tile(said, length // len(said) + 2)
        begin = rng.integers(len(said) - length)
        voices.append(said[begin : begin + length])
    return np.sum(voices, axis=0, dtype=np.float32)
