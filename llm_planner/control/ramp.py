"""What is in force on its way to what is wanted, never faster than a moving robot can follow."""

from __future__ import annotations

import math
from dataclasses import replace

from llm_planner.control.envelope import Ramps
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.zones import Shape, Subject, Zone

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
