"""Sampling-based planning: draw controls at random, roll them out with `mujoco.rollout`, and refit the distribution.

Three methods update a plan from a batch: predictive sampling keeps the best (Howell et al., arXiv:2212.00541), the
cross-entropy method fits a normal distribution to the elites (Rubinstein and Kroese, 2004), and model predictive path
integral control averages all by exp(-cost / temperature) (Williams et al., arXiv:1509.01149). Controls over time are a
linear map of a few knots, so a batch is one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

if TYPE_CHECKING:
    import mujoco


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rolled:
    """Result of n rollouts of T physics steps; row t is the state after step t.

    `times` (T,) [s] from the start, `qpos` (n, T, nq), `qvel` (n, T, nv), `sensors` (n, T, nsensordata), `controls` (n,
    T, nu).
    """

    times: Array
    qpos: Array
    qvel: Array
    sensors: Array
    controls: Array


def full_state(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Return the full physics state of `data` (nstate,), from which a rollout starts."""
    import mujoco

    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return state


class Rollouts:
    """Rolls out one model and owns its scratch data; with `threads` 0 on the calling thread."""

    def __init__(self, model: mujoco.MjModel, threads: int = 0) -> None:
        import mujoco
        import mujoco.rollout

        self.model = model
        self._data = [mujoco.MjData(model) for _ in range(max(1, threads))]
        self._rollout = mujoco.rollout.Rollout(nthread=threads)
        self._nstate = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._first = 1  # index of qpos in the state, after the time

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
        """Release the threads."""
        self._rollout.close()


