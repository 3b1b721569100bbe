"""Random scenes to speak of, and the names that fill the slots of templates: things, rooms, people, amounts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent / "sentences"
CLAUSES = 0.3  # share of the propositions that are told as clauses


@lru_cache(maxsize=1)
def names() -> dict[str, list[list[str]]]:
    """The lists of `names.txt`: each line is a name, then other words for it."""
    found: dict[str, list[list[str]]] = {}
    listed: list[list[str]] = []
    for line in (FOLDER / "names.list").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            listed.append([word.strip() for word in line.split("|")])
        elif line.strip() and not line.startswith("#"):
            listed = found.setdefault(line.strip(), [])
    return found


_SIDES = ("left", "right", "top", "bottom")


@dataclass(frozen=True)
class Thing:
    """A thing of a scene; `role` is mover, container or surface."""

    kind: str
    color: str
    role: str

    @property
    def name(self) -> str:
        """As the scene calls it."""
        return f"{self.color} {self.kind}".strip()


@dataclass(frozen=True)
class World:
    """A table, a building with rooms and people, or only propositions that are known by their names."""

    things: tuple[Thing, ...]
    rooms: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    held: str = ""
    step: str = ""
    propositions: tuple[str, ...] = ()
    clauses: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # of propositions: subject and state, as said

    @property
    def kind(self) -> str:
        """`table`, `rooms` or `letters`."""
        return "letters" if self.propositions else "rooms" if self.rooms else "table"


def draw_world(rng: random.Random, kind: str = "both") -> World:
    """A random world of this kind; "both" is a table or a building."""
    if kind == "letters":
        clauses = _clauses(rng) if rng.random() < CLAUSES else {}
        return World(tuple(_things(rng)), propositions=tuple(clauses or _propositions(rng)), clauses=clauses)
    kind = kind if kind != "both" else rng.choice(("table", "rooms"))
    things = _things(rng)
    people = [one[0] for one in rng.sample(names()["person"], rng.randint(0, 3))]
    rooms = list(dict.fromkeys(_room(rng) for _ in range(rng.randint(3, 8)))) if kind == "rooms" else []
    held = rng.choice(things).name if rng.random() < 0.3 else ""
    return World(tuple(things), tuple(rooms), tuple(people), held, _step(rng, things, rooms, held))


def _things(rng: random.Random) -> list[Thing]:
    things = []
    for role, least, most in (("mover", 1, 6), ("container", 0, 3), ("surface", 0, 2)):
        usual = rng.choice(names()[f"usual {role}"])[0]
        for _ in range(rng.randint(least, most)):
            draw = rng.random()
            kind = usual if draw < 0.5 else invented(rng) if draw > 0.95 else rng.choice(names()[role])[0]
            colored = rng.random() < 0.6
            palette = names()["color"] if rng.random() < 0.85 else names()["rare color"]
            things.append(Thing(kind, rng.choice(palette)[0] if colored else "", role))
    rng.shuffle(things)
    return list(dict.fromkeys(things))


def _propositions(rng: random.Random) -> list[str]:
    """Names as engineers give them: "p", "x2", "door_open", "pump"."""
    count, draw = rng.randint(4, 6), rng.random()
    if draw < 0.4:
        first = rng.choice(("abcdefgh", "pqrs", "pqrs", "xyzuvw", "abcd"))
        return rng.sample(first, min(count, len(first)))
    if draw < 0.55:
        letter = rng.choice("abcpqrsxyz")
        return [f"{letter}{n}" for n in range(rng.choice((0, 1)), count + 1)]
    subjects, states = (names()[f"proposition {part}"] for part in ("subject", "state"))
    found = {
        rng.choice(subjects)[0] + (f"_{rng.choice(states)[0]}" if rng.random() < 0.5 else "") for _ in range(count)
    }
    return [one.upper() if draw > 0.97 else one for one in sorted(found)]


def _clauses(rng: random.Random) -> dict[str, tuple[str, str]]:
    """Propositions that requirements speak of in words: `train_on_crossing`, "the train is on the crossing"."""
    found: dict[str, tuple[str, str]] = {}
    states = names()["clause state"]
    for subjects in rng.sample(names()["clause subject"], 5):
        state = rng.choice(states)
        stated = rng.random() < 0.12  # the name is the state alone
        words = state[0].split() if stated else [*rng.choice(subjects).split(), *state[0].split()]
        name = "".join(map(str.capitalize, words)) if rng.random() < 0.08 else "_".join(words)
        found[name] = (subjects[0], rng.choice(state))
    return found


def _room(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.12:
        return f"{rng.choice(('room', 'bay', 'aisle', 'lab', 'office', 'ward'))} {rng.choice('1234567ABCD')}".lower()
    return invented(rng) if draw < 0.2 else rng.choice(names()["room"])[0]


def _step(rng: random.Random, things: Sequence[Thing], rooms: Sequence[str], held: str) -> str:
    if rng.random() < 0.4:
        return ""
    if rooms:
        return rng.choice((f"go_to {rng.choice(rooms)}", f"pick_up {rng.choice(things).name}", "drop_off", "look"))
    other = rng.choice(things).name
    if held:
        return rng.choice((f"place_in {other}", f"place_on {other}", _beside(rng, other), "place_at middle"))
    return rng.choice((f"pick {other}", _pushed(rng, other), f"reach {other}"))


def _beside(rng: random.Random, thing: str) -> str:
    return f"place_beside {thing} {rng.choice(_SIDES)}"


def _pushed(rng: random.Random, thing: str) -> str:
    return f"push {thing} {rng.choice(_SIDES)}"


def with_fitting_step(rng: random.Random, world: World, result: str) -> World:
    """The world in which a change of a step's own quantity is mostly said while such a step is under way."""
    if rng.random() < 0.25 or not result.startswith(("distance(", "duration(")):
        return world
    if world.rooms:
        step = rng.choice(["wait", *(f"follow {one}" for one in world.people)])
        return replace(world, step=f"follow {rng.choice(world.people or ('anna',))}" if "distance" in result else step)
    thing = rng.choice(world.things).name
    if "place" in result or ("push" not in result and rng.random() < 0.4):
        return replace(world, step=_beside(rng, thing), held=world.held or rng.choice(world.things).name)
    return replace(world, step=_pushed(rng, thing), held="") if result.startswith("distance(") else world


