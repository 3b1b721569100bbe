"""Plans of the hand for a reward program: strokes searched from anywhere, and one of them improved as it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.rewards.cost import program_cost
from llm_planner.rewards.futures import Start
from llm_planner.rewards.hand_model import HAND_JOINTS, TIMESTEP, HandModel
from llm_planner.rewards.program import RewardProgram
from llm_planner.rewards.rollouts import Rolled
from llm_planner.rewards.sampling import ControlRange, Plan, SamplingSettings, optimise, shifted
from llm_planner.rewards.splines import basis
from llm_planner.rewards.strokes import Stroke
from llm_planner.simulation.objects import object_kind
from llm_planner.skills.gripper_shape import TIP
from llm_planner.skills.reach import REACH_MAX, REACH_MIN
from llm_planner.world.scene import Scene

Array = NDArray[np.float64]

CHEAP_PARTS = 8  # a thing of more convex parts is rolled out less often
EVERY = 5  # physics steps between the moments at which terms are measured
FAST = 0.25  # [m/s] of the hand; faster is dear
TURNING = 1.2  # [rad/s]
FREE_CANDIDATES = 10
LAG = 0.02  # [m] that the hand may be behind its servo: more is pushing against something that does not give
TABLE_X, TABLE_Y = (0.24, 0.72), 0.48  # [m] where things are left in reach


@dataclass(frozen=True)
class HandSettings:
    """How motions of the hand are sampled; spreads are standard deviations of the control points [m, rad]."""

    sampling: SamplingSettings = field(
        default_factory=lambda: SamplingSettings(rollouts=18, horizon=1.0, knots=6, interpolation="linear")
    )
    spread: float = 0.015
    turn_spread: float = 0.1
    lift_spread: float = 0.004  # in height, while something is pushed
    carry_spread: float = 0.05  # while the hand moves freely, with what it holds
    tilt_spread: float = 0.3


class HandPlanner:
    """Samples motions of a hand in one model; `free` is a hand that touches nothing, or nothing but what it holds."""

    def __init__(
        self, program: RewardProgram, model: HandModel, free: bool, settings: HandSettings, rng: np.random.Generator
    ) -> None:
        self.settings = settings = _affordable(settings, model)
        self._program = program
        self._model = model
        self._free = free
        self._rng = rng
        self._controls = _control_range(settings, free, tilts=bool(model.scene.held))
        self._expand: Array = basis(
            TIMESTEP * np.arange(0.0, round(settings.sampling.horizon / TIMESTEP)),
            settings.sampling.knots, settings.sampling.horizon, settings.sampling.interpolation,
        )  # fmt: skip

    def tried(self, strokes: Sequence[Stroke], scene: Scene, start: Start) -> Array:
        """What each stroke costs (n,), begun in `scene` with the hand there."""
        knots = np.array([stroke.knots for stroke in strokes])
        state = self._model.state(scene, knots[0, 0])
        states = self._model.with_hands(state, knots[:, 0])
        rolled = self._model.rollouts.run(states, self._expand @ knots)
        return self._cost(rolled, states[:, 1 : 1 + rolled.qpos.shape[2]], start)

    def waited(self, scene: Scene, hand: Array, start: Start) -> float:
        """What it costs to do nothing."""
        knots = np.tile(hand, (1, self.settings.sampling.knots, 1))
        return float(self.tried([Stroke(knots[0])], scene, start)[0])

    def improved(self, plan: Plan, scene: Scene, start: Start, time: float) -> tuple[Plan, float]:
        """The plan from `time` [s] on, the hand being where it has it, and how much better it is than to stay there."""
        sampling = self.settings.sampling
        plan = shifted(plan, time, sampling)
        hand = plan.mean[0]
        state = self._model.state(scene, hand)
        batches: list[Array] = []

        def cost(rolled: Rolled) -> Array:
            batches.append(self._cost(rolled, state[1 : 1 + rolled.qpos.shape[2]], start))
            return batches[-1]

        plan = optimise(
            self._model.rollouts, state, cost, plan, self._controls, sampling, self._rng, self._candidates(plan, hand)
        )
        stayed = float(batches[0][-1])
        return plan, stayed - plan.cost

    def _candidates(self, plan: Plan, hand: Array) -> Array:
        """To go on as straight as now; to make straight for somewhere else; to stay, which is the last."""
        share = np.linspace(0.0, 1.0, self.settings.sampling.knots)[None, :, None]
        ends = [1.5 * (plan.mean[2] - plan.mean[0])]
        if self._free:
            ends += [self._elsewhere() for _ in range(FREE_CANDIDATES)]
        ends.append(np.zeros_like(hand))
        straight: Array = hand + share * np.array(ends)[:, None]
        return straight

    def _elsewhere(self) -> Array:
        """A motion over the horizon at most as fast as a hand should be: of place, heading and tilt some, or all."""
        spread = np.broadcast_to(self._controls.spread, (self.settings.sampling.knots, len(HAND_JOINTS)))[-1]
        end = 3.0 * spread * self._rng.standard_normal(len(HAND_JOINTS))
        end *= np.repeat(self._rng.random(4) < (0.8, 0.6, 0.3, 0.3), (2, 1, 1, 2))
        most = self.settings.sampling.horizon * np.array([FAST, TURNING])
        sizes = np.array([np.linalg.norm(end[:3]), np.abs(end[3:]).max()])
        shrunk: Array = end * np.repeat(np.minimum(1.0, most / np.maximum(sizes, 1e-9)), (3, 3))
        return shrunk

    def _cost(self, rolled: Rolled, start_qpos: Array, start: Start) -> Array:
        program, model = self._program, self._model
        futures = model.futures(rolled, start_qpos, (*program.names, *model.movers), start, EVERY)
        cost = program_cost(program, futures) + _strain(rolled)
        for name in model.movers:
            x, y = np.moveaxis(futures.course(name).position[:, -1, :2], -1, 0)
            out = np.maximum(TABLE_X[0] - x, 0) + np.maximum(x - TABLE_X[1], 0) + np.maximum(np.abs(y) - TABLE_Y, 0)
            cost += 20.0 * out
        return cost


def _affordable(settings: HandSettings, model: HandModel) -> HandSettings:
    """Fewer rollouts where things that may move have many parts, so that a plan takes as long as any."""
    parts = sum(len(object_kind(model.scene.find(name).kind).parts) for name in model.movers)
    sampling = settings.sampling
    count = max(sampling.elites, round(sampling.rollouts * min(1.0, CHEAP_PARTS / max(parts, 1))))
    return replace(settings, sampling=replace(sampling, rollouts=count))


def _strain(rolled: Rolled) -> Array:
    """What no program wants: a hand that hurries, leaves its reach, or pushes against what does not give."""
    controls, hand = rolled.controls, rolled.qpos[:, :, : len(HAND_JOINTS)]
    rates = np.diff(controls[:, ::10], axis=1) / (10 * TIMESTEP)
    speed = np.linalg.norm(rates[..., :3], axis=-1)
    turning = np.abs(rates[..., 3:]).max(axis=-1)
    hurry = np.maximum(speed / FAST - 1.0, 0.0) + np.maximum(turning / TURNING - 1.0, 0.0)
    lag = np.linalg.norm((controls - hand)[..., :3], axis=-1)
    radius = np.linalg.norm(controls[..., :2], axis=-1)
    beyond = np.maximum(radius - REACH_MAX, 0.0) + np.maximum(REACH_MIN + 0.02 - radius, 0.0)
    strain: Array = (
        hurry.mean(axis=1) + 0.05 * speed.mean(axis=1) + 0.02 * turning.mean(axis=1)
        + 20.0 * np.maximum(lag - LAG, 0.0).mean(axis=1) + 20.0 * beyond.mean(axis=1)
    )  # fmt: skip
    return strain


def _control_range(settings: HandSettings, free: bool, tilts: bool) -> ControlRange:
    """The first control point is where the hand is: it is not drawn."""
    place = settings.carry_spread if free else settings.spread
    lift = settings.carry_spread if free else settings.lift_spread
    tilt = settings.tilt_spread if tilts else 0.0
    turn = settings.tilt_spread if free else settings.turn_spread
    spread = np.tile([place, place, lift, turn, tilt, tilt], (settings.sampling.knots, 1))
    spread[0] = 0.0
    lower = np.array([0.2, -0.6, TIP + 0.003, -7.0, -1.7, -1.7])
    upper = np.array([0.8, 0.6, 0.55, 7.0, 1.7, 1.7])
    return ControlRange(lower, upper, spread)