Interpolation = Literal["hold", "linear", "cubic"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("hold", "linear", "cubic")


def basis(times: Array, count: int, horizon: float, interpolation: Interpolation) -> Array:
    """Return the matrix B (len(times), count) with controls = B @ knots.

    Args:
        times: Times [s]; outside [0, horizon] the first or last knot holds.
        count: Number of knots, spread evenly over [0, horizon].
        horizon: Time of the last knot [s].
        interpolation: "hold" keeps each knot until the next, "linear" is piecewise linear, "cubic" is smooth (Catmull
            and Rom, 1974).

    Raises:
        InputError: Unknown interpolation, fewer than two knots, or no positive horizon.
    """
    if interpolation not in INTERPOLATIONS:
        raise InputError(f"there is no interpolation {interpolation!r}; choose one of: {', '.join(INTERPOLATIONS)}")
    if count < 2 or not horizon > 0:
        raise InputError(f"a spline needs two knots or more and a horizon above 0 s, not {count} and {horizon:g} s")
    place = np.clip(np.asarray(times, dtype=np.float64) / horizon * (count - 1), 0.0, count - 1)
    index = np.minimum((place + 1e-9).astype(np.intp), count - 2)
    share = place - index
    if interpolation == "hold":
        matrix: Array = np.eye(count)[index + (share >= 1.0 - 1e-9)]
        return matrix
    rows = np.arange(len(place))
    matrix = np.zeros((len(place), count))
    if interpolation == "linear":
        matrix[rows, index], matrix[rows, index + 1] = 1.0 - share, share
        return matrix
    values, slopes = np.eye(count), np.gradient(np.eye(count), axis=0)
    square, cube = share**2, share**3
    for weight, rows_of in (
        (2 * cube - 3 * square + 1, values[index]),
        (cube - 2 * square + share, slopes[index]),
        (3 * square - 2 * cube, values[index + 1]),
        (cube - square, slopes[index + 1]),
    ):
        matrix += weight[:, None] * rows_of
    return matrix


Method = Literal["predictive", "cem", "mppi"]
Cost = Callable[[Rolled], Array]  # costs (n,), lower is better


@dataclass(frozen=True)
class SamplingSettings:
    """Parameters of the search; times in s. A plan has `knots` control points over `horizon`."""

    method: Method = "predictive"
    rollouts: int = 40
    iterations: int = 1
    horizon: float = 0.8
    knots: int = 4
    interpolation: Interpolation = "cubic"
    finest: float = 1.0  # draws are scaled by shares from 1 down to this, for fine motion on the last centimetres
    elites: int = 6  # cem: number of best rollouts to fit
    spread_min: float = 0.1  # cem: least spread, as a share of the first
    temperature: float = 0.1  # mppi: unitless, relative to the mean excess cost of a batch

    def __post_init__(self) -> None:
        if self.method not in _LEARN:
            raise InputError(f"there is no sampling method {self.method!r}; choose one of: {', '.join(_LEARN)}")
        if self.rollouts < 2 or self.iterations < 1 or not 1 <= self.elites <= self.rollouts:
            raise InputError(
                "sampling needs two rollouts or more, one iteration or more and 1 to all of them as elites, not "
                f"{self.rollouts}, {self.iterations} and {self.elites}"
            )
        if not self.temperature > 0:
            raise InputError(f"the temperature must be positive, not {self.temperature:g}")
        if not 0 < self.finest <= 1:
            raise InputError(f"finest must lie in (0, 1], not {self.finest:g}")


@dataclass(frozen=True)
class ControlRange:
    """Distribution of draws: bounds `lower` and `upper` (nu,), standard deviation `spread` (nu,) or (knots, nu)."""

    lower: Array
    upper: Array
    spread: Array

    @classmethod
    def of(cls, rollouts: Rollouts, share: float) -> ControlRange:
        """Return the model's control limits with a spread of `share` of half their range.

        Raises InputError if an actuator has no limits.
        """
        model = rollouts.model
        if not model.actuator_ctrllimited.all():
            raise InputError("an actuator of this model has no ctrlrange; give a ControlRange of your own")
        lower, upper = model.actuator_ctrlrange.T
        return cls(lower.copy(), upper.copy(), share * (upper - lower) / 2)


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
    move = basis(knots + (time - plan.time), settings.knots, settings.horizon, settings.interpolation)
    return replace(plan, time=time, mean=move @ plan.mean)


def controls_at(plan: Plan, times: Array, settings: SamplingSettings) -> Array:
    """Return the controls (len(times), nu) of a plan at absolute `times` [s]."""
    return basis(times - plan.time, settings.knots, settings.horizon, settings.interpolation) @ plan.mean


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
    times = rollouts.model.opt.timestep * np.arange(steps)
    expand = basis(times, settings.knots, settings.horizon, settings.interpolation)
    widest = spread = np.broadcast_to(controls.spread, plan.mean.shape)
    for _ in range(settings.iterations):
        noise = rng.standard_normal((settings.rollouts - 1, settings.knots, rollouts.model.nu))
        noise *= np.geomspace(1.0, settings.finest, settings.rollouts - 1)[:, None, None]
        drawn = [plan.mean[None], plan.mean + noise * spread]
        knots = np.clip(
            np.concatenate(drawn if candidates is None else [*drawn, candidates]), controls.lower, controls.upper
        )
        costs = cost(rollouts.run(start, expand @ knots))
        costs = np.where(np.isfinite(costs), costs, np.inf)
        if not np.isfinite(costs).any():
            return plan
        mean, spread = _LEARN[settings.method](knots, costs, spread, widest, settings)
        plan = replace(plan, mean=mean, cost=float(costs.min()))
    return plan


def _best(knots: Array, costs: Array, spread: Array, widest: Array, settings: SamplingSettings) -> tuple[Array, Array]:
    return knots[int(np.argmin(costs))], spread


def _fitted(
    knots: Array, costs: Array, spread: Array, widest: Array, settings: SamplingSettings
) -> tuple[Array, Array]:
    elites = knots[np.argsort(costs, kind="stable")[: settings.elites]]
    return elites.mean(axis=0), np.clip(elites.std(axis=0), settings.spread_min * widest, widest)


def _averaged(
    knots: Array, costs: Array, spread: Array, widest: Array, settings: SamplingSettings
) -> tuple[Array, Array]:
    finite = np.isfinite(costs)
    above = costs[finite] - costs[finite].min()
    weights = np.exp(-above / max(settings.temperature * float(above.mean()), 1e-12))
    return np.tensordot(weights / weights.sum(), knots[finite], axes=1), spread


_LEARN = {"predictive": _best, "cem": _fitted, "mppi": _averaged}
