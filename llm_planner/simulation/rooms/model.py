"""The MuJoCo model of the world `rooms`: walls, mobile base, and the objects and people in the building.

Objects are portable things to fetch, people, plants as obstacles, and a charging dock. Lengths are in metres, and the
floor is z = 0. The robot picks up and puts down portable things; people walk when they are sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_JOINTS, BASE_LIMITS, BASE_MASS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import Array
from llm_planner.scene.predicates import DOCK, FIXED_KINDS
from llm_planner.scene.scene import Building, Room, Vector3
from llm_planner.simulation.objects import ALL_COLORS, ObjectSpec, named
from llm_planner.simulation.rooms.building_plan import walls

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class Part:
    """Shape of an object: "box", "cylinder", "capsule" or "sphere" with MuJoCo's sizes, and its centre above the floor.

    `color` is red, green, blue in [0, 1], by default the colour of the object.
    """

    shape: str
    size: tuple[float, ...]
    center: Vector3
    color: Vector3 | None = None


@dataclass(frozen=True)
class ThingKind:
    """Kind of object: extents of its box, default colour and parts."""

    size: Vector3
    color: Vector3
    parts: tuple[Part, ...]

    @property
    def radius(self) -> float:
        """Half the diagonal of the footprint."""
        return hypot(*self.size[:2]) / 2


PERSON = "person"
PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Farid", "Grace", "Hugo")
_SKIN, _WHITE, _GREEN = (0.87, 0.68, 0.55), (0.96, 0.96, 0.95), (0.23, 0.52, 0.26)
_HEIGHT = 1.7

THINGS: dict[str, ThingKind] = {
    "parcel": ThingKind((0.30, 0.22, 0.20), (0.76, 0.58, 0.37), (
        Part("box", (0.15, 0.11, 0.10), (0.0, 0.0, 0.10)),
        Part("box", (0.151, 0.02, 0.101), (0.0, 0.0, 0.10), (0.93, 0.87, 0.72)),
    )),
    "mug": ThingKind((0.10, 0.10, 0.12), (0.92, 0.91, 0.88), (
        Part("cylinder", (0.05, 0.06), (0.0, 0.0, 0.06)),
        Part("cylinder", (0.042, 0.001), (0.0, 0.0, 0.12), (0.30, 0.20, 0.13)),
    )),
    "book": ThingKind((0.26, 0.19, 0.06), (0.55, 0.20, 0.22), (
        Part("box", (0.13, 0.095, 0.03), (0.0, 0.0, 0.03)),
        Part("box", (0.128, 0.0955, 0.022), (0.004, 0.002, 0.03), _WHITE),
    )),
    "toolbox": ThingKind((0.34, 0.18, 0.22), (0.80, 0.20, 0.14), (
        Part("box", (0.17, 0.09, 0.075), (0.0, 0.0, 0.075)),
        Part("box", (0.11, 0.015, 0.035), (0.0, 0.0, 0.185), (0.25, 0.25, 0.27)),
    )),
    "first aid kit": ThingKind((0.30, 0.14, 0.22), _WHITE, (
        Part("box", (0.15, 0.07, 0.11), (0.0, 0.0, 0.11)),
        Part("box", (0.06, 0.071, 0.018), (0.0, 0.0, 0.11), (0.84, 0.14, 0.14)),
        Part("box", (0.018, 0.071, 0.06), (0.0, 0.0, 0.11), (0.84, 0.14, 0.14)),
    )),
    "laptop": ThingKind((0.32, 0.22, 0.20), (0.62, 0.64, 0.67), (
        Part("box", (0.16, 0.11, 0.01), (0.0, 0.0, 0.01)),
        Part("box", (0.01, 0.11, 0.09), (-0.15, 0.0, 0.11), (0.20, 0.24, 0.32)),
    )),
    "bottle": ThingKind((0.10, 0.10, 0.28), (0.24, 0.52, 0.66), (
        Part("cylinder", (0.05, 0.095), (0.0, 0.0, 0.095)),
        Part("cylinder", (0.02, 0.045), (0.0, 0.0, 0.235)),
    )),
    "plant": ThingKind((0.44, 0.44, 0.90), (0.66, 0.36, 0.25), (
        Part("cylinder", (0.16, 0.15), (0.0, 0.0, 0.15)),
        Part("sphere", (0.22,), (0.0, 0.0, 0.52), _GREEN),
        Part("sphere", (0.16,), (0.02, 0.03, 0.74), (0.30, 0.61, 0.31)),
    )),
    DOCK: ThingKind((0.12, 0.30, 0.24), (0.30, 0.33, 0.38), (
        Part("box", (0.045, 0.15, 0.12), (-0.015, 0.0, 0.12)),
        Part("box", (0.06, 0.12, 0.02), (0.0, 0.0, 0.02)),
        Part("box", (0.031, 0.05, 0.02), (0.0, 0.0, 0.12), _GREEN),
    )),
    PERSON: ThingKind((0.44, 0.44, _HEIGHT), (0.30, 0.42, 0.62), (
        Part("capsule", (0.20, 0.50), (0.0, 0.0, 0.70)),
        Part("sphere", (0.14,), (0.0, 0.0, 1.56), _SKIN),
    )),
}  # fmt: skip
PORTABLE = tuple(kind for kind in THINGS if kind not in FIXED_KINDS)
CLOTHES: tuple[Vector3, ...] = (
    (0.30, 0.42, 0.62), (0.62, 0.30, 0.38), (0.34, 0.52, 0.42), (0.55, 0.45, 0.28), (0.45, 0.36, 0.58),
)  # fmt: skip


def thing_kind(name: str) -> ThingKind:
    """Return the kind called `name`. Raises InputError that lists the kinds."""
    if name not in THINGS:
        raise InputError(f"there is no object kind {name!r} in a building; the kinds are: {', '.join(THINGS)}")
    return THINGS[name]


def thing_color(item: ObjectSpec) -> Vector3:
    """Return the display colour, red, green, blue in [0, 1]. A person's clothes depend on the name."""
    if item.kind == PERSON:
        return CLOTHES[sum(map(ord, item.name)) % len(CLOTHES)]
    return ALL_COLORS[item.color] if item.color else thing_kind(item.kind).color


