"""Seventeen tasks in the manner of Language to Rewards (Yu et al., arXiv:2306.08647), each drawn anew from a seed.

Eight with an arm and things on a table, five with a mobile base, four that mix skills and rewards. Whether a task is
done is read off the scenes that the simulator showed, by measures of this file alone: no term of a reward program is
used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import dist, hypot

import numpy as np

from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.geometry import bottom, rotation_matrix, top, upright_pose, yaw_of
from llm_planner.scene.scene import Room, Scene, SceneObject
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World

START_MAX = 1.6  # [m] from the thing in the middle of the room to the base
Shown = Sequence[Scene]  # ten times a second, from before the command until after it


@dataclass(frozen=True)
class Task:
    """`command` may name {room}, where the base is. `primitives` is the best program without rewards that we could
    write, "" where there is none."""

    name: str
    group: str  # arm, base or mixed
    things: str
    command: str
    primitives: str
    done: Callable[[Shown], bool]


def table_world(task: Task, seed: int) -> World:
    """Its things laid out at random."""
    return World(seed, parse_objects(task.things))


def rooms_world(task: Task, seed: int) -> tuple[RoomsWorld, Room]:
    """The first thing near the middle of a large room, a person 1.5 m or more from it, the base anywhere free there."""
    rng = np.random.default_rng(seed)
    world = RoomsWorld(seed, parse_things(task.things))
    rooms = [room for room in world.building.rooms if "hall" not in room.name and "lobby" not in room.name]
    room = max(rooms, key=lambda room: min(room.area.x_max - room.area.x_min, room.area.y_max - room.area.y_min))
    scene, taken, moved = world.scene(), [], {}
    for name, margin in zip(task.things.split(", "), (0.2, 0.6), strict=False):
        taken.append(_free_place(room, taken, rng, margin, 1.5))
        moved[name] = taken[-1]
    for item in scene.objects:
        if item.name not in moved and room.area.contains(*item.position[:2], 0.5):
            moved[item.name] = _elsewhere(world, room, rng)  # the room is kept for what the task is about
    items = [replace(one, position=(*moved.get(one.name, one.position[:2]), one.position[2])) for one in scene.objects]
    for _ in range(100):
        x, y = _free_place(room, taken, rng, 0.45, 0.9)
        if dist((x, y), taken[0]) <= START_MAX:
            break
    robot = upright_pose(x, y, float(rng.uniform(-math.pi, math.pi)))
    world.lay_out(replace(scene, objects=tuple(items), robot=robot))
    return world, room


def _free_place(
    room: Room, taken: Sequence[tuple[float, float]], rng: np.random.Generator, margin: float, apart: float
) -> tuple[float, float]:
    """Inside the room; the first of all near its middle."""
    area = room.area
    if not taken:
        x, y = area.center
        return x + float(rng.uniform(-margin, margin)), y + float(rng.uniform(-margin, margin))
    for _ in range(1000):
        x = float(rng.uniform(area.x_min + margin, area.x_max - margin))
        y = float(rng.uniform(area.y_min + margin, area.y_max - margin))
        if all(dist((x, y), other) >= apart for other in taken):
            break
    return x, y


def _elsewhere(world: RoomsWorld, room: Room, rng: np.random.Generator) -> tuple[float, float]:
    others = [other for other in world.building.rooms if other.name != room.name and "hall" not in other.name]
    area = others[int(rng.integers(len(others)))].area
    return area.x_min + 0.8, area.y_min + 0.8


# Measures of one scene.


def _tilt(item: SceneObject) -> float:
    return math.degrees(math.acos(min(1.0, max(-1.0, rotation_matrix(item.orientation)[2][2]))))


def _heading(item: SceneObject) -> float:
    rows = rotation_matrix(item.orientation)
    return math.degrees(math.atan2(rows[1][0], rows[0][0]))


def _difference(a: float, b: float) -> float:
    """Between two angles [deg], 0 to 180."""
    return abs((a - b + 180.0) % 360.0 - 180.0)


def _bearing(a: Sequence[float], b: Sequence[float]) -> float:
    return math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))


def _gap(a: SceneObject, b: SceneObject) -> float:
    """Between discs, or a block's nearest face along the line to the other."""
    ux, uy = b.position[0] - a.position[0], b.position[1] - a.position[1]
    apart = hypot(ux, uy)
    return apart - _reach(a, ux / apart, uy / apart) - _reach(b, ux / apart, uy / apart)


def _reach(item: SceneObject, ux: float, uy: float) -> float:
    if item.kind in ("bowl", "plate"):
        return max(item.size[:2]) / 2
    rows = rotation_matrix(item.orientation)
    return sum(abs(rows[0][k] * ux + rows[1][k] * uy) * item.size[k] / 2 for k in range(2))


