"""Conditions on the scene: "the bowl is empty", "the mug is not on the plate", "there is a red block"."""

from __future__ import annotations

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import Said, Speaker, leaf
from llm_planner.language.compact.generator.surface import chance, fill
from llm_planner.language.compact.grammar import Node, Pointer


def condition(speaker: Speaker) -> Said:
    (item, words), thing = speaker.one()
    (other, more), place = speaker.one("container", other_than=(thing,))
    draw = speaker.rng.random()
    if draw < 0.3:
        text = speaker.pick(("{o} is empty", "nothing is in {o}", "there is nothing in {o}", "{o} has nothing in it",
                             "there's nothing on {o}", "nothing is on {o}", "{o} is clear", "{o} is free"))  # fmt: skip
        full = ("{o} is not empty", "{o} isn't empty", "{o} has something in it", "there is something in {o}")
        if chance(speaker.rng, 0.25):
            return leaf("not", leaf("empty", other)), fill(speaker.pick(full), o=more)
        return leaf("empty", other), fill(text, o=more)
    if draw < 0.6:
        name, where = ("is_in", lexicon.IN) if place.role == "container" else ("is_on", lexicon.ON)
        negated = chance(speaker.rng, 0.35)
        text = speaker.pick(
            ("{a} is not {w} {o}", "{a} isn't {w} {o}", "{a} is not yet {w} {o}") if negated else ("{a} is {w} {o}",)
        )
        node = leaf(name, item, other)
        return leaf("not", node) if negated else node, fill(text, a=words, w=speaker.pick(where), o=more)
    if draw < 0.75:
        region, spot = speaker.region()
        return leaf("is_at", item, region), fill("{a} is {p}", a=words, p=spot)
    if draw < 0.9:
        items, noun = speaker.plural(thing.kind, thing.color if chance(speaker.rng, 0.6) else "", one=True)
        return leaf("exists", items), fill(
            speaker.pick(("there is a {n}", "there's a {n}", "you see a {n}", "you can see a {n}")), n=noun
        )
    missing = [c for c in lexicon.COLORS if c not in speaker.colors]
    if not missing:
        return leaf("empty", other), fill("{o} is empty", o=more)
    color = speaker.mark(str(speaker.rng.choice(missing)))
    node = leaf("objects", speaker.kind_node(thing.kind), Node(Pointer("word", color.mark)))
    return leaf("exists", node), fill("there is a {c} {n}", c=(color,), n=speaker.kind_word(thing.kind))
