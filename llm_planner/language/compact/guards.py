"""Words that change what a command means, and that a reading must not pass over: fail closed.

The network is sure of itself even where it has overlooked a "not". Here plain rules look for such words; where the
derivation shows no trace of them, the person is asked instead. A rule too many costs a question, a rule too few a
wrong motion.
"""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.language.compact.grammar import Step
from llm_planner.language.compact.words import QUANTITY, Word

_NEGATIONS = frozenset([
    "don't", "dont", "doesn't", "didn't", "won't", "wouldn't", "shouldn't", "mustn't", "can't", "cannot", "never",
    "nobody", "neither", "nor", "without", "avoid", "none", "refuse", "forbidden", "unless", "nowhere", "anywhere",
    "isn't", "aren't", "ain't",
])  # fmt: skip
_AUXILIARIES = frozenset([
    "do", "does", "did", "must", "should", "could", "would", "can", "shall", "may", "will", "you", "is", "are",
    "to", "be", "please",
])  # fmt: skip
_NEGATED_STEPS = frozenset({"except", "not_color", "not_kind", "not", "empty"})

# Asking or telling about something is not ordering it.
_TALKING = frozenset([
    "why", "who", "when", "did", "does", "was", "were", "has", "had", "yesterday", "earlier", "already", "wrong",
])  # fmt: skip

# What the grammar has no words for, so that a reading without them is not what was said.
_INEXPRESSIBLE = frozenset([
    "different", "opposite", "half", "unstack", "undo", "pyramid", "triangle", "towers", "mismatched",
    "mismatching", "upside", "heavier", "lighter", "cleanest", "randomly", "alphabetical", "alternate",
    "alternating", "diagonal", "diagonally", "mirror", "rotate", "tilt",
    "backwards", "reverse", "fall", "topple", "sliding", "pushing", "laps", "spin", "twist",
])  # fmt: skip
_SUPERLATIVES = frozenset([
    "closest", "nearest", "farthest", "furthest", "leftmost", "rightmost", "topmost", "bottommost", "biggest",
    "largest", "smallest", "tallest", "first", "last", "top", "bottom", "left", "right",
])  # fmt: skip
_PRESSING = frozenset(["press", "hit", "tap", "click", "beat", "bang"])
_YOURSELF = frozenset(["you", "me", "robot", "yourself", "your", "us"])
_ALL = frozenset(["all", "every", "each", "everything"])


def overlooked(words: Sequence[Word], steps: Sequence[Step]) -> str:
    """The first word or phrase that `steps` pay no heed to, or "" where there is none."""
    texts = [word.text for word in words]
    taken = frozenset(step for step in steps if isinstance(step, str))
    checks = (_negation, _talk, _inexpressible, _sorted_choice, _partial_tower, _everything_else, _laid_down, _pressed)
    return next((found for check in checks if (found := check(texts, taken))), "")


def _negation(texts: list[str], taken: frozenset[str]) -> str:
    """A negation without any production that takes something out. "Not the mug, the vase" is a correction instead."""
    if taken & _NEGATED_STEPS:
        return ""
    for index, text in enumerate(texts):
        before, after = texts[index - 1] if index else "", texts[index + 1] if index + 1 < len(texts) else ""
        harmless = after in ("matter", "care", "mind") or (text == "don't" and "why" in texts[:index])
        if text in _NEGATIONS and not harmless:
            return text
        if text == "not" and (before in _AUXILIARIES or after in ("", "be", "match", "matching")):
            return f"{before} not".strip()
        if text == "no" and after in ("need", "one", "way", "more", "longer"):
            return f"no {after}"
    return ""


def _talk(texts: list[str], taken: frozenset[str]) -> str:
    if texts[0] == "why" and texts[1:3] == ["don't", "you"]:
        return ""
    if texts[0] in _TALKING and not taken & {"when", "when_else"}:
        return texts[0]
    return next((text for text in texts if text in ("yesterday", "wrong")), "")


def _inexpressible(texts: list[str], taken: frozenset[str]) -> str:
    for index, text in enumerate(texts):
        if text in _INEXPRESSIBLE and not (text == "half" and taken & {"left_side", "right_side"}):
            return text
        away = text == "away" and texts[index + 1 : index + 2] == ["from"]
        if away and "farthest" not in taken and not set(texts[index + 2 : index + 4]) & _YOURSELF:
            return "away from"
    return ""


def _sorted_choice(texts: list[str], taken: frozenset[str]) -> str:
    """ "The two leftmost blocks": a count of some order; the grammar only counts in the scene's own order."""
    if "take" not in taken:
        return ""
    counted = {"n2", "n3", "n4", "n5", "n6"} & taken
    for index, text in enumerate(texts[:-1]):
        near_number = index and texts[index - 1] in ("two", "three", "four", "five", "2", "3", "4", "5")
        follows = text in ("closest", "nearest", "farthest", "furthest")
        if counted and (follows or (near_number and text in _SUPERLATIVES)):
            return text
    return ""


def _partial_tower(texts: list[str], taken: frozenset[str]) -> str:
    """ "Stack all the blocks with red at the bottom" is not done by a tower of the few that were named."""
    if "tower" in taken and taken & {"pair", "triple", "four"} and "objects" not in taken:
        return next((text for text in texts if text in _ALL), "")
    return ""


def _everything_else(texts: list[str], taken: frozenset[str]) -> str:
    said = "else" in texts and texts[max(0, texts.index("else") - 1)] in ("everything", "anything", "all")
    nothing_more = "nothing" in texts or "leave" in texts
    return "everything else" if said and "except" not in taken and not nothing_more else ""


def _laid_down(texts: list[str], taken: frozenset[str]) -> str:
    """ "Put the mug down" is not to move it a little towards oneself."""
    said = "down" in texts and set(texts[: texts.index("down")]) & {"put", "set", "lay", "place"}
    return "down" if said and taken >= {"offset", "bottom"} and QUANTITY not in texts else ""


def _pressed(texts: list[str], taken: frozenset[str]) -> str:
    """ "Press it" and "close them" are not to close the fingers, "hit the block with the mug" not to swap the two."""
    fingers = taken & {"open", "close"} and not set(texts) & {"gripper", "hand", "fingers", "claw", "grip"}
    if fingers and {"it", "them"} & set(texts):
        return " ".join(texts)
    return "" if "push" in taken else next((text for text in texts if text in _PRESSING), "")
