"""Single requests: put, pick, push, stack, sort, line up, swap, and the gripper's own moves."""

from __future__ import annotations

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import ANY_COLOR, Said, Speaker, leaf
from llm_planner.language.compact.generator.relations import related_group, related_object
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, fill
from llm_planner.language.compact.generator.targets import amount_of, offset, target
from llm_planner.language.compact.grammar import Node

PUT_TEMPLATES = (
    "{v} {o} {t}", "{v} {o} {t}", "{v} {o} {t}", "{v} {o} {t}", "{v} {o} {t}", "pick up {o} and {v} it {t}",
    "take {o} and {v} it {t}", "pick {o} and {v} it {t}", "grab {o} and {v} it {t}", "{o} goes {t}", "{o} {t}",
    "{o} should be {t}", "{o} should go {t}", "{o} belongs {t}", "i want {o} {t}", "i need {o} {t}", "{v} {o} over {t}",
    "i'd like {o} {t}", "i would like to have {o} {t}", "make sure {o} is {t}", "{o} needs to be {t}",
    "{o} has to go {t}",
    "get {o} {t}", "{o} must end up {t}", "{o}, {v} it {t}", "pick up {o} then {v} it {t}", "{v} {o} so that it is {t}",
    "lift {o} and {v} it {t}", "see that {o} ends up {t}", "i want {o} to be {t}", "have {o} placed {t}",
    "{v} down {o} {t}",
    "{o} ought to be {t}", "find {o} and {v} it {t}", "{t} {v} {o}", "{t} i want {o}", "the place for {o} is {t}",
    "{t} is where {o} goes", "i want to see {o} {t}", "{o} is supposed to be {t}", "{o} gets moved {t}",
    "{o} wants to be {t}", "{o} could go {t}", "{o} is to go {t}", "{o} may go {t}",
    "{o} would look good {t}", "why don't you {v} {o} {t}", "how about {o} {t}", "{o} looks better {t}",
    "{o} shall be {t}",
    "{v} {o} {t}", "{v} {o} {t}", "get hold of {o} and {v} it {t}", "{v} {o} for me {t}", "{o} is meant to be {t}",
)  # fmt: skip
PUT_GROUP = (
    "{v} {o} {t}", "{v} {o} {t}", "{v} {o} {t}", "{v} {o} {t}", "{o} go {t}", "{o} should be {t}", "{o} should go {t}",
    "{o} belong {t}", "i want {o} {t}", "pick up {o} and {v} them {t}", "take {o} and {v} them {t}", "{o} {t}",
    "collect {o} {t}", "gather {o} {t}", "clear {o} {t}", "tidy {o} up {t}", "i'd like {o} {t}",
    "make sure {o} are {t}",
    "sort {o} {t}", "{o}, {v} them {t}", "{o} have to go {t}", "get {o} {t}", "clean {o} up {t}", "{o} need to be {t}",
    "pile {o} {t}", "{v} {o} so that they are {t}", "move {o} over {t}", "{o} must all be {t}", "{t} {v} {o}",
    "dump {o} {t}", "empty {o} {t}", "{o} all go {t}", "i want {o} to end up {t}", "{v} {o} one by one {t}",
    "one after another {v} {o} {t}", "{o} should all end up {t}", "see that {o} end up {t}",
)  # fmt: skip


def single_object(speaker: Speaker) -> tuple[Said, tuple[Thing, ...]]:
    if chance(speaker.rng, 0.28):
        return related_object(speaker), ()
    said, thing = speaker.one("mover" if chance(speaker.rng, 0.9) else "")
    return said, (thing,)


def put_one(speaker: Speaker) -> Said:
    if chance(speaker.rng, 0.06):
        return _put_colors(speaker)
    (item, words), moved = single_object(speaker)
    goal, where = target(speaker, moved)
    if moved and chance(speaker.rng, 0.05):
        return leaf("put", item, goal), _contrasted(speaker, words, where, moved)
    if goal.step == "on" and chance(speaker.rng, 0.35):
        verb = speaker.pick(("stack", "stack", "balance", "pile", "mount", "stack up"))
        return leaf("put", item, goal), fill(speaker.pick(PUT_TEMPLATES[:9]), v=verb, o=words, t=where)
    return leaf("put", item, goal), _put_words(speaker, PUT_TEMPLATES, words, where)


