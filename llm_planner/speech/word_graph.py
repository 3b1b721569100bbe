"""Phrases of corrections for a vocabulary, as a grammar, a word graph and an n-gram language model.

The word graph is the minimal automaton of the grammar. pocketsphinx expands every rule reference, which takes seconds
per word for some hundred phrases. A grammar without recursion has finitely many continuations (Brzozowski's
derivatives), so states with equal continuations merge. The language model mixes phrases with everyday English.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from llm_planner.speech.jsgf import (
    Choice,
    Part,
    Rule,
    Rules,
    Series,
    Tag,
    Word,
    drawn,
    meanings,
    read_grammar,
    without,
)
from llm_planner.speech.recogniser import Vocabulary

START = "correction"
_GRAMMAR = Path(__file__).with_name("corrections.jsgf")
_SAID = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True)
class Phrases:
    """All phrases that may be said, as rules without open slots."""

    rules: Mapping[str, Part]

    def sentences(self, count: int, random: Random) -> list[str]:
        """Sample `count` phrases, to train a language model."""
        return [drawn(self.rules, START, random) for _ in range(count)]

    def intent(self, words: str) -> tuple[str, ...]:
        """Return the tags that the words mean, in grammar order; () if the words are not a phrase."""
        return min(meanings(self.rules, START, said_words(words)), default=())


def said_words(text: str) -> list[str]:
    """Split a text into words as recognisers write them: lower case, without punctuation."""
    return _SAID.findall(text.lower().replace("’", "'"))


def phrases_about(vocabulary: Vocabulary, known: Container[str] | None = None) -> Phrases:
    """Fill the grammar with the names of the vocabulary; drop phrases with words that are not `known`."""
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


_Waiting = tuple[Part, ...]  # remaining parts of a sentence, next part first


@dataclass(frozen=True)
class WordGraph:
    """Automaton with arcs (from, to, word); state 0 starts every sentence and state `end` ends it."""

    states: int
    end: int
    arcs: tuple[tuple[int, int, str], ...]


def word_graph(rules: Rules, start: str) -> WordGraph:
    """Build the minimal deterministic automaton of the grammar, with a single end state."""
    builder = _Builder(rules)
    first = builder.state(frozenset(builder.open((Rule(start),))))
    order = [first, *(number for number in range(len(builder.following)) if number != first)]
    number_of = {state: number for number, state in enumerate(order)}
    end = len(order)
    arcs = [
        (number_of[state], number_of[after], word)
        for state, (_, steps) in enumerate(builder.following)
        for word, after in steps
    ]
    arcs += [(number_of[state], end, "") for state, (final, _) in enumerate(builder.following) if final]
    return WordGraph(end + 1, end, tuple(sorted(arcs)))


class _Builder:
    """Builder that numbers states by their continuations, so that equal states merge."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._numbers: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
        self._seen: dict[frozenset[_Waiting], int] = {}
        self.following: list[tuple[bool, tuple[tuple[str, int], ...]]] = []

    def open(self, waiting: _Waiting) -> Iterator[_Waiting]:
        """Expand the remaining parts in every way, up to the next word or the end."""
        if not waiting or isinstance(waiting[0], Word):
            yield waiting
            return
        first, rest = waiting[0], waiting[1:]
        if isinstance(first, Rule):
            yield from self.open((self._rules[first.name], *rest))
        elif isinstance(first, Choice):
            for option in first.options:
                yield from self.open((option, *rest))
        else:
            yield from self.open((*first.parts, *rest) if isinstance(first, Series) else rest)

    def state(self, stacks: frozenset[_Waiting]) -> int:
        if stacks not in self._seen:
            after: dict[str, set[_Waiting]] = {}
            for stack in stacks:
                if stack and isinstance(stack[0], Word):
                    after.setdefault(stack[0].text, set()).update(self.open(stack[1:]))
            steps = tuple((word, self.state(frozenset(after[word]))) for word in sorted(after))
            key = (() in stacks, steps)
            if key not in self._numbers:
                self._numbers[key] = len(self.following)
                self.following.append(key)
            self._seen[stacks] = self._numbers[key]
        return self._seen[stacks]


SENTENCES = 4000  # sentences sampled from the grammar
BACKGROUND_WORDS = 4000  # number of most frequent words
BACKGROUND_SHARE = 0.4  # share of all word counts
BACK_OFF = 0.1  # discount mass of unseen n-grams


def language_model(decoder: Any, phrases: Phrases, background: Mapping[str, float]) -> Any:
    """Build a trigram model for pocketsphinx from sampled phrases and the shares of background words.

    Without the background, every noise is decoded as a command.
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
    """Return the share of each of the most frequent `words`, from the English model that comes with pocketsphinx."""
    from pocketsphinx import NGramModel, get_model_path

    general = NGramModel(decoder.config, decoder.logmath, get_model_path("en-us/en-us.lm.bin"))
    frequent = heapq.nlargest(BACKGROUND_WORDS, ((general.prob([word]), word) for word in words))
    shares = {word: decoder.logmath.exp(score) for score, word in frequent}
    total = sum(shares.values())
    return {word: share / total for word, share in shares.items()}
