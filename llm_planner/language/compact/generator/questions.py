"""What must not be carried out: nonsense, half a command, the impossible, and conditions nobody can promise to keep."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.references import Said, Speaker
from llm_planner.language.compact.generator.surface import Fragment, Phrase, chance, fill
from llm_planner.language.compact.generator.targets import target
from llm_planner.language.compact.grammar import Node

Single = Callable[[Speaker], Said]  # draws a request that could be carried out


def question(speaker: Speaker, single: Single) -> Said:
    """What must not be carried out: nonsense, things a table-top arm cannot do, and constraints it cannot keep yet."""
    draw = speaker.rng.random()
    if draw < 0.3:
        return Node("unclear"), (Fragment(speaker.pick(lexicon.UNCLEAR)),)
    if draw < 0.42:
        return Node("unclear"), (Fragment(_gibberish(speaker)),)
    if draw < 0.55:
        return Node("unclear"), _truncated(speaker)
    if draw < 0.7:
        return Node("cannot"), _impossible(speaker)
    if draw < 0.76:  # a good request with an impossible one behind it
        template = speaker.pick(("{a} and {b}", "{a} and then {b}", "{a}, then {b}", "{b} and then {a}", "{b} and {a}"))
        return Node("cannot"), fill(template, a=single(speaker)[1], b=_impossible(speaker))
    if draw < 0.78:  # conditions that a program cannot look up
        (_one, words), thing = speaker.one()
        other = speaker.one(other_than=(thing,))[0][1]
        test = speaker.pick(("{a} is {d} {b}", "{a} is heavier than {b}", "{a} is bigger than {b}",
                             "{a} is closer than {b}",
                             "{a} is dirty", "{a} is hot", "{a} and {b} touch", "{a} is {d} of {b}"))  # fmt: skip
        side = speaker.pick(
            ("left of", "to the left of", "right of", "to the right of", "behind", "in front of", "next to", "near")
        )
        said = fill(test, a=words, b=other, d=side)
        template = speaker.pick(
            ("if {c}, {a}", "if {c} then {a}", "{a} if {c}", "when {c}, {a}", "if {c}, {a}, otherwise {b}")
        )
        return Node("cannot"), fill(template, c=said, a=single(speaker)[1], b=single(speaker)[1])
    if draw < 0.81:
        template = speaker.pick(("{a} {b}", "{b} {a}", "{b}, {a}", "{a}, {b}"))
        return Node("cannot"), fill(template, a=single(speaker)[1], b=speaker.pick(lexicon.CANNOT_WHEN))
    (_, words), _ = speaker.one()
    limit = fill(speaker.pick(lexicon.CONSTRAINTS), a=words)
    if chance(speaker.rng, 0.15):
        return Node("constraint"), limit
    template = speaker.pick(("{a} {c}", "{a}, {c}", "{a} {c}", "{c}, {a}", "{a}. {c}"))
    return Node("constraint"), fill(template, a=single(speaker)[1], c=limit)


def _impossible(speaker: Speaker) -> Phrase:
    (_, words), thing = speaker.one()
    (_, others), _ = speaker.one(other_than=(thing,))
    return fill(speaker.pick(lexicon.CANNOT), a=words, b=others)


def _truncated(speaker: Speaker) -> Phrase:
    """A command that leaves out what matters: where to, or what, or which corner."""
    (_, words), _thing = speaker.one("mover")
    if chance(speaker.rng, 0.35):
        noun = speaker.pick(
            ("place", "spot", "position", "thing", "stuff", "somewhere", "corner", "side", "other place")
        )
        return fill(speaker.pick(("{v} {o} in the right {n}", "{v} {o} in a {n}", "{v} {o} to some {n}",
                                  "{v} {o} elsewhere",
                                  "{v} {o} in the corner", "{v} {o} somewhere else", "{v} {o} over there",
                                  "{v} {o} here",
                                  "{v} {o} into the corners", "{v} {o} where it belongs", "{v} {o} away")),
                    v=speaker.pick(lexicon.PUT[:8]), o=words, n=noun)  # fmt: skip
    if chance(speaker.rng, 0.5):
        return fill(speaker.pick(("put {o}", "place {o}", "move {o}", "put {o} in the", "move {o} to", "stack {o}",
                                  "{o} on",
                                  "bring {o} over", "do something with {o}", "what about {o}", "i like {o}", "{o}",
                                  "look at {o}", "is {o} there", "where is {o}", "you see {o}",
                                  "remove {o}")), o=words)  # fmt: skip
    _, where = target(speaker, allow_offset=False)
    return fill(
        speaker.pick(("put {t}", "{t}", "place something nice {t}", "is it {t}", "what is {t}", "go {t}", "point {t}")),
        t=where,
    )


def _gibberish(speaker: Speaker) -> str:
    letters = tuple("abcdefghijklmnopqrstuvwxyz")
    lengths = speaker.rng.integers(1, 9, size=int(speaker.rng.integers(1, 7)))
    return " ".join("".join(speaker.pick(letters) for _ in range(length)) for length in lengths)