def default_things(rng: np.random.Generator) -> tuple[ObjectSpec, ...]:
    """Draw six or seven portable things (two of one kind in different colours), a plant, three people and a dock."""
    twins = str(rng.choice(["parcel", "mug", "book", "toolbox", "bottle"]))
    singles = [str(kind) for kind in rng.permutation([kind for kind in PORTABLE if kind != twins])]
    colors = [str(color) for color in rng.choice(["red", "blue", "green", "yellow"], size=2, replace=False)]
    things = [*((color, twins) for color in colors), *(("", kind) for kind in singles[: int(rng.integers(4, 6))])]
    people = [ObjectSpec(str(name), PERSON, "") for name in rng.permutation(PEOPLE)[:3]]
    return (*named([*things, ("", "plant")]), *people, ObjectSpec(DOCK, DOCK, ""))


def parse_things(text: str) -> tuple[ObjectSpec, ...]:
    """Parse a list such as "red parcel, mug, Anna" of kinds, optionally with a colour, and names of people.

    Raises InputError that lists the choices for an unknown entry, and for a person named twice.
    """
    pieces = [piece.split() for piece in re.split(r"[,;\n]", text.lower()) if piece.strip()]
    if not pieces:
        raise InputError(f"no object is named in {text!r}; name some, for instance: red parcel, mug, Anna")
    known = {name.lower(): name for name in PEOPLE}
    people = [known[" ".join(words)] for words in pieces if " ".join(words) in known]
    twice = [name for name, count in Counter(people).items() if count > 1]
    if twice:
        raise InputError(f"{twice[0]} is named twice in {text!r}; a person is in one place only")
    things = [_parse_words(words) for words in pieces if " ".join(words) not in known]
    return (*named(things), *(ObjectSpec(name, PERSON, "") for name in people))


def _parse_words(words: Sequence[str]) -> tuple[str, str]:
    kinds = [kind for kind in THINGS if kind != PERSON]
    color, kind = (words[0], " ".join(words[1:])) if words[0] in ALL_COLORS else ("", " ".join(words))
    if kind not in kinds:
        choices = ", ".join([*kinds, *PEOPLE])
        raise InputError(
            f"cannot read the object {' '.join(words)!r}; write one of: {choices}; a thing may have a colour"
        )
    return color, kind


TIMESTEP = 0.01  # [s] suffices, since the fastest dynamics of the base is its motors' lag
WALL_THICKNESS = 0.12  # [m]
WALL_HEIGHT = 0.7  # [m] low enough to look over
BASE = "base"
BASE_COLORS: tuple[Vector3, ...] = ((0.16, 0.20, 0.27), (0.55, 0.27, 0.12))
COLLISION_GROUP = 3  # hidden in images


