"""Arbiter that merges constraint patches into the constraints in force.

The strictest patch wins for each quantity. Tightening is always accepted, loosening only within the operator's
envelope. Only its publisher can replace or withdraw a patch. Ramps move the constraints in force to their targets, no
faster than a moving robot can follow. Callers pass the robot's time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope, Ramps, joined
from llm_planner.control.motion_constraints import ALL_READ, MOST_ZONES, InvalidParts, MotionConstraints, Patch
from llm_planner.scene.zones import Shape, Subject, Zone

FASTEST = 5.0  # [m/s] beyond all robots here: a limit that rises above it is lifted
FORESIGHT = 0.1  # [s] for a command to arrive and an arm at rest to reach the speed of a growing clearance
OF_THE_SPEED = 0.5  # share of the speed limit that bounds clearance growth, so that the robot can give way

Kind = tuple[str, Shape, Subject]  # identity of a zone, whose pose may change


class Ramp:
    """Ramp of the constraints in force, `present`, towards a target. Not thread-safe."""

    def __init__(self, ramps: Ramps, present: MotionConstraints) -> None:
        self.present = present
        self._ramps = ramps
        self._growing: dict[Kind, float] = {}  # growth rates of clearances [m/s]

    def reached(self, wanted: MotionConstraints) -> bool:
        """Return whether `present` equals `wanted`, apart from the version."""
        return self.present == replace(wanted, version=self.present.version)

    def towards(self, wanted: MotionConstraints, elapsed: float, moving: float) -> MotionConstraints:
        """Advance by `elapsed` [s] towards `wanted`; a falling speed limit starts no higher than `moving` [m/s]."""
        ramps, now = self._ramps, self.present
        share = now.joint_share
        grown, self._growing = self._grown(wanted.zones, elapsed)
        changed = MotionConstraints(
            self._speed(wanted.speed, elapsed, moving),
            max(min(wanted.joint_share, share + elapsed * ramps.share_rises), share - elapsed * ramps.share_falls),
            now.zones if grown == now.zones else grown,  # readers may compare identity
            now.version,
            wanted.weights,
        )
        if changed != now:
            self.present = replace(changed, version=now.version + 1)
        return self.present

    def foreseen(self, wanted: MotionConstraints) -> MotionConstraints:
        """Return the constraints in force with clearances grown by `FORESIGHT`, for planning."""
        zones, _ = self._grown(wanted.zones, FORESIGHT)
        return self.present if zones == self.present.zones else replace(self.present, zones=zones)

    def _speed(self, wanted: float, elapsed: float, moving: float) -> float:
        ramps, present = self._ramps, self.present.speed
        if wanted < present:
            begin = min(present, moving)
            return wanted if math.isinf(begin) else max(wanted, begin - elapsed * ramps.speed_falls)
        risen = present + elapsed * ramps.speed_rises
        return wanted if risen >= min(wanted, FASTEST) else risen

    def _grown(self, wanted: tuple[Zone, ...], elapsed: float) -> tuple[tuple[Zone, ...], dict[Kind, float]]:
        """Return the wanted zones, with clearances that grow from zero speed as fast as a robot can give way."""
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
    """Return the distance [m] and the final speed after `elapsed` [s], accelerating from `fast` to `top` [m/s]."""
    fast = min(fast, top)
    gaining = min(elapsed, (top - fast) / quickens)
    after = fast + quickens * gaining
    return 0.5 * (fast + after) * gaining + after * (elapsed - gaining), after


AHEAD = 0.5  # [s] by which a patch may begin in the future; later stamps, of clocks that run ahead, are shifted back
MOST_PUBLISHERS = 16  # with separate patches; patches of all others are merged
MOST_SOURCES = 32  # of a publisher, with separate patches; patches of its other sources are merged
MOST_ZONES_OF_ONE = 8 * MOST_ZONES  # in the separate patches of one publisher
MOST_REMEMBERED = 256  # sources of a publisher, including those without a patch
LOOK_AGAIN = 1.0  # [s] between checks of a conflict, which may end as the robot moves
BAD_WEIGHTS = "with these weights the controller finds no motion: they are left out"
_REST = " "  # key of merged sources and publishers, which no patch can use as its name

Feasible = Callable[[MotionConstraints], bool]  # one dry run of the controller's program at the present state
Key = tuple[str, str]  # publisher key, source
_OVER = object()
_AS_MUCH = "no motion keeps everything; the robot keeps as much of it as it can"


@dataclass(frozen=True)
class PatchResponse:
    """Response to a patch; `reason` explains a rejection, in full or in part."""

    accepted: bool
    reason: str = ""


ACCEPTED = PatchResponse(True)


@dataclass
class _Publisher:
    """Patches of one publisher by source, and the newest epoch and stamp of each source."""

    patches: dict[str, Patch] = field(default_factory=dict)
    epochs: dict[str, tuple[int, float]] = field(default_factory=dict)

    def heard(self, patch: Patch) -> None:
        """Record epoch and stamp of `patch`, so that older patches that arrive late are rejected."""
        self.epochs[patch.source] = patch.epoch, patch.stamp
        if len(self.epochs) > MOST_REMEMBERED:
            kept = {*self.patches, patch.source}
            self.epochs = {source: heard for source, heard in self.epochs.items() if source in kept}


class ConstraintArbiter:
    """Arbiter of the patches of all publishers. Not thread-safe.

    Controller and safety filter each own one, fed by the same topic. `offered` stores a patch in constant time. `at`
    merges all patches offered since its last call, with at most one dry run per call.
    """

    def __init__(self, envelope: Envelope = FROM_THE_ROBOT, feasible: Feasible = lambda constraints: True) -> None:
        """Create an arbiter within `envelope`; `feasible` makes a dry run of the controller with given constraints."""
        self.envelope = envelope
        self.conflict = ""  # description of the sources that contradict each other
        self._feasible = feasible
        self._publishers: dict[str, _Publisher] = {}
        self._has_changed = False
        self._unproven: set[Key] = set()  # patches whose weights await a dry run
        self._left_out: list[tuple[str, str]] = []
        self._inquiry: Iterator[None] = iter(())  # one dry run per step
        self._target = self._wanted()
        self._ramp = Ramp(envelope.ramps, self._target)
        self._settled = True  # whether the target is reached
        self._ramped_at = self._looked_at = -math.inf

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources with a patch in force."""
        return tuple(patch.source for _, patch in self._all())

    def offered(self, patch: Patch, now: float, publisher: str = "", unread: InvalidParts = ALL_READ) -> PatchResponse:
        """Store `patch` in place of the source's earlier one.

        Args:
            patch: Constraints that the source requests from now on.
            now: Robot time [s].
            publisher: Unique and unforgeable name of the publisher.
            unread: Invalid parts of the message, for which the earlier patch stays in force.

        Returns:
            Whether the patch is accepted, with the reasons for rejected parts.
        """
        patch, place = _begun(patch, now), self._place_of(publisher)
        owner = self._publishers.setdefault(place, _Publisher())
        reason = self._objection(owner, patch, now)
        if reason:
            return PatchResponse(False, reason)
        filled = unread.filled(patch, owner.patches.get(patch.source))
        if filled.says_nothing and unread.told:
            return PatchResponse(False, "; ".join(unread.told))
        if place != _REST:  # merged patches replace nothing
            owner.heard(patch)
        wanted, beyond = self.envelope.clipped(filled)
        told = [words for words in (*unread.told, beyond, self._put(place, wanted)) if words]
        if self._settled:
            self._ramped_at = max(self._ramped_at, now)  # ramps begin now, not at the last call of `at`
        self._has_changed, self._settled = True, False
        return PatchResponse(True, "; ".join(told)) if told else ACCEPTED

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """Compute the constraints in force at `now` [s]; a falling speed limit starts no higher than `moving` [m/s]."""
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
        """Return the constraints in force with growing clearances slightly ahead, so that plans react in time."""
        return self._ramp.present if self._settled else self._ramp.foreseen(self._target)

    def keep_out(self, zones: tuple[Zone, ...]) -> None:
        """Replace the zones of the envelope, which no patch can lift."""
        if zones != self.envelope.zones:
            self.envelope = replace(self.envelope, zones=zones)
            self._has_changed, self._settled = True, False

    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Return and clear the weights that dry runs found infeasible, as pairs of a source and a reason."""
        left_out, self._left_out = tuple(self._left_out), []
        return left_out

    def started_over(self, now: float) -> None:
        """Adapt to a jump of the robot's clock to `now` [s]; patches keep their remaining lifetimes."""
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
        """Return the publisher's key, or `_REST` if all places are taken by publishers with patches."""
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
        if patch.expires <= now and not patch.says_nothing:  # a withdrawal never expires
            return f"it expired {now - patch.expires:.2f} s ago"
        return ""

    def _put(self, place: str, patch: Patch) -> str:
        """Replace the source's earlier patch, or merge `patch` with others and return the reason."""
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
        """Merge all patches over the envelope's defaults: the strictest limits, and the newest factor of each weight.

        The weights of patches in `untried` are ignored.
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
        """Set the target from all patches, with one dry run per step.

        New weights take effect once a dry run finds a motion with them, and are dropped if only they prevent one. If
        the patches together are infeasible, `conflict` names each patch whose removal alone makes them feasible.
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
            self._unproven.clear()  # the weights are not the cause
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
    """Shift a patch from a clock that runs too far ahead, and keep its duration."""
    ahead = max(0.0, patch.stamp - now - AHEAD)
    return replace(patch, stamp=patch.stamp - ahead, expires=patch.expires - ahead) if ahead else patch
