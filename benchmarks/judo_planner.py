"""The tasks of sampling_tasks.py planned by judo (judo-rai on PyPI), in an interpreter that has it; JSON to stdout.

Run by bench_sampling.py: python judo_planner.py TASK METHOD STARTS SECONDS SEED
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from closed_loop_sampling import Planner, run
from judo.controller.controller import Controller, ControllerConfig
from judo.optimizers import get_registered_optimizers
from judo.tasks.base import Task, TaskConfig
from mujoco import MjData, MjModel, MjSpec
from sampling_tasks import HORIZON, KNOTS, PERIOD, ROLLOUTS, TASKS, SamplingTask

METHODS = {"predictive": "ps", "cem": "cem", "mppi": "mppi"}


@dataclass
class Nothing(TaskConfig):
    """Of these tasks there is nothing to set."""


class Given(Task[Nothing]):
    """One of our tasks as judo wants it; its own constructor would fetch meshes from the network."""

    name, config_t = "given", Nothing

    def __init__(self, task: SamplingTask) -> None:
        self.config, self._cost = Nothing(), task.cost
        self.spec = MjSpec.from_string(task.model)
        self.model = self.sim_model = self.spec.compile()
        self.data, self.model_path = MjData(self.model), ""

    def reward(self, states: Any, sensors: Any, controls: Any, system_metadata: Any = None) -> np.ndarray:
        nq = self.model.nq
        return -self._cost(states[..., :nq], states[..., nq:], controls).sum(axis=-1)


def planner(name: str, method: str) -> Planner:
    """judo's controller with its own settings for these tasks, and our number of rollouts, knots and seconds."""
    task = Given(TASKS[name])
    make, config = get_registered_optimizers()[METHODS[method]]
    settings = config()
    settings.set_override(name)
    settings.num_rollouts, settings.num_nodes = ROLLOUTS, KNOTS
    timing = ControllerConfig(horizon=HORIZON, spline_order="zero", control_freq=1 / PERIOD)
    controller = Controller(timing, task, make(settings, task.nu))

    def plan(model: MjModel, data: MjData) -> np.ndarray:
        controller.current_state, controller.time = np.concatenate([data.qpos, data.qvel]), data.time
        controller.update_action()
        return controller.action(data.time + model.opt.timestep * np.arange(round(PERIOD / model.opt.timestep)))

    return plan


def main() -> int:
    name, method, starts, seconds, seed = sys.argv[1:]
    np.random.seed(int(seed))  # judo draws from NumPy's one generator
    print(json.dumps(run(TASKS[name], lambda _: planner(name, method), int(starts), float(seconds), int(seed))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