def _put_colors(speaker: Speaker) -> Said:
    """ "blue in red": a mover by its colour alone, and what it goes in or on."""
    movers = [t for t in speaker.things if t.role == "mover" and t.color]
    holders = [t for t in speaker.things if t.role != "mover" and t.color]
    if not movers:
        return pick_one(speaker)
    thing = movers[int(speaker.rng.integers(len(movers)))]
    others = [t for t in movers if t.kind == thing.kind and t != thing]
    inside = bool(holders) and (not others or chance(speaker.rng, 0.5))
    pool = holders if inside else others
    if not pool:
        return pick_one(speaker)
    place = pool[int(speaker.rng.integers(len(pool)))]
    (item, words), (mark, of) = speaker.by_color(thing), speaker.by_color(place)
    name = "in" if inside and place.role == "container" else "on"
    where = speaker.pick(lexicon.IN if name == "in" else lexicon.ON)
    template = speaker.pick(("{v} {a} {w} {b}", "{a} {w} {b}", "{a} goes {w} {b}", "{v} {a} {w} {b}"))
    return leaf("put", item, leaf(name, mark)), fill(template, v=speaker.pick(lexicon.PUT[:6]), a=words, w=where, b=of)


def _contrasted(speaker: Speaker, words: Phrase, where: Phrase, moved: tuple[Thing, ...]) -> Phrase:
    """ "the mug, not the vase, on the plate": what is not meant is said as well."""
    others = tuple(t for t in speaker.things if t not in moved) or speaker.things
    wrong = speaker.describe(others[int(speaker.rng.integers(len(others)))])[1]
    template = speaker.pick(("{v} {o}, not {w}, {t}", "not {w}, {o}: {v} it {t}", "{v} {o} {t}, not {w}",
                             "{v} {o} and not {w} {t}",
                             "i don't mean {w}, {v} {o} {t}", "{v} {o} {t} instead of {w}",
                             "{v} {o} rather than {w} {t}"))  # fmt: skip
    return fill(template, v=speaker.pick(lexicon.PUT[:8]), o=words, w=wrong, t=where)


def _put_words(speaker: Speaker, templates: tuple[str, ...], item: Phrase, where: Phrase) -> Phrase:
    verb = speaker.pick(lexicon.PUT[:8] if chance(speaker.rng, 0.55) else lexicon.PUT)
    return fill(speaker.pick(templates), v=verb, o=item, t=where)


def put_group(speaker: Speaker) -> Said:
    items, words = related_group(speaker) if chance(speaker.rng, 0.4) else speaker.group()
    goal, where = target(speaker)
    phrase = _put_words(speaker, PUT_GROUP, words, where)
    if chance(speaker.rng, 0.05):
        phrase = fill(speaker.pick(("{p}, {e}", "{p} {e}", "{p}. {e}")), p=phrase, e=speaker.pick(lexicon.NOTHING_ELSE))
    return for_each(items, goal), phrase


def for_each(items: Node, goal: Node) -> Node:
    return leaf("each", items, leaf("last", leaf("put", Node("item"), goal)))


def pick_one(speaker: Speaker) -> Said:
    (item, words), _ = single_object(speaker)
    templates = (
        "{v} {o}",
        "{v} {o}",
        "{v} {o}",
        "i want you to hold {o}",
        "hold {o} up",
        "{o}, {v} it",
        "take {o} in your hand",
    )
    return leaf("pick", item), fill(speaker.pick(templates), v=speaker.pick(lexicon.PICK), o=words)


def place_held(speaker: Speaker) -> Said:
    goal, where = target(speaker, allow_offset=False)
    templates = ("put it down {t}", "place it {t}", "release it {t}", "put what you are holding {t}", "set it down {t}",
                 "drop what you have in your hand {t}", "let it go {t}", "put the thing in your gripper {t}",
                 "put that {t}",
                 "place the object you hold {t}", "put it {t}", "now place it {t}")  # fmt: skip
    return leaf("place", goal), fill(speaker.pick(templates), t=where)


def push_one(speaker: Speaker) -> Said:
    (item, words), _ = single_object(speaker)
    direction, where = speaker.direction(lexicon.MOVE_DIRECTIONS)
    amount, length = amount_of(speaker)
    templates = (
        "{v} {o} {q} {d}",
        "{v} {o} {d} {q}",
        "{v} {o} {d} by {q}",
        "{v} {o} {d} for {q}",
        "give {o} a push {q} {d}",
    )
    templates = templates if length else ("{v} {o} {d}", "give {o} a push {d}", "{v} {o} {d}")
    return leaf("push", item, direction, amount), fill(
        speaker.pick(templates), v=speaker.pick(lexicon.PUSH), o=words, d=where, q=length
    )


def shift_one(speaker: Speaker) -> Said:
    (item, words), _ = single_object(speaker)
    goal, where = offset(speaker)
    verb = speaker.pick(("move", "shift", "move", "put", "bring", "place", "displace"))
    templates = (
        "{v} {o} {t}",
        "{v} {o} {t}",
        "{o} should be {t} of where it is",
        "{o} should move {t}",
        "i want {o} {t}",
    )
    return leaf("put", item, goal), fill(speaker.pick(templates), v=verb, o=words, t=where)


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
    slots = {"b": speaker.kind_word(mover), "m": speaker.plural(mover)[1], "h": speaker.kind_word(holder)}
    return node, fill(speaker.pick(templates), hs=speaker.plural(holder)[1], p=preposition, u=hue, **slots)


