"""An arm on a mobile base: where the base stands for the arm to reach a thing, its way there, and the body of a script.

The base parks in front of a table, facing it. It drives with the arm tucked: walls and zones are passed with the
footprint of base, arm and load; tables, which are lower than the tucked arm, with that of the base, unless something on
them is as tall as that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.mobile_base import BASE_LIMITS, BASE_RADIUS
from llm_planner.robots.motion import Array, MotionReference, Observation
from llm_planner.robots.robot_model import Footprint, tucked_footprint
from llm_planner.scene.driven_base import arm_frame, in_map, on_area, table_below, zones_seen_from
from llm_planner.scene.geometry import (
    bottom,
    compose,
    distance_to_box,
    half_extents,
    inverse,
    top,
    upright_pose,
    yaw_of,
)
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Building, Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Shape, Zone, half_sides
from llm_planner.simulation.rooms.building_plan import walls
from llm_planner.simulation.rooms.model import WALL_THICKNESS
from llm_planner.skills.arm import SLOWER, Arm, ArmSettings, Script
from llm_planner.skills.base import Base, BaseSettings, DriveLimits, timed_drive
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.floor_paths import WALL_GAP, Floor, Obstacle
from llm_planner.skills.motion import PATH_DT

PARK_GAP = 0.07  # [m] from the base to the table that it stands at
BACK = 0.2  # [m] from there to where the base turns to the table, and to where it leaves it
PASSING = PARK_GAP + BACK - 0.04  # [m] between the base and tables on its way
OVER = 0.03  # [m] between the tucked arm and what it passes over
MARGINS = (0.02, 0.05)  # [m] inside the least and the largest reach, since the base stops a little off its place
CARRYING = BaseSettings(limits=DriveLimits(speed=0.8, acceleration=0.6), arrived=0.02, facing=0.03)


BARE = Footprint(BASE_RADIUS, math.inf)


@dataclass(frozen=True)
class TableFloor(Floor):
    """Floor with tables that a tucked arm passes over; `extent` is that of base, arm and load."""

    extent: Footprint = BARE

    def area(self, room: str) -> Rectangle:
        area, gap = self.building.find(room).area, self.extent.radius + WALL_GAP
        return Rectangle(area.x_min + gap, area.x_max - gap, area.y_min + gap, area.y_max - gap)

    def obstacles(self, room: str, ignore: str = "") -> list[Obstacle]:
        """See `Floor`; tables are rectangles and never crossed."""
        tables = [item for item in self.things if item.kind == TABLE_KIND and item.name != ignore]
        return [*map(self._table, tables), *(one for one in super().obstacles(room, ignore) if one.firm)]

    def _table(self, table: SceneObject) -> Obstacle:
        x, y, _ = half_extents(table)
        return Obstacle(table.position[:2], self.width_at(self.top_of(table)) + PASSING, (x, y), firm=True)

    def top_of(self, table: SceneObject) -> float:
        """Return the height of the tallest thing on the table [m]."""
        standing = [top(item) for item in self.things if on_area(table, item.position)]
        return max([top(table), *standing])

    def width_at(self, height: float) -> float:
        """Return the radius of the robot's part that meets something of that height [m]."""
        return BASE_RADIUS if height < self.extent.bottom - OVER else self.extent.radius


def floor_of(scene: Scene, zones: Sequence[Zone] = ()) -> TableFloor:
    """Return the floor of the arm's `scene`, in the map, for the arm tucked with what it holds."""
    things = tuple(item for item in in_map(scene).objects if item.name != scene.held)
    floor = TableFloor(_building(scene), things, (), _extent(scene))
    return replace(floor, zones=tuple(_widened(zone, floor) for zone in zones_in_map(scene, zones)))


def _building(scene: Scene) -> Building:
    if scene.base is None:
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "this arm stands fixed; it cannot drive")
    return scene.base.building


