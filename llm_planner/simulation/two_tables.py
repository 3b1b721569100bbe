"""The world `two_tables`: a room with two tables, and an arm on a mobile base that drives between them.

The origin of the map is the centre of the room, at the height of the tables and of the arm's base. Objects lie on the
tables and move by contact and friction only. The base has three joints: x, y [m] and yaw [rad]; its drives follow
velocities with the lag of the mobile base of this package, and hold the position when it stands.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_JOINTS, BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import Array, JointState, JointTrajectory, Observation, sample
from llm_planner.robots.robot_folders import mobile_names
from llm_planner.scene.driven_base import in_map, seen_from
from llm_planner.scene.geometry import compose, inverse, upright_pose, wxyz, yaw_of
from llm_planner.scene.places import Rectangle
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import IDENTITY, Building, DrivenBase, Pose, Room, Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, named, spec_of
from llm_planner.simulation.rooms.building_plan import walls
from llm_planner.simulation.rooms.model import WALL_THICKNESS
from llm_planner.simulation.shapes import Box
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.simulation.world import World

if TYPE_CHECKING:
    import mujoco


ROOM = Rectangle(-2.6, 2.6, -2.3, 2.3)  # [m]
TABLES = ("left table", "right table")  # as seen along x, the way the robot faces at the start
TABLE_SIZE = (0.9, 0.5)  # [m] along the wall, and deep enough to be reached from one side
TABLE_TOP = 0.04  # [m] thickness
SHIFT, ASIDE = 1.0, (1.25, 1.45)  # [m] of the tables along x, at most, and from the middle of the room
START = 0.5  # [m] of the base from the middle of the room, at most
EDGE = 0.03  # [m] from the edge of a table to the footprint of an object, at least
GAPS = (0.06, 0.045, 0.03)  # [m] between footprints, tried in turn
DRAWS = 400
MASS, INERTIA = 80.0, 5.0  # [kg], [kg m^2] of base and arm, for which the drives are made; half is the base's own
SLIDE_X, SLIDE_Y = {"type": "slide", "axis": "1 0 0"}, {"type": "slide", "axis": "0 1 0"}
TURN = {"type": "hinge", "axis": "0 0 1"}
BASE = "mobile base"
STIFFNESS, DAMPING = 1600.0, 80.0  # of the drives for 1 kg or 1 kg m^2
SLIP = 0.05  # [m], [rad] of the wheels, by which the base may lag behind its drives; then these give way
FLOOR_GAP = 0.01  # [m] below the base, which stands on wheels
COLUMN = 0.09  # [m] radius of the column that carries the arm
WALL_TOP = 0.6  # [m] above the tables: the arm must keep off the walls too


class DrivenBaseWorld:
    """The base of a world `two_tables`, with the interface of a mobile robot's world."""

    def __init__(self, world: TwoTables) -> None:
        self._world = world

    @property
    def time(self) -> float:
        """Simulated time since the reset [s]."""
        return self._world.time

    def joint_state(self) -> JointState:
        """Return x, y [m] and yaw [rad] of the base in the map, and their velocities."""
        return self._world.base_state()

    def observation(self) -> Observation:
        """Return the observation of the world."""
        return self._world.observation()

    def follow(self, trajectory: JointTrajectory, duration: float) -> None:
        """Drive for `duration` [s], in whole steps, with the velocities of `trajectory`; the arm holds its posture."""
        self._world.drive(trajectory, duration)


@dataclass(frozen=True)
class Standing:
    """Layout in the map: tables and objects, and T_map_base."""

    items: tuple[SceneObject, ...]
    base: Pose


