"""How much of what was named a reading speaks of: a thing named and then ignored makes a reading doubtful."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.language.compact.entries import Entries
from llm_planner.language.compact.grammar import Pointer, Step
from llm_planner.language.compact.words import Word, similarity

DOUBT = 0.3  # what a reading's probability is multiplied by for each kind or colour that it leaves out
REACH = 4  # words between a name and the "no, sorry" or "not" that takes it back

_TAKEN_BACK_BEFORE = frozenset(["not", "than", "instead", "don't", "without"])
_TAKEN_BACK_AFTER = frozenset(
    ["no", "wait", "sorry", "actually", "mean", "meant", "scratch", "oops", "rather", "correction", "hold", "hmm"]
)


def doubt(words: Sequence[Word], steps: Sequence[Step], entries: Entries) -> float:
    """A factor in (0, 1]: 1 where every kind and colour of the scene that was named is pointed at."""
    texts = [word.text for word in words]
    pointed = {(step.kind, step.index) for step in steps if isinstance(step, Pointer)}
    if steps[0] != "program" or any(kind == "object" for kind, _ in pointed):
        return 1.0  # nothing will move; and things with a name of their own are not told by kind and colour
    left_out = 0
    for pointer_kind, names in (("kind", entries.kinds), ("color", entries.colors)):
        for index, name in enumerate(names):
            if (pointer_kind, index) not in pointed and _named(texts, name):
                left_out += 1
    factor: float = DOUBT**left_out
    return factor


def _named(texts: list[str], name: str) -> bool:
    """Whether the name stands in the text and is not taken back there."""
    noun = name.split()[-1]
    places = [index for index, text in enumerate(texts) if similarity(text, noun) == 1.0]
    return any(not _taken_back(texts, index) for index in places)


def _taken_back(texts: list[str], index: int) -> bool:
    before, after = texts[max(0, index - REACH) : index], texts[index + 1 : index + 1 + REACH]
    return bool(_TAKEN_BACK_BEFORE & set(before) or _TAKEN_BACK_AFTER & set(after))
