"""Runtime monitoring of constraints: they read the letters of measured or predicted scenes.

Each constraint reads only the changes of its own propositions, so that "at the next change" does not depend on other
constraints. A watch is an immutable value: reading returns a new one, and a prediction can simply be discarded.
`RunLog` records the signals of a run and computes the robustness of its constraints.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite, nan

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Letter, Trace
from llm_planner.ltl.formula import Constraint, Formula
from llm_planner.ltl.monitor import Monitor, Verdict
from llm_planner.ltl.robustness import robustness
from llm_planner.ltl.scene_letters import alphabet_of, margin_of, unit_of
from llm_planner.plans.trace import letter, needs_every_point
from llm_planner.scene.driven_base import fixed_places
from llm_planner.scene.propositions import ROBOT, Moment, Proposition, check_proposition, parse_proposition
from llm_planner.scene.scene import Scene, Vector3

MAX_TRACE = 1000  # latest letters that are kept to explain what happened


@dataclass(frozen=True)
class Watched:
    """A constraint, its monitor, and the last letter of its own propositions that it has read."""

    constraint: Constraint
    monitor: Monitor  # never advanced itself, only its copies
    seen: Letter | None = None

    def read(self, letter: Letter, time: float) -> Watched:
        """Read a letter at `time` [s]; a repeated letter matters only to formulas with time windows."""
        formula = self.constraint.formula
        own = letter.intersection(formula.propositions)
        if own == self.seen and not formula.timed:
            return self
        monitor = copy(self.monitor)
        monitor.observe(own, time)
        return replace(self, monitor=monitor, seen=own)

    @property
    def verdict(self) -> Verdict:
        return self.monitor.verdict


@dataclass(frozen=True)
class Watch:
    """Monitors of all constraints of a plan; `trace` has one letter of all propositions per change.

    `origins` are the positions of objects in the first scene [m], the reference of `moved`.
    """

    watched: tuple[Watched, ...] = ()
    propositions: tuple[Proposition, ...] = ()
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    trace: Trace = ()

    def see(self, scene: Scene, event: tuple[str, ...] = ()) -> Watch:
        """Read a scene; `event` is the skill call (name and arguments) that has just ended well."""
        if not self.watched:
            return self
        events = frozenset([event]) if event else frozenset()
        begun = self if self.trace else replace(self, origins=fixed_places(scene))
        return begun.read(Moment(scene, begun.origins, events))

    def read(self, moment: Moment) -> Watch:
        """Read a moment whose origins are those of this watch."""
        seen, time = letter(moment, self.propositions), moment.scene.time
        if self.trace[-1:] == (seen,) and not any(one.constraint.formula.timed for one in self.watched):
            return self
        watched = tuple(one.read(seen, time) for one in self.watched)
        trace = self.trace if self.trace[-1:] == (seen,) else (*self.trace[1 - MAX_TRACE :], seen)
        return replace(self, watched=watched, trace=trace)

    def foresee(self, moments: Iterable[Moment]) -> Watch:
        """Read all moments, up to the first that breaks a constraint."""
        watch = self
        for moment in moments:
            watch = watch.read(moment)
            if len(watch.broken) > len(self.broken):
                break
        return watch

    def with_rule(self, rule: Constraint, scene: Scene) -> Watch:
        """Add a constraint that has seen only `scene`; raises InputError as `watch_for`."""
        more = watch_for((rule,), scene)
        if not self.watched:
            return more.see(scene)
        moment = Moment(scene, self.origins)
        now = letter(moment, more.propositions)
        names = tuple(sorted({*self.propositions, *more.propositions}, key=str))
        fresh = now - {str(item) for item in self.propositions}
        trace = tuple(seen | fresh for seen in self.trace)  # as if the new propositions had always been as they are now
        (added,) = more.watched
        return replace(self, watched=(*self.watched, added.read(now, scene.time)), propositions=names, trace=trace)

    def without_rule(self, formula: Formula) -> Watch:
        """Remove the constraints with this formula."""
        kept = tuple(one for one in self.watched if one.constraint.formula != formula)
        return replace(self, watched=kept, propositions=propositions_of(one.constraint.formula for one in kept))

    @property
    def broken(self) -> tuple[Constraint, ...]:
        """Constraints that are violated for good."""
        return tuple(one.constraint for one in self.watched if one.verdict.lost)

    @property
    def unmet(self) -> tuple[Constraint, ...]:
        """Constraints that do not hold if the run ends now."""
        return tuple(one.constraint for one in self.watched if not one.monitor.accepts)

    @cached_property
    def needs_every_point(self) -> bool:
        """Whether a forecast must cover the robot's whole way instead of its corners."""
        return needs_every_point(self.propositions)

    @property
    def last_change(self) -> str:
        """Propositions that became true or false at the last change, for a person."""
        before, now = (frozenset[str](), *self.trace)[-2:]
        return ", ".join([*sorted(now - before), *(f"no longer {name}" for name in sorted(before - now))])


