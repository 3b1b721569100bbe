"""Motion planning for reward programs: costs, keep-out zones, stopping, and the sampling planner.

`program_cost` rates futures, `shortfalls` lists what a scene still lacks. Zones penalise a motion whatever its gain. A
speed limit slows the clock of a plan instead of shortening its path, so an object to be moved is still reached within
the horizon. `Pursuit` decides when further planning gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.programs.reward_program import RewardProgram, Wish
from llm_planner.programs.reward_terms import Futures, Start, bearing, still, wrapped
from llm_planner.scene.scene import Scene
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import SLOWER
from llm_planner.skills.arm_paths import distances, kept
from llm_planner.skills.rewards.sampling import (
    ControlRange,
    Plan,
    Rolled,
    Rollouts,
    SamplingSettings,
    basis,
    optimise,
    shifted,
)

Array = NDArray[np.float64]

END_SHARE = 0.7  # weight of the final state in a "reach" cost; the rest is the mean over time
KEEPING = 10.0  # weight of a "keep" cost relative to a "reach" cost
_ROUNDING = 0.02  # share of a term's scale within which the cost is smooth


def program_cost(program: RewardProgram, futures: Futures) -> Array:
    """Return the cost (n,) of futures under a program.

    A wish of weight 1 that is off by its term's scale costs 1; a fulfilled program costs 0.
    """
    costs = np.zeros(len(next(iter(futures.courses.values())).position))
    for wish in program.wishes:
        off = wish.error(futures) / wish.term.scale
        off = np.sqrt(off**2 + _ROUNDING**2) - _ROUNDING
        if wish.kind == "reach":
            costs += wish.weight * (END_SHARE * off[:, -1] + (1 - END_SHARE) * off.mean(axis=1))
        else:
            costs += KEEPING * wish.weight * off.mean(axis=1)
    return costs


@dataclass(frozen=True)
class Shortfall:
    """Unfulfilled wish in a scene, with the measured value in the term's unit."""

    wish: Wish
    value: float

    def __str__(self) -> str:
        return f"{self.wish.condition} was asked for, and it is {self.value:.3g} {self.wish.term.unit}"


def shortfalls(program: RewardProgram, scene: Scene, start: Start, share: float = 1.0) -> tuple[Shortfall, ...]:
    """Return the "reach" wishes that `scene` misses by more than `share` of their tolerance."""
    now = still(scene, program.names, start)
    return tuple(
        Shortfall(wish, float(wish.term.measure(now, *wish.arguments)[0, 0]))
        for wish in program.wishes
        if wish.kind == "reach" and float(wish.error(now)[0, 0]) > share * wish.term.tolerance
    )


class Tally:
    """Accumulates turns and revolutions over the scenes of a run, beyond full circles."""

    def __init__(self, program: RewardProgram, scene: Scene) -> None:
        self._program = program
        self._scene = scene
        self._angles: dict[tuple[str, ...], float] = {}
        self._last = self._measured(scene)

    @property
    def start(self) -> Start:
        """Start of the run with the angles accumulated so far."""
        return Start(self._scene, dict(self._angles))

    def see(self, scene: Scene) -> None:
        """Add a scene; consecutive scenes must be less than half a turn apart."""
        measured = self._measured(scene)
        for key, angle in measured.items():
            step = float(wrapped(np.array(angle - self._last[key])))
            self._angles[key] = self._angles.get(key, 0.0) + step
        self._last = measured

    def _measured(self, scene: Scene) -> Mapping[tuple[str, ...], float]:
        now = still(scene, self._program.names, Start(self._scene))
        found: dict[tuple[str, ...], float] = {}
        for wish in self._program.wishes:
            name = str(wish.arguments[0])
            if wish.term.name == "turned":
                found["turned", name] = float(now.courses[name].yaw[0, 0])
            elif wish.term.name == "circled":
                around = wish.arguments[1]
                found["circled", name, str(around)] = float(bearing(now, name, around)[0, 0])
        return found


GAIN_LEAST = 0.005  # least gain in cost for which a motion is worth making
PATIENCE = 3.0  # [s] without that much real gain, whatever plans predict


