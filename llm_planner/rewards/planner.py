"""Plans of a robot's motion for a reward program: motions tried out from anywhere, and one improved as it is made."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.rewards.cost import program_cost
from llm_planner.rewards.futures import Futures, Start
from llm_planner.rewards.keeping import ANYWHERE, KeepOut, Priced, top_speed
from llm_planner.rewards.program import RewardProgram
from llm_planner.rewards.rollouts import Rolled, Rollouts
from llm_planner.rewards.sampling import ControlRange, Plan, SamplingSettings, optimise, shifted
from llm_planner.rewards.splines import basis
from llm_planner.world.scene import Scene

Array = NDArray[np.float64]


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
