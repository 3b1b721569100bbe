"""How far a reading can be trusted: plain rules find what was said and is not in the formula. Fail closed.

The network is sure of itself even where it has overlooked a name or a "not".
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

from llm_planner.language.compact.constraints.lifting import Lifted, Sentence
from llm_planner.language.compact.grammar import Node, Pointer, Step, linearise

AMOUNTS = frozenset(["seconds", "quantity", "speed"])
DOUBT = 0.3  # what a reading's probability is multiplied by for each thing that it leaves out

_NEGATIONS = frozenset([
    "not", "never", "don't", "dont", "without", "avoid", "avoiding", "cannot", "can't", "mustn't", "forbidden",
    "prohibited", "no", "unless", "until", "till", "away", "clear", "shouldn't",
])  # fmt: skip
_AFFIRMATIVE = frozenset(["visit", "sequence", "within", "lasting"])
_DOUBLE = frozenset([
    "stop", "fail", "forget", "finish", "rest", "order", "matter", "particular", "specific", "end", "quit", "done",
    "exit", "problem", "later", "limit",
])  # fmt: skip
_BEFORE_NAMES = frozenset(["the", "a", "an", "any", "every", "my", "your", "our", "that", "this"])
_ALIKE = 0.75  # similarity from which an unknown word is taken for a known one, typed wrongly
_DOUBLED = frozenset(["without", "unless", "only", "if", "lower", "higher", "faster", "than"])  # or spoken of an amount
_NEGATIVE_STEPS = frozenset(["isnt", "never", "not_before", "never_after", "f_not", "farther", "stay_until", "f_until"])


def doubt(spec: Node, words: Sequence[Lifted], sentence: Sentence) -> float:
    """A factor in (0, 1] for one specification and its words: 1 where nothing is left out."""
    steps = linearise(spec)
    factor: float = DOUBT ** (len(_left_out(steps, words, sentence)) + _negation_is_lost(spec, steps, words))
    return factor


def _left_out(steps: Sequence[Step], words: Sequence[Lifted], sentence: Sentence) -> list[str]:
    """Names, times and lengths that were said and are not pointed at; others are others than those."""
    pointed = {sentence.named[s.kind][s.index] for s in steps if isinstance(s, Pointer) and s.kind in sentence.named}
    spared: set[str] = {"room"} if {"other_rooms", "rooms_of"} & set(steps) else set()
    spared |= {"object", "kind", "color"} if "others" in steps else set()
    meanings = (sentence.meaning(word.text) for word in _not_where_from(words))
    said = {name for entry, name in meanings if entry and entry not in spared}
    kinds = {step.kind for step in steps if isinstance(step, Pointer)}
    amounts = {word.segment for word in words if word.segment in AMOUNTS}
    return sorted(said - pointed) + sorted(amounts - kinds)


def _not_where_from(words: Sequence[Lifted]) -> list[Lifted]:
    """Without the room that something is fetched from."""
    texts = [word.text for word in words]
    before = [[*texts[max(0, index - 2) : index]] for index in range(len(texts))]
    return [word for word, last in zip(words, before, strict=True) if "from" not in last or "room" not in word.text]


def _negation_is_lost(spec: Node, steps: Sequence[Step], words: Sequence[Lifted]) -> bool:
    texts = {word.text for word in words}
    plain = spec.step in _AFFIRMATIVE and not _NEGATIVE_STEPS & set(steps)
    sided = spec.step == "whenever" and not {"isnt", "farther", "slower", "lower"} & set(steps)
    plain |= sided and not texts & _DOUBLED
    return bool(plain and texts & _NEGATIONS and not texts & _DOUBLE)


def unknown(words: Sequence[Lifted], known: frozenset[str]) -> str:
    """The first word that training has never shown, or "": a reading of such words is a guess."""
    return next((w.text for w in words if w.text.isalpha() and len(w.text) > 1 and w.text not in known), "")


def unknown_thing(words: Sequence[Lifted], known: frozenset[str]) -> str:
    """Words that name something which is neither here nor a word that training has shown, or ""."""
    for before, word in pairwise(words):
        if before.text in _BEFORE_NAMES and unknown((word,), known) and not _mistyped(word.text, known):
            return word.text
    return ""


def _mistyped(word: str, known: frozenset[str]) -> bool:
    return bool(get_close_matches(word, known, n=1, cutoff=_ALIKE))
