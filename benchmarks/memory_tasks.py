"""Eight tasks, each in as many scenes as there are rounds: other places, other colours, other rooms; and controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np

from llm_planner.simulation.objects import COLORS
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world, read_objects

ROOMS = 8
TABLE_THINGS = "{mug}, {block}, {block 2}, {bowl}, blue bowl, plate, sponge, vase"
ROOMS_THINGS = "{mug}, {parcel}, bottle, book, Clara"
_HALLS = ("hall", "lobby")


@dataclass(frozen=True)
class Task:
    """What is commanded, in words that leave to the program what people may want otherwise; names stand in braces."""

    name: str
    command: str
    program: str
    world: str = "tabletop"


@dataclass(frozen=True)
class Setting:
    """A task in a scene of its own."""

    task: Task
    seed: int
    objects: str
    program: str

    def open(self) -> World | RoomsWorld:
        rooms = ROOMS if self.task.world == "rooms" else None
        return open_world(self.task.world, self.seed, read_objects(self.task.world, self.objects), rooms)


_FETCH = 'go_to("{{{0}}}")\npick_up("{{{0}}}")\ngo_to("{{room}}")\ndrop_off()\n'
MUG, PARCEL, BOTTLE, BOOK = (_FETCH.format(name) for name in ("mug", "parcel", "bottle", "book"))
TEA = 'pick("{mug}")\nplace_on("plate")\n'
TOY = 'pick("{block}")\nplace_in("{bowl}")\n'
TOYS = TOY + TOY.replace("{block}", "{block 2}")
SPONGE = 'pick("sponge")\nplace_at("%s")\n'
VASE = 'pick("vase")\nplace_at("%s")\n'
BESIDE = 'pick("{block}")\nplace_beside("plate", "any", 0.04)\n'
TASKS = (
    Task("tea", "lay the table", TEA),
    Task("toys", "tidy up the toys", TOYS),
    Task("dishes", "tidy up", TEA + TOY),
    Task("washing up", "get ready to wash up", SPONGE % "right side" + TEA),
    Task("clearing", "clear up", VASE % "right side" + TOY + SPONGE % "top side"),
    Task("decking", "make it pretty", BESIDE + VASE % "left side"),
    Task("coffee", "take the coffee away", MUG, "rooms"),
    Task("post", "do the round", PARCEL + MUG, "rooms"),
)
OTHER_KINDS = (
    Task("plate away", "tidy up", 'pick("plate")\nplace_at("right side")\n'),
    Task("bowls", "stack the bowls", 'pick("{bowl}")\nplace_at("right side")\n'),
    Task("bottle", "take the bottle away", BOTTLE, "rooms"),
    Task("book", "take the book away", BOOK, "rooms"),
)
OTHER_PLACES = (  # things that there are lessons about, put where these say nothing of
    Task("block in the open", "tidy up", 'pick("{block}")\nplace_at("top side")\n'),
    Task("sponge beside", "tidy up", 'pick("sponge")\nplace_beside("{bowl}", "any", 0.04)\n'),
    Task("mug in the open", "tidy up", 'pick("{mug}")\nplace_at("right side")\n'),
)


def setting(task: Task, number: int) -> Setting:
    """The task in the scene of this number."""
    rng = np.random.default_rng(number)
    colors = [str(color) for color in rng.permutation([name for name in COLORS if name != "blue"])]
    kinds = ("mug", "block", "block 2", "bowl", "parcel")
    names = {kind: f"{color} {kind.split()[0]}" for kind, color in zip(kinds, colors, strict=False)}
    names |= {"bottle": "bottle", "book": "book"}
    if task.world == "tabletop":
        return Setting(task, number, _filled(TABLE_THINGS, names), _filled(task.program, names))
    objects = _filled(ROOMS_THINGS, names)
    seed, room = _building(objects, number)
    return Setting(task, seed, objects, _filled(task.program, {**names, "room": room}))


def _filled(text: str, names: Mapping[str, str]) -> str:
    for kind, name in names.items():
        text = text.replace(f"{{{kind}}}", name)
    return text


def _building(objects: str, number: int) -> tuple[int, str]:
    """The next seed whose building has a kitchen with nothing in it, and a room that is neither that nor a hall."""
    return next((seed, room) for seed in count(50 * number) if (room := _other_room(objects, seed)))


def _other_room(objects: str, seed: int) -> str:
    scene = open_world("rooms", seed, read_objects("rooms", objects), ROOMS).scene()
    assert scene.building is not None
    taken = {scene.building.room_at(*item.position[:2]) for item in scene.objects}
    if "kitchen" in taken or "kitchen" not in scene.building.names:
        return ""
    return next((name for name in scene.building.names if name not in (*_HALLS, *taken, "kitchen")), "")