class Pursuit:
    """Decides when to stop: after `idle` steps in a row without predicted gain, or `PATIENCE` without real gain."""

    def __init__(self, time: float, idle: int) -> None:
        self._idle_most = idle
        self._idle = 0
        self._best, self._since = math.inf, time

    def goes_on(self, time: float, stayed: float, planned: float) -> bool:
        """Return whether to continue at `time` [s], given the costs of staying and of the best plan."""
        self._idle = self._idle + 1 if stayed - planned < GAIN_LEAST else 0
        if stayed < self._best - GAIN_LEAST:
            self._best, self._since = stayed, time
        return self._idle < self._idle_most and time - self._since < PATIENCE


ENTERED, DEEP = 10.0, 100.0  # cost of entering a zone, and of the mean depth in it per metre


@dataclass(frozen=True)
class KeepOut:
    """Zones, and the least distance [m] of the body's reference point from the solid of each."""

    zones: tuple[Zone, ...] = ()
    gap: Callable[[Zone], float] = lambda zone: zone.clearance

    def trespass(self, points: Array) -> Array:
        """Return the cost (n, zones) of paths `points` (n, T, 3) [m] for each zone that they enter."""
        costs = np.zeros((len(points), len(self.zones)))
        for index, zone in enumerate(self.zones):
            depth = np.maximum(self.gap(zone) - distances(zone, points), 0.0)
            costs[:, index] = ENTERED * (depth > 0.0).any(axis=1) + DEEP * depth.mean(axis=1)
        return costs

    def told(self, entered: Sequence[int]) -> str:
        """Explain for a person why motions into zones with the indices `entered` are not made; "" if none."""
        words = " and ".join(dict.fromkeys(kept(self.zones[index]) for index in entered))
        return words and f"what would bring it nearer leads where the robot has to keep {words}"


ANYWHERE = KeepOut()


@dataclass(frozen=True)
class Priced:
    """Costs of n motions: `free` (n,) by program and strain, `trespass` (n, zones) for entered zones."""

    free: Array
    trespass: Array

    @property
    def costs(self) -> Array:
        """Total costs (n,)."""
        total: Array = self.free + self.trespass.sum(axis=1)
        return total

    def barred(self, stayed: float) -> tuple[int, ...]:
        """Return the zones that the best motion enters, if no motion outside zones gains over `stayed`."""
        best = int(np.argmin(self.free))
        if float(self.costs.min()) < stayed - GAIN_LEAST or self.free[best] >= stayed - GAIN_LEAST:
            return ()
        return tuple(np.flatnonzero(self.trespass[best]).tolist())


class PlanClock:
    """Clock of a plan [s], which runs slower than the robot's under a speed limit."""

    def __init__(self, now: float) -> None:
        self.pace = 1.0
        self._time = self._seen = now

    def tick(self, now: float) -> float:
        """Return the plan's time [s] at the robot's time `now` [s]."""
        self._time += self.pace * (now - self._seen)
        self._seen = now
        return self._time

    def keep(self, speed: float, limit: float) -> None:
        """Slow down so that a plan with top speed `speed` keeps `limit` [m/s]."""
        self.pace = min(1.0, SLOWER * limit / max(speed, 1e-9))


def top_speed(plan: Plan, settings: SamplingSettings, axes: int) -> float:
    """Return the top speed [m/s] of a plan in its first `axes` controls, linear between control points."""
    apart: Array = np.linalg.norm(np.diff(plan.mean[:, :axes], axis=0), axis=1)
    return float(apart.max()) * (settings.knots - 1) / settings.horizon


class BodyModel(Protocol):
    """Rollouts of a position-controlled hand or base, whose joints come first in qpos and are the controls."""

    rollouts: Rollouts
    movers: tuple[str, ...]

    def state(self, scene: Scene, body: Array) -> Array: ...
    def futures(
        self, rolled: Rolled, start_qpos: Array, names: Collection[str], start: Start, every: int
    ) -> Futures: ...


