"""Plans of a robot's motion for a reward program: motions tried out from anywhere, and one improved as it is made.

What a future costs under a reward program, and how far a scene is from what it asks for.

What motions for a reward program keep besides: the zones that rules forbid, and the speed in force.

Zones bar a motion whatever it promises. A speed limit makes a motion slower and not shorter: what is pushed follows as
well, and a thing that is to be moved is still reached within the horizon.

When a motion that is planned again and again has nothing more to gain.
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

END_SHARE = 0.7  # of the cost of what is to be reached: how it is in the end; the rest is how soon
KEEPING = 10.0  # what is to be kept weighs so much more than what is to be reached
_ROUNDING = 0.02  # of a term's scale: within it the cost is smooth


def program_cost(program: RewardProgram, futures: Futures) -> Array:
    """(n,): 1 for each wish of weight 1 that is off by its term's scale; 0 where all is as wished."""
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
    """A wish that is not so in a scene, and what is so instead, in the term's unit."""

    wish: Wish
    value: float

    def __str__(self) -> str:
        return f"{self.wish.condition} was asked for, and it is {self.value:.3g} {self.wish.term.unit}"


def shortfalls(program: RewardProgram, scene: Scene, start: Start, share: float = 1.0) -> tuple[Shortfall, ...]:
    """What is to be reached and is off by more than `share` of its term's tolerance in `scene`."""
    now = still(scene, program.names, start)
    return tuple(
        Shortfall(wish, float(wish.term.measure(now, wish.arguments)[0, 0]))
        for wish in program.wishes
        if wish.kind == "reach" and float(wish.error(now)[0, 0]) > share * wish.term.tolerance
    )


class Tally:
    """Counts turns and rounds over the scenes of a run, as many as there are."""

    def __init__(self, program: RewardProgram, scene: Scene) -> None:
        self._program = program
        self._scene = scene
        self._angles: dict[tuple[str, ...], float] = {}
        self._last = self._measured(scene)

    @property
    def start(self) -> Start:
        """What has been counted up to the scene last seen."""
        return Start(self._scene, dict(self._angles))

    def see(self, scene: Scene) -> None:
        """Count on; scenes must not be farther than half a turn apart."""
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
                found["turned", name] = float(now.course(name).yaw[0, 0])
            elif wish.term.name == "circled":
                around = wish.arguments[1]
                found["circled", name, str(around)] = float(bearing(now, name, around)[0, 0])
        return found


GAIN_LEAST = 0.005  # in costs: a motion that promises less is not worth it
PATIENCE = 3.0  # [s] without the scene coming so much nearer to what is wanted, whatever plans promise


class Pursuit:
    """Watches what plans promise and what comes of them; `idle` steps in a row that promise nothing end it."""

    def __init__(self, time: float, idle: int) -> None:
        self._idle_most = idle
        self._idle = 0
        self._best, self._since = math.inf, time

    def goes_on(self, time: float, stayed: float, planned: float) -> bool:
        """Whether to go on at `time` [s], where to stay would cost `stayed` and the best plan costs `planned`."""
        self._idle = self._idle + 1 if stayed - planned < GAIN_LEAST else 0
        if stayed < self._best - GAIN_LEAST:
            self._best, self._since = stayed, time
        return self._idle < self._idle_most and time - self._since < PATIENCE


ENTERED, DEEP = 10.0, 100.0  # costs of a motion that enters a zone, and of each metre that it is in there


@dataclass(frozen=True)
class KeepOut:
    """Zones, and how far the body's point stays from the solid of each [m]."""

    zones: tuple[Zone, ...] = ()
    gap: Callable[[Zone], float] = lambda zone: zone.clearance

    def trespass(self, points: Array) -> Array:
        """What each of the ways `points` (n, T, 3) [m] costs for each zone that it enters (n, zones)."""
        costs = np.zeros((len(points), len(self.zones)))
        for index, zone in enumerate(self.zones):
            depth = np.maximum(self.gap(zone) - distances(zone, points), 0.0)
            costs[:, index] = ENTERED * (depth > 0.0).any(axis=1) + DEEP * depth.mean(axis=1)
        return costs

    def told(self, entered: Sequence[int]) -> str:
        """Why motions into the zones of those numbers are not made, for a person; "" where there are none."""
        words = " and ".join(dict.fromkeys(kept(self.zones[index]) for index in entered))
        return words and f"what would bring it nearer leads where the robot has to keep {words}"


