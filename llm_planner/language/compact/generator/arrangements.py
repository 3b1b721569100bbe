"""Requests about several things at once: towers, rows, circles, matching colours, dealing out, swapping."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.language.compact.generator.actions import put_group, put_one
from llm_planner.language.compact.generator.groups import related_group
from llm_planner.language.compact.generator.references import ANY_COLOR, Said, Speaker, leaf
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, fill
from llm_planner.language.compact.grammar import Node


def tower(speaker: Speaker) -> Said:
    draw = speaker.rng.random()
    if draw < 0.3:
        return _ordered_tower(speaker)
    items, words = related_group(speaker) if draw < 0.45 else speaker.group()
    templates = ("stack {o}", "stack up {o}", "stack {o} up", "build a tower with {o}", "make a tower of {o}",
                 "pile up {o}",
                 "make a stack of {o}", "build a tower from {o}", "stack {o} on top of each other",
                 "put {o} on top of each other",
                 "put {o} in a tower", "stack {o} into a tower", "build a stack out of {o}",
                 "make a tall tower with {o}",
                 "put {o} on top of one another", "stack {o} in one pile", "i want a tower of {o}", "pile {o} up",
                 "make a tower using {o}", "arrange {o} in a tower", "create a stack with {o}", "turn {o} into a tower",
                 "stack {o} one on the other", "heap {o} up", "build the highest tower from {o}",
                 "use {o} to make a tower")  # fmt: skip
    return leaf("tower", items), fill(speaker.pick(templates), o=words)


def _ordered_tower(speaker: Speaker) -> Said:
    """ "stack them with red at the bottom, then green, then blue"."""
    kinds = [k for k in speaker.kinds if len({t.color for t in speaker.things if t.kind == k and t.color}) > 1]
    if not kinds:
        return put_one(speaker)
    kind = str(speaker.rng.choice(kinds))
    colors = tuple(dict.fromkeys(t.color for t in speaker.things if t.kind == kind and t.color))
    count = min(len(colors), int(speaker.rng.integers(2, 5)))
    order = [colors[int(i)] for i in speaker.rng.choice(len(colors), count, replace=False)]
    nodes = [leaf("the", speaker.kind_node(kind), speaker.color_node(c)) for c in order]
    if count > 1 and chance(speaker.rng, 0.3):
        return _chain(speaker, order, nodes, kind)
    shown = list(order)
    downwards = chance(speaker.rng, 0.3)
    words = [speaker.color_word(c) for c in (shown[::-1] if downwards else shown)]
    start = speaker.pick(("from the top down", "from top to bottom", "starting at the top") if downwards else
                         ("from the bottom up", "from bottom to top", "starting at the bottom"))  # fmt: skip
    the = speaker.pick(("the ", "", "the "))
    if not downwards and chance(speaker.rng, 0.6):
        listed = speaker.pick((f"{the}{words[0]} at the bottom", f"{the}{words[0]} first", f"{words[0]} on the bottom",
                               f"{the}{words[0]} one at the bottom", f"with {words[0]} as the base"))  # fmt: skip
        rest = [*words[1:-1], "{last}"]
        listed += "".join(f"{speaker.pick((' then ', ', then ', ', ', ' and then '))}{the}{w}" for w in rest)
        last = words[-1] + speaker.pick(("", " on top", " at the top", " last", ""))
        listed = listed.replace("{last}", last)
    else:
        listed = f"{start}: " + speaker.pick((", ", " then ", " and ")).join(the + w for w in words)
    noun = speaker.plural(kind)[1]
    opening = speaker.pick(("stack the {n}", "build a tower of {n}", "make a stack of {n}", "pile up the {n}",
                            "a tower of {n}",
                            "stack {n}", "stack the {n} like this", "stack the {n} in this order"))  # fmt: skip
    node = (
        leaf("tower", leaf({2: "pair", 3: "triple", 4: "four"}[count], *nodes)) if count > 1 else leaf("pick", nodes[0])
    )
    return node, fill(opening + speaker.pick((", ", " ", " with ", ": ")) + "{l}", n=noun, l=listed)


def _chain(speaker: Speaker, order: list[str], nodes: list[Node], kind: str) -> Said:
    """ "red on green on blue": said from the top down."""
    noun = speaker.pick(("", f" {speaker.kind_word(kind)}", " one"))
    the = speaker.pick(("", "the ", "the "))
    words = [f"{the}{speaker.color_word(color)}{noun}" for color in order[::-1]]
    joint = speaker.pick((" on ", " on top of ", " onto ", " on "))
    opening = speaker.pick(("stack ", "put ", "", "place ", "i want ", "make a tower with ", "build "))
    return leaf("tower", leaf({2: "pair", 3: "triple", 4: "four"}[len(order)], *nodes)), (
        Fragment(opening + joint.join(words)),
    )


def match_colors(speaker: Speaker) -> Said:
    """Each thing of one kind into the container of its own colour."""
    colored = [k for k in speaker.kinds if any(t.color for t in speaker.things if t.kind == k)]
    movers = [k for k in colored if speaker._role(k) == "mover"]
    holders = [k for k in colored if speaker._role(k) != "mover"]
    if not movers or not holders:
        return put_group(speaker)
    mover, holder = str(speaker.rng.choice(movers)), str(speaker.rng.choice(holders))
    goal = "in" if speaker._role(holder) == "container" else "on"
    inner = leaf("each", leaf("objects", speaker.kind_node(holder), Node("same_color")),
                 leaf("last", leaf("put", Node("outer"), leaf(goal, Node("item")))))  # fmt: skip
    node = leaf("each", leaf("objects", speaker.kind_node(mover), ANY_COLOR), leaf("last", inner))
    hue = speaker.pick(("color", "colour", "color"))
    templates = (
        "put all the {m} {p} the {hs} with matching {u}s", "put every {b} {p} the {h} of the same {u}",
        "match each {b} with its {h}",
        "put each {b} {p} the {h} that has the same {u}", "sort the {m} {p} the {hs} by {u}",
        "{m} go {p} the {h} of their {u}",
        "put the {m} {p} the {h} matching their {u}", "sort all {m} by {u} {p} the {hs}",
        "put the {m} {p} matching {hs}",
        "put all {m} {p} the {hs} of the same {u}", "place the {m} {p} their matching {hs}",
        "match the {u}s of {m} and {hs}",
        "put each {b} {p} the {h} with the matching {u}", "distribute the {m} {p} the {hs} by {u}",
        "{u} match the {m} and {hs}",
        "every {b} goes {p} the {h} with its {u}", "the {m} belong {p} the same {u}ed {hs}",
        "match up {m} and {hs} by {u}",
        "put the {m} {p} the {hs} so that the {u}s match", "sort the {m} {p} the right {hs}",
        "put {m} {p} {hs} of same {u}",
        "place every {b} {p} the {u} matched {h}", "pair up the {m} with the {hs} of the same {u}",
        "group the {m} by {u} {p} the {hs}",
        "move each {b} {p} a {h} of equal {u}", "put all the {m} {p} the corresponding {hs}",
        "sort the {m} {p} the corresponding {hs}",
        "put the {m} {p} the {hs} of corresponding {u}", "the {h} and the {b} in it should have the same {u}",
    )  # fmt: skip
    preposition = speaker.pick(("in", "into", "inside") if goal == "in" else ("on", "onto", "on top of"))
    slots: dict[str, Phrase | str] = {
        "b": speaker.kind_word(mover),
        "m": speaker.plural(mover)[1],
        "h": speaker.kind_word(holder),
    }
    return node, fill(speaker.pick(templates), hs=speaker.plural(holder)[1], p=preposition, u=hue, **slots)


def arrange(speaker: Speaker) -> Said:
    """A row or a circle."""
    items, words = related_group(speaker) if chance(speaker.rng, 0.25) else speaker.group()
    verb = speaker.pick(("put", "arrange", "place", "lay out", "set", "order", "align", "organize", "arrange"))
    if chance(speaker.rng, 0.3):
        circles = ("{v} {o} in a circle", "make a circle of {o}", "{v} {o} in a ring", "form a circle with {o}",
                     "{v} {o} in a round", "make {o} stand in a ring", "{v} {o} around in a circle",
                     "make a ring out of {o}")  # fmt: skip
        return leaf("circle", items), fill(speaker.pick(circles), v=verb, o=words)
    axis = speaker.pick(("horizontal", "horizontal", "vertical"))
    lines = {
        "horizontal": ("in a horizontal line", "in a row", "in a line", "in a row across", "in a horizontal row",
                       "side by side", "next to each other", "next to one another",
                       "in a line going left to right", "in a line", "in one row", "in a line across the table"),
        "vertical": ("in a vertical line", "in a column", "in a vertical row", "in a line front to back",
                     "in a line going away from you", "one behind the other", "in a line pointing away",
                     "in one column"),
    }[axis]  # fmt: skip
    templates: Sequence[str] = ("{v} {o} {l}", "{v} {o} {l}", "{o} should be {l}", "i want {o} {l}")
    if axis == "horizontal" and chance(speaker.rng, 0.3):
        templates = ("line up {o}", "line {o} up", "make a line of {o}", "make a row of {o}", "form a line with {o}",
                     "align {o}", "make a horizontal line with {o}")  # fmt: skip
    elif axis == "vertical" and chance(speaker.rng, 0.2):
        templates = (
            "make a vertical line of {o}",
            "make a column of {o}",
            "line {o} up vertically",
            "form a column with {o}",
        )
    return leaf("row", items, Node(axis)), fill(speaker.pick(templates), v=verb, o=words, l=speaker.pick(lines))


def swap(speaker: Speaker) -> Said:
    (one, words), thing = speaker.one("mover")
    (other, more), _ = speaker.one("mover", other_than=(thing,))
    templates = ("swap {a} and {b}", "swap {a} with {b}", "exchange {a} and {b}", "switch {a} and {b}",
                 "exchange {a} with {b}",
                 "swap the positions of {a} and {b}", "switch the places of {a} and {b}", "trade {a} for {b}",
                 "{a} and {b} should trade places", "let {a} and {b} change places", "interchange {a} and {b}",
                 "make {a} and {b} switch positions", "put {a} where {b} is and {b} where {a} is")  # fmt: skip
    return leaf("swap", one, other), fill(speaker.pick(templates), a=words, b=more)


def deal(speaker: Speaker) -> Said:
    """One thing to each place: "put one block in every bowl"."""
    kinds = list(speaker.kinds)
    holders = [k for k in kinds if speaker._role(k) != "mover"]
    movers = [k for k in kinds if speaker._role(k) == "mover"]
    if not holders or not movers:
        return put_one(speaker)
    mover, holder = speaker.pick(tuple(movers)), speaker.pick(tuple(holders))
    inside = speaker._role(holder) == "container" and chance(speaker.rng, 0.9)
    slots: dict[str, Phrase | str] = {
        "m": speaker.kind_word(mover),
        "ms": speaker.plural(mover)[1],
        "h": speaker.kind_word(holder),
    }
    templates = ("put one {m} {p} each {h}", "put a {m} {p} every {h}", "one {m} {p} each {h}", "each {h} gets one {m}",
                 "every {h} gets a {m}", "every {h} should have one {m}", "put one {m} {p} each of the {hs}",
                 "a {m} for each {h}",
                 "distribute the {ms} over the {hs}", "spread the {ms} over the {hs}", "a different {m} {p} each {h}",
                 "place a {m} {p} each of the {hs}", "fill each {h} with one {m}", "share out the {ms} among the {hs}",
                 "put the {ms} {p} the {hs}, one each", "divide the {ms} among the {hs}")  # fmt: skip
    node = leaf("deal_in" if inside else "deal_on",
                *(leaf("objects", speaker.kind_node(k), ANY_COLOR) for k in (mover, holder)))  # fmt: skip
    preposition = speaker.pick(("in", "into", "inside") if inside else ("on", "onto", "on top of"))
    return node, fill(speaker.pick(templates), p=preposition, hs=speaker.plural(holder)[1], **slots)
