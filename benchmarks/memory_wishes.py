"""What people may wish of a robot, judged by what the simulator shows; two people who wish different things say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import dist, inf

from llm_planner.corrections.edits import Adjust, Operation, Rebind, Remove, Shift
from llm_planner.scene import places
from llm_planner.scene.scene import Scene, SceneObject

COOLING = 2.0  # [s] that somebody waits for a correction to take effect
BREATH = 0.5  # [s] until something else is said
PATIENCE = 3  # times that the same is said during one command
LOWERED = 0.08  # [m] over the table, under which a thing that is carried is being put down
TRAVELLED = 0.05  # [m] from where it lay


@dataclass(frozen=True)
class Look:
    """The scene before anything moved, at the last look, and now."""

    first: Scene
    last: Scene
    now: Scene

    def carried(self, kind: str) -> SceneObject | None:
        """What is held, where it is of that kind and no longer where it lay."""
        held = next((item for item in self.now.objects if item.name == self.now.held), None)
        if held is None or held.kind != kind or apart(held, self.first.find(held.name)) < TRAVELLED:
            return None
        return held

    def lowered(self, kind: str) -> SceneObject | None:
        """What of that kind is being put down on the table."""
        held = self.carried(kind)
        return held if held is not None and bottom(held) < LOWERED else None

    @property
    def sideways(self) -> float:
        """Of the robot's hand [m/s]."""
        if self.now.robot is None or self.last.robot is None or self.now.time <= self.last.time:
            return 0.0
        way = dist(self.now.robot.position[:2], self.last.robot.position[:2])
        return way / (self.now.time - self.last.time)


@dataclass(frozen=True)
class Wish:
    """Of things of a kind: what is said (one of `words`) where it is `unmet`, whether an operation is of this wish, and
    whether the scene after all is as wished, for one of these things."""

    kind: str
    words: tuple[str, ...]
    unmet: Callable[[Look], bool]
    asks: Callable[[Operation], bool]
    kept: Callable[[Scene, Scene, SceneObject], bool] = lambda first, after, item: True
    robot: str = ""  # the kind of robot that it is about
    anywhere: bool = False  # about how they are carried, wherever they go


@dataclass
class Person:
    """Watches one command and speaks up; `round` decides how it is put into words."""

    wishes: tuple[Wish, ...]
    round: int
    said: list[str] = field(default_factory=list)
    _first: Scene | None = None
    _last: Scene | None = None
    _quiet: float = -inf
    _times: dict[int, list[float]] = field(default_factory=dict)

    def sees(self, scene: Scene) -> str:
        """What is said now, "" for nothing."""
        first = self._first = self._first or scene
        look, self._last = Look(first, self._last or scene, scene), scene
        if scene.time < self._quiet:
            return ""
        for number, wish in enumerate(self.wishes):
            times = self._times.setdefault(number, [])
            waits = len(times) >= PATIENCE or (times and scene.time < times[-1] + COOLING)
            if wish.robot in ("", scene.robot_kind) and not waits and wish.unmet(look):
                times.append(scene.time)
                self._quiet = scene.time + BREATH
                self.said.append(wish.words[self.round % len(wish.words)])
                return self.said[-1]
        return ""


def apart(one: SceneObject, other: SceneObject) -> float:
    """The distance between their middles, seen from above [m]."""
    return dist(one.position[:2], other.position[:2])


def bottom(item: SceneObject) -> float:
    """How far it is above the table [m]."""
    return item.position[2] - item.size[2] / 2


BIT = 0.012  # [m] beside the middle from which something is on its side
OVER_IT = 0.16  # [m] of the hand over the table, under which it is about to take a thing
OVER_BOWL = 0.10  # [m] over the table, under which it is being put into a bowl
HIGH = 0.18  # [m] of the hand over the table
WIDE = 0.05  # [m] of a gap
TOO_FAST = {"arm": 0.35, "mobile": 0.7}  # [m/s]


def slow(kind: str, *words: str) -> Wish:
    """Things of the kind are carried slowly."""

    def unmet(look: Look) -> bool:
        return look.carried(kind) is not None and look.now.speed > TOO_FAST[look.now.robot_kind]

    return Wish(kind, words, unmet, lambda one: isinstance(one, Adjust) and one.quantity == "speed", anywhere=True)


def high(kind: str, *words: str) -> Wish:
    """Things of the kind are carried high over the table."""

    def unmet(look: Look) -> bool:
        hand = look.now.robot
        moving = look.sideways > 0.15 and look.lowered(kind) is None
        return look.carried(kind) is not None and hand is not None and hand.position[2] < HIGH and moving

    return Wish(
        kind, words, unmet, lambda one: isinstance(one, Adjust) and one.quantity == "height", robot="arm", anywhere=True
    )


def to_the_side(kind: str, left: bool, *words: str) -> Wish:
    """Things of the kind stand a bit left (or right) of the middle of the plate."""

    def beside(item: SceneObject, scene: Scene) -> bool:
        return (item.position[1] - scene.find("plate").position[1]) * (1 if left else -1) >= BIT

    def unmet(look: Look) -> bool:
        held = look.carried(kind)
        over = held is not None and apart(held, look.now.find("plate")) < 0.04 and bottom(held) < 0.12
        return held is not None and over and not beside(held, look.now)

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        return apart(item, after.find("plate")) > 0.07 or beside(item, after)

    return Wish(kind, words, unmet, lambda one: isinstance(one, Shift), kept, "arm")