class TwoTables(World):
    """Arm on a mobile base in a room with two tables. Scenes are in the frame of the arm's base."""

    name = "two_tables"

    def __init__(
        self, seed: int, objects: Sequence[ObjectSpec] | None = None, layout: Scene | None = None, *, arm: ArmModel
    ) -> None:
        if arm.mount is None:
            raise InputError(
                f"the robot {arm.name!r} cannot drive between two tables; choose {' or '.join(mobile_names())}"
            )
        self._ahead, _, self._height = arm.mount.position
        self.building = Building((Room("room", ROOM),), ())
        self._tables: tuple[SceneObject, ...] = ()
        self._stands, self._speed = np.zeros(3), np.zeros(3)  # commanded pose of the base, and its velocity
        self.wheels: Array | None = None  # [m/s, rad/s] velocity in the map at which `follow` drives; None: it stands
        self.base = DrivenBaseWorld(self)
        super().__init__(seed, objects, layout, arm)

    def reset(self, seed: int, objects: Sequence[ObjectSpec] | None = None) -> None:
        """Restart at time 0 with the base at rest near the middle of the room and the arm at home."""
        if self._layout is not None and objects is None:
            self.lay_out(self._layout)
            return
        rng = np.random.default_rng(seed)
        wanted = tuple(objects) if objects is not None else default_things(rng)
        self._stand(wanted, draw_standing(wanted, rng, self._height))

    def lay_out(self, scene: Scene) -> None:
        """Restart at time 0 with tables, objects and base as in `scene`, and the arm at rest at home.

        Raises InputError for a scene without a base, for an unknown kind and for a held object.
        """
        if scene.base is None:
            raise InputError("a world with a mobile base is copied from a scene that says where its base stands")
        if scene.held:
            raise InputError(f"the {scene.held} is in the hand, and how it is held cannot be copied; put it down first")
        things = tuple(map(spec_of, (item for item in scene.objects if item.kind != TABLE_KIND)))
        self.building = scene.base.building
        self._stand(things, Standing(in_map(scene).objects, scene.base.pose))

    def scene(self) -> Scene:
        """Return the current scene in the frame of the arm's base: tables, objects, held object, gripper."""
        seen = super().scene()
        frame = inverse(self._frame())
        objects = tuple(seen_from(item, frame) for item in (*self._tables, *seen.objects))
        hand = compose(frame, seen.robot) if seen.robot else None
        reach = self.arm.shape.table_range
        base = DrivenBase(self._base_pose(), self._ahead, reach, self.building)
        return replace(seen, objects=objects, robot=hand, base=base)

    def gripper_pose(self) -> Pose:
        """Return T_base_gripper, in the frame of the arm's base."""
        return compose(inverse(self._frame()), super().gripper_pose())

    def base_state(self) -> JointState:
        """Return x, y [m] and yaw [rad] of the base in the map, and their velocities."""
        return JointState(self.time, self.data.qpos[self._base].copy(), self.data.qvel[self._base].copy())

    def drive(self, trajectory: JointTrajectory, duration: float) -> None:
        """Step the physics for `duration` [s] with the base velocities of `trajectory` and the arm's last command."""
        steps = max(1, round(duration / self.dt))
        _, velocities = sample(trajectory, self.time + self.dt * np.arange(1.0, steps + 1))
        for wanted in velocities:
            self._turn_wheels(wanted)
            self._mujoco.mj_step(self.model, self.data)
        self.data.ctrl[self._drives] = self._stands

    def _before_step(self) -> None:
        """Drive at the velocity `wheels`, if any, while the arm follows its trajectory."""
        if self.wheels is not None:
            self._turn_wheels(self.wheels)

    def _turn_wheels(self, wanted: Array) -> None:
        """Command the drives for one step at the velocity `wanted` (3,), which the base reaches with its lag."""
        here = self.data.qpos[self._base]
        self._speed = self._speed + self.dt / MOTOR_LAG * (wanted - self._speed)
        self._stands = here + np.clip(self._stands + self.dt * self._speed - here, -SLIP, SLIP)
        self.data.ctrl[self._drives] = self._stands + DAMPING / STIFFNESS * self._speed

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """Return the model of the room, the tables, the robot and `objects`."""
        return room_spec(objects, self.arm, self.building, self._tables)

    def _frame(self) -> Pose:
        return compose(self._base_pose(), Pose((self._ahead, 0.0, 0.0)))

    def _base_pose(self) -> Pose:
        return upright_pose(*self.data.qpos[self._base].tolist())

    def _stand(self, things: tuple[ObjectSpec, ...], standing: Standing) -> None:
        tables = tuple(item for item in standing.items if item.kind == TABLE_KIND)
        if (things, tables) != (self.objects, self._tables):
            self._tables = tables
            self._build(things)
        self._stands = np.array([*standing.base.position[:2], yaw_of(standing.base)])
        self._place([item for item in standing.items if item.kind != TABLE_KIND])
        self._settle()

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        super()._build(objects)
        first = int(self.model.joint(BASE_JOINTS[0]).qposadr[0])
        self._base = slice(first, first + 3)
        drive = self.model.actuator(BASE_JOINTS[0]).id
        self._drives = slice(drive, drive + 3)

    def _place(self, items: Sequence[SceneObject]) -> None:
        super()._place(items)
        self._speed, self.wheels = np.zeros(3), None
        self.data.qpos[self._base] = self.data.ctrl[self._drives] = self._stands
        self._mujoco.mj_forward(self.model, self.data)


