"""By how much a run has kept its constraints: the robustness of what really happened, from a log of its scenes."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import inf, isfinite

from llm_planner.errors import InputError
from llm_planner.plan.watch import Watch, Watched
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.robustness import robustness
from llm_planner.world.margins import margin_of, unit_of
from llm_planner.world.propositions import Moment, Proposition
from llm_planner.world.scene import Scene

MOST_SAMPLES = 100_000  # more than an hour at twenty scenes a second
_TICK = 1e-6  # [s] between two letters of one scene


@dataclass(frozen=True)
class Kept:
    """How one constraint fared. `margin` says by how much in `unit` ("m", "m/s"), positive where it was kept; None
    where nothing measured decides: a thing was held or it was not, or the formula counts changes."""

    constraint: Constraint
    holds: bool
    margin: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        """For a person."""
        how, words = "kept" if self.holds else "not kept", f"“{self.constraint.words}”"
        if self.margin is None or (self.margin > 0) != self.holds:
            return f"{how}: {words}"
        amount = f"{100 * abs(self.margin):.1f} cm" if self.unit == "m" else f"{abs(self.margin):.3f} {self.unit}"
        return f"kept with {amount} to spare: {words}" if self.holds else f"missed by {amount}: {words}"


class RunLog:
    """The signals of a plan's constraints, one sample a scene (some microseconds each); single-owner."""

    def __init__(self) -> None:
        self._times = array("d")
        self._signals: dict[str, array[float]] = {}
        self._units: dict[str, str] = {}

    def see(self, watch: Watch, scene: Scene) -> None:
        """Note the scene that `watch` has just read, with the letter that it showed."""
        if not watch.trace or len(self._times) >= MOST_SAMPLES:
            return
        last = self._times[-1] if self._times else -inf
        self._times.append(max(scene.time, last + _TICK))
        moment = Moment(scene, watch.origins)
        for item in watch.propositions:
            signal = self._signals.setdefault(str(item), array("d"))
            signal.append(_margin(item, moment, watch))
            self._units[str(item)] = unit_of(item, scene)

    def kept(self, watch: Watch) -> tuple[Kept, ...]:
        """How each constraint fared by the end of the run, as `watch` says; the margins are those of the log."""
        return tuple(self._kept(one) for one in watch.watched)

    def _kept(self, one: Watched) -> Kept:
        holds = one.monitor.accepts and not one.verdict.lost
        if not self._times:
            return Kept(one.constraint, holds)
        try:
            margin = float(robustness(one.constraint.formula, self._signals, self._times)[0])
        except InputError:  # it counts changes, which signals have none of
            return Kept(one.constraint, holds)
        units = {self._units[name] for name in one.constraint.formula.propositions} - {""}
        unit = " or ".join(sorted(units))
        return Kept(one.constraint, holds, margin, unit) if isfinite(margin) else Kept(one.constraint, holds)


def _margin(item: Proposition, moment: Moment, watch: Watch) -> float:
    """An event is only in the letter: the scene does not show it."""
    if item.predicate == "did":
        return inf if str(item) in watch.trace[-1] else -inf
    return margin_of(item, moment)
