"""Which renderer draws a scene: the table with its arm, or the building with its mobile robot."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.camera import SceneRenderer
from llm_planner.simulation.objects import ObjectSpec, spec_of
from llm_planner.simulation.offscreen import Image
from llm_planner.simulation.rooms.camera import RoomsRenderer
from llm_planner.world.building import Building
from llm_planner.world.scene import Scene, Vector3

TABLE_SIZE, BUILDING_SIZE = (640, 480), (800, 600)  # a building has more to read
Drawn = tuple[Building | None, tuple[ObjectSpec, ...]]  # what a renderer is made for


class Renderer(Protocol):
    """Draws scenes with the things it was made for. Close it after use."""

    def render(
        self,
        qpos: Sequence[float] | NDArray[np.float64],
        gripper_width: float,
        scene: Scene,
        way: Sequence[Vector3] = (),
    ) -> Image:
        """The picture (height, width, 3), with a line along `way` [m]."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Renderer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def drawn(scene: Scene) -> Drawn:
    """What a renderer for this scene is made for: another one is needed when it changes."""
    if scene.building is None:
        return None, tuple(map(spec_of, scene.objects))
    return scene.building, tuple(ObjectSpec(item.name, item.kind, item.color) for item in scene.objects)


def make_renderer(scene: Scene, size: tuple[int, int] | None = None) -> Renderer:
    """For pictures of that width and height, or of what suits the scene.

    Raises SimulationError where no off-screen OpenGL works.
    """
    building, things = drawn(scene)
    if building is not None:
        return RoomsRenderer(building, things, *(size or BUILDING_SIZE))
    return SceneRenderer(things, *(size or TABLE_SIZE))
