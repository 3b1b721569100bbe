"""Pictures of a MuJoCo model, drawn without a screen."""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.gl import open_gl_context
from llm_planner.simulation.looks import COLLISION_GROUP
from llm_planner.world.scene import Vector3

if TYPE_CHECKING:
    import mujoco

Image = NDArray[np.uint8]
Renderer = TypeVar("Renderer", bound="OffscreenRenderer")


@dataclass(frozen=True)
class Label:
    """Words at a place in the scene [m]."""

    text: str
    position: Vector3
    color: Vector3 = (0.1, 0.1, 0.12)


class OffscreenRenderer:
    """Draws `spec` as its camera called `camera` sees it; bound to the thread that made it. Close it after use.

    Raises SimulationError where no off-screen OpenGL works.
    """

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

    def draw(self, labels: Iterable[Label] = ()) -> Image:
        """The picture (height, width, 3) of the data as they are."""
        mujoco, rectangle = self._mujoco, self._mujoco.MjrRect(0, 0, self.width, self.height)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        for label in labels:
            self._add(label)
        mujoco.mjr_render(rectangle, self._scene, self._context)
        image = np.empty((self.height, self.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(image, None, rectangle, self._context)
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        """Frees the OpenGL context; the interpreter's exit does so too, while OpenGL still stands."""
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
        self._scene = mujoco.MjvScene(self._model, maxgeom=600)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION, mujoco.mjtRndFlag.mjRND_HAZE):
            self._scene.flags[flag] = 0
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        atexit.register(self.close)

    def _add(self, label: Label) -> None:
        mujoco, scene = self._mujoco, self._scene
        if scene.ngeom == scene.maxgeom:
            return
        geom = scene.geoms[scene.ngeom]
        color = np.array([*label.color, 1.0], dtype=np.float32)
        size, turned = np.full(3, 0.1), np.eye(3).ravel()
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_LABEL, size, np.array(label.position), turned, color)
        geom.label = label.text
        scene.ngeom += 1
