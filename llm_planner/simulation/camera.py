"""Pictures of a scene, drawn without a screen from nothing but joint angles and a Scene."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.gl import open_gl_context
from llm_planner.simulation.looks import COLLISION_GROUP, dress_objects, dress_panda
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.panda import ARM_JOINTS
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.world.scene import Scene

Image = NDArray[np.uint8]
NQ = len(ARM_JOINTS)
CAMERA = "overview"


class SceneRenderer:
    """Draws the world `tabletop` with the given objects; bound to the thread that made it. Close it after use.

    Raises SimulationError where no off-screen OpenGL works.
    """

    def __init__(self, objects: Sequence[ObjectSpec], width: int = 640, height: int = 480) -> None:
        import mujoco

        self._mujoco = mujoco
        self.width, self.height = width, height
        spec = tabletop_spec(objects)
        dress_objects(spec, objects)
        self.has_robot_meshes = dress_panda(spec)
        spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[COLLISION_GROUP] = 0
        self._dress_bare_links()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = self._model.camera(CAMERA).id
        self._open(width, height)

    def render(self, qpos: Sequence[float] | NDArray[np.float64], gripper_width: float, scene: Scene) -> Image:
        """The picture (height, width, 3) of the arm at `qpos` (7,) [rad] and the objects as in `scene`.

        Objects of the scene that the renderer was not told of are left out; those it lacks are hidden.
        """
        self._pose(qpos, gripper_width, scene)
        mujoco, rectangle = self._mujoco, self._mujoco.MjrRect(0, 0, self.width, self.height)
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model, self._data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
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

    def __enter__(self) -> SceneRenderer:
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

    def _dress_bare_links(self) -> None:
        """Without the robot's meshes its collision shapes are drawn."""
        if not self.has_robot_meshes:
            robot = self._model.geom_contype == 1
            self._model.geom_group[robot] = 0

    def _pose(self, qpos: Sequence[float] | NDArray[np.float64], gripper_width: float, scene: Scene) -> None:
        data = self._data
        data.qpos[:] = self._model.qpos0
        data.qpos[NQ + 2 :: 7] = 100.0  # far behind the camera until the scene says where
        data.qpos[:NQ] = qpos
        data.qpos[NQ : NQ + 2] = gripper_width / 2
        known = {self._model.joint(index).name: index for index in range(NQ + 2, self._model.njnt)}
        for item in scene.objects:
            if item.name in known:
                start = self._model.jnt_qposadr[known[item.name]]
                x, y, z, w = item.orientation
                data.qpos[start : start + 7] = [*item.position, w, x, y, z]
        self._mujoco.mj_kinematics(self._model, data)
        self._mujoco.mj_camlight(self._model, data)
