"""Offline recogniser and stop-word spotter, both with pocketsphinx.

The recogniser decodes each utterance twice: with the grammar of corrections, and with a language model in which
corrections compete with everyday English. It accepts only what both agree on, since the grammar alone turns any sound
into a command. The spotter detects "stop" while it is spoken, so that the arm can hold before recognition. It is a
convenience and not a safety function: use the stop button. It reacts only to words at the start of an utterance, not to
"don't stop" or "let's stop for lunch".
"""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llm_planner.speech.audio import Samples, pcm
from llm_planner.speech.correction_grammar import (
    START,
    Phrases,
    everyday_words,
    language_model,
    phrases_about,
    word_graph,
)
from llm_planner.speech.recognisers import KEYPHRASES, SpeechError, Transcript, Vocabulary

LATEST = 0.45  # [s] latest start of a stop word in an utterance
_FRAME = 0.01  # [s]
_GRAMMAR, _MODEL = "grammar", "model"  # the two searches


class SphinxRecogniser:
    """Recogniser of correction phrases about the objects of a vocabulary; raises SpeechError without pocketsphinx.

    Learning a vocabulary takes about half a second, on its first use or ahead of it with `learn`.
    """

    name = "pocketsphinx"
    is_cheap = True

    def __init__(self) -> None:
        self._decoder = open_decoder(cmn="batch")  # normalises each utterance by itself
        self._background = everyday_words(self._decoder, pronounceable())
        self._lock = threading.RLock()
        self._vocabulary: Vocabulary | None = None
        self._phrases = Phrases({})

    def learn(self, vocabulary: Vocabulary) -> None:
        """Prepare the grammar and the language model for this vocabulary."""
        with self._lock:
            if vocabulary == self._vocabulary:
                return
            self._phrases = phrases_about(vocabulary, pronounceable())
            graph = word_graph(self._phrases.rules, START)
            arcs = [(begin, end, 1.0, word) if word else (begin, end, 1.0) for begin, end, word in graph.arcs]
            self._decoder.add_fsg(_GRAMMAR, self._decoder.create_fsg(_GRAMMAR, 0, graph.end, arcs))
            self._decoder.add_lm(_MODEL, language_model(self._decoder, self._phrases, self._background))
            self._vocabulary = vocabulary

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """Return the words of the grammar, accepted if the language model's words have the same intent."""
        if not len(samples):
            return Transcript("", 0.0, False, "no words were heard")
        with self._lock:
            self.learn(vocabulary)
            phrase, _ = self._decode(_GRAMMAR, samples)
            talk, confidence = self._decode(_MODEL, samples)
            agreed = self._agree(phrase, talk)
        if not talk and not phrase:
            return Transcript("", 0.0, False, "no words were heard")
        if agreed:
            return Transcript(phrase, confidence, True)
        return Transcript(talk or phrase, confidence, False, "it does not sound like a correction")

    def _agree(self, phrase: str, talk: str) -> bool:
        """Return whether both have the same intent or sound the same, such as "too" and "two"."""
        wanted = self._phrases.intent(phrase)
        return bool(wanted) and (wanted == self._phrases.intent(talk) or self._sounds(phrase) == self._sounds(talk))

    def _sounds(self, words: str) -> list[str]:
        """Return the phones of the words."""
        return [sound for word in words.split() for sound in (self._decoder.lookup_word(word) or word).split()]

    def _decode(self, search: str, samples: Samples) -> tuple[str, float]:
        """Return the best words and their posterior probability."""
        self._decoder.activate_search(search)
        self._decoder.start_utt()
        self._decoder.process_raw(pcm(samples), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        return (best.hypstr, min(1.0, best.prob)) if best else ("", 0.0)


def open_decoder(**settings: Any) -> Any:
    """Open a pocketsphinx decoder for English without a search; raise SpeechError if the package is missing."""
    try:
        from pocketsphinx import Decoder
    except ImportError as error:
        raise SpeechError(
            "listening offline needs the package pocketsphinx; run make setup, or choose another recogniser"
        ) from error
    return Decoder(lm=None, loglevel="FATAL", **settings)


@lru_cache
def pronounceable() -> frozenset[str]:
    """Return the words in pocketsphinx's pronunciation dictionary (126 000 of American English)."""
    from pocketsphinx import get_model_path

    lines = Path(get_model_path("en-us/cmudict-en-us.dict")).read_text(encoding="utf-8").splitlines()
    words = (line.split(maxsplit=1)[0] for line in lines)
    return frozenset(word for word in words if "(" not in word)  # "read(2)" is another pronunciation of "read"


class SphinxStopSpotter:
    """Stop-word spotter with pocketsphinx keyphrases; raises SpeechError if the package is missing."""

    def __init__(self) -> None:
        self._decoder = open_decoder()
        with TemporaryDirectory() as folder:
            path = Path(folder, "keyphrases")
            path.write_text("".join(f"{words} /{bound}/\n" for words, bound in KEYPHRASES.items()), encoding="utf-8")
            self._decoder.add_kws("stop", str(path))
        self._decoder.activate_search("stop")
        self._open = False

    def begin(self) -> None:
        """Start a new utterance."""
        if self._open:
            self._decoder.end_utt()
        self._decoder.start_utt()
        self._open = True

    def feed(self, samples: Samples, anywhere: bool = False) -> str:
        """Process samples (n,) of the utterance; return a keyphrase once its end has been heard, or "".

        It must begin within `LATEST` unless it may be `anywhere`.
        """
        if not self._open:
            self.begin()
        if len(samples):  # pocketsphinx rejects empty chunks
            self._decoder.process_raw(pcm(samples))
        if self._decoder.hyp() is None:
            return ""
        latest = float("inf") if anywhere else LATEST
        found = [part.word.strip() for part in self._decoder.seg() if part.start_frame * _FRAME <= latest]
        return found[0] if found else ""
