"""Worlds by name, by file or by scene. A world file is a YAML file with the layout of a custom world."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import dist
from pathlib import Path
from typing import Annotated, Literal, overload

from pydantic import Field

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model, fixed_arm
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.robot_folders import mobile_names
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.places import TABLE, WORKSPACE, Rectangle
from llm_planner.scene.predicates import is_solid
from llm_planner.scene.scene import Building, Door, Room, Scene, SceneObject
from llm_planner.scene.shared_building import SharedBuilding, Start
from llm_planner.scene.shared_table import STRIP, SharedTable, Station
from llm_planner.share import share_folder
from llm_planner.simulation.objects import ObjectSpec, parse_objects
from llm_planner.simulation.rooms.building_plan import checked_building
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.rooms.shared_world import BuildingWorld
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.table_world import TableWorld, reaches
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.world import World
from llm_planner.strict_yaml import FileModel, LocatedError, Text, at, read_file

SUFFIXES = (".yaml", ".yml")
NO_START = "a mobile robot needs rooms and the place where it starts, start: {x: ..., y: ..., yaw: ...}"
FOOTPRINT = BASE_RADIUS + 0.03  # [m] in which a base starts that is in one room only
NAMESPACE = re.compile(r"[A-Za-z]\w*", re.ASCII)

Metres = Annotated[float, Field(description="[m]")]
Yaw = Annotated[float, Field(description="rotation about the vertical axis [rad]")]
Bounds = Annotated[tuple[float, float], Field(description="from, to [m]")]


class StartEntry(FileModel):
    """Start pose of a mobile robot in the frame of the map."""

    x: Metres
    y: Metres
    yaw: Yaw = 0.0


class PlacedEntry(StartEntry):
    """Object and its pose, in the frame of the arm's base or of the map."""

    name: Text = Field(description="colour and kind, such as red block")


class RoomEntry(FileModel):
    """Room and its floor area."""

    name: Text
    x: Bounds
    y: Bounds


class DoorEntry(FileModel):
    """Opening between two rooms, and its centre."""

    between: tuple[Text, Text] = Field(description="names of the rooms")
    x: Metres
    y: Metres


class RobotEntry(StartEntry):
    """Robot of several: an arm, with the pose of its base in the frame of the table, or the start of a mobile base."""

    robot: Text = Field(Scene.arm, description="name of the arm, or its folder relative to the file; not for a base")


class WorldFile(FileModel):
    """Layout of a custom world. `--world` and the parameter `world` take the path."""

    robot: Text = Field(
        Scene.arm,
        description="arm (the default one), the name of another or its folder relative to the file, or mobile",
    )
    robots: dict[str, RobotEntry] = Field(
        {},
        description="several arms at one table, by the namespace of their nodes (objects are in its frame then), or "
        "two mobile bases in one building",
    )
    strip: float = Field(
        STRIP, description="width of the strip between two arms that either may reserve [m]; 0 splits the table"
    )
    objects: tuple[PlacedEntry, ...] = ()
    rooms: tuple[RoomEntry, ...] = Field((), description="for a mobile robot only, as the next keys")
    doors: tuple[DoorEntry, ...] = ()
    start: StartEntry | None = None


def read_world(path: Path) -> Scene:
    """Read a world file as a scene; raises InputError that names the file, the wrong value and the choices."""
    return read_file(
        path,
        WorldFile,
        lambda content: _rooms(content) if content.robot == "mobile" else _table(content, path.parent),
    )


def read_shared_world(name: str) -> SharedTable | SharedBuilding | None:
    """Return the arms or bases of the world called `name`, or of a world file; None for one robot.

    Raises:
        InputError: The file or the arrangement is invalid, or an arm is unknown.
    """
    if name == TWO_ARMS_NAME:
        return TWO_ARMS
    path = file_of(name)
    if path is None:
        return None

    def shared(content: WorldFile) -> SharedTable | SharedBuilding | None:
        return _shared_building(content) if content.robot == "mobile" else _shared_table(content, path.parent)

    return read_file(path, WorldFile, shared)


