"""Pictures of the scene, with the way that a plan would take."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcp_types import ImageContent

from llm_planner.plans.plan import PlanStep
from llm_planner.plans.trace import drawn_ways
from llm_planner.programs.signatures import Signature
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene, Vector3


def planned_way(
    steps: Sequence[PlanStep], skills: Mapping[str, Signature], scene: Scene, viewpoint: Viewpoint
) -> list[Vector3]:
    """Return the points [m] of the way of the steps from `scene` on, up to the first one that cannot be foreseen."""
    origins = {item.name: item.position for item in scene.objects}
    return [point for _, points in drawn_ways(steps, skills, scene, origins, viewpoint) for point in points]


def picture(scene: Scene, posture: tuple[tuple[float, ...], float], way: Sequence[Vector3] = ()) -> ImageContent:
    """Draw the scene with the robot in this posture, and a line along `way` [m].

    Raises:
        SimulationError: No off-screen OpenGL works.
    """
    from llm_planner.simulation.renderers import make_renderer, write_picture

    qpos, width = posture
    with make_renderer(scene) as renderer, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.png"
        write_picture(path, renderer.render(qpos, width, scene, way))
        data = base64.b64encode(path.read_bytes()).decode()
    return ImageContent(type="image", data=data, mime_type="image/png")
