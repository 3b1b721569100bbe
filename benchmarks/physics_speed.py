"""How fast the physics is: bare `mj_step` against our loop around it, on the very same motion.

python benchmarks/physics_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.simulation.camera import SceneRenderer
from llm_planner.simulation.world import World

PANDA = arm_model("panda")

Array = NDArray[np.float64]


class RecordingWorld(World):
    """A world that keeps what it told the actuators, so that the same motion can be stepped barely."""

    def __init__(self, seed: int = 0) -> None:
        self.recorded: list[Array] = []
        super().__init__(seed)

    def controls(self, trajectory: JointTrajectory, steps: int) -> Array:
        self.recorded.append(super().controls(trajectory, steps))
        return self.recorded[-1]


@dataclass(frozen=True)
class LoopCost:
    """CPU time of one motion [s], with everything around the physics and without, over `steps` physics steps."""

    steps: int
    loop: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.loop / self.bare


def measure(world: RecordingWorld, episode: Callable[[], object]) -> LoopCost:
    """Runs `episode`, which moves `world`, and then steps the same physics again with nothing around it."""
    start = saved(world)
    world.recorded.clear()
    begin = time.process_time()
    episode()
    loop = time.process_time() - begin
    end = world.data.qpos.copy()
    ctrl = np.concatenate(world.recorded)
    bare = step_barely(world, start, ctrl)
    assert np.array_equal(world.data.qpos, end), "the bare steps went another way: this is no comparison"
    return LoopCost(len(ctrl), loop, bare)


def saved(world: World) -> mujoco.MjData:
    """A copy of the physics' state."""
    data = mujoco.MjData(world.model)
    mujoco.mj_copyData(data, world.model, world.data)
    return data


def step_barely(world: World, start: mujoco.MjData, ctrl: Array) -> float:
    """CPU time [s] of `mj_step` under recorded actuator targets (n, nu)."""
    mujoco.mj_copyData(world.data, world.model, start)
    model, data, step = world.model, world.data, mujoco.mj_step
    begin = time.process_time()
    for row in ctrl:
        data.ctrl = row
        step(model, data)
    return time.process_time() - begin


def wave(seconds: float) -> JointTrajectory:
    """The arm sways for a while: joint 1 to and fro, everything else at home."""
    dt = 0.05
    n = round(seconds / dt)
    qpos, qvel = np.tile(np.array(PANDA.home), (n + 1, 1)), np.zeros((n + 1, 7))
    angle = 2 * np.pi * np.arange(n + 1) * dt / 4.0
    qpos[:, 0], qvel[:, 0] = 0.3 * (1 - np.cos(angle)), 0.3 * 2 * np.pi / 4.0 * np.sin(angle)
    qvel[-1] = 0.0
    return JointTrajectory(0.0, dt, qpos, qvel, np.diff(qvel, axis=0) / dt, 0.08)


def follow_all(world: World, period: float, seconds: float) -> None:
    trajectory = wave(seconds)
    for _ in range(round(seconds / period)):
        world.follow(trajectory, period)


def main() -> None:
    for period in (0.01, 0.05):
        world = RecordingWorld(seed=3)
        cost = measure(world, lambda world=world, period=period: follow_all(world, period, 20.0))
        print(
            f"bare mj_step {1e6 * cost.bare / cost.steps:.1f} us, followed every {1e3 * period:.0f} ms"
            f" {1e6 * cost.loop / cost.steps:.1f} us: {cost.ratio:.2f} times as long,"
            f" {cost.steps * world.dt / cost.loop:.0f} times real time"
        )
    with SceneRenderer(world.objects) as renderer:
        renderer.render(PANDA.home, 0.08, world.scene())
        begin = time.process_time()
        for _ in range(20):
            renderer.render(PANDA.home, 0.08, world.scene())
        print(f"frame of 640 x 480: {1e3 * (time.process_time() - begin) / 20:.1f} ms of CPU time")


if __name__ == "__main__":
    main()
