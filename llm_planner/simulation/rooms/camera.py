"""Off-screen images of the building from above, rendered from a scene.

The module also defines its look: coloured floors, thresholds, people, objects, lights and the camera.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_RADIUS
from llm_planner.scene.geometry import wxyz, yaw_of
from llm_planner.scene.scene import Building, Scene, Vector3
from llm_planner.simulation.looks import VISUAL_GROUP
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.offscreen import Image, Joints, Label, OffscreenRenderer
from llm_planner.simulation.rooms.building_plan import DOOR_WIDTH, shared_wall
from llm_planner.simulation.rooms.model import BASE, WALL_THICKNESS, Part, rooms_spec, thing_color, thing_kind

if TYPE_CHECKING:
    import mujoco


CAMERA = "above"
FOVY = 32.0  # [degrees]
ELEVATION = math.radians(66.0)  # [rad] of the camera above the floor
MARGIN = 1.04  # of the image around the building
FLOORS: tuple[Vector3, ...] = (
    (0.79, 0.87, 0.93), (0.93, 0.87, 0.77), (0.82, 0.90, 0.80), (0.93, 0.82, 0.82), (0.86, 0.83, 0.93),
    (0.94, 0.92, 0.76), (0.79, 0.91, 0.89), (0.93, 0.84, 0.90), (0.86, 0.88, 0.84), (0.91, 0.88, 0.85),
    (0.83, 0.86, 0.95), (0.89, 0.93, 0.84),
)  # fmt: skip
_THRESHOLD, _FRAME, _ACCENT = (0.70, 0.57, 0.42), (0.28, 0.30, 0.34), (0.96, 0.52, 0.10)


def dress_rooms(spec: mujoco.MjSpec, building: Building, things: Sequence[ObjectSpec], aspect: float) -> None:
    """Add visual shapes without collisions. `aspect` is the image's width divided by its height."""
    _add_light_and_sky(spec)
    for index, room in enumerate(building.rooms):
        area = room.area
        half = ((area.x_max - area.x_min) / 2, (area.y_max - area.y_min) / 2, 0.02)
        _add(spec.worldbody, Part("box", half, (*area.center, -0.02), FLOORS[index % len(FLOORS)]))
    for door in building.doors:
        axis, _, _, _ = shared_wall(*(building.find(name).area for name in door.rooms))
        across, along = WALL_THICKNESS / 2, DOOR_WIDTH / 2
        half = (along, across, 0.004) if axis == 0 else (across, along, 0.004)
        _add(spec.worldbody, Part("box", half, (*door.position, 0.004), _THRESHOLD))
    for item in things:
        kind = thing_kind(item.kind)
        for part in kind.parts:
            _add(spec.body(item.name), part, thing_color(item), -kind.size[2] / 2)
    _dress_base(spec)
    _add_camera(spec, building, aspect)


def _dress_base(spec: mujoco.MjSpec) -> None:
    """Add a tray, a bright ring, and two fingers that show the forward direction."""
    body = spec.body(BASE)
    _add(body, Part("cylinder", (BASE_RADIUS * 1.02, 0.02), (0.0, 0.0, 0.10), _ACCENT))
    _add(body, Part("cylinder", (BASE_RADIUS * 0.86, 0.012), (0.0, 0.0, BASE_HEIGHT + 0.012), (0.78, 0.80, 0.83)))
    for side in (-1.0, 1.0):
        _add(body, Part("box", (0.13, 0.018, 0.03), (BASE_RADIUS + 0.09, side * 0.12, 0.10), _ACCENT))


def _add(body: mujoco.MjsBody, part: Part, color: Vector3 = _FRAME, lift: float = 0.0) -> None:
    import mujoco

    size = [*part.size, 0.0, 0.0][:3]
    x, y, z = part.center
    body.add_geom(
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{part.shape.upper()}"),
        size=size,
        pos=[x, y, z + lift],
        rgba=[*(part.color or color), 1.0],
        contype=0,
        conaffinity=0,
        group=VISUAL_GROUP,
        density=0.0,
    )