def rooms_spec(building: Building, things: Sequence[ObjectSpec], bases: Sequence[str] = (BASE,)) -> mujoco.MjSpec:
    """Build the model of the world, with all `bases` at (0, 0) and one mocap body per object, named after it."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.modelname = "rooms"
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, 0.0]  # everything stays on the floor
    for wall in walls(building):
        half = [WALL_THICKNESS / 2, WALL_THICKNESS / 2, WALL_HEIGHT / 2]
        half[wall.axis] = wall.half_length + WALL_THICKNESS / 2 * 0.999  # fills the corners
        spec.worldbody.add_geom(
            name=f"wall {len(spec.worldbody.geoms)}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=[*wall.center, WALL_HEIGHT / 2],
            size=half,
            friction=[0.1, 0.005, 0.0001],
            rgba=[0.93, 0.92, 0.90, 1.0],
        )
    for name, color in zip(bases, BASE_COLORS, strict=False):
        _add_driven_base(spec, name, color)
    for item in things:
        size = [side / 2 for side in thing_kind(item.kind).size]
        body = spec.worldbody.add_body(name=item.name, mocap=True)
        body.add_geom(name=item.name, type=mujoco.mjtGeom.mjGEOM_BOX, size=size, group=COLLISION_GROUP)
    return spec


def _add_driven_base(spec: mujoco.MjSpec, name: str, color: Vector3) -> None:
    """Add a base with its solid, whose motors track a velocity (a damped double integrator)."""
    import mujoco

    prefix = "" if name == BASE else f"{name}/"
    base = add_base_body(spec, name, lambda motor, mass: motor.set_to_velocity(kv=mass / MOTOR_LAG), prefix)
    base.ipos = [0.0, 0.0, BASE_HEIGHT / 2]
    base.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[0.0, 0.0, BASE_HEIGHT / 2],
        size=[BASE_RADIUS, BASE_HEIGHT / 2, 0.0],
        friction=[0.1, 0.005, 0.0001],
        rgba=[*color, 1.0],
    )


def add_base_body(
    spec: mujoco.MjSpec, name: str, drive: Callable[[mujoco.MjsActuator, float], object], prefix: str = ""
) -> mujoco.MjsBody:
    """Add the base as a mass on two slides and a hinge, each with a motor of limited force.

    Args:
        spec: Model to extend.
        name: Name of the body.
        drive: Called with each motor and the mass or inertia that it moves; sets up its control.
        prefix: Beginning of the names of joints and motors.

    Returns:
        The body, without geoms.
    """
    import mujoco

    body = spec.worldbody.add_body(name=name)
    inertia = BASE_MASS * BASE_RADIUS**2 / 2
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ((slide, [1, 0, 0], BASE_MASS), (slide, [0, 1, 0], BASE_MASS), (hinge, [0, 0, 1], inertia))
    for joint, (kind, axis, mass), acceleration in zip(BASE_JOINTS, axes, BASE_LIMITS.qacc_max, strict=True):
        body.add_joint(name=prefix + joint, type=kind, axis=axis)
        motor = spec.add_actuator(name=prefix + joint, target=prefix + joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive(motor, mass)
        motor.forcelimited, motor.forcerange = 1, [-mass * acceleration, mass * acceleration]
    body.mass, body.inertia, body.explicitinertial = BASE_MASS, [inertia, inertia, inertia], True
    return body


WALL_GAP = 0.25  # [m] between an object and the walls
APART = 0.9  # [m] between two objects, so that the robot fits through
LANE_GAPS = (1.1, 0.9, 0.7, 0.5, 0.35)  # [m] of free floor on either side of the lanes, tried in turn
RUN_IN = 1.3  # [m] of free floor in front of a dock
DOCK_GAP, BESIDE_DOCK = 0.3, 0.4  # [m] from that floor to objects; from a dock to a corner
DRAWS = 80  # candidate positions per object and room


def draw_places(building: Building, things: Sequence[ObjectSpec], rng: np.random.Generator) -> list[tuple[float, ...]]:
    """Draw (x [m], y [m], yaw [rad]) per object over all rooms, docks along walls. Raises InputError if too many."""
    places: list[tuple[float, ...]] = []
    taken: list[tuple[float, float, float]] = []  # x, y, radius
    order: list[Room] = []
    for item in things:
        radius = thing_kind(item.kind).radius
        found = None
        for _ in range(2 * len(building.rooms)):
            order = order or [building.rooms[index] for index in rng.permutation(len(building.rooms))]
            room = order.pop()
            found = (
                _at_wall(building, room, taken, rng)
                if item.kind == DOCK
                else _off_walls(building, room, radius, taken, rng)
            )
            if found:
                break
        if found is None:
            raise InputError(f"{len(things)} things do not fit into this building; ask for fewer")
        x, y, yaw = found
        taken.append((x, y, radius))
        if item.kind == DOCK:
            taken.append((*_before(x, y, yaw), RUN_IN / 2))
        places.append(found)
    return places


def _off_walls(
    building: Building,
    room: Room,
    radius: float,
    taken: Sequence[tuple[float, float, float]],
    rng: np.random.Generator,
) -> tuple[float, float, float] | None:
    """Draw a position and a yaw in the room; None if it is full."""
    area, margin = room.area, radius + WALL_GAP
    low, high = (
        np.array([area.x_min + margin, area.y_min + margin]),
        np.array([area.x_max - margin, area.y_max - margin]),
    )
    spots = rng.uniform(low, high, size=(DRAWS, 2))
    index = _best(building, room, spots, radius, _free(spots, radius, taken))
    if index is None:
        return None
    x, y = spots[index].tolist()
    return round(x, 3), round(y, 3), float(rng.uniform(-np.pi, np.pi))


def _at_wall(
    building: Building, room: Room, taken: Sequence[tuple[float, float, float]], rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Draw a pose for a dock, away from doors and with free floor in front; None if there is none."""
    area, kind = room.area, thing_kind(DOCK)
    behind = WALL_THICKNESS / 2 + kind.size[0] / 2
    sides = rng.integers(4, size=DRAWS)  # wall behind the dock: -x, -y, +x, +y
    across = np.where(sides % 2 == 0, area.y_max - area.y_min, area.x_max - area.x_min)
    along = rng.uniform(-0.5, 0.5, DRAWS) * (across - 2 * (kind.radius + BESIDE_DOCK))
    yaws = sides * np.pi / 2
    away = np.where(sides % 2 == 0, area.x_max - area.x_min, area.y_max - area.y_min) / 2 - behind
    cos, sin = np.cos(yaws), np.sin(yaws)
    spots = np.array(area.center) + np.stack([-away * cos - along * sin, -away * sin + along * cos], axis=1)
    fronts = np.array([_before(x, y, yaw) for (x, y), yaw in zip(spots.tolist(), yaws.tolist(), strict=True)])
    free = np.minimum(_free(spots, kind.radius, taken), _free(fronts, RUN_IN / 2, taken) + APART - DOCK_GAP)
    index = _best(building, room, spots, kind.radius, free)
    if index is None:
        return None
    x, y = spots[index].tolist()
    return round(x, 3), round(y, 3), float(yaws[index])