def _turned(shown: Shown, name: str) -> float:
    """All the way, with its sign [deg]."""
    headings = [_heading(scene.find(name)) for scene in shown]
    return sum((b - a + 180.0) % 360.0 - 180.0 for a, b in pairwise(headings))


def _base(scene: Scene) -> tuple[float, float, float]:
    assert scene.robot is not None
    return scene.robot.position[0], scene.robot.position[1], math.degrees(yaw_of(scene.robot))


def _counted(angles: Sequence[float]) -> float:
    return sum((b - a + 180.0) % 360.0 - 180.0 for a, b in pairwise(angles))


def _clear(shown: Shown) -> bool:
    """The base touched nothing on its way."""
    for scene in shown:
        x, y, _ = _base(scene)
        for item in scene.objects:
            if item.name != scene.held and dist((x, y), item.position[:2]) < BASE_RADIUS + 0.45 * min(item.size[:2]):
                return False
    return True


def _facing(scene: Scene, name: str) -> float:
    x, y, yaw = _base(scene)
    return _difference(yaw, _bearing((x, y), scene.find(name).position))


# What counts as done.


def _mug_turned(shown: Shown) -> bool:
    return abs(_turned(shown, "mug") - 90.0) <= 12.0 and _tilt(shown[-1].find("mug")) < 10.0


def _vase_over(shown: Shown) -> bool:
    vase = shown[-1].find("vase")
    return _tilt(vase) >= 70.0 and abs(bottom(vase)) < 0.02


def _handle_to_block(shown: Shown) -> bool:
    mug, block = shown[-1].find("mug"), shown[-1].find("red block")
    return _difference(_heading(mug), _bearing(mug.position, block.position)) <= 15.0 and _tilt(mug) < 10.0


def _bowls_touch(shown: Shown) -> bool:
    slid = all(bottom(scene.find("green bowl")) < 0.015 for scene in shown)
    return slid and _gap(shown[-1].find("green bowl"), shown[-1].find("blue bowl")) <= 0.01


def _blocks_touch(shown: Shown) -> bool:
    pushed = all(bottom(scene.find("red block")) < 0.015 for scene in shown)
    return pushed and _gap(shown[-1].find("red block"), shown[-1].find("blue block")) <= 0.01


def _block_posed(shown: Shown) -> bool:
    x, y, _ = shown[-1].find("red block").position
    return dist((x, y), (0.46, 0.0)) <= 0.04 and abs(_turned(shown, "red block") - 45.0) <= 12.0


def _block_in_line(shown: Shown) -> bool:
    a, b, p = (shown[-1].find(name).position for name in ("green bowl", "mug", "red block"))
    along = (b[0] - a[0], b[1] - a[1])
    off = abs((p[0] - a[0]) * along[1] - (p[1] - a[1]) * along[0]) / hypot(*along)
    return off <= 0.02 and all(bottom(scene.find("red block")) < 0.015 for scene in shown)


def _plate_past_vase(shown: Shown) -> bool:
    plate, before = shown[-1].find("plate"), shown[0].find("plate")
    still = dist(shown[-1].find("vase").position, shown[0].find("vase").position) <= 0.01
    return plate.position[1] - before.position[1] >= 0.10 and still and _tilt(shown[-1].find("vase")) < 5.0


def _mug_tilted(shown: Shown) -> bool:
    return shown[-1].held == "mug" and abs(_tilt(shown[-1].find("mug")) - 60.0) <= 10.0


def _block_above_bowl(shown: Shown) -> bool:
    scene = shown[-1]
    block, bowl = scene.find("red block"), scene.find("green bowl")
    over = dist(block.position[:2], bowl.position[:2]) <= 0.03
    height = bottom(block) - top(bowl)
    lifted = [one for one in shown if one.held == "red block" and bottom(one.find("red block")) > 0.05]
    level = all(_tilt(one.find("red block")) <= 10.0 for one in lifted)
    return scene.held == "red block" and over and abs(height - 0.15) <= 0.03 and level


def _round_plant(shown: Shown) -> bool:
    bearings = [_bearing(scene.find("plant").position, _base(scene)) for scene in shown]
    return abs(_counted(bearings)) >= 345.0 and _clear(shown)


