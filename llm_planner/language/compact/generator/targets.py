"""Where people want things put: on, in, beside, at a place, by an offset."""

from __future__ import annotations

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import Said, Speaker, leaf
from llm_planner.language.compact.generator.relations import related_object
from llm_planner.language.compact.generator.scenes import Thing
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, fill
from llm_planner.language.compact.grammar import Node

USUAL = Node("usual")


def target(speaker: Speaker, moved: tuple[Thing, ...] = (), allow_offset: bool = True) -> Said:
    """A destination for `moved`, with its preposition."""
    names = ("in", "on", "near", "beside", "at", "between", "offset")
    weights = [0.3, 0.2, 0.09, 0.12, 0.18, 0.04, 0.07 if allow_offset else 0.0]
    total = sum(weights)
    name = names[int(speaker.rng.choice(len(names), p=[w / total for w in weights]))]
    if name == "at":
        place, words = speaker.region()
        return leaf("at", place), words
    if name == "offset":
        return offset(speaker)
    if name == "between":
        return _between(speaker, moved)
    other, words = _landmark(speaker, {"in": "container", "on": "surface"}.get(name, ""), moved)
    return _relative(speaker, name, other, words)


def _landmark(speaker: Speaker, role: str, moved: tuple[Thing, ...]) -> Said:
    if chance(speaker.rng, 0.07):
        return related_object(speaker)
    if role == "surface" and chance(speaker.rng, 0.7):
        role = "mover"  # things are stacked on each other at least as often as they are put on a plate
    alike = [t for t in speaker.things if moved and t.kind == moved[-1].kind and t not in moved and t.color]
    if alike and (not role or alike[0].role == role) and chance(speaker.rng, 0.35):
        other = alike[int(speaker.rng.integers(len(alike)))]
        return speaker.by_color(other) if chance(speaker.rng, 0.25) else speaker.one_of_kind(other)
    return speaker.one(role, other_than=moved)[0]


def _relative(speaker: Speaker, name: str, other: Node, words: Phrase) -> Said:
    if name == "near":
        return _near(speaker, other, words)
    if name != "beside":
        preposition = speaker.pick({"in": lexicon.IN, "on": lexicon.ON}[name])
        return leaf(name, other), fill("{p} {o}", p=preposition, o=words)
    direction, side = speaker.direction(lexicon.BESIDE)
    if chance(speaker.rng, 0.3):
        amount, length = speaker.quantity()
        return leaf(name, other, direction, amount), fill("{q} {d} {o}", q=length, d=side, o=words)
    if chance(speaker.rng, 0.06):
        far = chance(speaker.rng, 0.3)
        length = (Fragment(speaker.pick(("far", "well", "quite far") if far else ("a little", "slightly", "a bit"))),)
        return leaf(name, other, direction, Node("much" if far else "little")), fill(
            "{q} {d} {o}", q=length, d=side, o=words
        )
    return leaf(name, other, direction, USUAL), fill("{d} {o}", d=side, o=words)


def _near(speaker: Speaker, other: Node, words: Phrase) -> Said:
    if chance(speaker.rng, 0.12):
        amount, length = speaker.quantity()
        template = speaker.pick(("{q} from {o}", "{q} away from {o}", "about {q} from {o}", "{q} next to {o}"))
        return leaf("near", other, amount), fill(template, q=length, o=words)
    return leaf("near", other, USUAL), fill("{p} {o}", p=speaker.pick(lexicon.NEAR), o=words)


def _between(speaker: Speaker, moved: tuple[Thing, ...]) -> Said:
    (one, words), thing = speaker.one(other_than=moved)
    (other, more), _ = speaker.one(other_than=(*moved, thing))
    template = speaker.pick(("between {a} and {b}", "in between {a} and {b}", "halfway between {a} and {b}",
                             "in the middle of {a} and {b}", "midway between {a} and {b}"))  # fmt: skip
    return leaf("between", one, other), fill(template, a=words, b=more)


def offset(speaker: Speaker) -> Said:
    """A shift: "5 cm to the left", "a little forward"."""
    direction, words = speaker.direction(lexicon.MOVE_DIRECTIONS)
    amount, length = amount_of(speaker)
    templates = ("{q} {d}", "{q} {d}", "{d} {q}", "{d} by {q}") if length else ("{d}",)
    return leaf("offset", direction, amount), fill(speaker.pick(templates), q=length, d=words)


def amount_of(speaker: Speaker) -> Said:
    draw = speaker.rng.random()
    if draw < 0.55:
        return speaker.quantity()
    if draw < 0.75:
        return Node("little"), (Fragment(speaker.pick(lexicon.SMALL)),)
    if draw < 0.8:
        return Node("much"), (Fragment(speaker.pick(("a lot", "a long way", "a good deal", "quite a bit"))),)
    return USUAL, ()
