"""What the hand holds, as `scene` tells it: to whoever has to keep it out of zones."""

from __future__ import annotations

from collections.abc import Callable

from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.node import Node

from llm_planner.control.carried import Carried, Grip
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.scene_reader import SceneReader
from llm_planner.nodes.shell import NEWEST_ONLY


class HandFeed:
    """Calls `on_change` with what is held now, whenever that changes; while no scene comes it stays what it was."""

    def __init__(self, node: Node, on_change: Callable[[Carried | None], None]) -> None:
        self._node, self._on_change = node, on_change
        self._grip, self._scenes = Grip(), SceneReader(self._tell)
        node.create_subscription(SceneMsg, "scene", self._on_scene, NEWEST_ONLY)

    def _on_scene(self, message: SceneMsg) -> None:
        try:
            if self._grip.see(self._scenes.read(message)):
                self._on_change(self._grip.carried)
        except LlmPlannerError as error:
            self._node.get_logger().error(f"what the hand holds is not known: {error}", throttle_duration_sec=5.0)

    def _tell(self, flaw: str) -> None:
        self._node.get_logger().warning(flaw, throttle_duration_sec=5.0)
