"""The offline recogniser: pocketsphinx hears an utterance twice, and only what both agree on is accepted.

Once with the grammar of the phrases, in which everything is a correction, and once with a language model in which the
phrases compete with everyday English. Talk that is no correction is heard by the two as different things; corrections
are heard alike. One recogniser alone makes a command of whatever it hears.

Hears "stop" while it is still being spoken, so that the arm can be held before anything is understood.

A convenience and never the safety function: a voice is not always heard, and whoever must rely on a stop presses the
button. Only words with which somebody begins to speak count: "don't stop" and "let's stop for lunch" hold nothing.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from llm_planner.speech.audio import pcm
from llm_planner.speech.recogniser import Samples, SpeechError, Transcript, Vocabulary
from llm_planner.speech.word_graph import START, Phrases, everyday_words, language_model, phrases_about, word_graph

_GRAMMAR, _MODEL = "grammar", "model"  # the two searches


class SphinxRecogniser:
    """Recognises the phrases of corrections, about the things of the vocabulary. Raises SpeechError without
    pocketsphinx.

    A vocabulary is learnt when it is first heard with, or by `learn` ahead of that (about half a second).
    """

    name = "pocketsphinx"
    is_cheap = True

    def __init__(self) -> None:
        self._decoder = open_decoder(cmn="batch")  # each utterance by itself, whoever spoke before
        self._background = everyday_words(self._decoder, pronounceable())
        self._lock = threading.RLock()
        self._vocabulary: Vocabulary | None = None
        self._phrases = Phrases({})

    def learn(self, vocabulary: Vocabulary) -> None:
        """Get ready to hear with this vocabulary."""
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
        """The words that the grammar gives, accepted where the language model's ask for the same."""
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
        """Whether both ask for the same; "too" and "two" are the same to an ear."""
        wanted = self._phrases.intent(phrase)
        return bool(wanted) and (wanted == self._phrases.intent(talk) or self._sounds(phrase) == self._sounds(talk))

    def _sounds(self, words: str) -> list[str]:
        """The phones of the words, one after the other."""
        return [sound for word in words.split() for sound in (self._decoder.lookup_word(word) or word).split()]

    def _decode(self, search: str, samples: Samples) -> tuple[str, float]:
        """The words and their posterior probability."""
        self._decoder.activate_search(search)
        self._decoder.start_utt()
        self._decoder.process_raw(pcm(samples), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        return (best.hypstr, min(1.0, best.prob)) if best else ("", 0.0)


def open_decoder(**settings: Any) -> Any:
    """A decoder of pocketsphinx with its English sounds and no search; raises SpeechError where it is missing."""
    try:
        from pocketsphinx import Decoder
    except ImportError as error:
        raise SpeechError(
            "listening offline needs the package pocketsphinx; run make setup, or choose another recogniser"
        ) from error
    return Decoder(lm=None, loglevel="FATAL", **settings)


@lru_cache
def pronounceable() -> frozenset[str]:
    """The words whose sounds pocketsphinx knows: 126 000 of American English."""
    from pocketsphinx import get_model_path

    lines = Path(get_model_path("en-us/cmudict-en-us.dict")).read_text(encoding="utf-8").splitlines()
    words = (line.split(maxsplit=1)[0] for line in lines)
    return frozenset(word for word in words if "(" not in word)  # "read(2)" is another way to say "read"


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
