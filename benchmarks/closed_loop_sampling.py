"""A sampling planner in closed loop with the model that it plans with; with NumPy and MuJoCo alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np
from sampling_tasks import PERIOD, Array, SamplingTask

Planner = Callable[[mujoco.MjModel, mujoco.MjData], Array]  # controls (steps, nu) of the coming PERIOD


def run(
    task: SamplingTask, make: Callable[[int], Planner], starts: int, seconds: float, seed: int
) -> dict[str, list[float]]:
    """For each start the mean and the last cost per step; for each plan its CPU time, of all threads, and wall [ms]."""
    model = mujoco.MjModel.from_xml_string(task.model)
    steps = round(PERIOD / model.opt.timestep)
    report: dict[str, list[float]] = {"mean cost": [], "last cost": [], "cpu ms": [], "wall ms": []}
    for k in range(starts):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = task.start(np.random.default_rng(seed + k))
        mujoco.mj_forward(model, data)
        plan, costs = make(seed + k), []
        for _ in range(round(seconds / PERIOD)):
            cpu, wall = time.process_time(), time.perf_counter()
            controls = plan(model, data)
            report["cpu ms"].append(1e3 * (time.process_time() - cpu))
            report["wall ms"].append(1e3 * (time.perf_counter() - wall))
            for control in controls[:steps]:
                data.ctrl[:] = np.clip(control, *model.actuator_ctrlrange.T)
                mujoco.mj_step(model, data)
                costs.append(float(task.cost(data.qpos, data.qvel, data.ctrl)))
        report["mean cost"].append(float(np.mean(costs)))
        report["last cost"].append(float(np.mean(costs[-round(1.0 / model.opt.timestep) :])))
    return report
