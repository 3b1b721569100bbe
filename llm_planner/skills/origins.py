"""Where things lay before they were picked up."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.world.scene import Scene, Vector3


class OriginTracker:
    """Follows the scene and remembers, for each object, where it last was while nothing held it."""

    def __init__(self) -> None:
        self._origins: dict[str, Vector3] = {}

    def update(self, scene: Scene) -> Mapping[str, Vector3]:
        """Positions [m, base frame] by name: now for what lies, before it was picked up for what is held."""
        for item in scene.objects:
            if item.name != scene.held:
                self._origins[item.name] = item.position
        return dict(self._origins)
