"""Pictures of the table, drawn without a screen from nothing but joint angles and a Scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.fixtures import Fixture
from llm_planner.simulation.furniture_looks import dress_furniture, show_state
from llm_planner.simulation.looks import dress_objects, dress_panda
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.offscreen import Image, OffscreenRenderer
from llm_planner.simulation.panda import ARM_JOINTS
from llm_planner.simulation.tabletop import tabletop_spec
from llm_planner.world.scene import IDENTITY, Pose, Scene, Vector3

NQ = len(ARM_JOINTS)
CAMERA = "overview"
HIDDEN = Pose((100.0, 100.0, 100.0))  # far behind the camera, until the scene says where


class SceneRenderer(OffscreenRenderer):
    """Draws the world `tabletop` with the given objects; see `OffscreenRenderer`."""

    def __init__(self, objects: Sequence[ObjectSpec], width: int = 640, height: int = 480) -> None:
        spec = tabletop_spec(objects)
        dress_objects(spec, objects)
        dress_furniture(spec, objects)
        self.has_robot_meshes = dress_panda(spec)
        super().__init__(spec, CAMERA, width, height)
        self._dress_bare_links()
        self._fixtures = {item.name: Fixture(self._model, item) for item in objects if item.shape.fixed}
        free = [item.name for item in objects if not item.shape.fixed]
        self._free = {name: int(self._model.joint(name).qposadr[0]) for name in free}

    def render(
        self,
        qpos: Sequence[float] | NDArray[np.float64],
        gripper_width: float,
        scene: Scene,
        way: Sequence[Vector3] = (),
        caption: str = "",
    ) -> Image:
        """The picture (height, width, 3) of the arm at `qpos` (7,) [rad] and the objects as in `scene`.

        Objects of the scene that the renderer was not told of are left out; those it lacks are hidden.
        """
        self._pose(qpos, gripper_width, scene)
        return self.draw(way=way, caption=caption)

    def _dress_bare_links(self) -> None:
        """Without the robot's meshes its collision shapes are drawn."""
        if not self.has_robot_meshes:
            robot = self._model.geom_contype == 1
            self._model.geom_group[robot] = 0

    def _pose(self, qpos: Sequence[float] | NDArray[np.float64], gripper_width: float, scene: Scene) -> None:
        data = self._data
        data.qpos[:NQ] = qpos
        data.qpos[NQ : NQ + 2] = gripper_width / 2
        seen = {item.name: item for item in scene.objects}
        for name, fixture in self._fixtures.items():
            if name in seen:
                fixture.place(data, Pose(seen[name].position, seen[name].orientation), seen[name].state)
                show_state(self._model, name, seen[name].kind, seen[name].state)
            else:
                fixture.place(data, HIDDEN, 0.0)
        for name, start in self._free.items():
            item = seen.get(name)
            (x, y, z), (qx, qy, qz, qw) = (item.position, item.orientation) if item else (HIDDEN.position, IDENTITY)
            data.qpos[start : start + 7] = x, y, z, qw, qx, qy, qz
