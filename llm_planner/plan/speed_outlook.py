"""Whether the rules that speak of speeds are kept, though nobody foresees how fast the robot will be.

A forecast shows everything of a letter but the speeds. Those that the controller rules out by then do not come about;
with all others every rule is read, and is proved only if it is kept with each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product

from llm_planner.plan.motion_binding import LEAST_SPEED, SPEED_SHARE, levers_of
from llm_planner.plan.obligations import Lever, Obligation, obligations
from llm_planner.plan.watch import Watch, Watched
from llm_planner.temporal.alphabet import Letter
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.monitor import Monitor
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene

MOST_FUTURES = 64  # of one rule; where there are more, nothing is proved
_FASTER = "how fast the robot will be is not foreseen, which matters to “{words}”: only a full rehearsal tells"
_SLOWER = "“{words}” asks for less than {bound:.3g} m/s: the robot may not get anywhere as slowly as that"


@dataclass(frozen=True)
class SpeedOutlook:
    """One rule, and where its monitor may be by now, whatever the speeds were; `doubt` says what speaks against it."""

    constraint: Constraint
    futures: tuple[Monitor, ...]
    doubt: str = ""

    def after(self, letter: Letter, levers: Sequence[Lever], time: float) -> SpeedOutlook:
        """The same once a scene shows `letter` at `time` [s], with the speeds that it happens to show or any others."""
        if self.doubt:
            return self
        found: dict[tuple[int, Letter | None], Monitor] = {}
        ahead = [future for monitor in self.futures for future in self._next(monitor, letter, levers, time)]
        while ahead:
            monitor = ahead.pop()
            if monitor.verdict.lost or len(found) >= MOST_FUTURES:
                return self._doubted()
            if monitor.point not in found:
                found[monitor.point] = monitor
                ahead += self._next(monitor, letter, levers, time)
        return replace(self, futures=tuple(found.values()), doubt=self._too_slow(found.values(), levers))

    def ended(self) -> SpeedOutlook:
        """The same where the run ends now."""
        return self if self.doubt or all(monitor.accepts for monitor in self.futures) else self._doubted()

    def _next(self, monitor: Monitor, letter: Letter, levers: Sequence[Lever], time: float) -> Iterator[Monitor]:
        """Where the monitor may be after the letter, with each of the speeds that are not ruled out before it."""
        own = letter.intersection(monitor.formula.propositions)
        speeds = _speeds(monitor)
        fixed = {one.proposition: one.value for one in _owed(monitor, levers, own) if one.kept_by_motion}
        for values in product(*([fixed[name]] if name in fixed else [False, True] for name in speeds)):
            shown = own.difference(speeds).union(name for name, value in zip(speeds, values, strict=True) if value)
            if monitor.can_occur(shown) and _consistent(shown, speeds):
                future = copy(monitor)
                future.observe(shown, time)
                yield future

    def _too_slow(self, futures: Iterable[Monitor], levers: Sequence[Lever]) -> str:
        owed = {one.proposition for monitor in futures for one in _owed(monitor, levers) if one.kept_by_motion}
        bounds = [parse_proposition(name).bound for name in owed if name.startswith("speed(")]
        if all(SPEED_SHARE * bound >= LEAST_SPEED for bound in bounds):
            return ""
        return _SLOWER.format(words=self.constraint.words, bound=LEAST_SPEED / SPEED_SHARE)

    def _doubted(self) -> SpeedOutlook:
        return replace(self, doubt=_FASTER.format(words=self.constraint.words))


def _owed(monitor: Monitor, levers: Sequence[Lever], *ahead: Letter) -> tuple[Obligation, ...]:
    _, seen = monitor.point
    return obligations(monitor, seen, levers, ahead) if seen is not None else ()


def _speeds(monitor: Monitor) -> list[str]:
    return sorted(name for name in monitor.formula.propositions if parse_proposition(name).predicate == "speed")


def _consistent(letter: Letter, speeds: Sequence[str]) -> bool:
    """Whether one speed shows all that the letter says of it."""
    items = [(parse_proposition(name), name in letter) for name in speeds]
    under = [item.bound for item, value in items if (item.comparison == "<") == value]
    least = [item.bound for item, value in items if (item.comparison == ">") == value]
    return not under or not least or max(least) <= min(under)


class SpeedOutlooks:
    """Of all rules of a plan that speak of speeds, along the course that is foreseen; single-owner."""

    def __init__(self, watch: Watch) -> None:
        self._outlooks = [_begun(one) for one in watch.watched if _speeds(one.monitor)]

    def see(self, watch: Watch, scene: Scene) -> None:
        """The course has come to `scene`, which `watch` has just read."""
        if not self._outlooks or not watch.trace:
            return
        levers = levers_of(watch, scene)
        self._outlooks = [outlook.after(watch.trace[-1], levers, scene.time) for outlook in self._outlooks]

    def doubts(self) -> tuple[str, ...]:
        """What speaks against each rule at the end of the course, for a person; none where all are proved."""
        return tuple(outlook.ended().doubt for outlook in self._outlooks if outlook.ended().doubt)


def _begun(one: Watched) -> SpeedOutlook:
    outlook = SpeedOutlook(one.constraint, (one.monitor,))
    # With windows in seconds it matters how long a motion takes, which depends on the speeds as well.
    return replace(outlook, doubt=_FASTER.format(words=one.constraint.words)) if one.monitor.formula.timed else outlook