def in_region(kind: str, region: str, *words: str) -> Wish:
    """Things of the kind are put down in a region."""
    area = places.region(region).area

    def unmet(look: Look) -> bool:
        held = look.lowered(kind)
        return held is not None and not area.contains(*held.position[:2], margin=0.02)

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        moved = apart(item, first.find(item.name)) > TRAVELLED
        return not moved or area.contains(*item.position[:2], margin=0.02)

    return Wish(kind, words, unmet, lambda one: isinstance(one, Rebind) and one.value == region, kept, "arm")


def in_bowl(kind: str, bowl: str, *words: str) -> Wish:
    """Things of the kind that are put in a bowl are put in this one."""

    def others(scene: Scene, item: SceneObject) -> bool:
        return any(apart(item, one) < 0.06 for one in scene.objects if one.kind == "bowl" and one.name != bowl)

    def unmet(look: Look) -> bool:
        held = look.carried(kind)
        return held is not None and bottom(held) < OVER_BOWL and others(look.now, held)

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        return not others(after, item)

    return Wish(kind, words, unmet, lambda one: isinstance(one, Rebind) and one.value == bowl, kept, "arm")


def with_gap(kind: str, *words: str) -> Wish:
    """Between things of the kind and the plate that they are put beside there is room."""

    def gap(item: SceneObject, scene: Scene) -> float:
        plate = scene.find("plate")
        return apart(item, plate) - plate.size[0] / 2 - item.size[0] / 2

    def unmet(look: Look) -> bool:
        held = look.lowered(kind)
        return held is not None and bottom(held) < LOWERED / 2 and gap(held, look.now) < WIDE

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        return apart(item, first.find(item.name)) < TRAVELLED or gap(item, after) >= WIDE - 0.005

    return Wish(kind, words, unmet, lambda one: isinstance(one, Adjust) and one.quantity == "distance", kept, "arm")


def left_alone(kind: str, *words: str) -> Wish:
    """Things of the kind stay where they are."""

    def unmet(look: Look) -> bool:
        hand = look.now.robot
        things = [item for item in look.now.objects if item.kind == kind]
        near = (dist(item.position[:2], hand.position[:2]) < 0.05 for item in things) if hand else ()
        low = hand is not None and hand.position[2] < OVER_IT and look.sideways < 0.15
        return not look.now.held and low and any(near)

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        return apart(item, first.find(item.name)) < TRAVELLED

    return Wish(kind, words, unmet, lambda one: isinstance(one, Remove), kept, "arm")


def to_room(kind: str, room: str, *words: str) -> Wish:
    """Things of the kind are brought to a room."""

    def unmet(look: Look) -> bool:
        held = look.carried(kind)
        return held is not None and look.now.robot_room not in (room, "hall", "lobby") and _stops(look)

    def kept(first: Scene, after: Scene, item: SceneObject) -> bool:
        assert after.building is not None
        moved = apart(item, first.find(item.name)) > 0.5
        return not moved or after.building.room_at(*item.position[:2]) == room

    return Wish(kind, words, unmet, lambda one: isinstance(one, Rebind) and one.value == room, kept, "mobile")


def _stops(look: Look) -> bool:
    """Whether the robot stands, far from where it took the thing."""
    held = look.now.find(look.now.held)
    return max(look.last.speed, look.now.speed) < 0.05 and apart(held, look.first.find(held.name)) > 1.5


# People. What they say has one meaning for them, whatever is made of it; nobody knows which wording is understood.

ANNA = (  # says for how long she means it
    slow("mug", "always slower with the mug", "from now on carry mugs slower", "please always be slower with mugs"),
    to_the_side("mug", True, "always 2 cm to the left with the mug", "from now on 2 cm to the left"),
    high("block", "always travel higher with the block", "always carry blocks higher"),
    in_bowl("block", "blue bowl", "always in the blue bowl", "no, from now on in the blue bowl"),
    in_region("sponge", "left side", "always on the left side", "from now on put it on the left side"),
    left_alone("vase", "always skip the vase", "from now on leave the vase where it is", "always leave out the vase"),
    with_gap("block", "always leave a wider gap", "leave a wider gap from now on"),
    to_room("mug", "kitchen", "always to the kitchen", "from now on to the kitchen"),
    slow("parcel", "always slower with the parcel", "always be slower with parcels"),
)
BEN = (  # says what he wants now, and says yes when he is asked whether it is always to be so
    slow("block", "slower", "slow down", "not so fast"),
    to_the_side("mug", False, "2 cm to the right", "a bit to the right: 2 cm", "2 cm right please"),
    in_region("sponge", "middle", "in the middle", "put it in the middle", "no, in the middle"),
    to_room("parcel", "kitchen", "no, the kitchen", "to the kitchen", "take it to the kitchen instead"),
)
PEOPLE = {"Anna": ANNA, "Ben": BEN}