def invented(rng: random.Random) -> str:
    """A word that no dictionary has, so that names are copied."""
    syllables = (rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 3)))
    return "".join(syllables) + rng.choice(("", "n", "r", "x", "t", "ry", "um"))


def plural(noun: str) -> str:
    """More than one of it."""
    if noun.endswith(("s", "x", "sh", "ch")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def word_for(rng: random.Random, group: str, name: str) -> str:
    """The name, or another word for it."""
    others = next((one for one in names()[group] if one[0] == name), [name])
    return name if len(others) == 1 or rng.random() < 0.6 else rng.choice(others[1:])


@dataclass
class Namer:
    """Fills the slots of one sentence with names; no two slots have the same."""

    rng: random.Random
    world: World
    used: set[str]

    def draw(self, slot: str) -> tuple[str, str] | None:
        """What is said before the words that count, and these words; None for a slot that has no names."""
        maker = getattr(self, f"slot_{slot}", None)
        if maker is None:
            return None
        for _ in range(8):
            before, words = maker()
            if words not in self.used:
                break
        self.used.add(words)
        return before, words

    def _pick(self, role: str) -> Thing:
        fitting = [thing for thing in self.world.things if not role or thing.role == role] or list(self.world.things)
        if self.rng.random() < 0.06:  # something that is not here
            return self.rng.choice(_things(self.rng))
        return self.rng.choice(fitting)

    def _article(self) -> str:
        return self.rng.choice(("the",) * 9 + ("that", "my", "this", "your", ""))

    def _noun(self, thing: Thing) -> tuple[str, str]:
        kind = next((word_for(self.rng, group, thing.kind) for group in ("kind",)), thing.kind)
        return kind, word_for(self.rng, "color", thing.color) if thing.color else ""

    def _named(self, role: str) -> tuple[str, str]:
        thing = self._pick(role)
        kind, color = self._noun(thing)
        draw = self.rng.random()
        if color and draw < 0.18:
            return "the", f"{color} {self.rng.choice(('one', 'one', 'one', 'thing'))}"
        if draw > 0.95:
            side = self.rng.choice(("left", "right", "big", "small", "bigger", "smaller", "nearest", "other", "last"))
            return "the", f"{side} {self.rng.choice(('one', kind))}"
        if color and draw < 0.85:
            return self._article(), f"{color} {kind}"
        return self._article(), kind

    def slot_thing(self) -> tuple[str, str]:
        return self._named("")

    def slot_mover(self) -> tuple[str, str]:
        return self._named("mover")

    def slot_container(self) -> tuple[str, str]:
        return self._named("container")

    def slot_surface(self) -> tuple[str, str]:
        return self._named("surface")

    def slot_kind(self) -> tuple[str, str]:
        thing = self._pick("mover" if self.rng.random() < 0.8 else "")
        kind, color = self._noun(thing)
        return "", f"{color} {kind}" if color and self.rng.random() < 0.2 else kind

    def slot_kinds(self) -> tuple[str, str]:
        before, kind = self.slot_kind()
        return before, plural(kind)

    def slot_color(self) -> tuple[str, str]:
        colors = [thing.color for thing in self.world.things if thing.color]
        color = self.rng.choice(colors) if colors and self.rng.random() < 0.8 else self.rng.choice(names()["color"])[0]
        return "", word_for(self.rng, "color", color)

    def slot_prop(self) -> tuple[str, str]:
        props = self.world.propositions or tuple(_propositions(self.rng))
        name = self.rng.choice(props)
        return ("the" if len(name) > 2 and "_" not in name and self.rng.random() < 0.5 else ""), name

    def slot_room(self) -> tuple[str, str]:
        here = self.world.rooms and self.rng.random() < 0.92
        room = self.rng.choice(self.world.rooms) if here else _room(self.rng)
        words = word_for(self.rng, "room", room)
        return ("" if words[-1:].isdigit() or self.rng.random() < 0.08 else "the"), words

    def slot_person(self) -> tuple[str, str]:
        here = self.world.people and self.rng.random() < 0.92
        return "", self.rng.choice(self.world.people) if here else self.rng.choice(names()["person"])[0]

    def slot_length(self) -> tuple[str, str]:
        unit = self.rng.choice(("cm",) * 5 + ("centimetres", "centimeters", "mm", "inches", "m", "metres", "meters"))
        draw = self.rng.random()
        if draw < 0.08:
            return "", self.rng.choice(("an inch", "half an inch", "half a metre", "one metre", "a foot", "a metre"))
        if unit in ("m", "metres", "meters"):
            return "", f"{self.rng.choice(('0.1', '0.2', '0.3', '0.5', '1', '1.5', 'one', 'two'))} {unit}"
        return "", f"{self._count()}{'' if unit in ('cm', 'mm') and self.rng.random() < 0.2 else ' '}{unit}"

    def _count(self) -> str:
        if self.rng.random() < 0.65:
            return self.rng.choice((str(self.rng.randint(1, 30)), str(5 * self.rng.randint(1, 10)), "2.5", "1.5"))
        return self.rng.choice(("two", "three", "four", "five", "six", "eight", "ten", "twelve", "fifteen", "twenty"))

    def slot_speed(self) -> tuple[str, str]:
        per = self.rng.choice(("/s", " per second", " a second"))
        if self.rng.random() < 0.5:
            value = self.rng.choice(("0.1", "0.05", "0.2", "0.3", "0.5", "1"))
            return "", f"{value} {self.rng.choice(('m', 'metres', 'meters') if per != '/s' else ('m',))}{per}"
        unit = self.rng.choice(("cm", "centimetres", "centimeters") if per != "/s" else ("cm",))
        return "", f"{5 * self.rng.randint(1, 10)} {unit}{per}"

    def slot_seconds(self) -> tuple[str, str]:
        if self.rng.random() < 0.12:
            return "", self.rng.choice(("a minute", "half a minute", "two minutes", "one and a half minutes"))
        return "", f"{self._count()} {self.rng.choice(('seconds', 'seconds', 's', 'sec', 'minutes', 'min'))}"

    def slot_percent(self) -> tuple[str, str]:
        count = self.rng.choice((str(5 * self.rng.randint(1, 19)), str(10 * self.rng.randint(1, 9)), "ten", "fifty"))
        return "", count + self.rng.choice((" percent", " percent", "%" if count.isdigit() else " percent"))

    def slot_times(self) -> tuple[str, str]:
        return "", self.rng.choice(("2", "3", "4", "two", "three", "four", "five"))

    def slot_angle(self) -> tuple[str, str]:
        if self.rng.random() < 0.4:
            return "", self.rng.choice(("half a turn", "a quarter turn", "once", "twice", "three times", "a full turn"))
        degrees = self.rng.choice((15, 30, 45, 60, 90, 90, 120, 180, 360))
        return "", f"{degrees} {self.rng.choice(('degrees', 'degrees', '°'))}"
