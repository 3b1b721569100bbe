"""Which patches are in force, and what follows from them: the strictest of all, reached by ramps.

Tightening is always accepted; loosening, as far as the operator's envelope lets it. Time is the robot's, handed in. A
patch is its publisher's: nobody else replaces or withdraws it.

What is in force on its way to what is wanted, never faster than a moving robot can follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope, Ramps, joined
from llm_planner.control.motion_constraints import ALL_READ, MOST_ZONES, MotionConstraints, Patch, Unread
from llm_planner.scene.zones import Shape, Subject, Zone

FASTEST = 5.0  # [m/s] no robot of ours gets there: a limit that rises past it is none
FORESIGHT = 0.1  # [s] in which an arm that stands can gather the speed of a growing clearance, and a command arrives
OF_THE_SPEED = 0.5  # of the speed limit in force, at which a clearance grows at most: room is made below the limit

Kind = tuple[str, Shape, Subject]  # of a zone, which may move


class Ramp:
    """Single-owner. `present` is what is in force."""

    def __init__(self, ramps: Ramps, present: MotionConstraints) -> None:
        self.present = present
        self._ramps = ramps
        self._growing: dict[Kind, float] = {}  # the clearances that grow, and how fast [m/s]

    def reached(self, wanted: MotionConstraints) -> bool:
        """Whether nothing is left to change."""
        return self.present == replace(wanted, version=self.present.version)

    def towards(self, wanted: MotionConstraints, elapsed: float, moving: float) -> MotionConstraints:
        """What is in force `elapsed` [s] later; a falling speed limit falls from `moving`, the present speed [m/s]."""
        ramps, now = self._ramps, self.present
        share_step = elapsed * (ramps.share_falls if wanted.joint_share < now.joint_share else ramps.share_rises)
        changed = MotionConstraints(
            self._speed(wanted.speed, elapsed, moving),
            _stepped(now.joint_share, wanted.joint_share, share_step),
            self._grow(wanted.zones, elapsed),
            now.version,
            wanted.weights,
        )
        if changed != now:
            self.present = replace(changed, version=now.version + 1)
        return self.present

    def foreseen(self, wanted: MotionConstraints) -> MotionConstraints:
        """What is in force, with clearances as they will be in `FORESIGHT`: what a controller plans with."""
        zones, _ = self._grown(wanted.zones, FORESIGHT)
        return self.present if zones == self.present.zones else replace(self.present, zones=zones)

    def _speed(self, wanted: float, elapsed: float, moving: float) -> float:
        ramps, present = self._ramps, self.present.speed
        if wanted < present:
            begin = min(present, moving)
            return wanted if math.isinf(begin) else max(wanted, begin - elapsed * ramps.speed_falls)
        risen = present + elapsed * ramps.speed_rises
        return wanted if risen >= min(wanted, FASTEST) else risen

    def _grow(self, wanted: tuple[Zone, ...], elapsed: float) -> tuple[Zone, ...]:
        grown, self._growing = self._grown(wanted, elapsed)
        return self.present.zones if grown == self.present.zones else grown  # who reads them may go by identity

    def _grown(self, wanted: tuple[Zone, ...], elapsed: float) -> tuple[tuple[Zone, ...], dict[Kind, float]]:
        """The solids at once; what is kept from them grows, from a stand, as fast as a robot can make room."""
        kept: dict[Kind, float] = {}
        for zone in self.present.zones:
            kept[_kind(zone)] = max(zone.clearance, kept.get(_kind(zone), 0.0))
        top = min(self._ramps.clearance_grows * self.present.joint_share, OF_THE_SPEED * self.present.speed)
        grown, growing = [], {}
        for zone in wanted:
            way, fast = _hastened(self._growing.get(_kind(zone), 0.0), top, self._ramps.clearance_quickens, elapsed)
            clearance = kept.get(_kind(zone), 0.0) + way
            if clearance < zone.clearance:
                growing[_kind(zone)] = fast
            grown.append(replace(zone, clearance=min(clearance, zone.clearance)))
        return tuple(grown), growing


def _kind(zone: Zone) -> Kind:
    return zone.name, zone.shape, zone.subject


def _hastened(fast: float, top: float, quickens: float, elapsed: float) -> tuple[float, float]:
    """The way [m] made in `elapsed` [s], and the speed after it, from the speed `fast` to at most `top` [m/s]."""
    fast = min(fast, top)
    gaining = min(elapsed, (top - fast) / quickens)
    after = fast + quickens * gaining
    return 0.5 * (fast + after) * gaining + after * (elapsed - gaining), after


def _stepped(value: float, goal: float, step: float) -> float:
    """`value` moved towards `goal` by at most `step`."""
    return min(goal, value + step) if goal > value else max(goal, value - step)


AHEAD = 0.5  # [s] that a patch may begin after now; one of a clock that is ahead by more begins by then
MOST_PUBLISHERS = 16  # with sources of their own; patches of all others are put together
MOST_SOURCES = 32  # of a publisher, with a patch of their own; those of all its others are put together
MOST_ZONES_OF_ONE = 8 * MOST_ZONES  # publisher, in patches of their own
MOST_REMEMBERED = 256  # sources of a publisher, those without a patch included
LOOK_AGAIN = 1.0  # [s] whether a conflict is over, for the robot has moved
BAD_WEIGHTS = "with these weights the controller finds no motion: they are left out"
_REST = " "  # a source, and a publisher, that no patch can have: all those without a place of their own

Feasible = Callable[[MotionConstraints], bool]  # one dry run of the controller's program at the present state
Key = tuple[str, str]  # the publisher's place, source
_OVER = object()
_AS_MUCH = "no motion keeps everything; the robot keeps as much of it as it can"


@dataclass(frozen=True)
class Answer:
    """What became of a patch; `reason` in words where it was refused, or a part of it was."""

    accepted: bool
    reason: str = ""


ACCEPTED = Answer(True)


@dataclass
class _Publisher:
    """What one publisher wants: a patch for each source, and of each the newest epoch and stamp heard."""

    patches: dict[str, Patch] = field(default_factory=dict)
    epochs: dict[str, tuple[int, float]] = field(default_factory=dict)

    def heard(self, patch: Patch) -> None:
        """So that an older patch, which the network may still hold, comes to nothing."""
        self.epochs[patch.source] = patch.epoch, patch.stamp
        if len(self.epochs) > MOST_REMEMBERED:
            kept = {*self.patches, patch.source}
            self.epochs = {source: heard for source, heard in self.epochs.items() if source in kept}


class ConstraintArbiter:
    """Single-owner: the controller has one, and the safety filter another, fed by the same topic.

    `offered` only files a patch, in a time that does not grow with their number; `at` draws the conclusions, once for
    all that were offered since, with at most one dry run each time.
    """

    def __init__(self, envelope: Envelope = FROM_THE_ROBOT, feasible: Feasible = lambda constraints: True) -> None:
        self.envelope = envelope
        self.conflict = ""  # which sources contradict each other, in words
        self._feasible = feasible
        self._publishers: dict[str, _Publisher] = {}
        self._has_changed = False
        self._unproven: set[Key] = set()  # whose weights have not been in a dry run
        self._left_out: list[tuple[str, str]] = []
        self._inquiry: Iterator[None] = iter(())  # its steps are dry runs
        self._target = self._wanted()
        self._ramp = Ramp(envelope.ramps, self._target)
        self._settled = True  # the target is reached
        self._ramped_at = self._looked_at = -math.inf

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose patches are in force."""
        return tuple(patch.source for _, patch in self._all())

    def offered(self, patch: Patch, now: float, publisher: str = "", unread: Unread = ALL_READ) -> Answer:
        """File `patch` in place of the earlier one of `publisher` and source, or say why not, or which part not.

        Args:
            patch: what the source wants from now on.
            now: the robot's time [s].
            publisher: who speaks, by a name that nobody else can take.
            unread: what the message said besides that nothing can keep; of it the earlier patch goes on.
        """
        patch, place = _begun(patch, now), self._place_of(publisher)
        owner = self._publishers.setdefault(place, _Publisher())
        reason = self._objection(owner, patch, now)
        if reason:
            return Answer(False, reason)
        filled = unread.filled(patch, owner.patches.get(patch.source))
        if filled.says_nothing and unread.told:
            return Answer(False, "; ".join(unread.told))
        if place != _REST:  # whose patches replace nothing
            owner.heard(patch)
        wanted, beyond = self.envelope.clipped(filled)
        told = [words for words in (*unread.told, beyond, self._put(place, wanted)) if words]
        if self._settled:
            self._ramped_at = max(self._ramped_at, now)  # ramps begin now, not when was last looked
        self._has_changed, self._settled = True, False
        return Answer(True, "; ".join(told)) if told else ACCEPTED

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """What is in force at `now` [s]; a falling speed limit falls from `moving`, the present speed [m/s]."""
        self._expire(now)
        if self._has_changed or (self.conflict and now >= self._looked_at + LOOK_AGAIN):
            self._has_changed, self._settled = False, False
            self._inquiry = self._inquire()
        if next(self._inquiry, _OVER) is not _OVER:
            self._looked_at = now
        elapsed = max(0.0, now - self._ramped_at) if math.isfinite(self._ramped_at) else 0.0
        self._ramped_at = max(self._ramped_at, now)
        if self._settled:
            return self._ramp.present
        present = self._ramp.towards(self._target, elapsed, moving)
        self._settled = self._ramp.reached(self._target)
        return present

    def foreseen(self) -> MotionConstraints:
        """What is in force, with growing clearances a little ahead of that: plans that keep it are never too late."""
        return self._ramp.present if self._settled else self._ramp.foreseen(self._target)

    def left_out(self) -> tuple[tuple[str, str], ...]:
        """What dry runs have shown to leave no motion since this was last asked: source, and what, in words."""
        left_out, self._left_out = tuple(self._left_out), []
        return left_out

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`: what was in force stays so for as long as it still had."""
        leap = now - self._ramped_at
        for owner in self._publishers.values():
            if math.isfinite(leap):
                owner.patches = {
                    source: replace(patch, stamp=patch.stamp + leap, expires=patch.expires + leap)
                    for source, patch in owner.patches.items()
                }
            owner.epochs = {source: (epoch, -math.inf) for source, (epoch, _) in owner.epochs.items()}
        self._ramped_at = self._looked_at = now

    # Filing

    def _place_of(self, publisher: str) -> str:
        """The publisher's own, or that of all for whom there is none; a place that has been left is given away."""
        if publisher in self._publishers or len(self._publishers) - (_REST in self._publishers) < MOST_PUBLISHERS:
            return publisher
        left = next((name for name, owner in self._publishers.items() if name != _REST and not owner.patches), None)
        if left is None:
            return _REST
        del self._publishers[left]
        return publisher

    def _objection(self, owner: _Publisher, patch: Patch, now: float) -> str:
        epoch, stamp = owner.epochs.get(patch.source, (0, -math.inf))
        if patch.epoch < epoch:
            return f"it is of the earlier run {patch.epoch}; {patch.source!r} is at {epoch}"
        if patch.epoch == epoch and patch.stamp < stamp:
            return f"it is older than the last one, by {stamp - patch.stamp:.3f} s"
        if patch.expires <= now and not patch.says_nothing:  # to withdraw it is never too late
            return f"it expired {now - patch.expires:.2f} s ago"
        return ""

    def _put(self, place: str, patch: Patch) -> str:
        """In place of what the source wanted before; what of it cannot be in force, in words."""
        patches, key = self._publishers[place].patches, (place, patch.source)
        before = patches.pop(patch.source, None)
        self._unproven.discard(key)
        if patch.says_nothing:
            return ""
        own = [one for source, one in patches.items() if source != _REST]
        zones = sum(len(one.zones) for one in (*own, patch))
        if place == _REST or len(own) >= MOST_SOURCES or zones > MOST_ZONES_OF_ONE:
            crowd = [patches[_REST]] if _REST in patches else []
            patches[_REST] = joined([*crowd, patch], self.envelope)
            full = (
                f"{MOST_PUBLISHERS} publishers have" if place == _REST else f"{len(own)} sources of this publisher have"
            )
            return f"{full} patches in force already: with others it only tightens, till all expire"
        patches[patch.source] = patch
        if patch.weights and (before is None or before.weights != patch.weights):
            self._unproven.add(key)
        return ""

    def _expire(self, now: float) -> None:
        for place, owner in self._publishers.items():
            for source in [source for source, patch in owner.patches.items() if now >= patch.expires]:
                del owner.patches[source]
                self._unproven.discard((place, source))
                self._has_changed = True

    # Conclusions

    def _all(self) -> Iterator[tuple[Key, Patch]]:
        for place, owner in self._publishers.items():
            yield from (((place, source), patch) for source, patch in owner.patches.items())

    def _wanted(self, without: Key | None = None, untried: Collection[Key] = ()) -> MotionConstraints:
        """The strictest of all patches over the envelope's defaults; of two factors of a weight the newer.

        `untried` are patches whose weights do not count.
        """
        envelope = self.envelope
        kept = sorted(((key, patch) for key, patch in self._all() if key != without), key=lambda one: one[1].stamp)
        patches = [patch for _, patch in kept]
        clearance = max((p.clearance for p in patches if p.clearance is not None), default=envelope.clearance)
        zones = (*envelope.zones, *(zone for patch in patches for zone in patch.zones))
        return MotionConstraints(
            min((p.speed for p in patches if p.speed is not None), default=envelope.speed),
            min((p.joint_share for p in patches if p.joint_share is not None), default=envelope.joint_share),
            tuple(replace(zone, clearance=max(clearance, zone.clearance)) for zone in zones),
            weights={n: factor for key, p in kept if key not in untried for n, factor in p.weights.items()},
        )

    def _inquire(self) -> Iterator[None]:
        """Aim at what all patches want, one dry run a step.

        New weights count from the dry run that finds a motion with them; they are left out where only they prevent
        one. If all patches leave nothing to do, the conflict names those without any one of which something would be.
        """
        keys = [key for key, _ in self._all()]
        self._target = self._wanted(untried=self._unproven)
        if not keys or self._feasible(self._wanted()):
            self._agreed()
            return
        if self._unproven:
            yield
            if self._feasible(self._target):
                for place, source in self._unproven:
                    patches = self._publishers[place].patches
                    patches[source] = replace(patches[source], weights={})
                    self._left_out.append((source, BAD_WEIGHTS))
                self._agreed()
                return
            self._unproven.clear()  # it is not they
            self._target, self._settled = self._wanted(), False
        self.conflict = self.conflict or f"{len(keys)} patches leave no room: {_AS_MUCH}"
        guilty = []
        for key in keys:
            yield
            if self._feasible(self._wanted(without=key)):
                guilty.append(key)
        named = [self._publishers[place].patches[source].source for place, source in guilty or keys]
        verb = "contradict each other" if len(named) > 1 else "leaves no room"
        self.conflict = f"{' and '.join(map(repr, named))} {verb}: {_AS_MUCH}"

    def _agreed(self) -> None:
        self._unproven.clear()
        self._target, self._settled, self.conflict = self._wanted(), False, ""


def _begun(patch: Patch, now: float) -> Patch:
    """It is in force for as long as it says, however far ahead the clock is that it comes from."""
    ahead = max(0.0, patch.stamp - now - AHEAD)
    return replace(patch, stamp=patch.stamp - ahead, expires=patch.expires - ahead) if ahead else patch
