"""Off-screen renderer of a MuJoCo model, with EGL where it works and otherwise OSMesa."""

from __future__ import annotations

import atexit
import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import SimulationError
from llm_planner.robots.arm_model import pose_from_mujoco
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.simulation.looks import COLLISION_GROUP

if TYPE_CHECKING:
    import mujoco


Image = NDArray[np.uint8]
Joints = Sequence[float] | NDArray[np.float64]
WAY_WIDTH, WAY_COLOR = 0.04, (0.95, 0.35, 0.1)  # [m] width of the line along the path of a robot that drives
Renderer = TypeVar("Renderer", bound="OffscreenRenderer")


@dataclass(frozen=True)
class Label:
    """Text at a position in the scene [m]."""

    text: str
    position: Vector3
    color: Vector3 = (0.1, 0.1, 0.12)


@dataclass(frozen=True)
class View:
    """Pinhole camera.

    Attributes:
        pose: Pose of the optical frame in the frame of the model: x to the right of the image, y down, z into it.
        focal: Focal length [px]; the axis meets the middle of the image.
        width: Of the image [px].
        height: Of the image [px].
    """

    pose: Pose
    focal: float
    width: int
    height: int


class OffscreenRenderer(ABC):
    """Renderer of `spec` from the camera called `camera`, bound to the thread that created it. Close it after use.

    Raises SimulationError where no off-screen OpenGL works.
    """

    way_width = WAY_WIDTH

    def __init__(self, spec: mujoco.MjSpec, camera: str, width: int, height: int) -> None:
        import mujoco

        self._mujoco = mujoco
        self.width, self.height = width, height
        spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[COLLISION_GROUP] = 0
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = self._model.camera(camera).id
        self._open(width, height)

    @abstractmethod
    def render(self, qpos: Joints, gripper_width: float, scene: Scene, way: Sequence[Vector3] = ()) -> Image:
        """Render the robot at `qpos` and the objects as in `scene`, with a line along `way` [m]: (height, width, 3).

        Objects that the renderer was not made for are omitted, and those that the scene lacks are hidden.
        """

    def draw(self, labels: Iterable[Label] = (), way: Sequence[Vector3] = (), caption: str = "") -> Image:
        """Render the current data with labels, a line along `way` [m] and a caption; returns (height, width, 3)."""
        mujoco, rectangle = self._mujoco, self._mujoco.MjrRect(0, 0, self.width, self.height)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        for label in labels:
            self._write(label)
        for begin, end in pairwise(way):
            self._connect(begin, end)
        mujoco.mjr_render(rectangle, self._scene, self._context)
        if caption:
            font, corner = mujoco.mjtFont.mjFONT_NORMAL, mujoco.mjtGridPos.mjGRID_TOPLEFT
            mujoco.mjr_overlay(font, corner, rectangle, caption, "", self._context)
        image = np.empty((self.height, self.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, rectangle, self._context)
        return np.ascontiguousarray(image[::-1])

    @property
    def view(self) -> View:
        """Camera of the last image."""
        mujoco, camera = self._mujoco, self._camera.fixedcamid
        quaternion = np.zeros(4)
        turned = self._data.cam_xmat[camera].reshape(3, 3) * (1.0, -1.0, -1.0)  # MuJoCo's camera looks along -z
        mujoco.mju_mat2Quat(quaternion, turned.ravel())
        focal = self.height / 2 / math.tan(math.radians(float(self._model.cam_fovy[camera])) / 2)
        pose = pose_from_mujoco(self._data.cam_xpos[camera], quaternion)
        return View(pose, focal, self.width, self.height)

    def depth(self) -> NDArray[np.float32]:
        """Return the distance from the camera along its axis (height, width) [m] in the last image; NaN in the sky.

        The image is rendered again without the sky, which is a box in MuJoCo.
        """
        read = np.empty((self.height, self.width), dtype=np.float32)
        rectangle = self._mujoco.MjrRect(0, 0, self.width, self.height)
        sky = self._mujoco.mjtRndFlag.mjRND_SKYBOX
        shown = self._scene.flags[sky]
        self._scene.flags[sky] = 0
        self._gl.make_current()
        self._mujoco.mjr_render(rectangle, self._scene, self._context)
        self._mujoco.mjr_readPixels(None, read, rectangle, self._context)
        self._scene.flags[sky] = shown
        near, far = (self._model.stat.extent * end for end in (self._model.vis.map.znear, self._model.vis.map.zfar))
        share = np.ascontiguousarray(read[::-1]).astype(np.float64)  # 1 at the near plane, 0 at the far one
        distance = near * far / (near + share * (far - near))
        return np.where(share > 0.0, distance, np.nan).astype(np.float32)

    def close(self) -> None:
        """Free the OpenGL context. Also runs at interpreter exit, before OpenGL is unloaded."""
        atexit.unregister(self.close)
        self._gl.make_current()
        self._context.free()
        self._gl.free()

    def __enter__(self: Renderer) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, width: int, height: int) -> None:
        mujoco = self._mujoco
        self._gl = open_gl_context(width, height)
        self._scene = mujoco.MjvScene(self._model, maxgeom=1000)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_HAZE):
            self._scene.flags[flag] = 0
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        atexit.register(self.close)

    def _write(self, label: Label) -> None:
        geom = self._geom(self._mujoco.mjtGeom.mjGEOM_LABEL, 0.1, label.color)
        if geom is not None:
            geom.pos = label.position
            geom.label = label.text

    def _connect(self, begin: Vector3, end: Vector3) -> None:
        kind = self._mujoco.mjtGeom.mjGEOM_CAPSULE
        geom = self._geom(kind, self.way_width, WAY_COLOR)
        if geom is not None:
            self._mujoco.mjv_connector(geom, kind, self.way_width, np.array(begin), np.array(end))

    def _geom(self, kind: int, size: float, color: Vector3) -> Any:
        """Add a geom to the image; None if there is no space for another."""
        scene = self._scene
        if scene.ngeom == scene.maxgeom:
            return None
        geom = scene.geoms[scene.ngeom]
        rgba = np.array([*color, 1.0], dtype=np.float32)
        self._mujoco.mjv_initGeom(geom, kind, np.full(3, size), np.zeros(3), np.eye(3).ravel(), rgba)
        scene.ngeom += 1
        return geom


