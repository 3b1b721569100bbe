"""Many futures of one model at once, by `mujoco.rollout`, on the calling thread unless more are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rolled:
    """What happened in n rollouts of T physics steps; row t is the state after step t.

    `times` (T,) [s] from the start, `qpos` (n, T, nq), `qvel` (n, T, nv), `sensors` (n, T, nsensordata), `controls`
    (n, T, nu).
    """

    times: Array
    qpos: Array
    qvel: Array
    sensors: Array
    controls: Array


def full_state(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Everything that decides how `data` goes on, (nstate,): what a rollout starts from."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return state


class Rollouts:
    """Rolls one model out. Owns its scratch data; `threads` 0 computes where it is called."""

    def __init__(self, model: mujoco.MjModel, threads: int = 0) -> None:
        import mujoco
        import mujoco.rollout

        self.model = model
        self._data = [mujoco.MjData(model) for _ in range(max(1, threads))]
        self._rollout = mujoco.rollout.Rollout(nthread=threads)
        self._nstate = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._first = 1  # of the state: the time comes before qpos

    def run(self, start: Array, controls: Array) -> Rolled:
        """The futures from `start` (nstate,), or one for each rollout (n, nstate), under `controls` (n, T, nu).

        Raises InputError for sizes that do not fit the model.
        """
        model, (count, steps, nu) = self.model, controls.shape
        if nu != model.nu or start.shape not in ((self._nstate,), (count, self._nstate)):
            raise InputError(
                f"rollouts of this model need controls (n, T, {model.nu}) and a start ({self._nstate},) or "
                f"(n, {self._nstate}), not {controls.shape} and {start.shape}"
            )
        states = np.empty((count, steps, self._nstate))
        sensors = np.empty((count, steps, model.nsensordata))
        initial = np.ascontiguousarray(np.broadcast_to(start, (count, self._nstate)))
        self._rollout.rollout(
            model, self._data, initial, np.ascontiguousarray(controls), state=states, sensordata=sensors
        )
        times = model.opt.timestep * np.arange(1.0, steps + 1)
        velocities = self._first + model.nq
        qpos, qvel = states[:, :, self._first : velocities], states[:, :, velocities : velocities + model.nv]
        return Rolled(times, qpos, qvel, sensors, controls)

    def close(self) -> None:
        """Gives the threads back."""
        self._rollout.close()
