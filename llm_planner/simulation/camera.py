"""Pictures of the table, drawn without a screen from nothing but joint angles and a Scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.looks import dress_objects, dress_panda
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.offscreen import Image, OffscreenRenderer
from llm_planner.simulation.panda import ARM_JOINTS
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.world.scene import Scene, Vector3

NQ = len(ARM_JOINTS)
CAMERA = "overview"


class SceneRenderer(OffscreenRenderer):
    """Draws the world `tabletop` with the given objects; see `OffscreenRenderer`."""

    def __init__(self, objects: Sequence[ObjectSpec], width: int = 640, height: int = 480) -> None:
        spec = tabletop_spec(objects)
        dress_objects(spec, objects)
        self.has_robot_meshes = dress_panda(spec)
        super().__init__(spec, CAMERA, width, height)
        self._dress_bare_links()

    def render(
        self,
        qpos: Sequence[float] | NDArray[np.float64],
        gripper_width: float,
        scene: Scene,
        way: Sequence[Vector3] = (),
    ) -> Image:
        """The picture (height, width, 3) of the arm at `qpos` (7,) [rad] and the objects as in `scene`.

        Objects of the scene that the renderer was not told of are left out; those it lacks are hidden.
        """
        self._pose(qpos, gripper_width, scene)
        return self.draw(way=way)

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
