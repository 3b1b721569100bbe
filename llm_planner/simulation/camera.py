"""Off-screen images of an arm and its table or tables, rendered from joint angles and a scene.

The module also defines the look of furniture: wood and metal, a lamp that is on or off, and the rest of a stain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.robots.mobile_base import BASE_JOINTS
from llm_planner.scene.driven_base import arm_frame, in_map
from llm_planner.scene.geometry import compose, wxyz, yaw_of
from llm_planner.scene.predicates import BUTTON, DRAWER, STAIN, TABLE_KIND
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.simulation.looks import COLLISION_GROUP, VISUAL_GROUP, dress_arm, dress_objects, object_color
from llm_planner.simulation.objects import ObjectSpec, spec_of
from llm_planner.simulation.offscreen import Image, Joints, OffscreenRenderer
from llm_planner.simulation.tabletop import APART, Fixture, sliding_name, stain_points, tabletop_spec
from llm_planner.simulation.two_tables import room_spec

if TYPE_CHECKING:
    import mujoco


METAL, TRAY, HOUSING = (0.35, 0.36, 0.38), 0.88, (0.22, 0.23, 0.25)
LAMP_OFF, LAMP_ON = (0.30, 0.32, 0.28, 1.0), (0.25, 1.0, 0.35, 1.0)
SEED = 0  # of the positions and sizes of a stain's drops


def dress_furniture(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Color the shapes of furniture, or replace them by visual ones."""
    dress = {DRAWER: _paint_drawer, BUTTON: _dress_button, STAIN: _dress_stain}
    for item in objects:
        if item.kind in dress:
            dress[item.kind](spec, item, object_color(item))


def show_state(model: mujoco.MjModel, name: str, kind: str, state: float) -> None:
    """Show the lamp of a button on or off, or the remaining part of a stain."""
    if kind == BUTTON:
        lamp = model.geom(f"{name} lamp")
        lamp.rgba = LAMP_ON if state >= 1.0 else LAMP_OFF
    elif kind == STAIN:
        drops = [index for index in range(model.ngeom) if model.geom(index).name.startswith(f"{name} drop ")]
        left = np.arange(len(drops)) < round(state * len(drops))
        model.geom_rgba[drops, 3] = np.where(left, 1.0, 0.0)


def _paint_drawer(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    *tray, stem, bar = spec.body(sliding_name(item)).geoms
    for geom in tray:
        geom.rgba = [*(TRAY * np.array(color)), 1.0]
    for geom in (stem, bar):
        geom.rgba = [*METAL, 1.0]


def _dress_button(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    """Show a dark housing, a round cap and a lamp."""
    import mujoco

    base, cap, kind = spec.body(item.name), spec.body(sliding_name(item)), item.shape
    for geom in base.geoms:
        geom.rgba = [*HOUSING, 1.0]
    assert kind.sliding is not None  # a button has a cap
    part = kind.sliding.parts[0]
    for geom in cap.geoms:
        geom.group = COLLISION_GROUP
    look = {"contype": 0, "conaffinity": 0, "density": 0.0, "group": VISUAL_GROUP}
    cap.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=part.center, size=[1.04 * part.half[0], part.half[2], 0.0],
        rgba=[*color, 1.0], **look,
    )  # fmt: skip
    corner, upper = kind.parts[0].half, kind.parts[0].center[2] + kind.parts[0].half[2]
    base.add_geom(
        name=f"{item.name} lamp", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.16 * corner[0], 0.0, 0.0],
        pos=[-0.72 * corner[0], 0.72 * corner[1], upper], rgba=LAMP_OFF, **look,
    )  # fmt: skip


