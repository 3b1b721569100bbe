"""Random tables for the generator: usual ones, mixed ones, and ones full of things never seen before."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from llm_planner.language.compact.generator import lexicon
from llm_planner.language.compact.generator.surface import chance, choose
from llm_planner.world.scene import IDENTITY, Scene, SceneObject


@dataclass(frozen=True)
class Thing:
    """What the generator knows of one object: how it is called, and whether things go in or on it."""

    name: str
    kind: str
    color: str
    role: str  # "mover", "container" or "surface"


def random_things(rng: Generator) -> tuple[Thing, ...]:
    """A table of 1 to 12 things in random order."""
    draw = rng.random()
    if draw < 0.4:
        specs = _blocks_and_bowls(rng)
    elif draw < 0.72:
        specs = _mixed(rng)
    else:
        specs = _strange(rng)
    order = rng.permutation(len(specs))
    return _named([specs[i] for i in order], rng)


def as_scene(things: tuple[Thing, ...]) -> Scene:
    """A scene of these things, all at the origin: the model is shown only names."""
    size = (0.04, 0.04, 0.04)
    return Scene(0.0, tuple(SceneObject(t.name, t.kind, t.color, (0.0, 0.0, 0.0), IDENTITY, size) for t in things))


Spec = tuple[str, str, str]  # kind, colour, role


def _colors(rng: Generator, count: int) -> list[str]:
    palette = lexicon.COLORS + (lexicon.MORE_COLORS if chance(rng, 0.25) else ())
    repeat = chance(rng, 0.12)  # some tables hold two of the same colour
    return [str(color) for color in rng.choice(palette, count, replace=repeat)]


def _blocks_and_bowls(rng: Generator) -> list[Spec]:
    blocks = [("block", color, "mover") for color in _colors(rng, int(rng.integers(1, 7)))]
    bowls = [("bowl", color, "container") for color in _colors(rng, int(rng.integers(0, 6)))]
    return blocks + bowls


def _mixed(rng: Generator) -> list[Spec]:
    specs = _blocks_and_bowls(rng)[:6]
    others = (("mug", "mover"), ("vase", "mover"), ("plate", "surface"), ("cup", "mover"), ("bowl", "container"))
    for index in rng.choice(len(others), int(rng.integers(1, 4)), replace=False):
        kind, role = others[int(index)]
        specs.append((kind, _colors(rng, 1)[0] if chance(rng, 0.5) else "", role))
    return specs


def _strange(rng: Generator) -> list[Spec]:
    specs: list[Spec] = []
    for _ in range(int(rng.integers(1, 8))):
        role, nouns = [("mover", lexicon.THINGS), ("container", lexicon.CONTAINERS), ("surface", lexicon.SURFACES)][
            int(rng.choice(3, p=[0.6, 0.25, 0.15]))
        ]
        noun = str(rng.choice(nouns))
        if chance(rng, 0.15):
            noun = _invented(rng)
        elif chance(rng, 0.15):
            noun = choose(rng, lexicon.NOUNS_TWO)
        specs.append((noun, _colors(rng, 1)[0] if chance(rng, 0.5) else "", role))
    if chance(rng, 0.5):
        specs += _blocks_and_bowls(rng)[:4]
    return specs


def _invented(rng: Generator) -> str:
    """A pronounceable word that no dictionary has, so that copying is learnt rather than vocabulary."""
    syllables = int(rng.integers(2, 4))
    return "".join(
        choose(rng, tuple("bdfgklmnprstvz")) + choose(rng, tuple("aeiou")) for _ in range(syllables)
    ) + choose(rng, ("", "n", "r", "x", "t"))


def _named(specs: list[Spec], rng: Generator) -> tuple[Thing, ...]:
    things: list[Thing] = []
    counts: dict[str, int] = {}
    for kind, color, role in specs:
        name = f"{color} {kind}".strip()
        if chance(rng, 0.02):  # a name of its own: "Anna's mug", "left spoon"
            name = f"{choose(rng, ('anna', 'bob', 'the old', 'big', 'small', 'broken', 'spare'))} {kind}"
        counts[name] = counts.get(name, 0) + 1
        things.append(Thing(name if counts[name] == 1 else f"{name} {counts[name]}", kind, color, role))
    return tuple(things)
