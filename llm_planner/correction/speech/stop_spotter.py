"""Hears "stop" while it is still being spoken, so that the arm can be held before anything is understood.

A convenience and never the safety function: a voice is not always heard, and whoever must rely on a stop presses the
button. Only words with which somebody begins to speak count: "don't stop" and "let's stop for lunch" hold nothing.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from llm_planner.correction.speech.recogniser import Samples
from llm_planner.correction.speech.sphinx_recogniser import open_decoder
from llm_planner.correction.speech.wave_file import pcm

KEYPHRASES = {  # and how surely each must be heard: the longer, the less it is mistaken for
    "stop": 1e-8, "halt": 1e-8, "freeze": 1e-8, "stop it": 1e-12, "stop now": 1e-12, "don't move": 1e-15,
    "stand still": 1e-18, "hold still": 1e-15,
}  # fmt: skip
LATEST = 0.45  # [s] from where the sound begins to where the word does
_FRAME = 0.01  # [s]


class StopSpotter(Protocol):
    """Listens along with one utterance."""

    def begin(self) -> None:
        """A new utterance."""

    def feed(self, samples: Samples) -> str:
        """The stop word heard with these samples (n,) of the utterance, or ""."""


class SphinxStopSpotter:
    """By the keyphrases of pocketsphinx. Raises SpeechError without it."""

    def __init__(self) -> None:
        self._decoder = open_decoder()
        with TemporaryDirectory() as folder:
            path = Path(folder, "keyphrases")
            path.write_text("".join(f"{words} /{bound}/\n" for words, bound in KEYPHRASES.items()), encoding="utf-8")
            self._decoder.add_kws("stop", str(path))
        self._decoder.activate_search("stop")
        self._open = False

    def begin(self) -> None:
        """A new utterance."""
        if self._open:
            self._decoder.end_utt()
        self._decoder.start_utt()
        self._open = True

    def feed(self, samples: Samples) -> str:
        """The keyphrase that begins no later than `LATEST`, once the sound is past its end; "" for none."""
        if not self._open:
            self.begin()
        if len(samples):  # pocketsphinx takes no empty chunk
            self._decoder.process_raw(pcm(samples))
        if self._decoder.hyp() is None:
            return ""
        found = [part.word.strip() for part in self._decoder.seg() if part.start_frame * _FRAME <= LATEST]
        return found[0] if found else ""
