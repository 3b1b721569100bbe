"""Pictures of the building from above, drawn without a screen from nothing but a Scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.offscreen import Image, Label, OffscreenRenderer
from llm_planner.simulation.rooms.base import BASE_HEIGHT, yaw_of
from llm_planner.simulation.rooms.looks import CAMERA, dress_rooms
from llm_planner.simulation.rooms.model import rooms_spec
from llm_planner.world.building import Building
from llm_planner.world.scene import Scene, Vector3

LABEL_RAISE = 0.15  # [m] of a name above its thing
NAME_COLOR = (1.0, 1.0, 1.0)
ROBOT_COLOR = (1.0, 0.62, 0.25)
THING_COLOR = (1.0, 0.90, 0.62)


class RoomsRenderer(OffscreenRenderer):
    """Draws a building with the things in it, and their names; see `OffscreenRenderer`."""

    def __init__(self, building: Building, things: Sequence[ObjectSpec], width: int = 800, height: int = 600) -> None:
        spec = rooms_spec(building, things)
        dress_rooms(spec, building, things, width / height)
        super().__init__(spec, CAMERA, width, height)
        self._building = building
        self._mocap = {item.name: int(self._model.body(item.name).mocapid[0]) for item in things}

    def render(
        self,
        qpos: Sequence[float] | NDArray[np.float64],
        gripper_width: float,
        scene: Scene,
        way: Sequence[Vector3] = (),
    ) -> Image:
        """The picture (height, width, 3) of the scene; the joints of a mobile robot are in it already."""
        self._data.mocap_pos[:, 2] = -100.0  # below the floor until the scene says where
        for item in scene.objects:
            if item.name in self._mocap:
                x, y, z, w = item.orientation
                self._data.mocap_pos[self._mocap[item.name]] = item.position
                self._data.mocap_quat[self._mocap[item.name]] = (w, x, y, z)
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
            if item.name == scene.held:  # its name above the robot's
                z += LABEL_RAISE
            yield Label(item.name, (x, y, z + item.size[2] / 2 + LABEL_RAISE), THING_COLOR)
