"""Hears "stop" without any language model."""

from __future__ import annotations

import re

from llm_planner.language.plain_text import plain_text

# What people say before the word itself: "hey robot, please just stop now".
_FILLERS = frozenset(
    re.findall(r"\w+", "ah argh hey hi just no now oh ok okay please quick quickly robot so wait well yo you")
)
_WORDS = frozenset(("abort", "cancel", "freeze", "halt", "stop", "stopp", "whoa", "woah"))
_PHRASES = (
    ("hold", "still"),
    ("stand", "still"),
    ("stay", "still"),
    ("do", "not", "move"),
    ("dont", "move"),
    ("stay", "where", "you", "are"),
    ("emergency", "stop"),
    ("e", "stop"),
    ("estop",),
)


def is_stop(text: str) -> bool:
    """Whether a person who says this wants the robot to stop, now.

    An utterance that begins with a stop word counts, whatever follows: stopping for nothing does no harm.
    """
    words = re.findall(r"[a-z]+", plain_text(text[:200]).lower().replace("'", "").replace("’", ""))
    while words and words[0] in _FILLERS:
        words.pop(0)
    if not words:
        return False
    return words[0] in _WORDS or any(tuple(words[: len(phrase)]) == phrase for phrase in _PHRASES)