def _spun(times: int) -> Callable[[Shown], bool]:
    def done(shown: Shown) -> bool:
        places = [_base(scene)[:2] for scene in shown]
        turned = _counted([_base(scene)[2] for scene in shown])
        return (
            abs(turned - 360.0 * times) <= 20.0 and max(dist(p, places[-1]) for p in places[len(places) // 2 :]) < 0.3
        )

    return done


def _backed_up(shown: Shown) -> bool:
    scene = shown[-1]
    near = dist(_base(scene)[:2], scene.find("Anna").position[:2]) <= 1.0
    return near and _facing(scene, "Anna") >= 155.0 and _clear(shown)


def _between(shown: Shown) -> bool:
    scene = shown[-1]
    a, b = scene.find("Anna").position, scene.find("plant").position
    middle = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
    return dist(_base(scene)[:2], middle) <= 0.2 and _facing(scene, "Anna") <= 15.0 and _clear(shown)


def _withdrawn(shown: Shown) -> bool:
    """It may have to turn first; once it has, it keeps looking."""
    faced = [k for k, scene in enumerate(shown) if _facing(scene, "Anna") <= 25.0]
    away = dist(_base(shown[-1])[:2], shown[-1].find("Anna").position[:2]) >= 1.95
    share = len(faced) / max(1, len(shown) - (faced[0] if faced else 0))
    return away and _facing(shown[-1], "Anna") <= 30.0 and share >= 0.9 and _clear(shown)


def _delivered(shown: Shown) -> bool:
    scene = shown[-1]
    near = dist(_base(scene)[:2], scene.find("Anna").position[:2]) <= 1.3
    return scene.held == "parcel" and near and _facing(scene, "Anna") >= 155.0


def _spin_there(shown: Shown) -> bool:
    """Counted from where it has stopped in the lobby: driving there turns it too."""
    there = [scene for scene in shown if scene.robot_room == "lobby"]
    rest = _base(there[-1])[:2] if there else (0.0, 0.0)
    spinning = [scene for scene in there if dist(_base(scene)[:2], rest) <= 0.15]
    return bool(spinning) and abs(_counted([_base(scene)[2] for scene in spinning])) >= 690.0


TASKS: tuple[Task, ...] = (
    Task("turn the mug", "arm", "mug, red block, green bowl", "turn the mug by 90 degrees", "", _mug_turned),
    Task("knock over", "arm", "vase, red block, green bowl", "knock the vase over",
         'push("vase", "left", 0.1)', _vase_over),
    Task("point the handle", "arm", "mug, red block, green bowl", "turn the handle of the mug towards the red block",
         "", _handle_to_block),
    Task("slide against", "arm", "green bowl, blue bowl, mug", "slide the green bowl against the blue bowl",
         'pick("green bowl")\nplace_beside("blue bowl", "any", 0.02)', _bowls_touch),
    Task("push together", "arm", "red block, blue block, vase", "push the red block and the blue block together",
         'pick("red block")\nplace_beside("blue block", "any", 0.02)', _blocks_touch),
    Task("push to a pose", "arm", "red block, vase", "push the red block to the middle and turn it by 45 degrees",
         'pick("red block")\nplace_at("middle")', _block_posed),
    Task("push into line", "arm", "red block, green bowl, mug",
         "push the red block into line with the green bowl and the mug",
         'pick("red block")\nplace_at(midpoint("green bowl", "mug"))', _block_in_line),
    Task("slide past", "arm", "plate, vase, red block", "slide the plate 12 cm to the left without touching the vase",
         'push("plate", "left", 0.12)', _plate_past_vase),
    Task("drive around", "base", "plant, Anna, parcel", "drive around the plant once", "", _round_plant),
    Task("spin", "base", "plant, Anna, parcel", "spin twice on the spot", "look()\nlook()", _spun(2)),
    Task("back up to", "base", "plant, Anna, parcel", "drive backwards to Anna", 'go_to("Anna")', _backed_up),
    Task("stand between", "base", "plant, Anna, parcel", "stand between Anna and the plant and face Anna", "",
         _between),
    Task("withdraw facing", "base", "Anna, plant, parcel", "back away from Anna to 2 metres while facing her", "",
         _withdrawn),
    Task("tilt what is held", "mixed", "mug, red block, green bowl", "pick up the mug and tilt it by 60 degrees",
         'pick("mug")', _mug_tilted),
    Task("hold level above", "mixed", "red block, green bowl, vase",
         "pick up the red block and hold it level 15 cm above the green bowl", 'pick("red block")', _block_above_bowl),
    Task("go there and spin", "mixed", "plant, Anna, parcel", "go to the lobby and spin twice",
         'go_to("lobby")\nlook()\nlook()', _spin_there),
    Task("bring and turn away", "mixed", "Anna, plant, parcel", "bring the parcel to Anna, then turn your back to her",
         'go_to("parcel")\npick_up("parcel")\ngo_to("Anna")', _delivered),
)  # fmt: skip