def room_spec(
    objects: Sequence[ObjectSpec], arm: ArmModel, building: Building, tables: Sequence[SceneObject]
) -> mujoco.MjSpec:
    """Build the model of the world, with the base at the origin of the map and the objects there too."""
    import mujoco

    assert arm.mount is not None
    spec = tabletop_spec(objects, replace(arm, make=lambda: on_base(arm)))
    height = arm.mount.position[2]
    solid = {"type": mujoco.mjtGeom.mjGEOM_BOX, "contype": 4, "conaffinity": 1}
    own = spec.geom("table")
    look = {"material": own.material, "friction": own.friction, "solref": own.solref, "solimp": own.solimp}
    spec.delete(own)
    for wall in walls(building):
        half = [WALL_THICKNESS / 2, WALL_THICKNESS / 2, (WALL_TOP + height) / 2]
        half[wall.axis] = wall.half_length + WALL_THICKNESS / 2
        spec.worldbody.add_geom(
            name=f"wall {len(spec.worldbody.geoms)}", pos=[*wall.center, (WALL_TOP - height) / 2], size=half,
            rgba=[0.93, 0.92, 0.90, 1.0], **solid,
        )  # fmt: skip
    for table in tables:
        x, y, _ = table.position
        body = spec.worldbody.add_body(name=table.name, pos=[x, y, 0.0], quat=wxyz(table.orientation))
        for part in table_parts(table):
            body.add_geom(name=f"{table.name} {len(body.geoms)}", pos=part.center, size=part.half, **solid, **look)
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, pos=[0.0, 0.0, -height], size=[4.0, 4.0, 0.1], contype=4,
        conaffinity=0, rgba=[0.79, 0.87, 0.93, 1.0],
    )  # fmt: skip
    return spec


def on_base(arm: ArmModel) -> mujoco.MjSpec:
    """Build the arm on its base: two slides, a hinge, and drives that hold a position, after those of the arm."""
    import mujoco

    assert arm.mount is not None
    robot, (ahead, _, height) = arm.make(), arm.mount.position
    robot.compile()
    root = ElementTree.fromstring(robot.to_xml())
    world, drives = root.find("worldbody"), root.find("actuator")
    assert world is not None
    assert drives is not None
    base = ElementTree.Element("body", name=BASE)
    half = f"{INERTIA / 2} {INERTIA / 2} {INERTIA / 2}"
    ElementTree.SubElement(base, "inertial", pos=f"0 0 {-height / 2}", mass=str(MASS / 2), diaginertia=half)
    moved = zip(BASE_JOINTS, (SLIDE_X, SLIDE_Y, TURN), (MASS, MASS, INERTIA), BASE_LIMITS.qacc_max, strict=True)
    for name, joint, mass, acceleration in moved:
        ElementTree.SubElement(base, "joint", {"name": name, **joint})
        force, stiffness = 2 * mass * acceleration, mass * STIFFNESS
        ElementTree.SubElement(
            drives, "general", name=name, joint=name, biastype="affine", gainprm=str(stiffness),
            biasprm=f"0 {-stiffness} {-mass * DAMPING}", forcerange=f"{-force} {force}",
        )  # fmt: skip
    column = (height - BASE_HEIGHT) / 2
    look = {"type": "cylinder", "contype": "1", "conaffinity": "0", "rgba": "0.16 0.20 0.27 1"}
    low = FLOOR_GAP + BASE_HEIGHT / 2 - height
    size = f"{BASE_RADIUS} {BASE_HEIGHT / 2}"
    ElementTree.SubElement(base, "geom", {"name": "base", "size": size, "pos": f"0 0 {low}", **look})
    place = {"size": f"{COLUMN} {column}", "pos": f"{ahead} 0 {-column}"}
    ElementTree.SubElement(base, "geom", {"name": "column", **place, **look})
    mount = ElementTree.SubElement(base, "body", name="mount", pos=f"{ahead} 0 0")
    mount.extend(list(world))
    for element in list(world):
        world.remove(element)
    world.append(base)
    return mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"), assets=dict(robot.assets))


