"""A long command as clauses that can be read one by one, where that is certain not to change its meaning.

Sentences are clauses, and so is what follows "and" or "but" if it begins like an order or a rule of its own. A command
in which a word points back to another clause stays whole.
"""

from __future__ import annotations

import re

from llm_planner.language.understanding.wording import words_of

_SENTENCE_END = re.compile(r"(?<=[^\W\d])\s*[.;!]\s+|[;!]\s+")
_RULE = r"never|do not|don['’]?t|stay|keep|avoid|leave|finish|once|after|whenever|if|while|in the end|at the end|be in"
_ORDER = r"go to|drive to|visit|bring|take|put|fetch|enter|pick up|move"
_LINK = re.compile(rf"(?P<comma>,?)\s+(?:and|but)\s+(?:also\s+)?(?=(?:{_RULE}|{_ORDER})\b)", re.IGNORECASE)
_OPENS_A_CONDITION = re.compile(r"(?:if|once|after|whenever|when|while|unless|until|as)\b", re.IGNORECASE)
_POINTS_BACK = frozenset(
    ("it", "its", "them", "they", "there", "him", "her", "that", "this", "those", "these", "one", "ones", "other",
     "others", "else", "same", "both", "each", "instead", "then", "afterward", "again", "meanwhile", "so")
)  # fmt: skip
MIN_WORDS = 2


def clauses(command: str) -> tuple[str, ...]:
    """The clauses in their order; the command alone where it has one, or where they cannot be read apart."""
    parts = [part for sentence in _SENTENCE_END.split(command) for part in _linked(sentence.strip()) if part]
    apart = all(len(words_of(part)) >= MIN_WORDS and not _points_back(part) for part in parts)
    return tuple(parts) if len(parts) > 1 and apart else (command,)


def _points_back(part: str) -> bool:
    """Whether a word may mean something in another clause; "visit the lab, then the hall" is a clause of its own."""
    words = words_of(part)
    return words[0] == "then" or not _POINTS_BACK.isdisjoint(word for word in words if word != "then")


def _linked(sentence: str) -> list[str]:
    """Parts of a sentence; what a condition governs is parted from it only behind a comma."""
    parts, begin = [], 0
    for link in _LINK.finditer(sentence):
        part = sentence[begin : link.start()]
        if len(words_of(part)) >= MIN_WORDS and (link["comma"] or not _OPENS_A_CONDITION.match(part)):
            parts.append(part)
            begin = link.end()
    return [*parts, sentence[begin:].strip(" .,")]
