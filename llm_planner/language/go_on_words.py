"""Hears "go on" without any language model."""

from __future__ import annotations

import re

from llm_planner.language.plain_text import plain_text

GO_ON = "say “go on” to have the rest done"
_POLITE = frozenset(re.findall(r"\w+", "hey now ok okay please robot so then yes you can"))  # before or after the words
_WORDS = frozenset(
    ("go on", "continue", "carry on", "resume", "go on with it", "continue with it", "carry on with it", "resume it")
)


def is_go_on(text: str) -> bool:
    """Whether a person who says this, and nothing else, wants what was left unfinished to be done.

    "Go on to the kitchen" says where to, and "continue the tour" what with: those are commands like any other.
    """
    words = re.findall(r"[^\W_]+", plain_text(text[:200]).lower())
    while words and words[0] in _POLITE:
        words = words[1:]
    while words and words[-1] in _POLITE:
        words = words[:-1]
    return " ".join(words) in _WORDS