ANYWHERE = KeepOut()


@dataclass(frozen=True)
class Priced:
    """What n motions cost: `free` (n,) by the program and their own, `trespass` (n, zones) for the zones entered."""

    free: Array
    trespass: Array

    @property
    def costs(self) -> Array:
        """(n,)"""
        total: Array = self.free + self.trespass.sum(axis=1)
        return total

    def barred(self, stayed: float) -> tuple[int, ...]:
        """The zones that the best motion enters where none gains anything over `stayed` without entering one."""
        best = int(np.argmin(self.free))
        if float(self.costs.min()) < stayed - GAIN_LEAST or self.free[best] >= stayed - GAIN_LEAST:
            return ()
        return tuple(np.flatnonzero(self.trespass[best]).tolist())


class PlanClock:
    """The time of a plan [s], which passes more slowly than the robot's where a speed limit asks for that."""

    def __init__(self, now: float) -> None:
        self.pace = 1.0
        self._time = self._seen = now

    def tick(self, now: float) -> float:
        """The plan's time when the robot's is `now`."""
        self._time += self.pace * (now - self._seen)
        self._seen = now
        return self._time

    def keep(self, speed: float, limit: float) -> None:
        """From now on as slow as a plan whose largest speed is `speed` has to be to keep `limit` [m/s]."""
        self.pace = min(1.0, SLOWER * limit / max(speed, 1e-9))


def top_speed(plan: Plan, settings: SamplingSettings, axes: int) -> float:
    """The largest speed of a plan in its first `axes` controls [m/s], straight between its control points."""
    apart: Array = np.linalg.norm(np.diff(plan.mean[:, :axes], axis=0), axis=1)
    return float(apart.max()) * (settings.knots - 1) / settings.horizon


class BodyModel(Protocol):
    """Rollouts of a hand or a base that is told where to be: its joints come first in qpos, and are the controls."""

    rollouts: Rollouts
    movers: tuple[str, ...]

    def state(self, scene: Scene, body: Array) -> Array: ...
    def futures(
        self, rolled: Rolled, start_qpos: Array, names: Collection[str], start: Start, every: int
    ) -> Futures: ...


@dataclass(frozen=True)
class Motions:
    """Which motions of a body are drawn, and what they cost besides what the program says.

    `every`: physics steps between the moments at which terms are measured. `elsewhere`: a random change of the joints
    over the horizon, tried straight; `count` of them in a batch. The first `axes` controls say where the body is [m].
    """

    sampling: SamplingSettings
    controls: ControlRange
    every: int
    strain: Callable[[Rolled, Futures], Array]
    elsewhere: Callable[[np.random.Generator], Array]
    count: int
    axes: int


class MotionPlanner:
    """Samples the motions of one body in one model."""

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
        self._expand = basis(times, sampling.knots, sampling.horizon, sampling.interpolation)

    def tried(self, knots: Array, scene: Scene, start: Start) -> Priced:
        """What each of `knots` (n, knots, nu) costs, begun in `scene` with the body at its first control point."""
        state = self._model.state(scene, knots[0, 0])
        states = np.tile(state, (len(knots), 1))
        states[:, 1 : 1 + knots.shape[2]] = knots[:, 0]
        rolled = self._model.rollouts.run(states, self._expand @ knots)
        return self._cost(rolled, states[:, 1 : 1 + rolled.qpos.shape[2]], start)

    def waited(self, scene: Scene, body: Array, start: Start) -> float:
        """What it costs to do nothing."""
        return float(self.tried(np.tile(body, (1, self.motions.sampling.knots, 1)), scene, start).costs[0])

    def improved(self, plan: Plan, scene: Scene, start: Start, time: float) -> tuple[Plan, float, tuple[int, ...]]:
        """The plan from `time` [s] on, the body being where it has it, what it would cost to stay there, and the
        zones without which something would be gained where now nothing is."""
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
        """The largest of the body on that plan [m/s]."""
        return top_speed(plan, self.motions.sampling, self.motions.axes)

    def _candidates(self, plan: Plan, body: Array) -> Array:
        """To go on as straight as now; to make straight for somewhere else; to stay, which is the last."""
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
