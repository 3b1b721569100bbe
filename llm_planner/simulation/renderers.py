"""Off-screen images of an arm and its tables, the choice of the renderer for a scene, and writers of images."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError, SimulationError
from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.robots.mobile_base import BASE_JOINTS
from llm_planner.robots.motion import Observation
from llm_planner.scene.driven_base import arm_frame, in_map
from llm_planner.scene.geometry import compose, wxyz, yaw_of
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Building, Pose, Scene, Vector3
from llm_planner.simulation.looks import dress_arm, dress_furniture, dress_objects, show_state
from llm_planner.simulation.objects import ObjectSpec, spec_of
from llm_planner.simulation.offscreen import Image, Joints, OffscreenRenderer
from llm_planner.simulation.rooms.camera import RoomsRenderer
from llm_planner.simulation.tabletop import Fixture, tabletop_spec
from llm_planner.simulation.two_tables import room_spec

if TYPE_CHECKING:
    import mujoco

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


TABLE_SIZE, BUILDING_SIZE = (640, 480), (800, 600)  # larger for a building, which has more labels
Drawn = tuple[Building | None, tuple[ObjectSpec, ...], str]  # the content, and the arm, that a renderer is made for


def drawn(scene: Scene) -> Drawn:
    """Return the content that a renderer of this scene is made for; another renderer is needed when it changes."""
    if scene.building is None:
        return None, tuple(map(spec_of, scene.objects)), scene.arm
    things = tuple(ObjectSpec(item.name, item.kind, item.color) for item in scene.objects)
    return scene.building, things, scene.arm


def make_renderer(scene: Scene, size: tuple[int, int] | None = None) -> OffscreenRenderer:
    """Create the renderer for a scene, with images of `size` (width, height) [px] or a suitable default.

    Raises SimulationError where no off-screen OpenGL works.
    """
    if scene.base is not None:
        return TwoTablesRenderer(scene, *(size or BUILDING_SIZE))
    building, things, arm = drawn(scene)
    if building is not None:
        return RoomsRenderer(building, things, *(size or BUILDING_SIZE))
    return SceneRenderer(things, *(size or TABLE_SIZE), arm_model(arm))


SIZE = (640, 480)


class SceneCamera:
    """Camera that takes images (480, 640, 3). It opens OpenGL for the first one, and again if the objects change."""

    def __init__(self) -> None:
        self._renderer: OffscreenRenderer | None = None
        self._drawn: Drawn | None = None

    def __call__(self, observation: Observation) -> Image:
        """Render the observed scene with the robot. Raises SimulationError where no off-screen OpenGL works."""
        scene = observation.scene
        if self._renderer is None or drawn(scene) != self._drawn:
            self.close()
            self._renderer, self._drawn = make_renderer(scene, SIZE), drawn(scene)
        return self._renderer.render(observation.qpos, observation.gripper_width, scene)

    def __enter__(self) -> SceneCamera:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Free OpenGL; the next image opens it again."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


Frame = NDArray[np.uint8]


def write_video(path: Path, frames: Iterable[Frame], fps: float = 25.0) -> None:
    """Write frames, each (height, width, 3), as an H.264 video (yuv420p for compatibility).

    Raises:
        InputError: There are no frames, or they differ in shape.
        SimulationError: The file cannot be written.
    """
    _write(path, frames, fps=fps, codec="libx264", pix_fmt_out="yuv420p", output_params=["-crf", "23"])


def write_picture(path: Path, frame: Frame) -> None:
    """Write one frame (height, width, 3) as PNG. Raises SimulationError if the file cannot be written."""
    _write(path, [frame], codec="png", pix_fmt_out="rgb24", output_params=["-frames:v", "1", "-update", "1"])


def _write(path: Path, frames: Iterable[Frame], **settings: Any) -> None:
    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise InputError(f"there is nothing to write to {path}: no frame was recorded")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # so that a file left at the end is a new one
        _encode(path, first, rest, settings)
        empty = path.stat().st_size == 0
    except OSError as error:  # an encoder's error has its command line after the first line
        raise SimulationError(f"{path} cannot be written: {str(error).partition(chr(10))[0]}") from error
    if empty:
        raise SimulationError(f"{path} cannot be written: the encoder left it empty; is the disk full?")


def _encode(path: Path, first: Frame, rest: Iterable[Frame], settings: dict[str, Any]) -> None:
    import imageio_ffmpeg

    height, width, _ = first.shape
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), macro_block_size=2, ffmpeg_log_level="quiet", **settings
    )
    writer.send(None)
    try:
        writer.send(np.ascontiguousarray(first))
        for frame in rest:
            if frame.shape != first.shape:
                raise InputError(f"a frame of {path} is {frame.shape}, the first was {first.shape}; keep one size")
            writer.send(np.ascontiguousarray(frame))
    finally:
        writer.close()