def _dress_stain(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    """Show drops of uneven sizes, one per point."""
    import mujoco

    body, rng = spec.body(item.name), np.random.default_rng(SEED)
    for geom in body.geoms:
        geom.group = COLLISION_GROUP
    for index, (x, y) in enumerate(stain_points(item.shape.size).tolist()):
        dx, dy = rng.uniform(-0.2, 0.2, size=2) * APART
        body.add_geom(
            name=f"{item.name} drop {index}", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=[x + dx, y + dy, 0.0],
            size=[rng.uniform(0.7, 1.1) * APART, 0.0004, 0.0], rgba=[*(rng.uniform(0.85, 1.15) * np.array(color)), 1.0],
            contype=0, conaffinity=0, density=0.0, group=VISUAL_GROUP,
        )  # fmt: skip


CAMERA = "overview"
HIDDEN = Pose((100.0, 100.0, 100.0))  # far behind the camera


SPARE = 0.9  # share of a picture that what it shows fills at most
ASPECT = 4 / 3


def show_whole(spec: mujoco.MjSpec, arm: ArmModel) -> None:
    """Move the camera, without turning it, so that it shows the arm at home and the part of the table it works on."""
    import mujoco

    model = spec.compile()
    data = mujoco.MjData(model)
    first = int(model.jnt_qposadr[model.actuator_trnid[0, 0]])
    data.qpos[first : first + arm.nq] = arm.home
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    camera = model.camera(CAMERA)
    axes = data.cam_xmat[camera.id].reshape(3, 3)  # columns: right, up, back
    robot = np.flatnonzero(model.geom_contype == 1)
    area, (x, y, _) = arm.shape.workspace, arm.mounting.position
    corners = [(a, b, 0.0) for a in (area.x_min, area.x_max) for b in (area.y_min, area.y_max)]
    points = np.array([*data.geom_xpos[robot], *corners, (x, y, 0.0)]) @ axes
    radii = np.array([*model.geom_rbound[robot], *[0.0] * (len(corners) + 1)])
    up = np.tan(np.radians(float(model.cam_fovy[camera.id])) / 2) * SPARE
    middle = (points[:, :2].min(axis=0) + points[:, :2].max(axis=0)) / 2
    off = np.abs(points[:, :2] - middle) + radii[:, None]
    back = (points[:, 2] + np.maximum(off[:, 0] / (up * ASPECT), off[:, 1] / up)).max()
    spec.camera(CAMERA).pos = axes @ np.array([*middle, back])


class SceneRenderer(OffscreenRenderer):
    """Renderer of the world `tabletop` with the given objects; see `OffscreenRenderer`."""

    way_width = 0.004

    def __init__(
        self,
        objects: Sequence[ObjectSpec],
        width: int = 640,
        height: int = 480,
        arm: ArmModel | None = None,
        room: mujoco.MjSpec | None = None,
    ) -> None:
        """Create a renderer; `room` is another model with the arm, the objects and a camera, if it is no table."""
        arm = arm or default_arm()
        spec = room or tabletop_spec(objects, arm)
        dress_objects(spec, objects)
        dress_furniture(spec, objects)
        self.has_robot_meshes = dress_arm(spec, arm.looks)
        super().__init__(spec, CAMERA, width, height)
        first = int(self._model.jnt_dofadr[self._model.actuator_trnid[0, 0]])
        self._arm = slice(first, first + arm.nq)
        self._fingers = slice(self._arm.stop, self._arm.stop + arm.gripper.joints)
        if not self.has_robot_meshes:  # show the collision shapes
            self._model.geom_group[self._model.geom_contype == 1] = 0
        self._fixtures = {item.name: Fixture(self._model, item) for item in objects if item.shape.fixed}
        free = [item.name for item in objects if not item.shape.fixed]
        self._free = {name: int(self._model.joint(name).qposadr[0]) for name in free}

    def render(
        self, qpos: Joints, gripper_width: float, scene: Scene, way: Sequence[Vector3] = (), caption: str = ""
    ) -> Image:
        """See `OffscreenRenderer`; `way` is in the base frame, `caption` stands in the corner."""
        self._pose(qpos, gripper_width, scene)
        return self.draw(way=way, caption=caption)

    def _pose(self, qpos: Joints, gripper_width: float, scene: Scene) -> None:
        data = self._data
        data.qpos[self._arm] = qpos
        data.qpos[self._fingers] = gripper_width / 2
        seen = {item.name: item for item in scene.objects}
        for name, fixture in self._fixtures.items():
            if name in seen:
                fixture.place(data, Pose(seen[name].position, seen[name].orientation), seen[name].state)
                show_state(self._model, name, seen[name].kind, seen[name].state)
            else:
                fixture.place(data, HIDDEN, 0.0)
        for name, start in self._free.items():
            item = seen.get(name)
            shown = item or HIDDEN
            data.qpos[start : start + 7] = *shown.position, *wxyz(shown.orientation)


ELEVATION = math.radians(48.0)  # [rad] of the camera above the floor
AWAY = 5.2  # [m] from the middle of the room
FOVY = 40.0  # [degrees]


class TwoTablesRenderer(SceneRenderer):
    """Renderer of the room, tables and robot of `scene`, and of the objects that it shows; see `OffscreenRenderer`."""

    way_width = 0.01

    def __init__(self, scene: Scene, width: int = 800, height: int = 600) -> None:
        arm, mapped = arm_model(scene.arm), in_map(scene)
        tables = [item for item in mapped.objects if item.kind == TABLE_KIND]
        things = tuple(spec_of(item) for item in scene.objects if item.kind != TABLE_KIND)
        assert mapped.building is not None
        spec = room_spec(things, arm, mapped.building, tables)
        s, c = math.sin(ELEVATION), math.cos(ELEVATION)
        camera = spec.camera(CAMERA)
        camera.pos, camera.fovy = [-AWAY * c, 0.0, AWAY * s], FOVY
        camera.alt.xyaxes = [0.0, -1.0, 0.0, s, 0.0, c]
        super().__init__(things, width, height, arm, spec)
        self._base = int(self._model.joint(BASE_JOINTS[0]).qposadr[0])

    def render(
        self, qpos: Joints, gripper_width: float, scene: Scene, way: Sequence[Vector3] = (), caption: str = ""
    ) -> Image:
        """See `SceneRenderer`; `scene` and `way` are in the frame of the arm's base."""
        assert scene.base is not None
        pose, frame = scene.base.pose, arm_frame(scene.base)
        self._data.qpos[self._base : self._base + 3] = (*pose.position[:2], yaw_of(pose))
        return super().render(
            qpos, gripper_width, in_map(scene), [compose(frame, Pose(point)).position for point in way], caption
        )
