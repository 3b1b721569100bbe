"""Simulated table with several arms: one physics and one clock; each arm sees the scene in its own base frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.control.formulation import hold
from llm_planner.control.safety_filter.distances import zone_clearance
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.scene.geometry import compose, inverse, wxyz
from llm_planner.scene.places import TABLE, Point2
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.shared_table import SharedTable, Station, table_bounds
from llm_planner.simulation.objects import COLORS, ObjectSpec, named, object_kind, spec_of
from llm_planner.simulation.tabletop import (
    LOOK,
    Fixture,
    Placement,
    add_objects,
    bare_table_spec,
    fitted,
    size_for,
    standing,
)
from llm_planner.simulation.world import SETTLE_TIME, World

if TYPE_CHECKING:
    import mujoco


ARM_BIT = 8  # collision bit of the first arm; each further arm has the next one, and arms collide with one another
DRAWS = 4000  # places tried for all objects
GAP = 0.03  # [m] between footprints
HOME_ROOM = 0.02  # [m] between an arm at home and the edge of its side
HAND = 0.12  # [m] between the middle of an object and the edge of where the arm may be, for the hand at any yaw


class ArmAtTable(World):
    """One arm of a `TableWorld`. `follow` sets the motion that it follows when the table is stepped."""

    def __init__(self, station: Station, table: SharedTable) -> None:
        self.arm = arm_model(station.robot)
        self.limits, self._nq = self.arm.limits, self.arm.nq
        self._prefix, self._to_base = f"{station.name}/", inverse(station.base)
        self._off_limits = table.off_limits(station.name)
        self.station, self.objects = station, ()

    def go_home(self) -> None:
        """Put the arm at rest at home, where it stays until it is to follow something."""
        home, width = np.array(self.arm.home), self.arm.gripper.widest
        self._pose_arm(home, width)
        self._followed = hold(home, 0.0, 1.0, width)
        self.limit_watch.restart(self._arm_qvel)

    def scene(self) -> Scene:
        """Return the current scene in the base frame of this arm, with what it must not enter."""
        return replace(super().scene(), off_limits=self._off_limits)

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Follow `trajectory` from now on, until another one is given; the table is stepped by `TableWorld.advance`."""
        self._followed = trajectory

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Raise InputError: all arms of a table start over together."""
        raise InputError("this arm shares its table; reset the table instead")

    def lay_out(self, scene: Scene) -> None:
        """Raise InputError, as `reset`."""
        self.reset(0)

    def begin(self, steps: int) -> None:
        """Prepare the controls of the coming physics steps."""
        self._rows = zip(self._begin(self._followed, steps), self.limit_watch.rows(steps), strict=True)

    def command(self) -> None:
        """Apply the controls of the next physics step."""
        self.data.ctrl[self._u.start : self._u.stop + 1], self._speeds = next(self._rows)

    def look(self) -> None:
        """Record the joint velocities after a physics step."""
        self._speeds[:] = self._arm_qvel


class TableWorld:
    """Several arms at one table in MuJoCo, in the frame of the table. `robots` has a view of each arm by name."""

    def __init__(
        self,
        table: SharedTable,
        seed: int = 0,
        objects: Sequence[ObjectSpec] | None = None,
        layout: Scene | None = None,
        name: str = "",
    ) -> None:
        check_homes(table)
        self.name, self.table, self._layout = name, table, layout
        self.robots = {station.name: ArmAtTable(station, table) for station in table.stations}
        self.objects: tuple[ObjectSpec, ...] = ()
        self.reset(seed, objects)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Restart at time 0 with all arms at home, and the objects as in the layout or else drawn from `seed`."""
        rng = np.random.default_rng(seed)
        if self._layout is not None and objects is None:
            items = self._layout.objects
            for item in items:
                object_kind(item.kind)
            wanted = tuple(map(spec_of, items))
        else:
            given = objects if objects is not None else _default_objects(rng, len(self.robots))
            wanted = fitted(given, min((robot.arm.shape for robot in self.robots.values()), key=size_for))
            places = draw_places(wanted, self.table, rng)
            items = tuple(standing(item, place) for item, place in zip(wanted, places, strict=True))
        if not self.objects or wanted != self.objects:
            self._build(wanted)
        self._place(items)

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return float(self.data.time)

    def advance(self, duration: float) -> None:
        """Step the physics for `duration` [s], in whole steps, while every arm follows what it was given last."""
        steps = max(1, round(duration / self.dt))
        robots = tuple(self.robots.values())
        for robot in robots:
            robot.begin(steps)
        for index in range(steps):
            for robot in robots:
                robot.command()
            self._mujoco.mj_step(self.model, self.data)
            for robot in robots:
                robot.look()
            if self.data.ncon:
                self.touches += self._arms_touch()
            if index % LOOK == 0:
                for fixture in self._fixtures.values():
                    fixture.see(self.model, self.data, self._wiping)

    def _arms_touch(self) -> bool:
        """Return whether two arms, or an arm and what another one holds, are in contact."""
        sides = self._side.copy()
        for index, robot in enumerate(self.robots.values()):
            held = robot.held()
            if held:
                sides[self.model.geom_bodyid == self.model.body(held).id] = index
        pairs = sides[self.data.contact.geom]
        return bool(((pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])).any())

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        import mujoco

        self._mujoco, self.objects = mujoco, objects
        self.model = self._spec(objects).compile()
        self.data = mujoco.MjData(self.model)
        self.dt: float = self.model.opt.timestep  # [s] of one physics step
        self._fixtures = {item.name: Fixture(self.model, item) for item in objects if item.shape.fixed}
        for robot in self.robots.values():
            robot.move_in(self.model, self.data, objects, self._fixtures)
        self._side = self._sides()
        self._wiping = np.unique(np.concatenate([robot.wiping for robot in self.robots.values()]))

    def _spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        bounds = table_bounds(self.table.stations, (TABLE.x_min, TABLE.x_max), (TABLE.y_min, TABLE.y_max))
        spec = bare_table_spec(bounds)
        bits = [ARM_BIT << k for k in range(len(self.robots))]
        for bit, robot in zip(bits, self.robots.values(), strict=True):
            station, arm = robot.station, robot.arm.make()
            for geom in arm.geoms:
                if geom.contype:
                    geom.contype, geom.conaffinity = geom.contype | bit, geom.conaffinity | (sum(bits) - bit)
            frame = spec.worldbody.add_frame(pos=station.base.position, quat=wxyz(station.base.orientation))
            spec.attach(arm, prefix=f"{station.name}/", frame=frame)
        add_objects(spec, objects)
        return spec

    def _sides(self) -> np.ndarray:
        """Map each geom to the index of its arm, -1 for others."""
        names = [self.model.body(int(body)).name for body in self.model.geom_bodyid]
        prefixes = [f"{name}/" for name in self.robots]
        return np.array([next((k for k, p in enumerate(prefixes) if name.startswith(p)), -1) for name in names])

    def _place(self, items: Sequence[SceneObject]) -> None:
        self._mujoco.mj_resetData(self.model, self.data)
        self.touches = 0  # physics steps in which arms touched
        for item in items:
            pose = Pose(item.position, item.orientation)
            if item.name in self._fixtures:
                self._fixtures[item.name].place(self.data, pose, item.state)
            else:
                self.data.joint(item.name).qpos[:] = (*pose.position, *wxyz(pose.orientation))
        for robot in self.robots.values():
            robot.go_home()
        self._mujoco.mj_forward(self.model, self.data)
        self.advance(SETTLE_TIME)
        self.data.time = 0.0
        self.touches = 0