def _shared_building(entry: WorldFile) -> SharedBuilding | None:
    if not entry.robots:
        return None
    if entry.start:
        raise InputError("each of several robots has its own start: leave start out")
    for name, one in entry.robots.items():
        with at("robots", name):
            _check_namespace(name)
            if one.robot != Scene.arm:
                raise LocatedError(f"is {one.robot!r}, but both are mobile bases: leave robot out", "robot")
    starts = tuple(Start(name, one.x, one.y, one.yaw) for name, one in entry.robots.items())
    shared = SharedBuilding(starts, _building(entry))
    for start in starts:
        room = shared.building.find(shared.building.room_at(start.x, start.y))
        if not room.area.contains(start.x, start.y, -FOOTPRINT):
            raise InputError(
                f"the robot {start.name!r} at ({start.x:g}, {start.y:g}) needs {FOOTPRINT:g} m to every wall of the "
                f"{room.name}"
            )
    return shared


def _check_namespace(name: str) -> None:
    if not NAMESPACE.fullmatch(name):
        raise LocatedError("is no namespace; use letters, digits and _, with a letter first")


def _shared_table(entry: WorldFile, folder: Path) -> SharedTable | None:
    if not entry.robots:
        return None
    if entry.robot != Scene.arm or entry.rooms or entry.doors or entry.start:
        raise InputError("several arms stand at one table: leave robot, rooms, doors and start out")
    stations = []
    for name, one in entry.robots.items():
        with at("robots", name):
            _check_namespace(name)
            robot = _arm(one.robot, folder)
            fixed_arm(robot)
            stations.append(Station(name, robot, one.x, one.y, one.yaw))
    return SharedTable(tuple(stations), entry.strip)


def _arm(name: str, folder: Path, others: str = "") -> str:
    """Return the arm that a file in `folder` calls `name`, if it is there; else tell `others` that may be named."""
    name = str((folder / Path(name).expanduser()).absolute()) if "/" in name else name
    try:
        arm_model(name)
    except InputError as error:
        raise LocatedError(f"is {name!r}: {error}{others}", "robot") from error
    return name


def _table(entry: WorldFile, folder: Path) -> Scene:
    shared = _shared_table(entry, folder)
    if entry.rooms or entry.doors or entry.start:
        raise InputError("rooms, doors and start are for a mobile robot: write robot: mobile, or leave them out")
    specs = _specs(entry, parse_objects)
    for one in entry.objects:
        if shared is not None:
            if not any(reaches(shared, name, one.x, one.y) for name in shared.names):
                raise InputError(f"{one.name!r} at ({one.x:g}, {one.y:g}) is out of reach of {', '.join(shared.names)}")
        elif not WORKSPACE.contains(one.x, one.y):
            raise InputError(
                f"{one.name!r} at ({one.x:g}, {one.y:g}) is off the table, which is from "
                f"({WORKSPACE.x_min:g}, {WORKSPACE.y_min:g}) to ({WORKSPACE.x_max:g}, {WORKSPACE.y_max:g}) m"
            )
    things = tuple(standing(s, Placement(o.x, o.y, o.yaw)) for s, o in zip(specs, entry.objects, strict=True))
    _check_apart(things)
    return Scene(0.0, things, arm=_arm(entry.robot, folder, ", or mobile"))


def _rooms(entry: WorldFile) -> Scene:
    from llm_planner.simulation.rooms.world import standing_thing

    shared = _shared_building(entry)
    start = entry.start or (shared.stations[0] if shared else None)
    if start is None:
        raise InputError(NO_START)
    building = _building(entry)
    for name, x, y in (("the robot", start.x, start.y), *((o.name, o.x, o.y) for o in entry.objects)):
        if not building.room_at(x, y):
            raise InputError(f"{name} at ({x:g}, {y:g}) is in no room; the rooms are: {', '.join(building.names)}")
    specs = _specs(entry, parse_things)
    things = tuple(standing_thing(s, one.x, one.y, one.yaw) for s, one in zip(specs, entry.objects, strict=True))
    _check_apart(things)
    return Scene(0.0, things, robot=upright_pose(start.x, start.y, start.yaw), building=building)