def _add_light_and_sky(spec: mujoco.MjSpec) -> None:
    import mujoco

    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=[0.97, 0.97, 0.98], rgb2=[0.97, 0.97, 0.98], width=16, height=96,
    )  # fmt: skip
    spec.visual.headlight.ambient = [0.45, 0.45, 0.45]
    spec.visual.headlight.diffuse = [0.25, 0.25, 0.25]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
    spec.visual.quality.offsamples = 0  # anti-aliasing would take four times as long
    spec.visual.map.znear, spec.visual.map.zfar = 0.5, 100.0
    spec.stat.extent, spec.stat.center = 1.0, [0.0, 0.0, 0.0]
    light = spec.worldbody.add_light(pos=[-5.0, -8.0, 15.0], dir=[0.35, 0.45, -0.82], castshadow=False)
    light.type, light.diffuse = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, [0.42, 0.42, 0.42]


def _add_camera(spec: mujoco.MjSpec, building: Building, aspect: float) -> None:
    """Add a camera high over the south side, far enough away to show the whole building."""
    half_x = max(room.area.x_max for room in building.rooms)
    half_y = max(room.area.y_max for room in building.rooms)
    tangent, s, c = math.tan(math.radians(FOVY / 2)), math.sin(ELEVATION), math.cos(ELEVATION)
    # The nearest corner determines the width, the nearest edge the height.
    away = MARGIN * max(half_x / (tangent * aspect) + half_y * c, half_y * s / tangent + half_y * c)
    spec.worldbody.add_camera(name=CAMERA, pos=[0.0, -away * c, away * s], xyaxes=[1.0, 0.0, 0.0, 0.0, s, c], fovy=FOVY)


LABEL_RAISE = 0.15  # [m] of a name above its object
NAME_COLOR = (1.0, 1.0, 1.0)
ROBOT_COLOR = (1.0, 0.62, 0.25)
THING_COLOR = (1.0, 0.90, 0.62)


class RoomsRenderer(OffscreenRenderer):
    """Renderer of a building with the given objects and their names; see `OffscreenRenderer`."""

    def __init__(self, building: Building, things: Sequence[ObjectSpec], width: int = 800, height: int = 600) -> None:
        spec = rooms_spec(building, things)
        dress_rooms(spec, building, things, width / height)
        super().__init__(spec, CAMERA, width, height)
        self._building = building
        self._mocap = {item.name: int(self._model.body(item.name).mocapid[0]) for item in things}

    def render(self, qpos: Joints, gripper_width: float, scene: Scene, way: Sequence[Vector3] = ()) -> Image:
        """See `OffscreenRenderer`; the pose of a mobile robot comes from the scene, not from `qpos`."""
        self._data.mocap_pos[:, 2] = -100.0  # below the floor
        for item in scene.objects:
            if item.name in self._mocap:
                self._data.mocap_pos[self._mocap[item.name]] = item.position
                self._data.mocap_quat[self._mocap[item.name]] = wxyz(item.orientation)
        if scene.robot is not None:
            self._data.qpos[:] = (*scene.robot.position[:2], yaw_of(scene.robot))
        return self.draw(self._labels(scene), way)

    def _labels(self, scene: Scene) -> Iterator[Label]:
        for room in self._building.rooms:
            yield Label(room.name.upper(), (room.area.x_min + 0.3, room.area.y_max - 0.5, 0.0), NAME_COLOR)
        if scene.robot is not None:
            x, y, _ = scene.robot.position
            yield Label("robot", (x, y, BASE_HEIGHT + LABEL_RAISE), ROBOT_COLOR)
        for item in scene.objects:
            x, y, z = item.position
            if item.name == scene.held:  # above the robot's name
                z += LABEL_RAISE
            yield Label(item.name, (x, y, z + item.size[2] / 2 + LABEL_RAISE), THING_COLOR)