def check_homes(table: SharedTable) -> None:
    """Raise InputError if an arm at home is not on its own side, where it must be without a reservation."""
    for station in table.stations:
        arm = arm_model(station.robot)
        body, home = arm_body(arm), np.array(arm.home)
        for boundary in table.boundaries(station.name):
            room = zone_clearance(body, boundary.near, home)
            if room < HOME_ROOM:
                raise InputError(
                    f"the robot {station.name!r} ({arm.name}) at home is {100 * room:.0f} cm from the strip towards "
                    f"{boundary.neighbour!r} (negative: inside) and needs {100 * HOME_ROOM:.0f} cm: move the robots "
                    "apart, turn them, or make the strip narrower"
                )


def _default_objects(rng: np.random.Generator, arms: int) -> tuple[ObjectSpec, ...]:
    """Draw three blocks and two bowls an arm, in colours that differ while there are enough."""
    things: list[tuple[str, str]] = []
    for kind, count in (("block", 3 * arms), ("bowl", 2 * arms)):
        colors = rng.permutation(list(COLORS)).tolist()
        things += [(str(colors[k % len(colors)]), kind) for k in range(count)]
    return named(things)


def draw_places(objects: Sequence[ObjectSpec], table: SharedTable, rng: np.random.Generator) -> tuple[Placement, ...]:
    """Draw places apart from each other, in turn on the side of each arm and, for every third object, in a strip.

    Raises InputError if the objects do not fit.
    """
    placed: list[tuple[float, float, float]] = []
    order = [*table.names, None] if table.strip else list(table.names)
    for number, item in enumerate(objects):
        radius, side = item.shape.radius, order[number % len(order)]
        for _ in range(DRAWS):
            place = _drawn(table, side, radius, rng)
            if place and all(math.dist(place, other[:2]) > radius + other[2] + GAP for other in placed):
                placed.append((*place, radius))
                break
        else:
            raise InputError(f"{len(objects)} objects do not fit on the shared table; ask for fewer")
    return tuple(Placement(x, y, float(rng.uniform(-np.pi / 6, np.pi / 6))) for x, y, _ in placed)


