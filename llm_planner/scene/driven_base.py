"""Scenes of an arm on a mobile base: in the map, after a drive, and what the arm reaches from where the base stands.

The arm's scene is in the frame of its base, so its predicates and skills need not know that it drives. A drive moves
everything else in that frame; the hand and what it holds stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import DrivenBase, Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Zone

AT_TABLE = 0.35  # [m] from the arm's axis to the table at which the base stands: closer, the arm works there


def arm_frame(base: DrivenBase) -> Pose:
    """Return T_map_arm, the pose of the arm's base in the map."""
    return arm_at(base.pose, base.mount)


def arm_at(pose: Pose, mount: float) -> Pose:
    """Return T_map_arm for a base at `pose` (T_map_base) and an arm `mount` [m] in front of its middle."""
    return compose(pose, Pose((mount, 0.0, 0.0)))


def seen_from(item: SceneObject, frame: Pose) -> SceneObject:
    """Return the object in another frame, in which the frame of its present pose has the pose `frame`."""
    pose = compose(frame, Pose(item.position, item.orientation))
    return replace(item, position=pose.position, orientation=pose.orientation)


def zones_seen_from(zones: Sequence[Zone], frame: Pose) -> tuple[Zone, ...]:
    """Return the zones in another frame, in which the frame of their present poses has the pose `frame`."""
    return tuple(replace(zone, pose=compose(frame, zone.pose)) for zone in zones)


def in_map(scene: Scene) -> Scene:
    """Return the scene as a mobile robot's: in the map, with the base as the robot.

    Raises:
        ValueError: The arm stands fixed.
    """
    if scene.base is None:
        raise ValueError("the arm of this scene stands fixed; only a scene with a base has a map")
    frame = arm_frame(scene.base)
    objects = tuple(seen_from(item, frame) for item in scene.objects)
    return replace(scene, objects=objects, robot=scene.base.pose, building=scene.base.building, base=None)


def driven_to(scene: Scene, pose: Pose) -> Scene:
    """Return the scene after the base has driven to `pose` (T_map_base), with the hand at rest relative to it.

    Raises:
        ValueError: The arm stands fixed.
    """
    if scene.base is None:
        raise ValueError("the arm of this scene stands fixed; it cannot drive")
    base = replace(scene.base, pose=pose)
    frame = compose(inverse(arm_frame(base)), arm_frame(scene.base))
    objects = tuple(item if item.name == scene.held else seen_from(item, frame) for item in scene.objects)
    return replace(scene, objects=objects, base=base)


def fixed_places(scene: Scene) -> dict[str, Vector3]:
    """Return the position of each object in a frame that stays: the map, or the base frame of a fixed arm [m]."""
    return {item.name: fixed_place(scene, item) for item in scene.objects}


def fixed_place(scene: Scene, item: SceneObject) -> Vector3:
    """Return the position of an object as `fixed_places` does."""
    return item.position if scene.base is None else compose(arm_frame(scene.base), Pose(item.position)).position


def seen_anew(places: Mapping[str, Vector3], before: Scene | None, now: Scene) -> Mapping[str, Vector3]:
    """Return positions in the arm's frame of the scene `before` in that of the scene `now`, to which the base drove."""
    if before is None or before.base is None or now.base is None or before.base.pose == now.base.pose:
        return places
    frame = compose(inverse(arm_frame(now.base)), arm_frame(before.base))
    return {name: compose(frame, Pose(place)).position for name, place in places.items()}


def zones_seen_anew(zones: tuple[Zone, ...], before: Scene, now: Scene) -> tuple[Zone, ...]:
    """Return zones in the arm's frame of the scene `before` in that of the scene `now`, as `seen_anew` does."""
    if before.base is None or now.base is None or before.base.pose == now.base.pose:
        return zones
    return zones_seen_from(zones, compose(inverse(arm_frame(now.base)), arm_frame(before.base)))


def zones_in_frame_of(scene: Scene, zones: tuple[Zone, ...]) -> tuple[Zone, ...]:
    """Return zones in force, which are in the map where a base drives the arm, in the frame of `scene`."""
    return zones if scene.base is None else zones_seen_from(zones, inverse(arm_frame(scene.base)))


def within_reach(scene: Scene, name: str) -> bool:
    """Return whether the arm reaches the object, or the base stands at the table, of that name.

    An arm that stands fixed has nowhere to go: True.
    """
    item = scene.find(name)
    if scene.base is None or name == scene.held:
        return True
    x, y, _ = item.position
    if item.kind == TABLE_KIND:
        return x > 0.0 and _distance_to_side(item) <= AT_TABLE
    nearest, farthest = scene.base.reach
    return x > 0.0 and nearest <= math.hypot(x, y) <= farthest


def _distance_to_side(item: SceneObject) -> float:
    """Return the distance from the arm's axis to the box of an upright object [m]; 0 inside."""
    x, y, _ = compose(inverse(Pose(item.position, item.orientation)), Pose((0.0, 0.0, 0.0))).position
    return math.hypot(max(0.0, abs(x) - item.size[0] / 2), max(0.0, abs(y) - item.size[1] / 2))


def table_below(scene: Scene, item: SceneObject) -> SceneObject | None:
    """Return the table that the object lies over, or the object itself if it is a table; None for none."""
    if item.kind == TABLE_KIND:
        return item
    for table in scene.objects:
        if table.kind == TABLE_KIND and on_area(table, item.position):
            return table
    return None


def on_area(table: SceneObject, point: Vector3 | tuple[float, float], margin: float = 0.0) -> bool:
    """Return whether a point lies over the table, at least `margin` [m] from its edges."""
    place = compose(inverse(Pose(table.position, table.orientation)), Pose((point[0], point[1], 0.0))).position
    return all(abs(place[k]) <= table.size[k] / 2 - margin for k in (0, 1))
