"""Whole commands: one request, several in a row, conditional ones, and those that must be answered with a question."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.generator import actions, arrangements, lexicon
from llm_planner.language.compact.generator.conditions import condition
from llm_planner.language.compact.generator.questions import question
from llm_planner.language.compact.generator.references import Said, Speaker, leaf
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, fill
from llm_planner.language.compact.generator.targets import target
from llm_planner.language.compact.grammar import Node

SINGLE: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (0.31, actions.put_one),
    (0.19, actions.put_group),
    (0.02, actions.take_out),
    (0.02, arrangements.deal),
    (0.07, actions.pick_one),
    (0.02, actions.place_held),
    (0.07, actions.push_one),
    (0.05, actions.shift_one),
    (0.08, arrangements.tower),
    (0.06, arrangements.match_colors),
    (0.05, arrangements.arrange),
    (0.03, arrangements.swap),
    (0.03, actions.gripper),
)


def command(speaker: Speaker) -> Said:
    """A derivation of ROOT and the words for it."""
    draw = speaker.rng.random()
    if draw < 0.56:
        node, words = single(speaker)
        return _program([node]), words
    if draw < 0.77:
        return _several(speaker)
    if draw < 0.81:
        return _mentioned_again(speaker)
    if draw < 0.86:
        return _conditional(speaker)
    return question(speaker, single)


def single(speaker: Speaker) -> Said:
    weights = [weight for weight, _ in SINGLE]
    return SINGLE[int(speaker.rng.choice(len(SINGLE), p=weights))][1](speaker)


def statements(nodes: list[Node]) -> Node:
    if len(nodes) == 1:
        return leaf("last", nodes[0])
    return leaf("more", nodes[0], statements(nodes[1:]))


def _program(nodes: list[Node]) -> Node:
    return leaf("program", statements(nodes))


def _several(speaker: Speaker) -> Said:
    """Two to four requests, "first ... then ... and finally ..."."""
    if chance(speaker.rng, 0.3):
        return _elliptical(speaker)
    count = int(speaker.rng.choice([2, 3, 4], p=[0.68, 0.25, 0.07]))
    said = [_short(speaker) for _ in range(count)]
    if chance(speaker.rng, 0.1):
        said[-1] = actions.gripper(speaker)
    template = speaker.pick(("{a0}", "{a0}", "first {a0}", "first of all {a0}", "start by: {a0}"))
    for i in range(1, count):
        last = i == count - 1
        joint = (" and then ", ", then ", " then ", " and ", ", and ", ". then ", ", after that ", ". ",
                 ", afterwards ", "; ",
                 ". after that ", ", and then ", ". next ", " and after that ", ", next ")  # fmt: skip
        final = (" and finally ", ", finally ", ". lastly ", ". finally ") if last and count > 2 else ()
        template += speaker.pick(joint + final) + f"{{a{i}}}"
    if count == 2 and chance(speaker.rng, 0.08):
        reverse = speaker.pick(
            ("before you {a1}, {a0}", "before that {a0}: {a1}", "after you {a0}, {a1}", "once you {a0}, {a1}")
        )
        template = template if reverse.startswith("before that") else reverse
    slots = {f"a{i}": words for i, (_, words) in enumerate(said)}
    return _program([node for node, _ in said]), fill(template, **slots)


def _short(speaker: Speaker) -> Said:
    """A request short enough to be one of several."""
    draw = speaker.rng.random()
    if draw < 0.66:
        return actions.put_one(speaker)
    if draw < 0.76:
        return actions.put_group(speaker)
    return single(speaker)


def _elliptical(speaker: Speaker) -> Said:
    """Parallel requests with the verb said once: "put the red block in the bowl and the mug on the plate"."""
    count = int(speaker.rng.choice([2, 3], p=[0.75, 0.25]))
    parts: list[Said] = []
    moved: tuple[Thing, ...] = ()
    nodes: list[Node] = []
    for index in range(count):
        (item, words), thing = speaker.one("mover", other_than=moved)
        if index and chance(speaker.rng, 0.3):
            item, words = speaker.one_of_kind(thing) if chance(speaker.rng, 0.6) else speaker.by_color(thing)
        moved += (thing,)
        if chance(speaker.rng, 0.1):
            items, words = speaker.group()
            goal, where = target(speaker, allow_offset=False)
            nodes.append(actions.for_each(items, goal))
            parts.append((items, fill("{o} {t}", o=words, t=where)))
            continue
        goal, where = target(speaker, moved, allow_offset=False)
        nodes.append(leaf("put", item, goal))
        if goal.step == "at" and chance(speaker.rng, 0.25):
            where = (Fragment(where[0].text.split(" the ", 1)[-1]),)  # "orange block, top left corner"
            words = fill("{o},", o=words) if chance(speaker.rng, 0.5) else words
        parts.append(
            (
                item,
                fill(speaker.pick(("{o} {t}", "{o} {t}", "{o} goes {t}") if index else ("{o} {t}",)), o=words, t=where),
            )
        )
    verb = speaker.pick((*lexicon.PUT[:10], "i want", "i need", "i'd like", ""))
    joint = speaker.pick((" and ", ", ", " and then ", ", and ", ", then ", " and also ", " plus ", ". ", "; ", " "))
    template = (verb + " " if verb else "") + joint.join(f"{{p{i}}}" for i in range(count))
    slots = {f"p{i}": words for i, (_, words) in enumerate(parts)}
    return _program(nodes), fill(template, **slots)


def _mentioned_again(speaker: Speaker) -> Said:
    """The second request speaks of "it", "that one", of what the first one moved or used."""
    (item, words), thing = speaker.one("mover")
    (second, others), third = speaker.one("mover", other_than=(thing,))
    draw = speaker.rng.random()
    slots: dict[str, Phrase | str] = {"v": speaker.pick(lexicon.PUT[:8]), "a": words, "b": others}
    if draw < 0.35:  # put a somewhere, then b on it
        goal, where = target(speaker, (thing, third), allow_offset=False)
        onto = speaker.pick(("on it", "on top of it", "on top", "on that", "on top of that", "onto it", "on that one"))
        nodes = [leaf("put", item, goal), leaf("put", second, leaf("on", item))]
        template = speaker.pick(("{v} {a} {t} then {w} {b} {s}", "{v} {a} {t} and {w} {b} {s}",
                                 "{v} {a} {t} and {b} {s}",
                                 "{v} {a} {t}, then {b} {s}"))  # fmt: skip
        return _program(nodes), fill(
            template, t=where, s=onto, w=speaker.pick(("put", "place", "stack", "set")), **slots
        )
    if draw < 0.75:  # landmarks: a left of it and b right of it
        (mark, of), landmark = speaker.one(other_than=(thing, third))
        (one, side), (two, other_side) = (_side(speaker) for _ in range(2))
        again = speaker.pick(("it", "it", "that", "it"))
        nodes = [leaf("put", item, _by(one, mark)), leaf("put", second, _by(two, mark))]
        template = speaker.pick(
            ("{v} {a} {d} {o} and {b} {e} {i}", "{v} {a} {d} {o} and {v} {b} {e} {i}", "{v} {a} {d} {o}, {b} {e} {i}")
        )
        return _program(nodes), fill(template, d=side, o=of, e=other_side, i=again, **slots)
    if draw < 0.82:
        return _the_others(speaker)
    if draw < 0.91:
        (mark, of), landmark = speaker.one("container", other_than=(thing, third))
        name, prepositions = ("in", lexicon.IN) if landmark.role == "container" else ("on", lexicon.ON)
        nodes = [leaf("put", item, leaf(name, mark)), leaf("put", second, leaf(name, mark))]
        template = speaker.pick(("{o} gets {a} and {b}", "{o} takes {a} and also {b}", "{v} {a} {t} {o} and {b} too",
                                 "{v} {a} {t} {o} and {b} as well", "{v} {a} {t} {o}, also {b}"))  # fmt: skip
        return _program(nodes), fill(template, t=speaker.pick(prepositions), o=of, **slots)
    (mark, of), first = speaker.one("container", other_than=(thing, third))
    (more, of_other), last = speaker.one("container", other_than=(thing, third, first))
    nodes = [leaf("put", item, _into(first.role, mark)), leaf("put", second, _into(last.role, more))]
    template = speaker.pick(
        ("{o} gets {a}, {p} gets {b}", "{o} gets {a} and {p} {b}", "{o} is for {a} and {p} is for {b}")
    )
    return _program(nodes), fill(template, o=of, p=of_other, a=slots["a"], b=slots["b"])


def _the_others(speaker: Speaker) -> Said:
    """ "the red block goes in the bowl and the other blocks on the plate"."""
    (item, words), thing = speaker.one("mover")
    goal, where = target(speaker, (thing,), allow_offset=False)
    rest, there = target(speaker, (thing,), allow_offset=False)
    alike = [t for t in speaker.things if t.kind == thing.kind]
    if len(alike) < 2:
        phrase = fill("{v} {a} {t}", v=speaker.pick(lexicon.PUT[:8]), a=words, t=where)
        return _program([leaf("put", item, goal)]), phrase
    node, nouns = speaker.plural(thing.kind)
    others = speaker.pick(("the other {n}", "the others", "all the other {n}", "the rest of the {n}", "the rest",
                           "all others",
                           "the remaining {n}", "every other {n}", "the other ones"))  # fmt: skip
    template = speaker.pick(("{v} {a} {t} and {o} {s}", "{v} {a} {t} and then {v} {o} {s}", "{v} {a} {t}, {o} {s}",
                             "{a} goes {t}, {o} go {s}", "{a} {t} and {o} {s}"))  # fmt: skip
    nodes = [leaf("put", item, goal), actions.for_each(leaf("except", node, item), rest)]
    phrase = fill(template, v=speaker.pick(lexicon.PUT[:8]), a=words, t=where, o=fill(others, n=nouns), s=there)
    return _program(nodes), phrase


def _into(role: str, node: Node) -> Node:
    return leaf("in" if role == "container" else "on", node)


def _side(speaker: Speaker) -> Said:
    if chance(speaker.rng, 0.2):
        return Node("near"), (Fragment(speaker.pick(("next to", "beside", "near", "by"))),)
    return speaker.direction(lexicon.BESIDE)


def _by(side: Node, mark: Node) -> Node:
    usual = Node("usual")
    return leaf("near", mark, usual) if side.step == "near" else leaf("beside", mark, side, usual)


def _conditional(speaker: Speaker) -> Said:
    test, words = condition(speaker)
    action, done = _short(speaker)
    if chance(speaker.rng, 0.3):
        other, instead = _short(speaker)
        template = speaker.pick(("if {c}, {a}, otherwise {b}", "if {c} then {a} else {b}", "if {c} {a} otherwise {b}",
                                 "if {c}, {a}. if not, {b}"))  # fmt: skip
        node = leaf("when_else", test, statements([action]), statements([other]))
        return _program([node]), fill(template, c=words, a=done, b=instead)
    template = speaker.pick(("if {c}, {a}", "if {c} then {a}", "if {c} {a}", "when {c}, {a}", "{a} if {c}",
                             "in case {c}, {a}",
                             "{a} but only if {c}", "only if {c} {a}", "{a} provided that {c}"))  # fmt: skip
    return _program([leaf("when", test, statements([action]))]), fill(template, c=words, a=done)
