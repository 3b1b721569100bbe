"""The grammar under which the compact model decodes: every derivation it can emit is a well-formed program.

A derivation is a pre-order walk of an abstract syntax tree (as in TranX, arXiv:1810.02720). At each step the symbol on
top of a stack says which productions and which pointers (into the command's words, or into the scene's names, kinds and
colours) are legal; the network only ever chooses among those.
"""

from __future__ import annotations

from dataclasses import dataclass

# symbol -> production -> the symbols it expands to
RULES: dict[str, dict[str, tuple[str, ...]]] = {
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

# symbol -> classes of pointers that may stand for it; "word" points at a word that names nothing in the scene
POINTERS: dict[str, tuple[str, ...]] = {
    "OBJECT": ("object",),
    "KIND": ("kind", "word"),
    "COLOR": ("color", "word"),
    "AMOUNT": ("quantity",),
}

SYMBOLS: tuple[str, ...] = tuple(RULES)
PRODUCTIONS: tuple[str, ...] = tuple(name for rules in RULES.values() for name in rules)
EXPANSION: dict[str, tuple[str, ...]] = {name: body for rules in RULES.values() for name, body in rules.items()}
_NEEDS_LOOPS = {"item": 1, "outer": 2, "same_color": 1}  # how many `each` must enclose it
MAX_STEPS = 96


@dataclass(frozen=True)
class Pointer:
    """A choice that points outside the grammar: `kind` is word, quantity, object, kind or color; `index` within it."""

    kind: str
    index: int


Step = str | Pointer  # a production's name, or a pointer
Stack = tuple[tuple[str, int], ...]  # (symbol, number of enclosing loops), the top last

START: Stack = (("ROOT", 0),)


def legal_productions(symbol: str, loops: int) -> list[str]:
    """Productions of `symbol` that make sense inside `loops` nested loops."""
    return [name for name in RULES[symbol] if loops >= _NEEDS_LOOPS.get(name, 0)]


def advance(stack: Stack, step: Step) -> Stack:
    """The stack after the top symbol was expanded by `step`."""
    _, loops = stack[-1]
    if isinstance(step, Pointer):
        return stack[:-1]
    inner = loops + 1 if step == "each" else loops
    body = EXPANSION[step]
    # only the body of a loop is inside it, not the set that it runs over
    pushed = tuple((symbol, inner if symbol == "STATEMENTS" else loops) for symbol in body)
    return stack[:-1] + pushed[::-1]


@dataclass(frozen=True)
class Node:
    """A tree of the grammar: a production with its children, or a pointer."""

    step: Step
    children: tuple[Node, ...] = ()


def linearise(node: Node) -> list[Step]:
    """Pre-order steps of a tree."""
    return [node.step] + [step for child in node.children for step in linearise(child)]


def build_tree(steps: list[Step]) -> Node:
    """The tree of a complete derivation; inverse of `linearise`."""
    node, rest = _build(steps)
    if rest:
        raise ValueError(f"a derivation of {len(steps)} steps ends {len(rest)} steps early")
    return node


def _build(steps: list[Step]) -> tuple[Node, list[Step]]:
    if not steps:
        raise ValueError("a derivation ends before its tree is complete")
    step, rest = steps[0], steps[1:]
    children = []
    for _ in () if isinstance(step, Pointer) else EXPANSION[step]:
        child, rest = _build(rest)
        children.append(child)
    return Node(step, tuple(children)), rest
