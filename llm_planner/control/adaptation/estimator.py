"""Estimates what is unknown of an arm from how its servos have to correct it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from llm_planner.control.adaptation.belief import Belief, Caution, Explainer
from llm_planner.control.adaptation.bounds import AdaptationBounds
from llm_planner.control.adaptation.evidence import Evidence, Memory
from llm_planner.control.adaptation.regressor import STICTION_SPEED
from llm_planner.control.adaptation.unknowns import Kind, Layout
from llm_planner.control.reference import Array

# Standard deviations of what may be found, before anything is measured; see `Kind` for the units.
PRIOR = {
    Kind.MASS: 1.5,
    Kind.MOMENT: 0.08,
    Kind.VISCOUS: 5.0,
    Kind.COULOMB: 3.0,
    Kind.GAIN: 0.2,
    Kind.PUSH: 50.0,
}


@dataclass(frozen=True)
class EstimatorSettings:
    """The operator's bounds, and how measurements are weighed."""

    bounds: AdaptationBounds = field(default_factory=AdaptationBounds)
    memory: Memory = field(default_factory=Memory)
    caution: Caution = field(default_factory=Caution)
    noise: float = 0.005  # of a servo's corrective torque, as a share of the joint's largest torque
    stiction: float = 0.012  # the same, of what may hold a joint at rest
    explain_every: float = 0.1  # [s]


class Estimator:
    """What is believed of an arm: `belief`. Single owner."""

    def __init__(self, layout: Layout, torque_max: Array, settings: EstimatorSettings | None = None) -> None:
        self.settings = settings or EstimatorSettings()
        bounds = self.settings.bounds
        reach = bounds.payload * bounds.reach
        upper = {
            Kind.MASS: bounds.payload,
            Kind.MOMENT: reach,
            Kind.VISCOUS: bounds.viscous,
            Kind.COULOMB: bounds.coulomb,
            Kind.GAIN: bounds.gain,
            Kind.PUSH: np.inf,
        }
        lower = {kind: -bound for kind, bound in upper.items()} | dict.fromkeys(_NEVER_NEGATIVE, 0.0)
        self._layout = layout
        self._explainer = Explainer(
            layout.groups(), layout.filled(PRIOR), layout.filled(lower), layout.filled(upper), self.settings.caution
        )
        self._torque_max = torque_max
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._evidence = Evidence(self._layout.size, self.settings.memory)
        self._unexplained_for = 0.0
        self.belief: Belief = self._explainer.nothing()

    def update(self, rows: Array, torque: Array, qvel: Array, dt: float) -> None:
        """Take in the corrective `torque` (nq,) [Nm] at the speeds `qvel` (nq,), `dt` [s] after the last; see Y."""
        resting = np.abs(qvel) < STICTION_SPEED
        settings = self.settings
        noise = np.hypot(settings.noise, settings.stiction * resting) * self._torque_max
        if resting.all() and not self._surprising(rows, torque, noise):
            return
        self._evidence.add(rows, torque, noise, self.belief.theta, dt)
        self._unexplained_for += dt
        if self._unexplained_for >= settings.explain_every:
            self._unexplained_for = 0.0
            self.belief = self._explainer.explain(self._evidence, self.belief)

    def doubt(self) -> None:
        """The fingers have moved: what hangs from the hand may be something else now."""
        self._evidence.fade(DOUBTED)

    def _surprising(self, rows: Array, torque: Array, noise: Array) -> bool:
        error = (torque - rows @ self.belief.theta) / noise
        return float(error @ error) > self.settings.memory.surprise**2 * len(error)


DOUBTED = 0.1  # share of the past that is kept when the fingers move
_NEVER_NEGATIVE = (Kind.MASS, Kind.VISCOUS, Kind.COULOMB)
