"""Simulated building with two mobile bases: one physics and one clock; all see the same things in the map frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import dist

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.limits import LimitWatch
from llm_planner.robots.mobile_base import BASE_RADIUS, OPEN_WIDTH
from llm_planner.robots.motion import Array, JointTrajectory, sample
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.shared_building import SharedBuilding, Start
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.model import rooms_spec, thing_kind
from llm_planner.simulation.rooms.world import RoomsWorld, Walk, drawn_things

DRAWS = 50  # layouts tried
START_GAP = 0.3  # [m] between a base at its start and the things around it
STILL = np.zeros((1, 3))


class BaseInBuilding(RoomsWorld):
    """One base of a `BuildingWorld`. `drive` and `follow` set its motion until they are called again."""

    def __init__(self, start: Start, index: int) -> None:
        self.start, self.dofs = start, slice(3 * index, 3 * index + 3)

    def move_in(self, world: BuildingWorld) -> None:
        """Share the building of `world`, with the base at rest at its start."""
        self._mujoco, self.model, self.data, self.dt = world.mujoco, world.model, world.data, world.dt
        self.building, self.objects = world.shared.building, world.objects
        self._items, self._walks, self._mocap = world.items, world.walks, world.mocap
        self._held, self._width = "", OPEN_WIDTH
        self._wanted: Callable[[], Array] = lambda: STILL
        self.data.qpos[self.dofs] = self.start.x, self.start.y, self.start.yaw
        if not hasattr(self, "limit_watch"):
            self.limit_watch = LimitWatch(self.limits, self.dt)

    @property
    def held(self) -> str:
        """Name of what the base carries, "" for nothing."""
        return self._held

    def drive(self, velocity: tuple[float, float, float], duration: float) -> None:
        """Drive at `velocity` in its own frame from now on; `BuildingWorld.advance` steps the building."""
        self._wanted = lambda: self._in_map(velocity)

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Drive with the velocities of `trajectory` in the map frame from now on, as `drive`."""
        self._wanted = lambda: sample(trajectory, np.array([self.time + self.dt]))[1]
        self.grip(trajectory.gripper_width)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Raise InputError: all bases of a building start over together."""
        raise InputError("this base shares its building; reset the building instead")

    def lay_out(self, scene: Scene) -> None:
        """Raise InputError, as `reset`."""
        self.reset(0)

    def place(self, item: SceneObject) -> None:
        """Put a thing where it says."""
        self._move(item)

    def walk_on(self, seconds: float, robots: Sequence[BaseInBuilding]) -> None:
        """Advance everybody who walks and is not carried; they wait for each of the `robots`."""
        self._walk_on(seconds, [one.position for one in robots], [one.held for one in robots])

    @property
    def position(self) -> Point2:
        """Centre of the base [m, map frame]."""
        return self._pose().position[:2]

    def begin(self, steps: int) -> None:
        """Prepare for the coming physics steps."""
        self._speeds = iter(self.limit_watch.rows(steps))

    def command(self) -> None:
        """Apply the control of the next physics step."""
        self.data.ctrl[self.dofs] = self._reachable(self._wanted())[0]

    def look(self) -> None:
        """Record the velocities after a physics step, and move along what is carried."""
        next(self._speeds)[:] = self._qvel
        if self._held:
            self._carry()


class BuildingWorld:
    """Two bases in one building in MuJoCo. `robots` has a view of each base by name."""

    def __init__(
        self,
        shared: SharedBuilding,
        seed: int = 0,
        objects: Sequence[ObjectSpec] | None = None,
        layout: Scene | None = None,
        name: str = "",
    ) -> None:
        import mujoco

        self.mujoco, self.name, self.shared, self._layout = mujoco, name, shared, layout
        self.robots = {one.name: BaseInBuilding(one, index) for index, one in enumerate(shared.stations)}
        self.reset(seed, objects)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Restart at time 0 with all bases at their starts, and the objects as in the layout or drawn from `seed`."""
        if self._layout is not None and objects is None:
            things = self._layout.objects
        else:
            things = _drawn(self.shared, objects, np.random.default_rng(seed))
        self.objects = tuple(ObjectSpec(item.name, item.kind, item.color) for item in things)
        self.model = rooms_spec(self.shared.building, self.objects, self.shared.names).compile()
        self.data = self.mujoco.MjData(self.model)
        self.dt: float = self.model.opt.timestep  # [s] of one physics step
        self.mocap = {item.name: int(self.model.body(item.name).mocapid[0]) for item in things}
        self.items: dict[str, SceneObject] = {}
        self.walks: dict[str, Walk] = {}
        for robot in self.robots.values():
            robot.move_in(self)
        first = next(iter(self.robots.values()))
        for item in things:
            first.place(item)
        self.touches = 0  # physics steps in which bases touched, or a base and what the other one carries
        self._base_side = np.full(self.model.ngeom, -1)
        for index, name in enumerate(self.robots):
            self._base_side[self.model.geom(name).id] = index
        for robot in self.robots.values():
            robot.settle()

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return float(self.data.time)

    def advance(self, duration: float) -> None:
        """Step the physics for `duration` [s], in whole steps, while every base drives as it was commanded last."""
        steps = max(1, round(duration / self.dt))
        robots = tuple(self.robots.values())
        for robot in robots:
            robot.begin(steps)
        for _ in range(steps):
            for robot in robots:
                robot.command()
            self.mujoco.mj_step(self.model, self.data)
            for robot in robots:
                robot.look()
            self.touches += self._bases_touch()
        robots[0].walk_on(steps * self.dt, robots)

    def _bases_touch(self) -> bool:
        """Return whether two bases, or a base and what the other one carries, are in contact."""
        if not self.data.ncon:
            return False
        sides = self._base_side.copy()
        for index, robot in enumerate(self.robots.values()):
            if robot.held:
                sides[self.model.geom(robot.held).id] = index
        pairs = sides[self.data.contact.geom]
        return bool(((pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])).any())


def _drawn(
    shared: SharedBuilding, objects: Sequence[ObjectSpec] | None, rng: np.random.Generator
) -> tuple[SceneObject, ...]:
    """Draw things that leave the starts of the bases free; raises InputError if there is no such layout."""
    for _ in range(DRAWS):
        things = drawn_things(shared.building, objects, rng)
        gaps = [
            dist(item.position[:2], (one.x, one.y)) - thing_kind(item.kind).radius
            for item in things
            for one in shared.stations
        ]
        if min(gaps, default=np.inf) >= BASE_RADIUS + START_GAP:
            return things
    raise InputError(f"{len(things)} things leave no space where the robots start; ask for fewer")
