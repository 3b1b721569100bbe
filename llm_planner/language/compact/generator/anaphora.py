"""Commands whose second half speaks of what the first one named: "it", "there", "to its left", "the others"."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.actions import for_each
from llm_planner.language.compact.generator.references import Said, Speaker, leaf, program
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, chance, fill
from llm_planner.language.compact.generator.targets import offset, target
from llm_planner.language.compact.grammar import Node

USUAL = Node("usual")


def mentioned_again(speaker: Speaker) -> Said:
    """A whole command in which something is mentioned again without its name."""
    weights = [weight for weight, _ in _KINDS]
    return _KINDS[int(speaker.rng.choice(len(_KINDS), p=weights))][1](speaker)


def _verb(speaker: Speaker) -> str:
    return speaker.pick(lexicon.PUT[:8])


def _two_movers(speaker: Speaker) -> tuple[Said, Said, tuple[Thing, Thing]]:
    one, thing = speaker.one("mover")
    two, other = speaker.one("mover", other_than=(thing,))
    return one, two, (thing, other)


def _shifted_twice(speaker: Speaker) -> Said:
    (item, words), _ = speaker.one("mover")
    (goal, first), (other, then) = offset(speaker), offset(speaker)
    template = speaker.pick(("{v} {a} {t} and then {s}", "{v} {a} {t} and {s}", "{v} {a} {t}, then {s}"))
    phrase = fill(template, v=speaker.pick(("move", "shift", "bring")), a=words, t=first, s=then)
    return program([leaf("put", item, goal), leaf("put", item, other)]), phrase


def _to_its_side(speaker: Speaker) -> Said:
    """ "see the vase? put the mug to its left"."""
    (item, words), thing = speaker.one("mover")
    (mark, of), _ = speaker.one(other_than=(thing,))
    side = speaker.pick(("left", "right"))
    templates = ("{o} looks lonely, {v} {a} to its {d}", "see {o}? {v} {a} to its {d}",
                 "find {o} and {v} {a} to its {d}",
                 "{o} needs company, {v} {a} on its {d} side", "look at {o}: {v} {a} on its {d}")  # fmt: skip
    node = program([leaf("put", item, leaf("beside", mark, Node(side), USUAL))])
    return node, fill(speaker.pick(templates), o=of, d=side, v=_verb(speaker), a=words)


def _onto_it(speaker: Speaker) -> Said:
    """ "put the red block in the bowl and the blue one on top of it"."""
    (item, words), (second, others), things = _two_movers(speaker)
    goal, where = target(speaker, things, allow_offset=False)
    onto = speaker.pick(("on it", "on top of it", "on top", "on that", "on top of that", "onto it", "on that one"))
    templates = ("{v} {a} {t} then {w} {b} {s}", "{v} {a} {t} and {w} {b} {s}", "{v} {a} {t} and {b} {s}",
                 "{v} {a} {t}, then {b} {s}")  # fmt: skip
    stack = speaker.pick(("put", "place", "stack", "set"))
    phrase = fill(speaker.pick(templates), v=_verb(speaker), a=words, b=others, t=where, s=onto, w=stack)
    return program([leaf("put", item, goal), leaf("put", second, leaf("on", item))]), phrase


def _around_it(speaker: Speaker) -> Said:
    """ "put the mug left of the plate and the vase right of it"."""
    (item, words), (second, others), things = _two_movers(speaker)
    (mark, of), _ = speaker.one(other_than=things)
    (one, side), (two, other_side) = _side(speaker), _side(speaker)
    templates = (
        "{v} {a} {d} {o} and {b} {e} {i}",
        "{v} {a} {d} {o} and {v} {b} {e} {i}",
        "{v} {a} {d} {o}, {b} {e} {i}",
    )
    again = speaker.pick(("it", "it", "that", "it"))
    phrase = fill(speaker.pick(templates), v=_verb(speaker), a=words, b=others, d=side, o=of, e=other_side, i=again)
    return program([leaf("put", item, _by(one, mark)), leaf("put", second, _by(two, mark))]), phrase


def _side(speaker: Speaker) -> Said:
    if chance(speaker.rng, 0.2):
        return Node("near"), (Fragment(speaker.pick(("next to", "beside", "near", "by"))),)
    return speaker.direction(lexicon.BESIDE)


def _by(side: Node, mark: Node) -> Node:
    return leaf("near", mark, USUAL) if side.step == "near" else leaf("beside", mark, side, USUAL)


def _the_others(speaker: Speaker) -> Said:
    """ "the red block goes in the bowl and the other blocks on the plate"."""
    (item, words), thing = speaker.one("mover")
    goal, where = target(speaker, (thing,), allow_offset=False)
    if sum(t.kind == thing.kind for t in speaker.things) < 2:
        return program([leaf("put", item, goal)]), fill("{v} {a} {t}", v=_verb(speaker), a=words, t=where)
    rest, there = target(speaker, (thing,), allow_offset=False)
    node, nouns = speaker.plural(thing.kind)
    others = speaker.pick(("the other {n}", "the others", "all the other {n}", "the rest of the {n}", "the rest",
                           "all others", "the remaining {n}", "every other {n}", "the other ones"))  # fmt: skip
    templates = ("{v} {a} {t} and {o} {s}", "{v} {a} {t} and then {v} {o} {s}", "{v} {a} {t}, {o} {s}",
                 "{a} goes {t}, {o} go {s}", "{a} {t} and {o} {s}")  # fmt: skip
    phrase = fill(speaker.pick(templates), v=_verb(speaker), a=words, t=where, o=fill(others, n=nouns), s=there)
    return program([leaf("put", item, goal), for_each(leaf("except", node, item), rest)]), phrase


def _into_one(speaker: Speaker) -> Said:
    """ "the bowl gets the red block and the blue one"."""
    (item, words), (second, others), things = _two_movers(speaker)
    (mark, of), place = speaker.one("container", other_than=things)
    name, prepositions = ("in", lexicon.IN) if place.role == "container" else ("on", lexicon.ON)
    templates = ("{o} gets {a} and {b}", "{o} takes {a} and also {b}", "{v} {a} {t} {o} and {b} too",
                 "{v} {a} {t} {o} and {b} as well", "{v} {a} {t} {o}, also {b}")  # fmt: skip
    phrase = fill(speaker.pick(templates), v=_verb(speaker), a=words, b=others, t=speaker.pick(prepositions), o=of)
    return program([leaf("put", item, leaf(name, mark)), leaf("put", second, leaf(name, mark))]), phrase


def _into_two(speaker: Speaker) -> Said:
    """ "the bowl is for the block and the plate is for the mug"."""
    (item, words), (second, others), things = _two_movers(speaker)
    (mark, of), first = speaker.one("container", other_than=things)
    (more, of_other), last = speaker.one("container", other_than=(*things, first))
    templates = ("{o} gets {a}, {p} gets {b}", "{o} gets {a} and {p} {b}", "{o} is for {a} and {p} is for {b}")
    phrase = fill(speaker.pick(templates), o=of, p=of_other, a=words, b=others)
    return program([leaf("put", item, _into(first, mark)), leaf("put", second, _into(last, more))]), phrase


def _into(place: Thing, node: Node) -> Node:
    return leaf("in" if place.role == "container" else "on", node)


_KINDS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (0.08, _shifted_twice),
    (0.07, _to_its_side),
    (0.25, _onto_it),
    (0.34, _around_it),
    (0.1, _the_others),
    (0.08, _into_one),
    (0.08, _into_two),
)
