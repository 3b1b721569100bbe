"""The world `rooms` in MuJoCo, stepped in-process, with the interface of the arm's world.

The origin of the map frame is the centre of the building. The base has three joints: x, y [m] and yaw [rad]. People
walk straight from corner to corner and wait for the robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, dist, hypot, sin

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.limits import LimitWatch, RobotLimits
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_LIMITS, GRIP_REACH, GRIP_TOLERANCE, OPEN_WIDTH
from llm_planner.robots.motion import Array, JointState, JointTrajectory, Observation, sample
from llm_planner.scene.geometry import upright_pose, wxyz, yaw_of
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.scene import Building, Pose, Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.building_plan import ROOMS_MAX, ROOMS_MIN, draw_building
from llm_planner.simulation.rooms.model import default_things, draw_places, rooms_spec, thing_kind

SPEED_MAX = 2.0  # [m/s]
PERSONAL = 0.85  # [m] between the centres of a walker and a robot in front of it, which makes the walker wait


@dataclass(frozen=True)
class Walk:
    """Rest of a walk: the next corners [m, map frame] and the speed [m/s]."""

    corners: tuple[Point2, ...]
    speed: float

    def on(self, here: Point2, robot: Point2, seconds: float) -> tuple[Walk, Point2, float]:
        """Advance from `here` by `seconds`, but no closer to `robot` than `PERSONAL` [m].

        Returns the remaining walk, the new position [m] and the heading [rad]. Raises ValueError after the last corner.
        """
        if not self.corners:
            raise ValueError("the walk is over; there is no corner left to walk to")
        goal, left = self.corners[0], dist(here, self.corners[0])
        facing = atan2(goal[1] - here[1], goal[0] - here[0])
        step = self.speed * seconds
        share = min(1.0, step / left) if left else 1.0
        there = here[0] + share * (goal[0] - here[0]), here[1] + share * (goal[1] - here[1])
        if dist(there, robot) < min(PERSONAL, dist(here, robot)):
            return self, here, facing
        return (Walk(self.corners[1:], self.speed) if share == 1.0 else self), there, facing


START_ROOM = "hall"


class RoomsWorld:
    """Mobile robot in a building. Velocities drive the base; objects move only when carried or sent on a walk."""

    name = "rooms"
    limits: RobotLimits = BASE_LIMITS
    dofs = slice(0, 3)  # of the base among those of the model

    def __init__(
        self,
        seed: int,
        objects: Sequence[ObjectSpec] | None = None,
        rooms: int | None = None,
        layout: Scene | None = None,
    ) -> None:
        self._rooms, self._layout = rooms, layout
        self._items: dict[str, SceneObject] = {}
        self._walks: dict[str, Walk] = {}
        self.reset(seed, objects)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Restart at time 0 in the given layout, or a building drawn from `seed` with the robot at rest in the hall."""
        if self._layout is not None and objects is None:
            self.lay_out(self._layout)
            return
        rng = np.random.default_rng(seed)
        count = int(rng.integers(ROOMS_MIN, ROOMS_MAX + 1))
        building = draw_building(count if self._rooms is None else self._rooms, rng)
        self._build(building, drawn_things(building, objects, rng))
        self.data.qpos[:2] = building.find(START_ROOM).area.center
        self.settle()

    def lay_out(self, scene: Scene) -> None:
        """Restart at time 0 with building, objects and robot as in `scene`.

        Raises InputError for an unknown kind, and for a scene without building or robot.
        """
        if scene.building is None or scene.robot is None:
            raise InputError("a mobile robot's world is copied from a scene with its building and the robot's pose")
        for item in scene.objects:
            thing_kind(item.kind)
        self._build(scene.building, scene.objects)
        self.data.qpos[:] = [*scene.robot.position[:2], yaw_of(scene.robot)]
        self._held, self._width = scene.held, 0.0 if scene.held else OPEN_WIDTH
        self.settle()

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return float(self.data.time)

    def scene(self) -> Scene:
        """Return the current scene: the building, its objects, the held object and the robot."""
        vx, vy, _ = self._qvel.tolist()
        return Scene(self.time, tuple(self._items.values()), self._held, self._pose(), hypot(vx, vy), self.building)

    def joint_state(self) -> JointState:
        """Return x, y [m] and yaw [rad] of the base in the map frame, and their velocities."""
        return JointState(self.time, self._qpos.copy(), self._qvel.copy())

    def gripper_width(self) -> float:
        """Return the distance between the fingers [m]."""
        return self._width

    def observation(self) -> Observation:
        """Return the current observation for a skill."""
        x, y, yaw = self._qpos.tolist()
        return Observation(self.time, self.scene(), (x, y, yaw), self._pose(), self._width)

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the physics for `duration` [s], in whole steps, with the velocities of `trajectory` in the map frame."""
        steps = max(1, round(duration / self.dt))
        _, velocities = sample(trajectory, self.time + self.dt * np.arange(1.0, steps + 1))
        self.grip(trajectory.gripper_width)
        self._step(velocities)

    def drive(self, velocity: tuple[float, float, float], duration: float) -> None:
        """Step the physics at one base velocity: forward, left [m/s] and counter-clockwise [rad/s]."""
        for _ in range(max(1, round(duration / self.dt))):
            self._step(self._in_map(velocity))

    def grip(self, width: float) -> None:
        """Move the fingers to `width` [m]; NaN leaves them unchanged.

        Closing takes the object between the fingers. Opening puts it down there if the floor is free.
        """
        if width != width:
            return
        closing, closed = width < OPEN_WIDTH / 2, self._width < OPEN_WIDTH / 2
        self._width = width
        if closing and not closed:
            self._take()
        elif self._held and not closing:
            self._put_down()

    def walk(self, name: str, corners: Sequence[Point2], speed: float = 0.6) -> None:
        """Let a person walk along `corners` [m] at `speed` [m/s], and wait while the robot is in the way.

        `llm_planner.skills.floor_paths.walking_route` plans the corners through rooms.

        Raises:
            InputError: nobody is called so, there are no corners, or the speed is not between 0 and `SPEED_MAX`.
        """
        if name not in self._items:
            raise InputError(f"there is no {name!r} to walk here; there are: {', '.join(self._items) or 'none'}")
        if not corners:
            raise InputError(f"nobody has said where {name} is to walk; name at least one room")
        if not 0.0 < speed <= SPEED_MAX:
            raise InputError(f"{name} cannot walk at {speed:g} m/s; walk at more than 0 and at most {SPEED_MAX:g} m/s")
        self._walks[name] = Walk(tuple(corners), speed)

    def settle(self) -> None:
        """Bring everything to rest and set the time to 0."""
        self.data.time = 0.0
        self.data.qvel[:] = 0.0
        self._mujoco.mj_forward(self.model, self.data)
        self.limit_watch.restart(self._qvel)

    def _build(self, building: Building, items: Sequence[SceneObject]) -> None:
        import mujoco

        self._mujoco = mujoco
        self.building = building
        self.objects = tuple(ObjectSpec(item.name, item.kind, item.color) for item in items)
        self.model = rooms_spec(building, self.objects).compile()
        self.data = mujoco.MjData(self.model)
        self.dt: float = self.model.opt.timestep  # [s] of one physics step
        self._mocap = {item.name: int(self.model.body(item.name).mocapid[0]) for item in items}
        self._items = {}
        self._walks = {}
        self._held, self._width = "", OPEN_WIDTH
        for item in items:
            self._move(item)
        if not hasattr(self, "limit_watch"):
            self.limit_watch = LimitWatch(self.limits, self.dt)

    def _in_map(self, velocity: tuple[float, float, float]) -> Array:
        """Return a velocity (1, 3) in the map frame: forward, left [m/s] and counter-clockwise [rad/s]."""
        forward, left, turn = velocity
        c, s = cos(self._qpos[2]), sin(self._qpos[2])
        return np.array([[c * forward - s * left, s * forward + c * left, turn]])

    def _reachable(self, velocities: Array) -> Array:
        """Limit velocities (n, 3) in the map frame to what the motors reach."""
        speed = np.hypot(velocities[:, 0], velocities[:, 1])
        fastest, turning = self.limits.qvel_max[0], self.limits.qvel_max[2]
        ctrl: Array = velocities.copy()
        ctrl[:, :2] *= (fastest / np.maximum(speed, fastest))[:, None]
        ctrl[:, 2] = np.clip(ctrl[:, 2], -turning, turning)
        return ctrl

    def _step(self, velocities: Array) -> None:
        """Take a physics step per row of `velocities` (n, 3) in the map frame."""
        step, model, data = self._mujoco.mj_step, self.model, self.data
        ctrl = self._reachable(velocities)
        for row, measured in zip(ctrl, self.limit_watch.rows(len(ctrl)), strict=True):
            data.ctrl[:] = row
            step(model, data)
            measured[:] = data.qvel
        if self._held:
            self._carry()
        self._walk_on(len(ctrl) * self.dt, [self._pose().position[:2]], [self._held])

    def _walk_on(self, seconds: float, robots: Sequence[Point2], carried: Sequence[str]) -> None:
        """Advance all walkers that are not `carried`; they wait for the nearest of the `robots` [m, map frame]."""
        for name, walk in self._walks.items():
            item = self._items[name]
            if walk.corners and name not in carried:
                here = item.position[:2]
                nearest = min(robots, key=lambda robot: dist(robot, here))
                self._walks[name], (px, py), facing = walk.on(here, nearest, seconds)
                orientation = upright_pose(px, py, facing).orientation
                self._move(replace(item, position=(px, py, item.position[2]), orientation=orientation))

    @property
    def _qpos(self) -> Array:
        qpos: Array = self.data.qpos[self.dofs]
        return qpos

    @property
    def _qvel(self) -> Array:
        qvel: Array = self.data.qvel[self.dofs]
        return qvel

    def _pose(self) -> Pose:
        return upright_pose(*self._qpos.tolist())

    def _grip_point(self) -> Point2:
        x, y, yaw = self._qpos.tolist()
        return x + GRIP_REACH * cos(yaw), y + GRIP_REACH * sin(yaw)

    def _take(self) -> None:
        point = self._grip_point()
        loose = [item for item in self._items.values() if is_portable(item)]
        nearest = min(loose, key=lambda item: dist(item.position[:2], point), default=None)
        if nearest is not None and dist(nearest.position[:2], point) <= GRIP_TOLERANCE:
            self._held = nearest.name
            self._carry()

    def _carry(self) -> None:
        """Move the held object along on the tray."""
        item, pose = self._items[self._held], self._pose()
        x, y, _ = pose.position
        height = BASE_HEIGHT + item.size[2] / 2
        self._move(replace(item, position=(x, y, height), orientation=pose.orientation))

    def _put_down(self) -> None:
        item, (x, y) = self._items[self._held], self._grip_point()
        if self._is_free(x, y, item):
            self._held = ""
            self._move(replace(item, position=(x, y, item.size[2] / 2)))

    def _is_free(self, x: float, y: float, item: SceneObject) -> bool:
        """Return whether the object fits on the floor of the robot's room at that position."""
        radius = hypot(*item.size[:2]) / 2
        here = self.building.room_at(*self._pose().position[:2])
        area = self.building.find(here).area
        others = (other for other in self._items.values() if other.name != item.name)
        return area.contains(x, y, -radius) and all(
            dist(other.position[:2], (x, y)) > radius + thing_kind(other.kind).radius for other in others
        )

    def _move(self, item: SceneObject) -> None:
        self._items[item.name] = item
        self.data.mocap_pos[self._mocap[item.name]] = item.position
        self.data.mocap_quat[self._mocap[item.name]] = wxyz(item.orientation)


def drawn_things(
    building: Building, objects: Sequence[ObjectSpec] | None, rng: np.random.Generator
) -> tuple[SceneObject, ...]:
    """Draw places for `objects`, or for drawn ones; raises InputError if they do not fit."""
    things = tuple(objects) if objects is not None else default_things(rng)
    places = draw_places(building, things, rng)
    return tuple(standing_thing(item, *place) for item, place in zip(things, places, strict=True))


def standing_thing(item: ObjectSpec, x: float, y: float, yaw: float) -> SceneObject:
    size = thing_kind(item.kind).size
    orientation = upright_pose(x, y, yaw).orientation
    return SceneObject(item.name, item.kind, item.color, (x, y, size[2] / 2), orientation, size)
