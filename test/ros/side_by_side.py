"""A robot of two in one world, as a test over DDS sees it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from std_msgs.msg import String

from llm_planner.cli.processes import NodeProcesses
from llm_planner.ros.client import CommandResult, Progress, Submission, SystemClient
from llm_planner.scene.scene import Scene

TIMEOUT = 180.0  # [s] of wall time: generous, because thirteen processes share a machine that may be busy


@dataclass
class Robot:
    """Client of one robot, and what it has seen last."""

    client: SystemClient
    processes: NodeProcesses
    scene: Scene | None = None
    reserved: dict[str, frozenset[str]] = field(default_factory=dict)  # zones that each robot has
    told: str = ""  # progress of its command

    def on_scene(self, scene: Scene) -> None:
        self.scene = scene

    def on_reserved(self, message: String) -> None:
        state = json.loads(message.data)
        self.reserved[state["arm"]] = frozenset(name for name, one in state["strips"].items() if one["has"])

    def on_progress(self, progress: Progress) -> None:
        self.told = progress.message

    def wait(self, condition) -> None:
        self.client.wait_until(condition, TIMEOUT, self.all_alive)

    def all_alive(self) -> None:
        assert not self.processes.dead()

    def say(self, text: str) -> CommandResult:
        return self.client.execute(text)

    def submit(self, text: str) -> Submission:
        submission = self.client.submit(text, self.on_progress)
        self.wait(lambda: submission.is_answered)
        return submission