def arrange(speaker: Speaker) -> Said:
    """A row or a circle."""
    items, words = related_group(speaker) if chance(speaker.rng, 0.25) else speaker.group()
    verb = speaker.pick(("put", "arrange", "place", "lay out", "set", "order", "align", "organize", "arrange"))
    if chance(speaker.rng, 0.3):
        templates = ("{v} {o} in a circle", "make a circle of {o}", "{v} {o} in a ring", "form a circle with {o}",
                     "{v} {o} in a round", "make {o} stand in a ring", "{v} {o} around in a circle",
                     "make a ring out of {o}")  # fmt: skip
        return leaf("circle", items), fill(speaker.pick(templates), v=verb, o=words)
    axis = speaker.pick(("horizontal", "horizontal", "vertical"))
    lines = {
        "horizontal": ("in a horizontal line", "in a row", "in a line", "in a row across", "in a horizontal row",
                       "side by side", "next to each other", "next to one another",
                       "in a line going left to right", "in a line", "in one row", "in a line across the table"),
        "vertical": ("in a vertical line", "in a column", "in a vertical row", "in a line front to back",
                     "in a line going away from you", "one behind the other", "in a line pointing away",
                     "in one column"),
    }[axis]  # fmt: skip
    templates = ("{v} {o} {l}", "{v} {o} {l}", "{o} should be {l}", "i want {o} {l}")
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


def take_out(speaker: Speaker) -> Said:
    """Out of a container or off something: it ends up on the table, next to where it was."""
    (mark, of), place = speaker.one("container")
    out = ("out of", "from", "out of", "off") if place.role == "container" else ("off", "off of", "from", "down from")
    goal = leaf("near", mark, Node("usual"))
    verb = speaker.pick(("take", "get", "remove", "pull", "lift", "fetch", "bring", "pick"))
    if chance(speaker.rng, 0.4):
        words = speaker.pick(
            ("everything", "all the things", "the stuff", "whatever is there", "all objects", "the contents")
        )
        template = speaker.pick(("{v} {w} {u} {o}", "{v} {w} {u} {o} and put it on the table", "empty {o}", "clear {o}",
                                 "unload {o}", "empty out {o}", "empty {o} onto the table"))  # fmt: skip
        return for_each(leaf("contents", mark), goal), fill(template, v=verb, w=words, u=speaker.pick(out), o=of)
    (item, words), _ = speaker.one("mover", other_than=(place,))
    tail = speaker.pick(("", "", " and put it on the table", " and set it next to it", " and put it down beside it"))
    return leaf("put", item, goal), fill("{v} {a} {u} {o}" + tail, v=verb, a=words, u=speaker.pick(out), o=of)


def deal(speaker: Speaker) -> Said:
    """One thing to each place: "put one block in every bowl"."""
    kinds = list(speaker.kinds)
    holders = [k for k in kinds if speaker._role(k) != "mover"]
    movers = [k for k in kinds if speaker._role(k) == "mover"]
    if not holders or not movers:
        return put_one(speaker)
    mover, holder = speaker.pick(tuple(movers)), speaker.pick(tuple(holders))
    inside = speaker._role(holder) == "container" and chance(speaker.rng, 0.9)
    slots = {"m": speaker.kind_word(mover), "ms": speaker.plural(mover)[1], "h": speaker.kind_word(holder)}
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


def gripper(speaker: Speaker) -> Said:
    name = speaker.pick(("open", "close", "home"))
    hand = speaker.pick(("gripper", "hand", "fingers", "claw", "gripper", "jaws"))
    texts = {
        "open": (f"open the {hand}", f"open up the {hand}", f"release the {hand}", f"spread the {hand}", "let go",
                 "release it",
                 f"the {hand} should open", f"open your {hand} wide", f"get the {hand} open", "let it go",
                 f"open {hand}"),
        "close": (f"close the {hand}", f"shut the {hand}", f"close your {hand}", f"the {hand} should close",
                  f"close {hand}",
                  f"squeeze the {hand}", f"get the {hand} closed", "make a fist"),
        "home": ("go home", "go to the home position", "return home", "move home", "go to your resting position",
                 "home",
                 "move the arm home", "return to the start position", "go to your start pose", "reset the arm",
                 "home position",
                 "move to the home pose", "go to rest", "bring the arm back home", "retract the arm", "park the arm",
                 "back to home", "return to your initial position", "get back to where you started"),
    }[name]  # fmt: skip
    return Node(name), (Fragment(speaker.pick(texts)),)
