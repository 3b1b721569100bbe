"""The newest scene, how old it is, and whether it is still of the same world."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.errors import InputError
from llm_planner.nodes import message_checks as checks
from llm_planner.nodes.scene_reader import SceneReader
from llm_planner.nodes.shell import LATCHED, NEWEST_ONLY
from llm_planner.world.scene import Scene

NO_SCENE = "Nothing shows me the scene. Is the simulator, or the robot's perception, running?"


class SceneFeed:
    """Hears `scene`, and on `diagnosis` what the robot reports of itself.

    `on_scene(restarted)` is called for each scene, restarted where another run of the world has begun.

    A scene is fresh for `timeout` [s, wall time]. All calls back come from the node's executor.
    """

    def __init__(self, node: Node, timeout: float, on_scene: Callable[[bool], None]) -> None:
        self.scene: Scene | None = None
        self._timeout, self._on_scene = timeout, on_scene
        self._run = 0
        self._heard = 0.0  # [s, monotonic]
        self._next, self._deadline = Future(), 0.0  # done at the next scene, or when nobody can wait for it any more
        self._reports: tuple[str, ...] = ()
        self._log, self._reader = node.get_logger(), SceneReader(self._tell)
        node.create_subscription(SceneMsg, "scene", self._on_message, NEWEST_ONLY)
        node.create_subscription(String, "diagnosis", self._on_diagnosis, LATCHED)

    @property
    def is_fresh(self) -> bool:
        return self.scene is not None and time.monotonic() - self._heard <= self._timeout

    async def wait(self, patience: float) -> None:
        """Until a scene is fresh, or for `patience` [s, wall time]."""
        if self.is_fresh:
            return
        if self._next.done():
            self._next = Future()
        self._deadline = time.monotonic() + patience
        await self._next

    def watch(self) -> None:
        """To be called a few times a second."""
        if time.monotonic() > self._deadline:
            self._next.set_result(None)

    def _on_message(self, message: SceneMsg) -> None:
        try:
            scene = self._reader.read(message)
        except InputError as error:
            self._log.error(f"a scene cannot be used: {error}", throttle_duration_sec=5.0)
            return
        before, self.scene = self.scene, replace(scene, reports=self._reports)
        restarted = before is not None and (message.run != self._run or self.scene.time < before.time)
        self._run, self._heard = message.run, time.monotonic()
        self._next.set_result(None)
        self._on_scene(restarted)

    def _tell(self, flaw: str) -> None:
        self._log.warning(flaw, throttle_duration_sec=5.0)

    def _on_diagnosis(self, message: String) -> None:
        try:
            told = checks.text("diagnosis", message.data)
        except InputError as error:
            self._log.error(str(error), throttle_duration_sec=5.0)
            return
        self._reports = (told,) if told else ()
