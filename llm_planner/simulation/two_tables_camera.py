"""Off-screen images of a room with tables and an arm on a mobile base, from above one of the walls."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robots import BASE_JOINTS, yaw_of
from llm_planner.scene.driven_base import arm_frame, in_map
from llm_planner.scene.geometry import compose
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.simulation.camera import CAMERA, SceneRenderer
from llm_planner.simulation.objects import spec_of
from llm_planner.simulation.offscreen import Image
from llm_planner.simulation.two_tables import room_spec

ELEVATION = math.radians(48.0)  # [rad] of the camera above the floor
AWAY = 5.2  # [m] from the middle of the room
FOVY = 40.0  # [degrees]


class TwoTablesRenderer(SceneRenderer):
    """Renderer of the room, tables and robot of `scene`, and of the objects that it shows; see `OffscreenRenderer`."""

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
        self,
        qpos: Sequence[float] | NDArray[np.float64],
        gripper_width: float,
        scene: Scene,
        way: Sequence[Vector3] = (),
        caption: str = "",
    ) -> Image:
        """See `SceneRenderer`; `scene` and `way` are in the frame of the arm's base."""
        assert scene.base is not None
        pose, frame = scene.base.pose, arm_frame(scene.base)
        self._data.qpos[self._base : self._base + 3] = (*pose.position[:2], yaw_of(pose))
        return super().render(
            qpos, gripper_width, in_map(scene), [compose(frame, Pose(point)).position for point in way], caption
        )
