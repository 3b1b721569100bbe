"""The phrases of corrections about the things of the moment: as a grammar, as sentences, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from llm_planner.correction.speech.jsgf import (
    Choice,
    Part,
    Series,
    Tag,
    Word,
    drawn,
    meanings,
    read_grammar,
    without,
    written,
)
from llm_planner.correction.speech.vocabulary import Vocabulary

START = "correction"
_GRAMMAR = Path(__file__).with_name("corrections.jsgf")
_SAID = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True)
class Phrases:
    """Everything that may be said, as rules without gaps."""

    rules: Mapping[str, Part]

    @property
    def grammar(self) -> str:
        """In the JSpeech Grammar Format, for a recogniser that is to hear nothing else."""
        return written(self.rules, START)

    def sentences(self, count: int, random: Random) -> list[str]:
        """So many of the phrases, drawn at random, for a language model to learn from."""
        return [drawn(self.rules, START, random) for _ in range(count)]

    def intent(self, words: str) -> tuple[str, ...]:
        """What the words ask for, as the tags of the grammar in their order; empty where they are no such phrase."""
        return min(meanings(self.rules, START, said_words(words)), default=())


def said_words(text: str) -> list[str]:
    """The words of a text as recognisers write them: small letters, no signs."""
    return _SAID.findall(text.lower().replace("’", "'"))


def phrases_about(vocabulary: Vocabulary, known: Container[str] | None = None) -> Phrases:
    """The phrases with the names of the vocabulary put in; those with words that are not `known` are left out."""
    filled = {
        "object": (*vocabulary.objects, *vocabulary.kinds),
        "color": vocabulary.colors,
        "place": vocabulary.places,
        "answer": vocabulary.answers,
    }
    slots = {name: Choice(tuple(map(_named, sorted(set(said))))) for name, said in filled.items() if said}
    return Phrases(without({**_rules(), **slots}, known))


def _named(name: str) -> Part:
    words = said_words(name)
    return Series((*map(Word, words), Tag(" ".join(words))))


@lru_cache
def _rules() -> dict[str, Part]:
    return read_grammar(_GRAMMAR.read_text(encoding="utf-8"))
