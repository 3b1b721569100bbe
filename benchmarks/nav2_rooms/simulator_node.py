"""The simulator of the benchmark: buildings with the numbers of rooms of `bench_rooms`, and a record of what happened.

At each reset it writes the scenes since the reset before to `RECORDS`/SEED.pickle, 20 a simulated second, and at once
where the base is in another room or something was taken or put down.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import ClassVar

from llm_planner_interfaces.srv import ResetWorld

from llm_planner.ros.base_node import run_node
from llm_planner.ros.node_table import SENDERS
from llm_planner.ros.nodes.simulator_node import SimulatorNode
from llm_planner.scene.scene import Scene
from llm_planner.simulation.rooms.building_plan import ROOMS_MAX, ROOMS_MIN

RECORDS = "NAV2_ROOMS_RECORDS"  # environment variable: a folder
EVERY = 5  # periods between two scenes of the record


def rooms_of(seed: int) -> int:
    """Return how many rooms the building of a seed has, as in `bench_rooms`."""
    return ROOMS_MIN + seed % (ROOMS_MAX - ROOMS_MIN + 1)


class TaskSimulatorNode(SimulatorNode):
    """Takes velocities from nav2 alone."""

    senders: ClassVar = {**SENDERS, "cmd_vel": ("nav2",)}

    def configure(self) -> None:
        self._seed = self.setting("seed")
        self._record: list[Scene] = []
        super().configure()

    def _restart(self) -> None:
        self._record = [self._world.scene()]
        super()._restart()

    def _advance(self) -> None:
        super()._advance()
        scene, last = self._world.scene(), self._record[-1]
        if self._count % EVERY == 0 or (scene.robot_room, scene.held) != (last.robot_room, last.held):
            self._record.append(scene)

    def _on_reset(self, request: ResetWorld.Request, response: ResetWorld.Response) -> ResetWorld.Response:
        path = Path(os.environ[RECORDS]) / f"{self._seed}.pickle"
        path.with_suffix(".part").write_bytes(pickle.dumps(self._record))
        path.with_suffix(".part").rename(path)
        self._seed = request.seed
        self._world._rooms = rooms_of(request.seed)
        return super()._on_reset(request, response)


def main() -> None:
    run_node(TaskSimulatorNode, "simulator")


if __name__ == "__main__":
    main()