def watch_for(constraints: Iterable[Constraint], scene: Scene) -> Watch:
    """Return the watch before the first scene; `scene` determines which letters are possible.

    Raises InputError for invalid propositions and for formulas that are too large to decide.
    """
    listed = tuple(constraints)
    alphabet = alphabet_of((name for constraint in listed for name in constraint.formula.propositions), scene)
    watched = tuple(Watched(constraint, Monitor(constraint.formula, alphabet)) for constraint in listed)
    return Watch(watched, propositions_of(constraint.formula for constraint in listed))


def propositions_of(formulas: Iterable[Formula]) -> tuple[Proposition, ...]:
    """Return the propositions of the formulas in alphabetical order; raise InputError for an invalid one."""
    return tuple(map(parse_proposition, sorted({name for formula in formulas for name in formula.propositions})))


_OF_ROBOT = frozenset({"near", "over", "distance", "speed", "in"})


def check_watchable(constraints: Iterable[Constraint], scene: Scene) -> None:
    """Raise InputError if a scene like this one cannot show the propositions of a constraint."""
    for item in propositions_of(constraint.formula for constraint in constraints):
        check_proposition(item, scene)
        if scene.robot is None and item.predicate in _OF_ROBOT and item.arguments[0] == ROBOT:
            raise InputError(
                f"{str(item)!r} cannot be watched: nothing measures where the robot is; "
                "start what publishes it, or leave the constraint out"
            )


def margin(formula: Formula, moment: Moment) -> float:
    """Return how far one moment is from breaking the formula, in the units of its propositions; negative if it does.

    The result is NaN if no measured proposition decides, or if the formula counts changes.
    """
    margins = {name: [margin_of(parse_proposition(name), moment)] for name in formula.propositions}
    try:
        value = float(robustness(formula, margins, [moment.scene.time])[0])
    except InputError:
        return nan
    return value if isfinite(value) else nan


MOST_SAMPLES = 100_000  # more than an hour at 20 scenes per second
_TICK = 1e-6  # [s] between two letters of one scene


@dataclass(frozen=True)
class ConstraintResult:
    """Result of one constraint after a run.

    `margin` is the robustness in `unit` ("m", "m/s"), positive if the constraint held. It is None if no measured
    proposition decides (an object is held or not) or if the formula counts changes.
    """

    constraint: Constraint
    holds: bool
    margin: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        """Describe the result for a person."""
        how, words = "kept" if self.holds else "not kept", f"“{self.constraint.words}”"
        if self.margin is None or (self.margin > 0) != self.holds:
            return f"{how}: {words}"
        amount = f"{100 * abs(self.margin):.1f} cm" if self.unit == "m" else f"{abs(self.margin):.3f} {self.unit}"
        return f"kept with {amount} to spare: {words}" if self.holds else f"missed by {amount}: {words}"


class RunLog:
    """Signals of a plan's constraints, one sample per scene; not thread-safe."""

    def __init__(self) -> None:
        self._times = array("d")
        self._signals: dict[str, array[float]] = {}
        self._units: dict[str, str] = {}

    def see(self, watch: Watch, scene: Scene) -> None:
        """Record the scene that `watch` has just read."""
        if not watch.trace or len(self._times) >= MOST_SAMPLES:
            return
        last = self._times[-1] if self._times else -inf
        self._times.append(max(scene.time, last + _TICK))
        moment = Moment(scene, watch.origins)
        for item in watch.propositions:
            signal = self._signals.setdefault(str(item), array("d"))
            if item.predicate == "did":  # an event is in the letter only, not in the scene
                signal.append(inf if str(item) in watch.trace[-1] else -inf)
            else:
                signal.append(margin_of(item, moment))
            self._units[str(item)] = unit_of(item, scene)

    def kept(self, watch: Watch) -> tuple[ConstraintResult, ...]:
        """Return the result of each constraint at the end of the run, with the margins of the log."""
        return tuple(self._kept(one) for one in watch.watched)

    def _kept(self, one: Watched) -> ConstraintResult:
        holds = one.monitor.accepts and not one.verdict.lost
        if not self._times:
            return ConstraintResult(one.constraint, holds)
        try:
            margin = float(robustness(one.constraint.formula, self._signals, self._times)[0])
        except InputError:  # it counts changes, which signals do not have
            return ConstraintResult(one.constraint, holds)
        units = {self._units[name] for name in one.constraint.formula.propositions} - {""}
        if not isfinite(margin):
            return ConstraintResult(one.constraint, holds)
        return ConstraintResult(one.constraint, holds, margin, " or ".join(sorted(units)))