def _drawn(table: SharedTable, side: str | None, radius: float, rng: np.random.Generator) -> tuple[float, float] | None:
    """Draw a place where the arm `side` can work, or (None) that needs a reservation; None if it is not suitable."""
    station = table.find(side) if side else table.stations[int(rng.integers(len(table.stations)))]
    area = arm_model(station.robot).shape.workspace
    x = float(rng.uniform(area.x_min + radius, area.x_max - radius))
    y = float(rng.uniform(area.y_min + radius, area.y_max - radius))
    x, y, _ = compose(station.base, Pose((x, y, 0.0))).position
    if side:
        return (x, y) if can_work_at(table, side, x, y, reserved=False) else None
    able = [name for name in table.names if can_work_at(table, name, x, y, reserved=True)]
    return (x, y) if able and not any(can_work_at(table, name, x, y, reserved=False) for name in able) else None


def can_work_at(table: SharedTable, name: str, x: float, y: float, reserved: bool) -> bool:
    """Return whether an arm can pick and place at (x, y) [m, table], with or without the strips reserved for it."""
    area = arm_model(table.find(name).robot).shape.workspace
    inside = area.contains(*seen_by(table, name, x, y)) and reaches(table, name, x, y)
    return inside and table.room(name, x, y, reserved) >= HAND


def reaches(table: SharedTable, name: str, x: float, y: float) -> bool:
    """Return whether the hand of an arm reaches (x, y) [m, table] on its side or in a strip."""
    shape = arm_model(table.find(name).robot).shape
    return shape.reaches(*seen_by(table, name, x, y)) and table.room(name, x, y, reserved=True) >= HAND


def seen_by(table: SharedTable, name: str, x: float, y: float) -> Point2:
    """Express (x, y) [m, table] in the base frame of an arm."""
    return compose(inverse(table.find(name).base), Pose((x, y, 0.0))).position[:2]