def table_parts(table: SceneObject) -> tuple[Box, ...]:
    """Return the top and the two side panels of a table, from the middle of its top [m]."""
    length, depth, height = table.size
    side = 0.02
    panel = side, depth / 2, (height - TABLE_TOP) / 2
    return (
        Box((0.0, 0.0, -TABLE_TOP / 2), (length / 2, depth / 2, TABLE_TOP / 2)),
        *(Box((sign * (length / 2 - side), 0.0, -TABLE_TOP - panel[2]), panel) for sign in (-1, 1)),
    )


def default_things(rng: np.random.Generator) -> tuple[ObjectSpec, ...]:
    """Draw three blocks, two bowls and a mug."""
    colors = [str(color) for color in rng.choice(["red", "blue", "green", "yellow"], size=3, replace=False)]
    bowls = [str(color) for color in rng.choice(["red", "blue", "green", "yellow"], size=2, replace=False)]
    return named([*((color, "block") for color in colors), *((color, "bowl") for color in bowls), ("", "mug")])


def draw_standing(things: Sequence[ObjectSpec], rng: np.random.Generator, height: float) -> Standing:
    """Draw the tables, the objects on them and the base's start. Raises InputError if the objects do not fit."""
    tables = []
    for name, side in zip(TABLES, (1.0, -1.0), strict=True):
        x, y = float(rng.uniform(-SHIFT, SHIFT)), float(side * rng.uniform(*ASIDE))
        tables.append(SceneObject(name, TABLE_KIND, "", (x, y, -height / 2), IDENTITY, (*TABLE_SIZE, height)))
    for gap in GAPS:
        items = _draw_things(things, tables, gap, rng)
        if items is not None:
            x, y = rng.uniform(-START, START, size=2).tolist()
            return Standing((*tables, *items), upright_pose(x, y, float(rng.uniform(-math.pi / 6, math.pi / 6))))
    raise InputError(f"{len(things)} objects do not fit on two tables; ask for fewer")


def _draw_things(
    things: Sequence[ObjectSpec], tables: Sequence[SceneObject], gap: float, rng: np.random.Generator
) -> list[SceneObject] | None:
    """Draw upright objects, the widest first, each on either table; None if one does not fit."""
    placed: dict[str, SceneObject] = {}
    for item in sorted(things, key=lambda item: -item.shape.radius):
        radius = item.shape.radius
        for _ in range(DRAWS):
            table = tables[int(rng.integers(len(tables)))]
            reach = [side / 2 - radius - EDGE for side in table.size[:2]]
            x, y = (table.position[k] + float(rng.uniform(-reach[k], reach[k])) for k in (0, 1))
            apart = [
                math.dist((x, y), other.position[:2]) - radius - math.hypot(*other.size[:2]) / 2
                for other in placed.values()
            ]
            if min(apart, default=math.inf) >= gap:
                yaw = float(rng.uniform(-math.pi, math.pi))
                turned = upright_pose(x, y, yaw).orientation
                size = item.shape.size
                placed[item.name] = SceneObject(item.name, item.kind, item.color, (x, y, size[2] / 2), turned, size)
                break
        else:
            return None
    return [placed[item.name] for item in things]