@dataclass(frozen=True)
class Motions:
    """Distribution of a body's motions, and their cost besides the program's.

    Attributes:
        sampling: Parameters of the search.
        controls: Bounds and spread of the draws.
        every: Physics steps between the moments at which terms are measured.
        strain: Cost (n,) that applies to any program.
        elsewhere: Draws a random change of the joints over the horizon, tried as a straight motion.
        count: Number of such motions in a batch.
        axes: Number of leading controls that are positions [m].
    """

    sampling: SamplingSettings
    controls: ControlRange
    every: int
    strain: Callable[[Rolled, Futures], Array]
    elsewhere: Callable[[np.random.Generator], Array]
    count: int
    axes: int


class MotionPlanner:
    """Sampling planner for one body in one model."""

    def __init__(
        self,
        program: RewardProgram,
        model: BodyModel,
        motions: Motions,
        rng: np.random.Generator,
        keep_out: KeepOut = ANYWHERE,
    ) -> None:
        self.motions, self.keep_out = motions, keep_out
        self._program = program
        self._model = model
        self._rng = rng
        sampling, dt = motions.sampling, model.rollouts.model.opt.timestep
        times: Array = dt * np.arange(0.0, round(sampling.horizon / dt))
        self._expand = basis(times, sampling.knots, sampling.horizon)

    def tried(self, knots: Array, scene: Scene, start: Start) -> Priced:
        """Return the costs of `knots` (n, knots, nu), each started in `scene` at its first control point."""
        state = self._model.state(scene, knots[0, 0])
        states = np.tile(state, (len(knots), 1))
        states[:, 1 : 1 + knots.shape[2]] = knots[:, 0]
        rolled = self._model.rollouts.run(states, self._expand @ knots)
        return self._cost(rolled, states[:, 1 : 1 + rolled.qpos.shape[2]], start)

    def waited(self, scene: Scene, body: Array, start: Start) -> float:
        return float(self.tried(np.tile(body, (1, self.motions.sampling.knots, 1)), scene, start).costs[0])

    def improved(self, plan: Plan, scene: Scene, start: Start, time: float) -> tuple[Plan, float, tuple[int, ...]]:
        """Improve `plan` from `time` [s] on; return it, the cost of staying and the barring zones (`Priced.barred`)."""
        plan = shifted(plan, time, self.motions.sampling)
        body = plan.mean[0]
        state = self._model.state(scene, body)
        batches: list[Priced] = []

        def cost(rolled: Rolled) -> Array:
            batches.append(self._cost(rolled, state[1 : 1 + rolled.qpos.shape[2]], start))
            return batches[-1].costs

        plan = optimise(
            self._model.rollouts, state, cost, plan, self.motions.controls, self.motions.sampling, self._rng,
            self._candidates(plan, body),
        )  # fmt: skip
        stayed = float(batches[0].costs[-1])
        return plan, stayed, batches[0].barred(stayed)

    def speed(self, plan: Plan) -> float:
        return top_speed(plan, self.motions.sampling, self.motions.axes)

    def _candidates(self, plan: Plan, body: Array) -> Array:
        """Return straight motions to try: the current one extended, random ones, and staying (the last)."""
        share = np.linspace(0.0, 1.0, self.motions.sampling.knots)[None, :, None]
        ends = [1.5 * (plan.mean[2] - plan.mean[0])]
        ends += [self.motions.elsewhere(self._rng) for _ in range(self.motions.count)]
        ends.append(np.zeros_like(body))
        straight: Array = body + share * np.array(ends)[:, None]
        return straight

    def _cost(self, rolled: Rolled, start_qpos: Array, start: Start) -> Priced:
        names = (*self._program.names, *self._model.movers)
        futures = self._model.futures(rolled, start_qpos, names, start, self.motions.every)
        free = program_cost(self._program, futures) + self.motions.strain(rolled, futures)
        points = np.zeros((*rolled.controls[:, :: self.motions.every].shape[:2], 3))
        points[..., : self.motions.axes] = rolled.controls[:, :: self.motions.every, : self.motions.axes]
        return Priced(free, self.keep_out.trespass(points))
