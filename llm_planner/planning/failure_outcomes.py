"""Possible results of a skill call besides the promised one, and proofs of rules about speeds.

A forecast determines a letter except for its speed propositions. A rule about speeds is proved only if it holds for
every combination of them that the controller does not rule out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product

from llm_planner.execution.motion_rules import LEAST_SPEED, SPEED_SHARE, Lever, Obligation, levers_of, obligations
from llm_planner.execution.watch import Watch
from llm_planner.ltl.alphabet import Letter
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.monitor import Monitor
from llm_planner.plans.plan import Goal
from llm_planner.plans.prediction import DOUBTFUL, pushed, pushed_by, shoved
from llm_planner.scene.geometry import half_extents
from llm_planner.scene.propositions import Moment, parse_proposition
from llm_planner.scene.scene import Scene, Vector3


@dataclass(frozen=True)
class Course:
    """Scenes of one possible course of a call, the last one after it.

    `succeeds` is what the skill reports; `doubt` is why its motion is not foreseen, "" if it is.
    """

    scenes: tuple[Scene, ...]
    succeeds: bool = True
    doubt: str = ""


def surprises(course: Course, goals: tuple[Goal, ...], watch: Watch) -> Iterator[Course]:
    """Iterate over other courses than `course`, which reaches the `goals`.

    They end elsewhere, shove more objects, fail on the way, or drop the held object.
    """
    yield from _elsewhere(course, goals)
    yield from _shoving(course, goals)
    for index in _changes(course, watch):
        yield Course(course.scenes[: index + 1], succeeds=False)
        if course.scenes[index].held:
            dropped = _dropped(course.scenes[index])
            yield Course((*course.scenes[: index + 1], dropped), succeeds=False)


def _changes(course: Course, watch: Watch) -> Iterator[int]:
    """Iterate over the first scene and each that a constraint sees differently, except the successful last one."""
    before = None
    for index, scene in enumerate(course.scenes[:-1]):
        watch = watch.read(Moment(scene, watch.origins))
        if watch.trace[-1] != before:
            yield index
        before = watch.trace[-1]


def _elsewhere(course: Course, goals: tuple[Goal, ...]) -> Iterator[Course]:
    """Place the object in each corner of its target region."""
    for goal in goals:
        place = goal.values.get(goal.atom.arguments[1]) if goal.atom.predicate == "at" else None
        if isinstance(place, str):
            *way, after = course.scenes
            area, item = after.region(place).area, after.find(str(goal.argument(0)))
            reach = max(half_extents(item)[:2])
            for x in (area.x_min + reach, area.x_max - reach):
                for y in (area.y_min + reach, area.y_max - reach):
                    yield Course((*way, _placed(after, item.name, (x, y, item.position[2]))))


def _shoving(course: Course, goals: tuple[Goal, ...]) -> Iterator[Course]:
    """Let a push also shove objects that are only near its path."""
    for goal in goals:
        if name := pushed_by(goal):
            before, *_, after = course.scenes
            doubtful = pushed(before, name, after.find(name).position, DOUBTFUL)
            more = set(shoved(before, doubtful, name)).difference(shoved(before, after, name))
            if more:
                farther = tuple(doubtful.find(it.name) if it.name in more else it for it in after.objects)
                yield Course((*course.scenes[:-1], replace(after, objects=farther)))


def _dropped(scene: Scene) -> Scene:
    item = scene.find(scene.held)
    x, y, _ = item.position
    return replace(_placed(scene, item.name, (x, y, half_extents(item)[2])), held="")


def _placed(scene: Scene, name: str, position: Vector3) -> Scene:
    objects = tuple(replace(item, position=position) if item.name == name else item for item in scene.objects)
    return replace(scene, objects=objects)


MOST_FUTURES = 64  # monitor states of one rule; with more nothing is proved
_FASTER = "how fast the robot will be is not foreseen, which matters to “{words}”: only a full rehearsal tells"
_SLOWER = "“{words}” asks for less than {bound:.3g} m/s: the robot may not get anywhere as slowly as that"


@dataclass(frozen=True)
class SpeedOutlook:
    """Possible states of one rule's monitor for all possible speeds; `doubt` says why it is not proved."""

    constraint: Constraint
    futures: tuple[Monitor, ...]
    doubt: str = ""

    def after(self, letter: Letter, levers: Sequence[Lever], time: float) -> SpeedOutlook:
        """Advance with a scene that shows `letter` at `time` [s], for its own speeds and all others."""
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
        """Return the outlook if the run ends now."""
        return self if self.doubt or all(monitor.accepts for monitor in self.futures) else self._doubted()

    def _next(self, monitor: Monitor, letter: Letter, levers: Sequence[Lever], time: float) -> Iterator[Monitor]:
        """Iterate over the monitor's states after the letter, for each speed that is not ruled out before it."""
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
    """Return whether one speed can satisfy all speed propositions of the letter."""
    items = [(parse_proposition(name), name in letter) for name in speeds]
    under = [item.bound for item, value in items if (item.comparison == "<") == value]
    least = [item.bound for item, value in items if (item.comparison == ">") == value]
    return not under or not least or max(least) <= min(under)


class SpeedOutlooks:
    """Outlooks of all rules about speeds along the nominal course; not thread-safe."""

    def __init__(self, watch: Watch) -> None:
        self._outlooks: list[SpeedOutlook] = []
        for one in watch.watched:
            if _speeds(one.monitor):
                # Time windows depend on how long motions take, which depends on the speeds too.
                doubt = _FASTER.format(words=one.constraint.words) if one.monitor.formula.timed else ""
                self._outlooks.append(SpeedOutlook(one.constraint, (one.monitor,), doubt))

    def see(self, watch: Watch, scene: Scene) -> None:
        """Advance to `scene`, which `watch` has just read."""
        if not self._outlooks or not watch.trace:
            return
        levers = levers_of(watch, scene)
        self._outlooks = [outlook.after(watch.trace[-1], levers, scene.time) for outlook in self._outlooks]

    def doubts(self) -> tuple[str, ...]:
        """Return why rules are not proved at the end of the course, for a person."""
        return tuple(outlook.ended().doubt for outlook in self._outlooks if outlook.ended().doubt)
