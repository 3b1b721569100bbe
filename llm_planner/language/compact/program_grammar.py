"""The grammar of policy programs: statements, targets, objects, sets and conditions."""

from __future__ import annotations

from llm_planner.language.compact.grammar import Grammar

# symbol -> production -> the symbols it expands to
_RULES: dict[str, dict[str, tuple[str, ...]]] = {
    "ROOT": {"program": ("STATEMENTS",), "unclear": (), "cannot": (), "constraint": ()},
    "STATEMENTS": {"last": ("STATEMENT",), "more": ("STATEMENT", "STATEMENTS")},
    "STATEMENT": {
        "put": ("OBJECT", "TARGET"),
        "pick": ("OBJECT",),
        "place": ("TARGET",),
        "push": ("OBJECT", "DIRECTION", "AMOUNT"),
        "open": (),
        "close": (),
        "home": (),
        "each": ("SET", "STATEMENTS"),
        "tower": ("SET",),
        "deal_in": ("SET", "SET"),
        "deal_on": ("SET", "SET"),
        "row": ("SET", "AXIS"),
        "circle": ("SET",),
        "swap": ("OBJECT", "OBJECT"),
        "when": ("CONDITION", "STATEMENTS"),
        "when_else": ("CONDITION", "STATEMENTS", "STATEMENTS"),
    },
    "TARGET": {
        "on": ("OBJECT",),
        "in": ("OBJECT",),
        "near": ("OBJECT", "AMOUNT"),
        "beside": ("OBJECT", "DIRECTION", "AMOUNT"),
        "at": ("REGION",),
        "between": ("OBJECT", "OBJECT"),
        "offset": ("DIRECTION", "AMOUNT"),
    },
    "OBJECT": {
        "the": ("KIND", "COLOR"),
        "item": (),
        "outer": (),
        "first": ("SET",),
        "closest": ("SET", "OBJECT"),
        "farthest": ("SET", "OBJECT"),
        "closest_to_place": ("SET", "REGION"),
        "largest": ("SET",),
        "smallest": ("SET",),
        "nth": ("SET", "DIRECTION", "COUNT"),
        "side": ("SET", "DIRECTION", "OBJECT"),
        "atop": ("OBJECT",),
    },
    "SET": {
        "objects": ("KIND", "COLOR"),
        "except": ("SET", "OBJECT"),
        "not_color": ("KIND", "COLOR"),
        "not_kind": ("KIND",),
        "pair": ("OBJECT", "OBJECT"),
        "triple": ("OBJECT", "OBJECT", "OBJECT"),
        "four": ("OBJECT", "OBJECT", "OBJECT", "OBJECT"),
        "take": ("COUNT", "SET"),
        "side_all": ("SET", "DIRECTION", "OBJECT"),
        "contents": ("OBJECT",),
        "at_place": ("SET", "REGION"),
    },
    "CONDITION": {
        "empty": ("OBJECT",),
        "is_in": ("OBJECT", "OBJECT"),
        "is_on": ("OBJECT", "OBJECT"),
        "is_at": ("OBJECT", "REGION"),
        "exists": ("SET",),
        "not": ("CONDITION",),
    },
    "KIND": {"any_kind": ()},
    "COLOR": {"any_color": (), "same_color": ()},
    "REGION": {
        "top_left_corner": (),
        "top_right_corner": (),
        "bottom_left_corner": (),
        "bottom_right_corner": (),
        "left_side": (),
        "right_side": (),
        "top_side": (),
        "bottom_side": (),
        "middle": (),
    },
    "DIRECTION": {"left": (), "right": (), "top": (), "bottom": ()},
    "AMOUNT": {"usual": (), "little": (), "much": ()},
    "COUNT": {f"n{count}": () for count in range(1, 7)},
    "AXIS": {"horizontal": (), "vertical": ()},
}

# "word" points at a word that names nothing in the scene
_POINTERS: dict[str, tuple[str, ...]] = {
    "OBJECT": ("object",),
    "KIND": ("kind", "word"),
    "COLOR": ("color", "word"),
    "AMOUNT": ("quantity",),
}

PROGRAM = Grammar(
    _RULES,
    _POINTERS,
    words=("word", "quantity"),
    entries=("object", "kind", "color"),
    loops={"each": "STATEMENTS"},  # only the body of a loop is inside it, not the set that it runs over
    loop_needs={"item": 1, "outer": 2, "same_color": 1},
)