def _extent(scene: Scene) -> Footprint:
    """Return the footprint of the tucked arm with the held object, which keeps its place in the hand."""
    assert scene.base is not None
    extent = tucked_footprint(scene.arm)
    if not scene.held or scene.robot is None:
        return extent
    item, (hx, hy, hz), (rx, ry, rz) = scene.find(scene.held), scene.robot.position, arm_shape(scene.arm).rest
    x, y = item.position[0] + rx - hx + scene.base.mount, item.position[1] + ry - hy
    away = math.hypot(x, y) + math.hypot(*half_extents(item)[:2])
    return Footprint(max(extent.radius, away), min(extent.bottom, bottom(item) + rz - hz))


def zones_in_map(scene: Scene, zones: Sequence[Zone]) -> tuple[Zone, ...]:
    """Return zones of the arm's frame in the map."""
    assert scene.base is not None
    return zones_seen_from(zones, arm_frame(scene.base))


def _widened(zone: Zone, floor: TableFloor) -> Zone:
    """Add to the clearance of a zone what the tucked arm is wider than the base at its height."""
    height = zone.pose.position[2] + max(half_sides(zone.shape, zone.size)) + zone.clearance
    return replace(zone, clearance=zone.clearance + floor.width_at(height) - BASE_RADIUS)


@dataclass(frozen=True)
class Parking:
    """Place of the base at a table: `before` it, where the base turns to it, and `pose` at it, both T_map_base."""

    before: Pose
    pose: Pose


def parking(scene: Scene, name: str, zones: Sequence[Zone] = ()) -> Parking:
    """Return the nearest place from which the arm reaches a thing on a table, or stands at the table of that name.

    Args:
        scene: Scene of the arm.
        name: Name of the thing or table.
        zones: Zones that rules keep the robot out of [frame of the arm].

    Raises:
        SkillError: UNREACHABLE if the thing lies on no table, or the base finds no place or way.
    """
    mapped, floor = in_map(scene), floor_of(scene, zones)
    target = mapped.find(name)
    table = table_below(mapped, target)
    if table is None:
        raise SkillError(SkillErrorCode.UNREACHABLE, f"{the(name)} lies on no table, where the arm could reach it")
    start = _backed(scene, floor)
    assert scene.base is not None
    places = sorted(_places(table, target, scene), key=lambda place: math.dist(place.before.position, start))
    for place in places:
        if _is_free(floor, place, table) and _has_way(floor, start[:2], place.before.position[:2]):
            return place
    raise SkillError(
        SkillErrorCode.UNREACHABLE,
        f"the base finds no free place and way to {the(table.name)} from which the arm reaches {the(name)}",
    )


def _places(table: SceneObject, target: SceneObject, scene: Scene) -> Iterator[Parking]:
    """Yield the places at the four sides of the table from which the arm reaches the target, facing the table."""
    assert scene.base is not None
    nearest, farthest = scene.base.reach
    frame = Pose(table.position, table.orientation)
    x, y, _ = compose(inverse(frame), Pose(target.position)).position
    for turn in range(4):
        c, s = round(math.cos(turn * math.pi / 2)), round(math.sin(turn * math.pi / 2))
        half = table.size[turn % 2] / 2
        inward, along = half - (c * x + s * y), c * y - s * x
        away = half + BASE_RADIUS + PARK_GAP
        distance = inward + BASE_RADIUS + PARK_GAP - scene.base.mount
        if target.kind != TABLE_KIND and not nearest + MARGINS[0] <= distance <= farthest - MARGINS[1]:
            continue
        yaw = yaw_of(frame) + turn * math.pi / 2 + math.pi

        def at(away: float, c: int = c, s: int = s, along: float = along, yaw: float = yaw) -> Pose:
            there = compose(frame, Pose((c * away - s * along, s * away + c * along, 0.0))).position
            return upright_pose(there[0], there[1], yaw)

        yield Parking(at(away + BACK), at(away))


def _is_free(floor: TableFloor, place: Parking, table: SceneObject) -> bool:
    here, pose = place.before.position[:2], place.pose.position[:2]
    room = floor.building.room_at(*here)
    if not room or not floor.area(room).contains(*here):
        return False
    others = floor.obstacles(room, ignore=table.name)
    return not any(one.covers(here) or one.covers(pose) for one in others)


