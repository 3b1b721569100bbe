"""What a future costs under a reward program, and how far a scene is from what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.rewards.futures import Futures, Start, still, wrapped
from llm_planner.rewards.program import RewardProgram, Wish
from llm_planner.rewards.terms import bearing
from llm_planner.world.scene import Scene

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
