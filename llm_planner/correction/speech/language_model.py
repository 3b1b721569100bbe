"""An n-gram model for one vocabulary: phrases of corrections before a background of everyday English."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from llm_planner.correction.speech.phrases import Phrases

SENTENCES = 4000  # drawn from the grammar
BACKGROUND_WORDS = 4000  # the most frequent ones
BACKGROUND_SHARE = 0.4  # of all words counted
BACK_OFF = 0.1  # the chance that any word comes, whatever came before it


def language_model(decoder: Any, phrases: Phrases, background: Mapping[str, float]) -> Any:
    """A trigram model for pocketsphinx: sentences drawn from the grammar, and the background's words [share each].

    The background is what talk that is no correction is heard as; without it, every noise is a command.
    """
    from pocketsphinx import NGramModel
    from pocketsphinx.lm import ArpaBoLM

    sentences = phrases.sentences(SENTENCES, Random(0))
    model = ArpaBoLM(text="\n".join(sentences), add_start=True, discount_mass=BACK_OFF)
    counted = sum(model.grams_1.values()) / (1 - BACKGROUND_SHARE)
    for word, share in background.items():
        model.grams_1[word] += share * BACKGROUND_SHARE * counted
    model.compute()
    with TemporaryDirectory() as folder:
        path = Path(folder, "corrections.lm")
        model.write_file(str(path))
        return NGramModel(decoder.config, decoder.logmath, str(path))


def everyday_words(decoder: Any, words: frozenset[str]) -> Mapping[str, float]:
    """The share of each of the most frequent of the words, from the general English model that pocketsphinx carries."""
    from pocketsphinx import NGramModel, get_model_path

    general = NGramModel(decoder.config, decoder.logmath, get_model_path("en-us/en-us.lm.bin"))
    frequent = heapq.nlargest(BACKGROUND_WORDS, ((general.prob([word]), word) for word in words))
    shares = {word: decoder.logmath.exp(score) for score, word in frequent}
    total = sum(shares.values())
    return {word: share / total for word, share in shares.items()}