def _has_way(floor: TableFloor, start: Point2, goal: Point2) -> bool:
    try:
        floor.way(start, goal)
    except (InputError, SkillError):
        return False
    return True


def _backed(scene: Scene, floor: TableFloor) -> tuple[float, float, float]:
    """Return the position of the base after it has left the table that it stands at, if any."""
    assert scene.base is not None
    pose = scene.base.pose
    tables = [item for item in floor.things if item.kind == TABLE_KIND]
    if min((distance_to_box(pose.position[:2], table) for table in tables), default=math.inf) > BASE_RADIUS + PASSING:
        return pose.position
    return compose(pose, Pose((-BACK, 0.0, 0.0))).position


def driving_route(scene: Scene, name: str, zones: Sequence[Zone] = ()) -> tuple[Pose, ...]:
    """Return the poses of the base, T_map_base, on its way to where the arm reaches a thing; raises as `parking`."""
    assert scene.base is not None
    place, floor, pose = parking(scene, name, zones), floor_of(scene, zones), scene.base.pose
    start = _backed(scene, floor)
    corners = [pose.position[:2], *floor.way(start[:2], place.before.position[:2]), place.pose.position[:2]]
    yaws = [yaw_of(pose), *[yaw_of(place.pose)] * (len(corners) - 2)]
    poses = []
    for (a, b), yaw in zip(pairwise(corners), yaws, strict=True):
        count = max(1, math.ceil(math.dist(a, b) / STEP))
        poses += [upright_pose(*_between(a, b, k / count), yaw) for k in range(count + 1)]
    return tuple(poses)


STEP = 0.1  # [m] between the poses of a route


def _between(a: Point2, b: Point2, share: float) -> Point2:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


class DrivingBase(Base):
    """Base under a tucked arm: an observation of the arm is seen in the map, and references are the base's."""

    def __init__(self, observation: Observation, settings: BaseSettings = CARRYING) -> None:
        super().__init__(observation, settings)

    @property
    def observation(self) -> Observation:
        """Observation in the map; zones included."""
        return self._mapped

    @observation.setter
    def observation(self, seen: Observation) -> None:
        self._arm_observation = seen
        scene = in_map(seen.scene)
        assert scene.robot is not None
        self._mapped = replace(
            seen, scene=scene, T_base_gripper=scene.robot, zones=zones_in_map(seen.scene, seen.zones)
        )

    @property
    def floor(self) -> Floor:
        """Floor with tables, for the arm tucked with what it holds."""
        return floor_of(self._arm_observation.scene, self._arm_observation.zones)

    def back_off(self) -> Script:
        """Leave the table that the base stands at, straight back."""
        scene = self._arm_observation.scene
        assert scene.base is not None
        start = _backed(scene, floor_of(scene))
        if start != scene.base.pose.position:
            yield from self.creep("back off", upright_pose(*start[:2], self.yaw), SLOW, APART, FACING)

    def park(self, place: Parking) -> Script:
        """Turn as the base stands there, drive to the place before the table without a turn, and close in."""
        yield from self.turn("turn", yaw_of(place.pose))
        yield from self.drive("drive", place.before.position[:2])
        yield from self.creep("close in", place.pose, SLOW, CLOSE, FACING)

    def drive(self, phase: str, goal: Point2) -> Script:
        """See `Base`; the heading is kept, since a turn would swing the arm on the way."""
        self.phase, yaw = phase, yaw_of(self._still)
        path = timed_drive(self.way(self.floor, goal), yaw, self._limits)
        yield from self._follow([upright_pose(*pose.position[:2], yaw) for pose in path])

    def turn(self, phase: str, yaw: float) -> Script:
        """See `Base`; the hand keeps a speed limit."""
        self.phase = phase
        x, y, _ = self._still.position
        hand = floor_of(self._arm_observation.scene).extent.radius
        rate = min(TURNING, SLOWER * self.observation.path_speed / hand)
        begin = yaw_of(self._still)
        left = math.remainder(yaw - begin, math.tau)
        count = max(1, math.ceil(abs(left) / (rate * PATH_DT)))
        yield from self._follow([upright_pose(x, y, begin + left * k / count) for k in range(1, count + 1)])

    def _reference(self, poses: Sequence[Pose], start: float) -> MotionReference:
        return replace(super()._reference(poses, start), of_base=True)


