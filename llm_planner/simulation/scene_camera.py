"""The overview camera in one process: it draws what the simulator shows at the moment in which it is asked."""

from __future__ import annotations

from llm_planner.simulation.offscreen import Image
from llm_planner.simulation.renderers import Drawn, Renderer, drawn, make_renderer
from llm_planner.skills.contract import Observation

SIZE = (640, 480)


class SceneCamera:
    """Takes pictures (480, 640, 3). OpenGL is opened for the first one, and again when other things are there."""

    def __init__(self) -> None:
        self._renderer: Renderer | None = None
        self._drawn: Drawn | None = None

    def __call__(self, observation: Observation) -> Image:
        """The scene observed, with the robot in it; raises SimulationError where no off-screen OpenGL works."""
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
        """Frees OpenGL; the next picture opens it again."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
