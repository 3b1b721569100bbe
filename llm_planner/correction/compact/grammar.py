"""The grammar of requests: everything that the network of corrections can say is a well-formed list of requests.

A slot that is said in words is a pair of pointers, to the first and the last of them, so that names never heard of are
copied (pointer networks, arXiv:1506.03134).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llm_planner.correction.requests import Intent
from llm_planner.language.compact.grammar import Grammar

WORDS = ("word", "thing", "color", "room", "amount")  # classes of the words, as `heard` tells them
SPANS = ("THING", "INSTEAD", "TARGET", "ABOUT", "TEXT")  # slots in the person's words; any but TEXT may be unsaid
CHOICES: Mapping[str, tuple[str, ...]] = {
    "DIRECTION": ("left", "right", "up", "down", "forward", "backward", "back", "opposite", "more", "robot_left",
                  "robot_right", "robot_forward", "robot_backward", "towards", "away"),
    "WAY": ("unsaid", "left", "right", "up", "down", "forward", "backward"),
    "SIZE": ("plain", "bit", "much", "twice", "half", "half_of", "quarter_of", "three_quarters_of"),
    "SENSE": ("more", "less", "normal", "exact"),
    "WHICH": ("any", "push", "place", "follow"),
    "RELATION": ("unsaid", "in", "on", "beside", "left", "right", "top", "bottom", "opposite", "at", "to", "direction"),
    "ORDER": ("alone", "before", "after"),
    "WHEN": ("next", "end"),
    "SCOPE": ("once", "task", "session", "always"),
    "NUMBER": ("1", "2", "3", "last"),
    "EXTENT": ("one", "all"),
}  # fmt: skip
SLOTS: Mapping[Intent, tuple[str, ...]] = {  # those that an intent has, in the order in which they are decided
    Intent.SHIFT: ("DIRECTION", "SIZE", "THING"),
    Intent.TOO_FAR: ("WAY",),
    Intent.SPEED: ("SENSE", "SIZE"),
    Intent.HEIGHT: ("SENSE", "SIZE"),
    Intent.CLEARANCE: ("SENSE", "SIZE", "ABOUT"),
    Intent.DISTANCE: ("WHICH", "SENSE", "SIZE", "THING"),
    Intent.DURATION: ("SENSE", "SIZE", "TARGET"),
    Intent.OTHER_THING: ("THING", "INSTEAD", "TARGET"),
    Intent.OTHER_TARGET: ("RELATION", "TARGET", "THING", "INSTEAD"),
    Intent.FIRST: ("THING", "ORDER", "TARGET"),
    Intent.LAST: ("THING",),
    Intent.SKIP: ("THING",),
    Intent.PUT_BACK: ("THING",),
    Intent.ADD: ("WHEN", "TEXT", "TARGET"),
    Intent.RULE: ("TEXT",),
    Intent.LIFT: ("TEXT",),
    Intent.FORGET: ("EXTENT", "ABOUT"),
    Intent.OPTION: ("NUMBER",),
}  # fmt: skip


def production(symbol: str, choice: str) -> str:
    """Its name in the grammar, which no other symbol has."""
    return f"{symbol.lower()}:{choice}"


def _rules() -> dict[str, Mapping[str, tuple[str, ...]]]:
    asked = [intent for intent in Intent if intent is not Intent.NOTHING]
    rules: dict[str, Mapping[str, tuple[str, ...]]] = {
        "ROOT": {"nothing": (), "asked": ("LASTING", "REQUESTS")},
        "LASTING": {
            "lasting:once": (),
            **{production("LASTING", scope): ("ABOUT",) for scope in CHOICES["SCOPE"][1:]},
        },
        "REQUESTS": {"last_request": ("REQUEST",), "more_requests": ("REQUEST", "REQUESTS")},
        "REQUEST": {
            **{
                production("REQUEST", intent.value): SLOTS.get(intent, ())
                for intent in asked
                if intent is not Intent.REMEMBER
            },
            "request:remember": ("SCOPE",),
        },
    }
    rules |= {symbol: _choices(symbol, choices) for symbol, choices in CHOICES.items()}
    rules["DIRECTION"] = {
        name: ("TARGET",) if name.endswith((":towards", ":away")) else () for name in rules["DIRECTION"]
    }
    rules["RELATION"] = {**rules["RELATION"], "relation:direction": ("DIRECTION",)}
    rules |= {
        symbol: {production(symbol, "unsaid"): (), production(symbol, "said"): ("FROM", "TO")} for symbol in SPANS
    }
    return {**rules, "TEXT": {"text:said": ("FROM", "TO")}, "FROM": {}, "TO": {}}


def _choices(symbol: str, choices: Iterable[str]) -> dict[str, tuple[str, ...]]:
    return {production(symbol, choice): () for choice in choices}


REQUESTS = Grammar(_rules(), {"FROM": WORDS, "TO": WORDS, "SIZE": ("amount",)}, WORDS, (), max_loops=0, max_steps=48)