SLOW = 0.25  # [m/s] near a table
TURNING = 1.0  # [rad/s]
APART, CLOSE, FACING = 0.04, 0.012, 0.02  # [m], [m], [rad] tolerances


class MobileArm:
    """Body of a script that drives an arm about: `arm` and `base`, which never move at the same time."""

    def __init__(self, observation: Observation, settings: ArmSettings) -> None:
        self.arm = Arm(observation, settings)
        self.base = DrivingBase(observation)
        self._moving: Arm | DrivingBase = self.arm

    @property
    def observation(self) -> Observation:
        """Observation of the arm."""
        return self.arm.observation

    @observation.setter
    def observation(self, seen: Observation) -> None:
        self.arm.observation = seen
        self.base.observation = seen

    @property
    def phase(self) -> str:
        return self._moving.phase

    def drives(self) -> None:
        """Show the phase of the base from now on."""
        self._moving = self.base

    def retreat(self) -> Script:
        """Stay: a base that has failed stays where it stopped, with the arm tucked."""
        yield from ()


def fixed_zones(scene: Scene) -> tuple[Zone, ...]:
    """Return the tables and walls around an arm on a base as zones of the base, in the map."""
    floor = floor_of(scene)
    zones = []
    for item in floor.things:
        if item.kind == TABLE_KIND:
            half, wider = (item.size[0] / 2, item.size[1] / 2, TALL), floor.width_at(floor.top_of(item)) - BASE_RADIUS
            pose = Pose((*item.position[:2], 0.0), item.orientation)
            zones.append(Zone(item.name, Shape.BOX, half, pose, KEPT + wider))
    for wall in walls(floor.building):
        x, y = WALL_THICKNESS / 2, WALL_THICKNESS / 2
        half = (wall.half_length, y, TALL) if wall.axis == 0 else (x, wall.half_length, TALL)
        pose = Pose((*wall.center, 0.0))
        zones.append(Zone("a wall", Shape.BOX, half, pose, KEPT + floor.extent.radius - BASE_RADIUS))
    return tuple(zones)


def base_constraints(scene: Scene, keep: MotionConstraints) -> MotionConstraints:
    """Return the constraints of the base [map frame] under those of the arm, `keep` [arm's frame].

    Tables and walls are zones too. A speed limit holds for the hand, which a turn swings.
    """
    floor = floor_of(scene, keep.zones)
    turning = SLOWER * keep.speed / (floor.extent.radius * float(BASE_LIMITS.qvel_max[2]))
    zones = (*fixed_zones(scene), *floor.zones)
    return replace(keep, zones=zones, joint_share=min(1.0, turning), weights={})


STILL, STANDS = 0.05, 0.02  # [rad/s] of the arm's joints, [m/s, rad/s] of the base: less counts as rest
SHAKEN = 0.06  # [m/s, rad/s] up to which the start of its arm shakes a base that stands: 0.04, where messages come late
TUCKED = 0.03  # [m] of the gripper from where it rests


def interlock(of_base: bool, arm: str, hand: Vector3, arm_qvel: Array, base_qvel: Array) -> str:
    """Return why the base, or else the arm, may not move now; "" if it may: only one of them moves at a time.

    Args:
        of_base: Whether the base is to move.
        arm: Name of the arm.
        hand: Position of the gripper [m, arm's frame].
        arm_qvel: Velocities of the arm's joints (nq,) [rad/s].
        base_qvel: Velocities of the base (3,) [m/s, rad/s].
    """
    if not of_base:
        return "the arm may not move while its base drives" if np.abs(base_qvel).max() > SHAKEN else ""
    if math.dist(arm_shape(arm).rest, hand) > TUCKED or np.abs(arm_qvel).max() > STILL:
        return "the base may not drive before its arm is tucked and at rest; go home first"
    return ""


TALL = 1.0  # [m] half height of the zones of the base, which meets everything that stands on the floor
KEPT = 0.02  # [m] least distance of the base from a table
