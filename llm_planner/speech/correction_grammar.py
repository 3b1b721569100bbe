"""Grammar of corrections: JSpeech Grammar Format (W3C note, 2000), phrases for a vocabulary, word graph, trigrams.

The supported subset of the format has sequences, alternatives, groups, optional parts, tags and rule references. It has
no weights, repetition, imports or recursive rules. The word graph is the minimal automaton of the grammar. pocketsphinx
expands every rule reference, which takes seconds per word for some hundred phrases. A grammar without recursion has
finitely many continuations (Brzozowski's derivatives), so states with equal continuations merge. The language model
mixes phrases with everyday English.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from llm_planner.errors import InputError
from llm_planner.speech.recognisers import Vocabulary

START = "correction"
SENTENCES = 4000  # sentences sampled from the grammar
BACKGROUND_WORDS = 4000  # number of most frequent words
BACKGROUND_SHARE = 0.4  # share of all word counts
BACK_OFF = 0.1  # discount mass of unseen n-grams
_GRAMMAR = Path(__file__).with_name("corrections.jsgf")
_SAID = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True)
class Word:
    text: str


@dataclass(frozen=True)
class Rule:
    """Reference to the rule of that name."""

    name: str


@dataclass(frozen=True)
class Tag:
    """Meaning of the surrounding words; the tag itself is not spoken."""

    meaning: str


@dataclass(frozen=True)
class Series:
    """Sequence of parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    """Alternatives."""

    options: tuple[Part, ...]


Part = Word | Rule | Tag | Series | Choice
Rules = Mapping[str, Part]

NOTHING = Series(())
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEADER = re.compile(r"\s*#JSGF[^;]*;|\bgrammar\s+\S+\s*;")
_RULE = re.compile(r"\s*(?:public\s+)?<(\w+)>\s*=([^;]*);")
_TOKEN = re.compile(r"\s*(?:<(\w+)>|\{([^}]*)\}|([][()|])|([\w'.-]+))")


def read_grammar(text: str) -> dict[str, Part]:
    """Parse a grammar into rules by name; raise InputError that shows where the syntax is wrong."""
    rest = _HEADER.sub("", _COMMENT.sub("", text)).strip()
    rules: dict[str, Part] = {}
    while rest:
        found = _RULE.match(rest)
        if not found:
            raise InputError(f"this is not a rule of a grammar: {rest[:60]!r}; a rule is written <name> = words;")
        rules[found[1]] = _Reader(found[1], found[2]).whole()
        rest = rest[found.end() :].strip()
    return rules


class _Reader:
    """Recursive descent parser of one expansion."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text.rstrip()
        self._place = 0

    def whole(self) -> Part:
        part = self._choice()
        if self._place < len(self._text):
            raise self._wrong()
        return part

    def _choice(self) -> Part:
        options = [self._series()]
        while self._next("|"):
            options.append(self._series())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _series(self) -> Part:
        parts: list[Part] = []
        while (part := self._item()) is not None:
            parts.append(part)
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _item(self) -> Part | None:
        if self._next("("):
            return self._closed(self._choice(), ")")
        if self._next("["):
            return Choice((self._closed(self._choice(), "]"), NOTHING))
        found = _TOKEN.match(self._text, self._place)
        if not found or found[3]:
            return None
        self._place = found.end()
        rule, tag, _, word = found.groups()
        return Rule(rule) if rule else Word(word.lower()) if word else Tag(tag.strip())

    def _closed(self, part: Part, bracket: str) -> Part:
        if not self._next(bracket):
            raise self._wrong()
        return part

    def _next(self, bracket: str) -> bool:
        found = _TOKEN.match(self._text, self._place)
        if not found or found[3] != bracket:
            return False
        self._place = found.end()
        return True

    def _wrong(self) -> InputError:
        rest = self._text[self._place :].strip()[:40]
        return InputError(f"the rule <{self._name}> is not understood from {rest!r} on; check its brackets")


def without(rules: Rules, known: Container[str] | None = None) -> dict[str, Part]:
    """Remove every alternative that needs a missing rule, or a word that is not `known` (None: all words are known)."""
    done: dict[str, Part | None] = {}

    def pruned(part: Part) -> Part | None:
        if isinstance(part, Rule):
            return part if rule(part.name) is not None else None
        if isinstance(part, Word):
            return part if known is None or part.text in known else None
        if isinstance(part, Series):
            kept = [pruned(item) for item in part.parts]
            return None if None in kept else Series(tuple(item for item in kept if item is not None))
        if isinstance(part, Choice):
            options = tuple(item for item in map(pruned, part.options) if item is not None)
            return Choice(options) if options else None
        return part

    def rule(name: str) -> Part | None:
        if name not in done:
            done[name] = pruned(rules[name]) if name in rules else None
        return done[name]

    return {name: part for name in rules if (part := rule(name)) is not None}


def drawn(rules: Rules, start: str, random: Random) -> str:
    """Sample one sentence, with equal probability for each option of a choice."""
    words: list[str] = []
    waiting: list[Part] = [Rule(start)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Word):
            words.append(part.text)
        elif isinstance(part, Rule):
            waiting.append(rules[part.name])
        elif isinstance(part, Choice):
            waiting.append(random.choice(part.options))
        elif isinstance(part, Series):
            waiting.extend(reversed(part.parts))
    return " ".join(words)


def meanings(rules: Rules, start: str, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the tags of every parse of exactly these words, in grammar order."""
    return (tags for place, tags in _matches(rules, Rule(start), words, 0) if place == len(words))


def _matches(rules: Rules, part: Part, words: Sequence[str], place: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    if isinstance(part, Word):
        if place < len(words) and words[place] == part.text:
            yield place + 1, ()
    elif isinstance(part, Tag):
        yield place, (part.meaning,)
    elif isinstance(part, Rule):
        yield from _matches(rules, rules[part.name], words, place)
    elif isinstance(part, Choice):
        for option in part.options:
            yield from _matches(rules, option, words, place)
    elif not part.parts:
        yield place, ()
    else:
        for middle, before in _matches(rules, part.parts[0], words, place):
            for end, after in _matches(rules, Series(part.parts[1:]), words, middle):
                yield end, (*before, *after)


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
