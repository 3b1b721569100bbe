"""Clips by flite's voice rms, a moment of quiet around each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from llm_planner.speech.audio import AudioReader, read_wave


@pytest.fixture(scope="session")
def clips() -> Callable[[str], np.ndarray]:
    """The samples (n,) of a clip by its name, at 16 kHz."""

    def clip(name: str) -> np.ndarray:
        format, chunks = read_wave(Path(__file__).parent / "clips" / f"{name}.wav")
        quiet = np.random.default_rng(0).normal(0.0, 1e-3, 10_000).astype(np.float32)
        samples = AudioReader(format).read(b"".join(chunks))
        loud = np.flatnonzero(np.abs(samples) > 0.02)
        return np.concatenate((quiet, samples[loud[0] : loud[-1]], quiet))

    return clip