def _building(entry: WorldFile) -> Building:
    if not entry.rooms:
        raise InputError(NO_START)
    rooms = tuple(Room(one.name, Rectangle(*sorted(one.x), *sorted(one.y))) for one in entry.rooms)
    return checked_building(rooms, tuple(Door(one.between, (one.x, one.y)) for one in entry.doors))


def _specs(entry: WorldFile, parse: Callable[[str], tuple[ObjectSpec, ...]]) -> tuple[ObjectSpec, ...]:
    """Parse the objects in the order of the file; of several with one name the later ones are numbered."""
    specs: list[ObjectSpec] = []
    for number, one in enumerate(entry.objects):
        with at("objects", number, "name"):
            found = parse(one.name)
        if len(found) != 1:
            raise LocatedError(f"is {one.name!r}, which are {len(found)} objects", "objects", number, "name")
        same = sum(spec.name.rstrip("0123456789 ") == found[0].name for spec in specs)
        specs.append(replace(found[0], name=f"{found[0].name} {same + 1}") if same else found[0])
    return tuple(specs)


def _check_apart(things: Sequence[SceneObject]) -> None:
    """Raise InputError if two things stand in each other, whichever way they are turned; stains lie under others."""
    solid = [item for item in things if is_solid(item)]
    for a, b in combinations(solid, 2):
        gap = dist(a.position[:2], b.position[:2]) - (min(a.size[:2]) + min(b.size[:2])) / 2
        if gap < 0:
            raise InputError(
                f"{a.name!r} at ({a.position[0]:g}, {a.position[1]:g}) and {b.name!r} at ({b.position[0]:g}, "
                f"{b.position[1]:g}) stand in each other; move one by {-gap:.2f} m at least"
            )


TWO_ARMS_NAME = "two_arms"
TWO_ARMS = SharedTable((Station("left", Scene.arm, 0.0, 0.42), Station("right", Scene.arm, 0.0, -0.42)))
TWO_BASES_NAME = "two_bases"
WORLDS = ("tabletop", "rooms", TwoTables.name, TWO_ARMS_NAME, TWO_BASES_NAME)


Objects = Sequence[ObjectSpec] | None


@overload
def open_world(
    name: Literal["tabletop"] = ..., seed: int = ..., objects: Objects = ..., rooms: None = ..., robot: str = ...
) -> World: ...


@overload
def open_world(
    name: Literal["rooms"], seed: int = ..., objects: Objects = ..., rooms: int | None = ...
) -> RoomsWorld: ...


@overload
def open_world(
    name: str, seed: int = ..., objects: Objects = ..., rooms: int | None = ..., robot: str = ...
) -> World | RoomsWorld: ...


def open_world(
    name: str = "tabletop", seed: int = 0, objects: Objects = None, rooms: int | None = None, robot: str = ""
) -> World | RoomsWorld:
    """Open a simulated world, with its objects at rest.

    Args:
        name: One of `WORLDS`, or the path of a world file.
        seed: Seed of the layout, and of whatever is not given.
        objects: Objects in the world; drawn from `seed` by default.
        rooms: Number of rooms in the building of the world `rooms`; drawn by default.
        robot: Name or folder of the arm at the table, or on a base between two tables; "" for that of the world file or
            the default one. A building has its mobile robot.

    Raises:
        InputError: The world or the robot is unknown, the robot does not fit the world, too many objects are given, the
            number of rooms is not possible, or the world has several robots (`open_shared_world`).
    """
    if read_shared_world(name) is not None:
        raise InputError(f"the world {name} has several robots: start them with llm-planner up --world {name}")
    if is_world_file(name):
        path = Path(name)
        _check_unlisted(path, objects)
        scene = read_world(path)
        if scene.building:
            _check_mobile(robot)
            return RoomsWorld(seed, objects, layout=scene)
        return World(seed, objects, layout=scene, arm=fixed_arm(robot or scene.arm))
    check_world(name)
    if name == "rooms":
        _check_mobile(robot)
        return RoomsWorld(seed, objects, rooms)
    if rooms is not None:
        raise InputError(f"the world {name!r} has no rooms; leave their number out or open the world 'rooms'")
    if name == TwoTables.name:
        return TwoTables(seed, objects, arm=arm_model(robot or mobile_names()[0]))
    return World(seed, objects, arm=fixed_arm(robot or Scene.arm))


