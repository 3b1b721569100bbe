"""One scene after the other, each as much as can be made of it: an odd object costs the robot nothing but that."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner_interfaces.msg import Scene as SceneMsg

from llm_planner.nodes.message_conversions import scene_from_msg
from llm_planner.world.scene import Scene
from llm_planner.world.scene_completion import UNKNOWN_SIZE, completed


class SceneReader:
    """Single owner. `tell(sentence)` is called for whatever in a scene could not be used."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._before: Scene | None = None
        self._run = 0

    def read(self, message: SceneMsg) -> Scene:
        """The scene; raises InputError for one of which nothing can be used, and the one before then still counts.

        An object that cannot be read stays where it was seen last, or is left out where it never was; what is held but
        not listed is where the hand is.
        """
        left_out: dict[str, str] = {}
        seen = scene_from_msg(message, left_out)
        before = self._before if message.run == self._run else None
        scene = completed(seen, left_out, before)
        for name, why in left_out.items():
            kept = "it counts as where it was last" if name in scene.names else "it is left out"
            self._tell(f"an object of the scene cannot be used, {kept}: {why}")
        if scene.held and scene.held not in seen.names:
            size = "as large as it was last" if before and scene.held in before.names else f"{UNKNOWN_SIZE[0]:g} m wide"
            self._tell(
                f"held is {scene.held!a}, which cannot be read among the objects; it counts as in the hand, {size}"
            )
        self._before, self._run = scene, message.run
        return scene
