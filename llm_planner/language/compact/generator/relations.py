"""References to one thing by how it lies: "the block closest to the mug", "the second cube from the left"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import ANY_COLOR, ANY_KIND, Said, Speaker, leaf
from llm_planner.language.compact.generator.surface import Fragment, chance, fill
from llm_planner.language.compact.grammar import Node


def related_object(speaker: Speaker) -> Said:
    """One object, named by how it lies or how big it is."""
    choices: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
        (0.22, _closest),
        (0.1, _farthest),
        (0.2, _nth),
        (0.14, _extreme),
        (0.18, _beside),
        (0.08, _any_one),
        (0.05, _sized),
        (0.03, _atop),
    )
    weights = [weight for weight, _ in choices]
    return choices[int(speaker.rng.choice(len(choices), p=weights))][1](speaker)


def candidates(speaker: Speaker) -> Said:
    """What the relation chooses among, as a singular noun: "block", "red cube", "thing"."""
    if chance(speaker.rng, 0.12):
        return leaf("objects", ANY_KIND, ANY_COLOR), (Fragment(speaker.pick(("thing", "object", "item"))),)
    movers = [t for t in speaker.things if t.role == "mover"] or list(speaker.things)
    thing = movers[int(speaker.rng.integers(len(movers)))]
    pool = [t for t in speaker.things if t.kind == thing.kind]
    color = thing.color if len(pool) > 1 and chance(speaker.rng, 0.15) else ""
    return speaker.plural(thing.kind, color, one=True)


def _closest(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    if chance(speaker.rng, 0.2):
        place, words = speaker.region()
        template = "the {n} {c} {p}"
        phrase = fill(template, n=noun, c=speaker.pick(("closest", "nearest")), p=_to_place(words[0].text))
        return leaf("closest_to_place", items, place), phrase
    (other, words), _ = speaker.one()
    templates: Sequence[str] = (
        "the {n} {c} {o}",
        "the {n} {c} {o}",
        "whichever {n} is {c} {o}",
        "the {n} which is {c} {o}",
    )
    if chance(speaker.rng, 0.2):
        templates = ("the closest {n} to {o}", "the nearest {n} to {o}", "{o}'s nearest {n}")
    return leaf("closest", items, other), fill(
        speaker.pick(templates), n=noun, o=words, c=speaker.pick(lexicon.CLOSEST)
    )


def _to_place(words: str) -> str:
    return "to the " + words.split(" the ", 1)[-1]


def _farthest(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    (other, words), _ = speaker.one()
    templates = ("the {n} {c} {o}", "whichever {n} is {c} {o}", "the {n} which is {c} {o}")
    return leaf("farthest", items, other), fill(
        speaker.pick(templates), n=noun, o=words, c=speaker.pick(lexicon.FARTHEST)
    )


def _nth(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    count = int(speaker.rng.choice(5, p=[0.3, 0.3, 0.2, 0.12, 0.08]))
    direction, words = speaker.direction(lexicon.FROM_SIDE)
    phrase = fill("the {k} {n} {d}", k=speaker.pick(lexicon.ORDINALS[count]), n=noun, d=words)
    return leaf("nth", items, direction, Node(f"n{count + 1}")), phrase


def _extreme(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    direction, words = speaker.direction(lexicon.SUPERLATIVE)
    name = str(direction.step)
    templates = ["the {d} {n}"] * 3
    if name in ("left", "right"):
        templates += [
            "the {n} furthest to the " + name,
            "the {n} on the far " + name,
            "the {n} that is most to the " + name,
        ]
        templates += ["the {n} farthest to the " + name, "the {n} at the very " + name]
        templates += [
            f"the {name} {{n}}",
            f"the {{n}} on the {name}",
            f"the {{n}} to the {name}",
            f"the {name} hand {{n}}",
        ]
    elif name == "top":
        templates += [
            "the {n} at the back",
            "the rear {n}",
            "the {n} at the far end",
            "the back {n}",
            "the {n} furthest from you",
        ]
    else:
        templates += ["the {n} at the front", "the front {n}", "the {n} nearest to you", "the {n} closest to you"]
    return leaf("nth", items, direction, Node("n1")), fill(speaker.pick(tuple(templates)), d=words, n=noun)


def _beside(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    direction, words = speaker.direction(lexicon.SIDE_OF)
    (other, of), _ = speaker.one()
    templates = ("the {n} {d} {o}", "the {n} {d} {o}", "the {n} that is {d} {o}", "the {n} that's {d} {o}",
                 "the {n} which lies {d} {o}", "the {n} standing {d} {o}", "whatever {n} is {d} {o}")  # fmt: skip
    return leaf("side", items, direction, other), fill(speaker.pick(templates), n=noun, d=words, o=of)


def _any_one(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    if items.children[0] == ANY_KIND:
        return leaf("first", items), fill(speaker.pick(("something", "any {n}", "some {n}", "an {n}")), n=noun)
    templates: Sequence[str] = (
        "a {n}",
        "any {n}",
        "some {n}",
        "one {n}",
        "a random {n}",
        "any one {n}",
        "just one {n}",
        "a single {n}",
    )
    if len(items.children) == 2 and items.children[1] == ANY_COLOR and chance(speaker.rng, 0.3):
        templates = ("one of the {n}s", "any of the {n}s")
    return leaf("first", items), fill(speaker.pick(templates), n=noun)


def _sized(speaker: Speaker) -> Said:
    items, noun = candidates(speaker)
    name = speaker.pick(("largest", "smallest"))
    words = {"largest": ("largest", "biggest", "big"), "smallest": ("smallest", "littlest", "tiniest", "small")}[name]
    return leaf(name, items), fill("the {d} {n}", d=speaker.pick(words[:-1]), n=noun)


def _atop(speaker: Speaker) -> Said:
    (other, words), thing = speaker.one()
    noun = speaker.pick(("thing", "object", "block", "one", "item"))
    where = speaker.pick(lexicon.IN if thing.role == "container" else lexicon.ON)
    phrase = fill(
        speaker.pick(("the {n} {w} {o}", "the {n} that is {w} {o}", "what is {w} {o}")), n=noun, w=where, o=words
    )
    return leaf("atop", other), phrase
