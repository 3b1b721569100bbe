"""What fills the slots of a wording: things, rooms, directions, amounts, as people call them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from numpy.random import Generator

from llm_planner.correction.amounts import AMOUNT
from llm_planner.correction.compact.hearing import NO_NAMES, Names
from llm_planner.correction.patterns import DIRECTION_WORDS
from llm_planner.correction.requests import Intent
from llm_planner.language.compact.generator.lexicon import (
    BESIDE,
    COLOR_WORDS,
    COLORS,
    IN,
    KIND_WORDS,
    NEAR,
    ON,
    REGIONS,
)
from llm_planner.language.compact.generator.references import plural_of
from llm_planner.language.compact.generator.scenes import random_things
from llm_planner.language.compact.generator.surface import chance, choose
from llm_planner.plan.edits import Frame

PEOPLE = ("anna", "ben", "carla", "david", "emma", "felix", "greta", "hugo", "ida", "jonas", "kim", "lena", "maria",
          "noah", "olga", "paul", "rosa", "sam", "tina", "victor")  # fmt: skip
ROOMS = ("kitchen", "lab", "laboratory", "office", "library", "archive", "hall", "hallway", "storage", "workshop",
         "lobby", "bathroom", "bedroom", "garage", "studio", "pantry", "cellar", "attic", "meeting room",
         "conference room", "server room", "living room", "dining room", "mail room", "reception", "corridor",
         "staff room", "copy room", "gym", "nursery", "ward", "pharmacy", "clean room", "showroom", "foyer",
         "basement", "utility room")  # fmt: skip
BIT = ("a bit", "a bit", "a bit", "a little", "a little", "a little bit", "slightly", "a touch", "a tad",
       "just a bit", "just a little", "a tiny bit", "a smidge", "a hair", "somewhat", "a wee bit",
       "ever so slightly", "a fraction", "a notch", "a shade", "a teeny bit", "marginally", "a whisker",
       "just a touch", "just a tad", "a small amount", "a smidgen", "only a little", "a mite")  # fmt: skip
MUCH = ("a lot", "a lot", "quite a bit", "quite a lot", "a good deal", "a great deal", "loads", "considerably",
        "significantly", "substantially", "lots", "a whole lot", "tons", "heaps", "miles", "a good bit")  # fmt: skip
MUCH_BEFORE = ("much", "much", "way", "far", "really much", *MUCH)
_LENGTHS = ("cm", "cm", "cm", "centimetres", "centimeters", "mm", "inches", "inch", "centimetre", "millimetres", "m",
            "metres", "meters")  # fmt: skip
_COUNTS = ("1", "2", "3", "4", "5", "6", "8", "10", "12", "15", "20", "25", "30", "40", "50", "1.5", "2.5", "one",
           "two", "three", "four", "five", "six", "eight", "ten", "fifteen", "twenty", "thirty")  # fmt: skip
_PERCENTS = (
    "10",
    "20",
    "25",
    "30",
    "40",
    "50",
    "60",
    "70",
    "75",
    "80",
    "90",
    "five",
    "ten",
    "twenty",
    "thirty",
    "fifty",
)
_UNITS_BY_INTENT = {Intent.SPEED: "percent", Intent.DURATION: "time"}
REST = ("the rest", "the rest", "the rest", "everything else", "the others", "all the others", "the other ones",
        "all the rest", "whatever is left", "the remaining ones", "the other things")  # fmt: skip
RELATIONS: Mapping[str, tuple[str, ...]] = {"in": IN, "on": ON, "beside": NEAR, **BESIDE}
_SIDES = (
    "left",
    "right",
    "leftmost",
    "rightmost",
    "big",
    "small",
    "bigger",
    "smaller",
    "nearest",
    "closest",
    "large",
    "far",
)


def _directions() -> dict[str, tuple[str, ...]]:
    words: dict[str, list[str]] = defaultdict(list)
    for said, (direction, frame) in DIRECTION_WORDS.items():
        words[f"robot_{direction}" if frame is Frame.ROBOT else direction].append(said)
    return {choice: tuple(said) for choice, said in words.items()}


DIRECTIONS = _directions()
_OFTEN = ("left", "left", "right", "right", "up", "up", "down", "down", "forward", "backward", "robot_left",
          "robot_right", "robot_forward", "robot_backward")  # fmt: skip
_WAYS = ("left", "right", "up", "down", "forward", "backward")
_PUSHED = ("left", "right", "forward", "backward", "robot_left", "robot_right")


@dataclass(frozen=True)
class World:
    """What is spoken of: things as (colour, kind), rooms and people."""

    things: tuple[tuple[str, str], ...]
    rooms: tuple[str, ...]
    people: tuple[str, ...]

    @cached_property
    def names(self) -> Names:
        """What the reader is told of it."""
        kinds = {word for _, kind in self.things for name in (kind, *KIND_WORDS.get(kind, ())) for word in name.split()}
        colors = {word for color, _ in self.things for word in (color, *COLOR_WORDS.get(color, ())) if color}
        rooms = {word for room in self.rooms for word in room.split()} - NO_NAMES
        return Names(frozenset({*kinds, *self.people}), frozenset(colors), frozenset(rooms))


def random_world(rng: Generator) -> World:
    """A table, or a building with rooms and people."""
    things = tuple((thing.color, thing.kind) for thing in random_things(rng))
    if chance(rng, 0.45):
        return World(things, (), tuple(_some(rng, PEOPLE, 0, 1)))
    rooms = [_room(rng) for _ in range(int(rng.integers(3, 7)))]
    return World(things, tuple(rooms), tuple(_some(rng, PEOPLE, 0, 3)))


def _some(rng: Generator, words: tuple[str, ...], least: int, most: int) -> list[str]:
    return [str(word) for word in rng.choice(words, int(rng.integers(least, most + 1)), replace=False)]


def _room(rng: Generator) -> str:
    if chance(rng, 0.08):
        return (
            choose(rng, ("room", "bay", "aisle", "lab", "office"))
            + " "
            + choose(rng, ("1", "2", "3", "4", "a", "b", "c"))
        )
    if chance(rng, 0.12):
        return invented(rng)
    return choose(rng, ROOMS)


def invented(rng: Generator) -> str:
    """A word that no dictionary has, so that names are copied."""
    syllables = (
        choose(rng, tuple("bdfgklmnprstvz")) + choose(rng, tuple("aeiou")) for _ in range(int(rng.integers(2, 4)))
    )
    return "".join(syllables) + choose(rng, ("", "n", "r", "x", "ry", "um"))


def thing(rng: Generator, world: World) -> str:
    """A noun phrase: mostly for something that is here."""
    if chance(rng, 0.1):
        from_elsewhere = random_things(rng)[0]
        color, kind = from_elsewhere.color, from_elsewhere.kind
    else:
        color, kind = world.things[int(rng.integers(len(world.things)))]
    if world.people and chance(rng, 0.04):
        return choose(rng, world.people)
    kind = choose(rng, KIND_WORDS[kind]) if kind in KIND_WORDS else kind
    color = choose(rng, COLOR_WORDS.get(color, (color,))) if color else ""
    color = color or (choose(rng, COLORS) if chance(rng, 0.1) else "")
    article = choose(rng, ("the", "the", "the", "the", "the", "the", "that", "my", "this", "a", "your"))
    article = "an" if article == "a" and (color or kind)[0] in "aeiou" else article
    draw = rng.random()
    if color and draw < 0.3:
        return f"the {color} one"
    if color and draw < 0.7:
        return f"{article} {color} {kind}"
    if draw < 0.75:
        return f"the {choose(rng, _SIDES)} {choose(rng, ('one', kind))}"
    if draw < 0.79:
        return choose(
            rng,
            (
                f"the other {kind}",
                "the other one",
                f"the other {color} one" if color else "the other",
                f"another {kind}",
            ),
        )
    if draw < 0.83:
        kinds = plural_of(kind)
        return choose(
            rng, (f"the {kinds}", f"both {kinds}", f"all the {kinds}", f"all {color} {kinds}".replace("  ", " "))
        )
    if draw < 0.91:
        return kind if not color else f"{color} {kind}"
    if color and draw < 0.93:
        return f"the {color}"
    return f"{article} {kind}"


def room(rng: Generator, world: World) -> str:
    name = choose(rng, world.rooms) if world.rooms and chance(rng, 0.9) else choose(rng, ROOMS)
    return name if name[-1:].isdigit() or chance(rng, 0.1) else f"the {name}"


def place(rng: Generator) -> str:
    name = choose(rng, REGIONS[choose(rng, tuple(REGIONS))])
    return f"the {name}"


def person(rng: Generator, world: World) -> str:
    return choose(rng, world.people) if world.people else choose(rng, (*PEOPLE, "me", "her", "him"))


def named_person(rng: Generator, world: World) -> str:
    """One who may be spoken to, or be the subject of a sentence."""
    return choose(rng, world.people or PEOPLE)


def amount(rng: Generator, intent: Intent | None) -> str:
    """A number and a unit that is one for this intent; of any kind for None."""
    while not AMOUNT.fullmatch(said := _amount(rng, intent)):
        continue  # "one minute" is no amount but a way to say wait
    return said


def _amount(rng: Generator, intent: Intent | None) -> str:
    kind = _UNITS_BY_INTENT.get(intent, "length") if intent else choose(rng, ("percent", "time", "length"))
    if kind == "percent":
        count = choose(rng, _PERCENTS)
        return count + choose(rng, (" percent", " percent", "%" if count.isdigit() else " percent", " per cent"))
    unit = (
        choose(rng, ("seconds", "seconds", "minutes", "minute", "s", "sec", "min"))
        if kind == "time"
        else choose(rng, _LENGTHS)
    )
    if unit in ("inch", "minute", "centimetre"):
        return choose(rng, ("an ", "one ", "half an ") if unit == "inch" else ("a ", "one ", "half a ")) + unit
    count = choose(rng, _COUNTS)
    return f"{count}{unit}" if count.isdigit() and chance(rng, 0.1) else f"{count} {unit}"


def direction(rng: Generator, pushed: bool = False, way: bool = False) -> tuple[str, str]:
    """A direction of the grammar, and words for it: one that things are `pushed` in, or the `way` that was too far."""
    chosen = choose(rng, _PUSHED if pushed else _WAYS if way else _OFTEN)
    said = DIRECTIONS[chosen]
    return chosen, said[int(len(said) * rng.random() ** 2)]  # the usual words come first


def relation(rng: Generator) -> tuple[str, str]:
    chosen = choose(rng, ("in", "in", "in", "on", "on", "on", "beside", "beside", *BESIDE))
    said = RELATIONS[chosen]
    return chosen, said[int(len(said) * rng.random() ** 1.5)]