def open_shared_world(name: str, seed: int = 0, objects: Objects = None) -> TableWorld | BuildingWorld | None:
    """Open a simulated table with several arms, or a building with two bases; None for a world with one robot.

    Raises:
        InputError: As in `open_world`, or the arrangement of the robots is not possible.
    """
    shared, path = read_shared_world(name), file_of(name)
    if shared is None:
        return None
    if is_world_file(name):
        _check_unlisted(Path(name), objects)
    layout = read_world(path) if path else None
    layout = layout if layout and layout.objects else None
    if isinstance(shared, SharedTable):
        return TableWorld(shared, seed, objects, layout, name)
    return BuildingWorld(shared, seed, objects, layout, name)


def _check_mobile(robot: str) -> None:
    if robot not in ("", "mobile"):
        raise InputError(
            f"a building has a mobile robot, not {robot!r}; leave the robot out, or open a world with a table"
        )


def check_world(name: str) -> str:
    """Return the robot of the world called `name`, or of the world file: "arm" or "mobile"; raises InputError."""
    if path := file_of(name):
        return read_world(path).robot_kind
    if name not in WORLDS:
        raise InputError(
            f"there is no world {name!r}; the worlds are: {', '.join(WORLDS)}, and files such as my_worlds/table.yaml "
            "(llm-planner new world NAME writes one)"
        )
    return "mobile" if name == "rooms" else "arm"


def arm_of_file(name: str) -> str | None:
    """Return the arm that the world file `name` asks for; None for other worlds, or if it has the default one."""
    scene = read_world(Path(name)) if is_world_file(name) else None
    return None if scene is None or scene.building or scene.arm == Scene.arm else scene.arm


def file_of(name: str) -> Path | None:
    """Return the file of the world called `name`; None for a world that is not in a file."""
    if name == TWO_BASES_NAME:
        return share_folder("sim") / "worlds" / f"{name}.yaml"
    return Path(name) if is_world_file(name) else None


def is_world_file(name: str) -> bool:
    """Return whether `name` is the path of a world file."""
    return name.endswith(SUFFIXES)


def _check_unlisted(path: Path, objects: Objects) -> None:
    if objects is not None:
        raise InputError(f"{path} says what is in this world; leave the list of objects out, or add them to the file")


def read_objects(world: str, text: str) -> tuple[ObjectSpec, ...]:
    """Parse a person's list of objects for the world called `world`. Raises InputError that lists the choices."""
    return parse_things(text) if check_world(world) == "mobile" else parse_objects(text)


def copy_of(scene: Scene) -> World | RoomsWorld:
    """Create a world at time 0 with everything as in `scene`. Raises InputError if it cannot be copied."""
    if scene.base:
        return TwoTables(0, layout=scene, arm=arm_model(scene.arm))
    world = RoomsWorld(0, ()) if scene.building else World(0, (), arm=arm_model(scene.arm))
    # Of a shared table, the copy has the part in front of this arm.
    near = tuple(item for item in scene.objects if scene.building or TABLE.contains(*item.position[:2]))
    world.lay_out(replace(scene, objects=near))
    return world