BACKENDS = ("egl", "osmesa")
# Values that MuJoCo accepts; its import fails with any other.
_TAKEN_BY_MUJOCO = frozenset(
    ("", *BACKENDS, "glfw", "glx", "enable", "enabled", "on", "true", "1", "disable", "disabled", "off", "false", "0")
)


def check_gl_setting(setting: str | None = None) -> None:
    """Check the value of MUJOCO_GL, by default from the environment. Raises SimulationError if MuJoCo rejects it."""
    value = os.environ.get("MUJOCO_GL", "") if setting is None else setting
    if value.lower().strip() not in _TAKEN_BY_MUJOCO:
        raise SimulationError(
            f"the environment variable MUJOCO_GL is {value!r}; set it to one of: {', '.join(BACKENDS)}, or unset it"
        )


def open_gl_context(width: int, height: int, backends: Sequence[str] = BACKENDS) -> Any:
    """Open and activate a context for images of at most `width` x `height` pixels, with the first backend that works.

    If the environment variable MUJOCO_GL names one of the backends, only that one is tried. Raises SimulationError with
    the reasons and what to install if none works.
    """
    check_gl_setting()
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    reasons = []
    for backend in [asked] if asked in backends else backends:
        try:
            return _open(backend, width, height)
        except Exception as error:  # drivers fail in many ways
            reasons.append(f"{backend}: {str(error) or type(error).__name__}")
            _forget(backend)
    raise SimulationError(
        "pictures cannot be rendered, no off-screen OpenGL works here ("
        + "; ".join(reasons)
        + "). Install one, for instance: apt-get install libegl1 libgl1-mesa-dri, or: apt-get install libosmesa6"
    )


def _open(backend: str, width: int, height: int) -> Any:
    context = import_module(f"mujoco.{backend}").GLContext(width, height)
    context.make_current()
    return context


def _forget(backend: str) -> None:
    """Unload PyOpenGL, which binds to one platform on import, so that the next backend can import it."""
    if os.environ.get("PYOPENGL_PLATFORM") == backend:
        del os.environ["PYOPENGL_PLATFORM"]
    for name in [name for name in sys.modules if name.split(".")[0] == "OpenGL" or name.endswith(f".{backend}")]:
        del sys.modules[name]
