"""The grammar of readings: parts of a command, each a task or a specification pattern over states of the world.

The patterns are those of Dwyer, Avrunin and Corbett (ICSE 1999) and of Lang2LTL (arXiv:2302.11649); `formula` composes
temporal operators where no pattern fits. Every word belongs to a part, so nothing that was said is dropped.
"""

from __future__ import annotations

from llm_planner.language.compact.grammar import Grammar
from llm_planner.language.compact.program_grammar import PROGRAM

ENTRIES = ("prop", "room", "person", "object", "kind", "color", "world")
WORDS = ("word", "number", "seconds", "quantity", "speed")

_RULES: dict[str, dict[str, tuple[str, ...]]] = {
    "ROOT": {"reading": ("PARTS",), "unclear": ()},
    "PARTS": {"last_part": ("PART",), "more_parts": ("PART", "PARTS")},
    "PART": {"task": ("END",), "specify": ("END", "SPEC")},
    "END": {},  # the last word of the part
    "SPEC": {
        "visit": ("LIST",),  # in any order
        "sequence": ("LIST",),  # each after the one before
        "ordered": ("LIST",),  # and none before the one before it
        "strictly": ("LIST",),  # and each but the last only once until then
        "patrol": ("LIST",),  # again and again
        "never": ("LIST",),
        "always": ("LIST",),
        "at_least": ("COUNT", "STATE"),
        "at_most": ("COUNT", "STATE"),
        "exactly": ("COUNT", "STATE"),
        "not_before": ("LIST", "STATE"),  # none of the first before the second
        "stay_until": ("STATE", "STATE"),
        "responds": ("STATE", "STATE"),  # every first is followed by a second
        "at_once": ("STATE", "STATE"),  # ... at the next change
        "just_then": ("STATE", "STATE"),  # ... at the next change, and at no other time
        "never_after": ("STATE", "LIST"),
        "whenever": ("STATE", "STATE"),  # the second holds at every moment of the first
        "within": ("TIME", "STATE"),
        "lasting": ("TIME", "STATE"),
        "from_now": ("TIME", "STATE"),  # holds for so long, from the start
        "finish": ("STATE",),  # is so at the end
        "formula": ("FORM",),
    },
    "FORM": {
        "holds": ("STATE",),
        "f_not": ("FORM",),
        "f_and": ("FORM", "FORM"),
        "f_or": ("FORM", "FORM"),
        "f_implies": ("FORM", "FORM"),
        "f_iff": ("FORM", "FORM"),
        "f_next": ("FORM",),
        "f_finally": ("FORM",),
        "f_globally": ("FORM",),
        "f_until": ("FORM", "FORM"),
    },
    "LIST": {"one": ("STATE",), "more": ("STATE", "LIST")},
    "STATE": {
        "both": ("STATE", "STATE"),
        "either": ("STATE", "STATE"),
        "isnt": ("STATE",),
        "in_room": ("ROOM",),
        "looked": ("ROOM",),
        "waited": ("ROOM",),
        "near": ("THING",),
        "over": ("THING",),
        "holding": ("THING",),
        "holding_any": (),
        "moved": ("THING",),
        "is_in": ("THING", "PLACE"),
        "is_on": ("THING", "PLACE"),
        "is_beside": ("THING", "PLACE"),
        "is_at": ("THING", "REGION"),
        "farther": ("THING", "LENGTH"),
        "slower": ("SPEED",),
        "lower": ("THING", "LENGTH"),
    },
    "THING": {"the": ("KIND", "COLOR"), "each": ("SET",), "any": ("SET",), "anyone": ()},
    "PLACE": {"this": ("KIND", "COLOR")},
    "SET": {"these": ("KIND", "COLOR"), "others": ("KIND", "COLOR")},  # others: than those named in the command
    "ROOM": {"every_room": (), "other_rooms": (), "rooms_of": ("SET",)},  # "any aisle": of aisle 1, aisle 2, ...
    "KIND": {"any_kind": ()},
    "COLOR": {"any_color": ()},
    "REGION": dict(PROGRAM.rules["REGION"]),
    "COUNT": {"n0": (), "n1": (), "n2": (), "n3": (), "below": ("COUNT",), "above": ("COUNT",)},
    "TIME": {},
    "LENGTH": {},
    "SPEED": {},
}

_POINTERS: dict[str, tuple[str, ...]] = {
    "END": WORDS,
    "STATE": ("prop",),
    "ROOM": ("room",),
    "THING": ("object", "person"),
    "PLACE": ("object", "person", "room"),
    "KIND": ("kind",),
    "COLOR": ("color",),
    "COUNT": ("number",),
    "TIME": ("seconds",),
    "LENGTH": ("quantity",),
    "SPEED": ("speed",),
}

READING = Grammar(_RULES, _POINTERS, WORDS, ENTRIES, max_loops=0)
MAX_READ = 79  # words of a lifted command: the longest that training shows the network
GOALS = frozenset(
    ["visit", "sequence", "ordered", "strictly", "patrol", "at_least", "exactly", "within", "lasting", "finish"]
)
