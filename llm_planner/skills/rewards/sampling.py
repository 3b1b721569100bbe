"""Predictive sampling: draw controls at random, roll them out with `mujoco.rollout`, and keep the best.

See Howell et al., arXiv:2212.00541. Controls over time are a linear map of a few knots, so a batch is one matrix
product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rolled:
    """Result of n rollouts of T physics steps: `qpos` (n, T, nq) after each step, and `controls` (n, T, nu)."""

    qpos: Array
    controls: Array


def full_state(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the full physics state of `data` (nstate,), from which a rollout starts."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return state


class Rollouts:
    """Rolls out one model on the calling thread, and owns its scratch data."""

    def __init__(self, model: mujoco.MjModel) -> None:
        import mujoco
        import mujoco.rollout

        self.model = model
        self._data = [mujoco.MjData(model)]
        self._rollout = mujoco.rollout.Rollout(nthread=0)
        self._nstate = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def run(self, start: Array, controls: Array) -> Rolled:
        """Roll out `controls` (n, T, nu) from `start` (nstate,), or from one state per rollout (n, nstate).

        Raises InputError for sizes that do not fit the model.
        """
        model, (count, steps, nu) = self.model, controls.shape
        if nu != model.nu or start.shape not in ((self._nstate,), (count, self._nstate)):
            raise InputError(
                f"rollouts of this model need controls (n, T, {model.nu}) and a start ({self._nstate},) or "
                f"(n, {self._nstate}), not {controls.shape} and {start.shape}"
            )
        states = np.empty((count, steps, self._nstate))
        initial = np.ascontiguousarray(np.broadcast_to(start, (count, self._nstate)))
        self._rollout.rollout(model, self._data, initial, np.ascontiguousarray(controls), state=states)
        return Rolled(states[:, :, 1 : 1 + model.nq], controls)  # the first number of a state is the time


def basis(times: Array, count: int, horizon: float) -> Array:
    """Return the matrix B (len(times), count) with controls = B @ knots, linear between `count` knots.

    The knots are spread evenly over [0, `horizon`] [s]; at other `times` [s] the first or last one holds. Raises
    InputError for fewer than two knots, or no positive horizon.
    """
    if count < 2 or not horizon > 0:
        raise InputError(f"a spline needs two knots or more and a horizon above 0 s, not {count} and {horizon:g} s")
    place = np.clip(np.asarray(times, dtype=np.float64) / horizon * (count - 1), 0.0, count - 1)
    index = np.minimum((place + 1e-9).astype(np.intp), count - 2)
    rows, share = np.arange(len(place)), place - index
    matrix = np.zeros((len(place), count))
    matrix[rows, index], matrix[rows, index + 1] = 1.0 - share, share
    return matrix


Cost = Callable[[Rolled], Array]  # costs (n,), lower is better


@dataclass(frozen=True)
class SamplingSettings:
    """Parameters of the search; times in s. A plan has `knots` control points over `horizon`."""

    rollouts: int = 40
    horizon: float = 0.8
    knots: int = 4
    finest: float = 1.0  # draws are scaled by shares from 1 down to this, for fine motion on the last centimetres

    def __post_init__(self) -> None:
        if self.rollouts < 2:
            raise InputError(f"sampling needs two rollouts or more, not {self.rollouts}")
        if not 0 < self.finest <= 1:
            raise InputError(f"finest must lie in (0, 1], not {self.finest:g}")


@dataclass(frozen=True)
class ControlRange:
    """Distribution of draws: bounds `lower` and `upper` (nu,), standard deviation `spread` (nu,) or (knots, nu)."""

    lower: Array
    upper: Array
    spread: Array


@dataclass(frozen=True)
class Plan:
    """Control points `mean` (knots, nu) over the horizon from `time` [s].

    `cost` is that of the best rollout in its batch.
    """

    time: float
    mean: Array
    cost: float = float("inf")


def first_plan(time: float, control: Array, settings: SamplingSettings) -> Plan:
    """Return an initial plan that holds `control` (nu,)."""
    return Plan(time, np.tile(control, (settings.knots, 1)))


def shifted(plan: Plan, time: float, settings: SamplingSettings) -> Plan:
    """Shift a plan to start at `time` [s]: drop the past and hold the last control (warm start)."""
    knots = np.linspace(0.0, settings.horizon, settings.knots)
    return replace(plan, time=time, mean=controls_at(plan, knots + time, settings))


def controls_at(plan: Plan, times: Array, settings: SamplingSettings) -> Array:
    """Return the controls (len(times), nu) of a plan at absolute `times` [s]."""
    return basis(times - plan.time, settings.knots, settings.horizon) @ plan.mean


def optimise(
    rollouts: Rollouts,
    start: Array,
    cost: Cost,
    plan: Plan,
    controls: ControlRange,
    settings: SamplingSettings,
    rng: np.random.Generator,
    candidates: Array | None = None,
) -> Plan:
    """Improve `plan` by sampling from the state `start` (nstate,), see `full_state`; the plan itself is always tried.

    `candidates` (k, knots, nu) are further control points to try unchanged. Rollouts of non-finite cost count as the
    worst. Deterministic for a given `rng`.
    """
    steps = max(1, round(settings.horizon / rollouts.model.opt.timestep))
    expand = basis(rollouts.model.opt.timestep * np.arange(steps), settings.knots, settings.horizon)
    noise = rng.standard_normal((settings.rollouts - 1, settings.knots, rollouts.model.nu))
    noise *= np.geomspace(1.0, settings.finest, settings.rollouts - 1)[:, None, None]
    drawn = [plan.mean[None], plan.mean + noise * controls.spread, *([] if candidates is None else [candidates])]
    knots = np.clip(np.concatenate(drawn), controls.lower, controls.upper)
    costs = cost(rollouts.run(start, expand @ knots))
    costs = np.where(np.isfinite(costs), costs, np.inf)
    best = int(np.argmin(costs))
    return replace(plan, mean=knots[best], cost=float(costs[best])) if np.isfinite(costs[best]) else plan
