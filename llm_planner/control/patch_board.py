"""Which patches are in force, and what follows from them: the strictest of all, reached by ramps.

Tightening is always accepted; loosening, as far as the operator's envelope lets it. Time is the robot's, handed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from llm_planner.control.crowd import joined
from llm_planner.control.envelope import FROM_THE_ROBOT, Envelope
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.patches import Patch
from llm_planner.control.ramp import Ramp

AHEAD = 0.5  # [s] that a patch may begin after now; one of a clock that is ahead by more begins by then
MOST_SOURCES = 32  # with a patch of their own; those of all others are put together
MOST_REMEMBERED = 256  # sources, those without a patch included
LOOK_AGAIN = 1.0  # [s] whether a conflict is over, for the robot has moved
_REST = " "  # a source that no patch can have: all those without a place of their own

Feasible = Callable[[MotionConstraints], bool]  # one dry run of the controller's program at the present state


@dataclass(frozen=True)
class Answer:
    """What became of a patch; `reason` in words where it was refused, or a part of it was."""

    accepted: bool
    reason: str = ""


ACCEPTED = Answer(True)


class PatchBoard:
    """Single-owner: the controller has one, and the safety filter another, fed by the same topic."""

    def __init__(self, envelope: Envelope = FROM_THE_ROBOT, feasible: Feasible = lambda constraints: True) -> None:
        self.envelope = envelope
        self.conflict = ""  # which sources contradict each other, in words
        self._feasible = feasible
        self._patches: dict[str, Patch] = {}
        self._epochs: dict[str, tuple[int, float]] = {}  # of each source: the newest epoch and stamp heard
        self._target = self._wanted()
        self._ramp = Ramp(envelope.ramps, self._target)
        self._settled = True  # the target is reached
        self._ramped_at = self._looked_at = -math.inf

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose patches are in force."""
        return tuple(patch.source for patch in self._patches.values())

    def offered(self, patch: Patch, now: float) -> Answer:
        """Put `patch` in force in place of the source's earlier one, or say why not, or which part of it not."""
        self._expire(now)
        patch = _begun(patch, now)
        reason = self._objection(patch, now)
        if reason:
            return Answer(False, reason)
        wanted, beyond = self.envelope.clipped(patch)
        told = [words for words in (beyond, self._put(wanted)) if words]
        self._remember(patch)
        if self._settled:
            self._ramped_at = max(self._ramped_at, now)  # ramps begin now, not when was last looked
        self._aim(now)
        return Answer(True, "; ".join(told)) if told else ACCEPTED

    def at(self, now: float, moving: float = math.inf) -> MotionConstraints:
        """What is in force at `now` [s]; a falling speed limit falls from `moving`, the present speed [m/s]."""
        self._expire(now)
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

    def started_over(self, now: float) -> None:
        """The robot's clock leapt to `now`: what was in force stays so for as long as it still had."""
        leap = now - self._ramped_at
        if math.isfinite(leap):
            self._patches = {
                source: replace(patch, stamp=patch.stamp + leap, expires=patch.expires + leap)
                for source, patch in self._patches.items()
            }
        self._epochs = {source: (epoch, -math.inf) for source, (epoch, _) in self._epochs.items()}
        self._ramped_at = self._looked_at = now

    def _objection(self, patch: Patch, now: float) -> str:
        epoch, stamp = self._epochs.get(patch.source, (0, -math.inf))
        if patch.epoch < epoch:
            return f"it is of the earlier run {patch.epoch}; {patch.source!r} is at {epoch}"
        if patch.epoch == epoch and patch.stamp < stamp:
            return f"it is older than the last one, by {stamp - patch.stamp:.3f} s"
        if patch.expires <= now and not patch.says_nothing:  # to withdraw it is never too late
            return f"it expired {now - patch.expires:.2f} s ago"
        return ""

    def _put(self, patch: Patch) -> str:
        """In place of what the source wanted before; what of it cannot be in force, in words."""
        self._patches.pop(patch.source, None)
        if patch.says_nothing:
            return ""
        if len(self._patches) - (_REST in self._patches) >= MOST_SOURCES:
            crowd = [self._patches[_REST]] if _REST in self._patches else []
            self._patches[_REST] = joined([*crowd, patch], self.envelope)
            return (
                f"{MOST_SOURCES} sources have patches in force already: with others it only tightens, till all expire"
            )
        self._patches[patch.source] = patch
        return self._without_bad_weights(patch)

    def _without_bad_weights(self, patch: Patch) -> str:
        """Takes out of a patch in place weights that leave no motion, and says so."""
        if not patch.weights or self._feasible(self._wanted()):
            return ""
        self._put(replace(patch, weights={}))
        if self._feasible(self._wanted()):
            return "with these weights the controller finds no motion: they are left out"
        self._patches[patch.source] = patch  # it is not they
        return ""

    def _remember(self, patch: Patch) -> None:
        """So that an older patch, which the network may still hold, comes to nothing."""
        self._epochs[patch.source] = patch.epoch, patch.stamp
        if len(self._epochs) > MOST_REMEMBERED:
            kept = {*self._patches, patch.source}
            self._epochs = {source: heard for source, heard in self._epochs.items() if source in kept}

    def _expire(self, now: float) -> None:
        over = [source for source, patch in self._patches.items() if now >= patch.expires]
        for source in over:
            del self._patches[source]
        if over or (self.conflict and now >= self._looked_at + LOOK_AGAIN):
            self._aim(now)

    def _wanted(self, without: str = "") -> MotionConstraints:
        """The strictest of all patches over the envelope's defaults; of two factors of a weight the newer."""
        envelope = self.envelope
        patches = sorted(
            (patch for source, patch in self._patches.items() if source != without), key=lambda patch: patch.stamp
        )
        clearance = max((p.clearance for p in patches if p.clearance is not None), default=envelope.clearance)
        zones = (*envelope.zones, *(zone for patch in patches for zone in patch.zones))
        return MotionConstraints(
            min((p.speed for p in patches if p.speed is not None), default=envelope.speed),
            min((p.joint_share for p in patches if p.joint_share is not None), default=envelope.joint_share),
            tuple(replace(zone, clearance=max(clearance, zone.clearance)) for zone in zones),
            weights={name: factor for patch in patches for name, factor in patch.weights.items()},
        )

    def _aim(self, now: float) -> None:
        """At what all patches want. If that leaves nothing to do: those without any one of which something would be."""
        self._target, self._settled = self._wanted(), False
        self.conflict, self._looked_at = "", now
        if not self._patches or self._feasible(self._target):
            return
        guilty = [source for source in self._patches if self._feasible(self._wanted(without=source))]
        names = " and ".join(repr(self._patches[source].source) for source in guilty or self._patches)
        verb = "contradict each other" if len(guilty or self._patches) > 1 else "leaves no room"
        self.conflict = f"{names} {verb}: no motion keeps everything; the robot keeps as much of it as it can"


def _begun(patch: Patch, now: float) -> Patch:
    """It is in force for as long as it says, however far ahead the clock is that it comes from."""
    ahead = max(0.0, patch.stamp - now - AHEAD)
    return replace(patch, stamp=patch.stamp - ahead, expires=patch.expires - ahead) if ahead else patch
