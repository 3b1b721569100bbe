"""Watches constraints while a plan runs: the letters of scenes are read as they come, or as they are foreseen.

Each constraint reads the changes of its own propositions only, so that "at the next change" does not depend on what
else was asked for. A watch is a value: reading gives another one, and what is foreseen costs nothing to forget.

By how much a run has kept its constraints: the robustness of what really happened, from a log of its scenes.
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
from llm_planner.ltl.scene_letters import alphabet_of, margin_of, unit_of
from llm_planner.ltl.semantics import robustness
from llm_planner.plans.trace import letter, needs_every_point
from llm_planner.scene.propositions import ROBOT, Moment, Proposition, check_proposition, parse_proposition
from llm_planner.scene.scene import Scene, Vector3

MAX_TRACE = 1000  # letters that are kept to tell what happened, the latest


@dataclass(frozen=True)
class Watched:
    """A constraint, what its monitor says and the last letter of its own propositions that it has read."""

    constraint: Constraint
    monitor: Monitor  # never told anything: its copies are
    seen: Letter | None = None

    def read(self, letter: Letter, time: float) -> Watched:
        """The same after a letter at `time` [s]; one that repeats matters to formulas that count seconds only."""
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
    """All constraints of a plan. `trace` has a letter of all their propositions for every change seen so far.

    `origins` is where each object lay when the first scene was seen [m]; moving is judged by it.
    """

    watched: tuple[Watched, ...] = ()
    propositions: tuple[Proposition, ...] = ()
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    trace: Trace = ()

    def see(self, scene: Scene, event: tuple[str, ...] = ()) -> Watch:
        """The same after a scene, at which the skill call `event` (its name and argument) has just ended well."""
        if not self.watched:
            return self
        events = frozenset([event]) if event else frozenset()
        begun = self if self.trace else replace(self, origins={item.name: item.position for item in scene.objects})
        return begun.read(Moment(scene, begun.origins, events))

    def read(self, moment: Moment) -> Watch:
        """The same after a moment whose origins are those of this watch."""
        seen, time = letter(moment, self.propositions), moment.scene.time
        if self.trace[-1:] == (seen,) and not any(one.constraint.formula.timed for one in self.watched):
            return self
        watched = tuple(one.read(seen, time) for one in self.watched)
        trace = self.trace if self.trace[-1:] == (seen,) else (*self.trace[1 - MAX_TRACE :], seen)
        return replace(self, watched=watched, trace=trace)

    def foresee(self, moments: Iterable[Moment]) -> Watch:
        """The same after all moments, or after the first that breaks what is not broken yet."""
        watch = self
        for moment in moments:
            watch = watch.read(moment)
            if len(watch.broken) > len(self.broken):
                break
        return watch

    def with_rule(self, rule: Constraint, scene: Scene) -> Watch:
        """With one constraint more, which has seen `scene` and nothing before; raises InputError as `watch_for`."""
        more = watch_for((rule,), scene)
        if not self.watched:
            return more.see(scene)
        moment = Moment(scene, self.origins)
        now = letter(moment, more.propositions)
        names = tuple(sorted({*self.propositions, *more.propositions}, key=str))
        fresh = now - {str(item) for item in self.propositions}
        trace = tuple(seen | fresh for seen in self.trace)  # as if it had always been as it is now
        (added,) = more.watched
        return replace(self, watched=(*self.watched, added.read(now, scene.time)), propositions=names, trace=trace)

    def without_rule(self, formula: Formula) -> Watch:
        """With the constraints of this formula left out."""
        kept = tuple(one for one in self.watched if one.constraint.formula != formula)
        return replace(self, watched=kept, propositions=propositions_of(one.constraint.formula for one in kept))

    @property
    def broken(self) -> tuple[Constraint, ...]:
        """Constraints that nothing can keep any more."""
        return tuple(one.constraint for one in self.watched if one.verdict.lost)

    @property
    def unmet(self) -> tuple[Constraint, ...]:
        """Constraints that are not kept if the run ends now."""
        return tuple(one.constraint for one in self.watched if not one.monitor.accepts)

    @cached_property
    def needs_every_point(self) -> bool:
        """Whether the whole way of a robot has to be foreseen, not its corners only."""
        return needs_every_point(self.propositions)

    @property
    def last_change(self) -> str:
        """What came true at the last change, or ceased to be, for a person."""
        before, now = (frozenset[str](), *self.trace)[-2:]
        return ", ".join([*sorted(now - before), *(f"no longer {name}" for name in sorted(before - now))])


def watch_for(constraints: Iterable[Constraint], scene: Scene) -> Watch:
    """The watch before the first scene; what can occur is worked out for `scene`.

    Raises InputError for propositions that no scene can show and for formulas too large to decide.
    """
    listed = tuple(constraints)
    alphabet = alphabet_of((name for constraint in listed for name in constraint.formula.propositions), scene)
    watched = tuple(Watched(constraint, Monitor(constraint.formula, alphabet)) for constraint in listed)
    return Watch(watched, propositions_of(constraint.formula for constraint in listed))


def propositions_of(formulas: Iterable[Formula]) -> tuple[Proposition, ...]:
    """All of them, parsed, in alphabetical order; raises InputError for one that no scene can show."""
    return tuple(map(parse_proposition, sorted({name for formula in formulas for name in formula.propositions})))


_OF_ROBOT = frozenset({"near", "over", "distance", "speed", "in"})


def check_watchable(constraints: Iterable[Constraint], scene: Scene) -> None:
    """Raises InputError where a scene like this one cannot show what a constraint speaks of."""
    for item in propositions_of(constraint.formula for constraint in constraints):
        check_proposition(item, scene)
        if scene.robot is None and item.predicate in _OF_ROBOT and item.arguments[0] == ROBOT:
            raise InputError(
                f"{str(item)!r} cannot be watched: nothing measures where the robot is; "
                "start what publishes it, or leave the constraint out"
            )


def margin(formula: Formula, moment: Moment) -> float:
    """How far this one moment is from breaking the formula, in the units of its propositions, negative where it does.

    Not a number where nothing measured decides, or where the formula counts changes.
    """
    margins = {name: [margin_of(parse_proposition(name), moment)] for name in formula.propositions}
    try:
        value = float(robustness(formula, margins, [moment.scene.time])[0])
    except InputError:
        return nan
    return value if isfinite(value) else nan


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
