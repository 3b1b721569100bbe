"""Single requests: put, pick, push, stack, sort, line up, swap, and the gripper's own moves."""

from __future__ import annotations

from collections.abc import Sequence

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.groups import related_group
from llm_planner.language.compact.generator.references import Said, Speaker, leaf
from llm_planner.language.compact.generator.relations import candidates, related_object
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
    "pick up {o}, hold it a moment and {v} it {t}",
    "lift {o} and set it down {t}", "pick up {o} and then put it down {t}", "first grab {o}, then {v} it {t}",
    "take {o} up and {v} it down {t}", "{o} {t}", "i think {o} should be {t}", "can {o} be {t}", "could {o} go {t}",
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
    if chance(speaker.rng, 0.02):
        wrong = target(speaker, moved)[1]
        where = fill(
            speaker.pick(("{t}, not {w}", "{t} and not {w}", "{t} rather than {w}", "not {w} but {t}")),
            t=where,
            w=wrong,
        )
    if item.step == "first" and chance(speaker.rng, 0.2):
        where = fill("{t}, {w}", t=where, w=speaker.pick(lexicon.ANY_WILL_DO))
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


def put_into_it(speaker: Speaker) -> Said:
    """ "take the block nearest to the bowl and put it in there": the landmark is the destination."""
    items, noun = candidates(speaker)
    (other, words), thing = speaker.one("container")
    name, prepositions = ("in", lexicon.IN) if thing.role == "container" else ("on", lexicon.ON)
    relation = speaker.pick(("closest", "closest", "farthest"))
    near = speaker.pick(lexicon.CLOSEST if relation == "closest" else lexicon.FARTHEST)
    there = speaker.pick(("it", "that", "there", "it"))
    template = speaker.pick(("{v} the {n} {c} {o} {p} {i}", "take the {n} {c} {o} and {v} it {p} {i}",
                             "the {n} {c} {o} goes {p} {i}",
                             "{v} whatever {n} is {c} {o} {p} {i}", "the {n} {c} {o} should be {p} {i}"))  # fmt: skip
    phrase = fill(
        template, v=speaker.pick(lexicon.PUT[:8]), n=noun, c=near, o=words, p=speaker.pick(prepositions[:3]), i=there
    )
    return leaf("put", leaf(relation, items, other), leaf(name, other)), phrase


def push_group(speaker: Speaker) -> Said:
    items, words = related_group(speaker) if chance(speaker.rng, 0.2) else speaker.group()
    direction, where = speaker.direction(lexicon.MOVE_DIRECTIONS)
    amount, length = amount_of(speaker)
    template = speaker.pick(
        ("{v} {o} {q} {d}", "{v} {o} {d} {q}", "{v} {o} {d} by {q}") if length else ("{v} {o} {d}",)
    )
    node = leaf("each", items, leaf("last", leaf("push", Node("item"), direction, amount)))
    return node, fill(template, v=speaker.pick(lexicon.PUSH), o=words, d=where, q=length)


def put_group(speaker: Speaker) -> Said:
    items, words = related_group(speaker) if chance(speaker.rng, 0.4) else speaker.group()
    goal, where = target(speaker)
    if items.step == "take" and chance(speaker.rng, 0.25):
        where = fill("{t}, {w}", t=where, w=speaker.pick(lexicon.ANY_WILL_DO))
    if items.step in ("pair", "triple") and chance(speaker.rng, 0.15):
        where = fill("together {t}", t=where)
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
    templates: Sequence[str] = (
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


def take_out(speaker: Speaker) -> Said:
    """Out of a container or off something: it ends up on the table, next to where it was."""
    (mark, of), place = speaker.one("container")
    out = ("out of", "from", "out of", "off") if place.role == "container" else ("off", "off of", "from", "down from")
    goal = leaf("near", mark, Node("usual"))
    verb = speaker.pick(("take", "get", "remove", "pull", "lift", "fetch", "bring", "pick"))
    if chance(speaker.rng, 0.4):
        contents = speaker.pick(
            ("everything", "all the things", "the stuff", "whatever is there", "all objects", "the contents")
        )
        template = speaker.pick(("{v} {w} {u} {o}", "{v} {w} {u} {o} and put it on the table", "empty {o}", "clear {o}",
                                 "unload {o}", "empty out {o}", "empty {o} onto the table"))  # fmt: skip
        return for_each(leaf("contents", mark), goal), fill(template, v=verb, w=contents, u=speaker.pick(out), o=of)
    (item, words), _ = speaker.one("mover", other_than=(place,))
    tail = speaker.pick(("", "", " and put it on the table", " and set it next to it", " and put it down beside it"))
    return leaf("put", item, goal), fill("{v} {a} {u} {o}" + tail, v=verb, a=words, u=speaker.pick(out), o=of)


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
