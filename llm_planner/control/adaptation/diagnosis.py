"""What the estimate says about the robot, in words, once it is certain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from llm_planner.control.adaptation.belief import Belief
from llm_planner.control.adaptation.unknowns import Kind, Layout

TYPICAL_SPEED = 0.5  # [rad/s] at which a joint's friction is told


class Fault(Enum):
    """What may be wrong."""

    PAYLOAD = "payload"
    FRICTION = "friction"
    GAIN = "gain"


@dataclass(frozen=True)
class Diagnosis:
    """One thing that is wrong: `value` is in kg, in Nm at 0.5 rad/s, or a share; `joint` counts from 1, 0 is the hand.

    It shows since the robot's time `since` [s].
    """

    fault: Fault
    joint: int
    value: float
    since: float

    def words(self, now: float) -> str:
        """The sentence for a person, at the robot's time `now` [s]."""
        ago = f"since {max(0.0, now - self.since):.0f} s"
        if self.fault is Fault.PAYLOAD:
            return f"about {self.value:.1f} kg more than expected hangs from the hand, {ago}"
        if self.fault is Fault.FRICTION:
            return f"joint {self.joint} drags with {self.value:.1f} Nm: its friction has grown, {ago}"
        less = "less" if self.value < 0 else "more"
        return f"the drive of joint {self.joint} gives {abs(self.value):.0%} {less} torque than it is told, {ago}"


@dataclass(frozen=True)
class Significance:
    """What is large enough to be said, and for how long it must have been believed [s]."""

    payload: float = 0.3  # [kg]
    friction: float = 0.5  # [Nm]
    gain: float = 0.05
    held_for: float = 3.0


class Diagnoser:
    """Says what has been believed for a while. Single owner."""

    def __init__(self, layout: Layout, significance: Significance | None = None) -> None:
        self._layout = layout
        self._significance = significance or Significance()
        self.reset()

    def reset(self) -> None:
        """Nothing is known."""
        self._since: dict[tuple[Fault, int], float] = {}
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def update(self, belief: Belief, now: float) -> None:
        """Takes in what is believed at the robot's time `now` [s]."""
        values = self._values(belief)
        self._since = {what: self._since.get(what, now) for what in values}
        self.diagnoses = tuple(
            Diagnosis(*what, values[what], since)
            for what, since in sorted(self._since.items(), key=lambda item: item[1])
            if now - since >= self._significance.held_for
        )

    def _values(self, belief: Belief) -> dict[tuple[Fault, int], float]:
        """What is believed and large enough, by fault and joint."""
        values: dict[tuple[Fault, int], float] = {}
        for group in belief.groups:
            if group.kind in _FAULTS:
                what = (_FAULTS[group.kind], group.joint + 1)
                share = TYPICAL_SPEED if group.kind is Kind.VISCOUS else 1.0
                values[what] = values.get(what, 0.0) + share * float(belief.theta[group.index[0]])
        return {what: value for what, value in values.items() if abs(value) >= self._asked(what[0])}

    def _asked(self, fault: Fault) -> float:
        return {
            Fault.PAYLOAD: self._significance.payload,
            Fault.FRICTION: self._significance.friction,
            Fault.GAIN: self._significance.gain,
        }[fault]


_FAULTS = {
    Kind.MASS: Fault.PAYLOAD,
    Kind.VISCOUS: Fault.FRICTION,
    Kind.COULOMB: Fault.FRICTION,
    Kind.GAIN: Fault.GAIN,
}