def _before(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return the centre of the floor in front of a dock that must stay free [m]."""
    away = thing_kind(DOCK).size[0] / 2 + RUN_IN / 2
    return x + away * float(np.cos(yaw)), y + away * float(np.sin(yaw))


def _free(spots: Array, radius: float, taken: Sequence[tuple[float, float, float]]) -> Array:
    """Return the clearance around each of the `spots` (n, 2) for an object of that radius [m]."""
    free = np.full(len(spots), np.inf)
    for x, y, other in taken:
        free = np.minimum(free, np.hypot(*(spots - (x, y)).T) - other - radius)
    return free


def _best(building: Building, room: Room, spots: Array, radius: float, free: Array) -> int | None:
    """Return the index of the spot (n, 2) with the widest possible gap to the room's lanes; None if none fits.

    The lanes are the segments between the room's doors and its centre.
    """
    points = [np.array(door.position) for door, _ in building.doors_of(room.name)] + [np.array(room.area.center)]
    lanes = np.full(len(spots), np.inf)
    for a, b in combinations(points, 2):
        share = np.clip((spots - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        lanes = np.minimum(lanes, np.linalg.norm(spots - (a + share[:, None] * (b - a)), axis=1))
    for gap in LANE_GAPS:
        good = np.flatnonzero((free >= APART) & (lanes - radius >= gap))
        if len(good):
            return int(good[0])
    return None
