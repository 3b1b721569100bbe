"""When a learned motion is no use any more, when it only needs a nudge, and when it is to be left alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.world.scene import Vector3

LINGERS = 5.0  # [s] that a policy may go on once the scene shows its effect, to leave or to do it better
UNDONE = 3.0  # [s] that a policy may take itself for done while the scene does not show it
BEHIND, BEHIND_TIME = 0.03, 3.0  # [m] and [s] that a hand may lag behind its actions
RESTS, RESTS_TIME = 0.005, 1.2  # [m] and [s]: a hand that moves less for so long, undone, needs a nudge
SLOW, SLOW_TIME = 0.015, 0.6  # [m] and [s]: one that moves less for so long rests, or only begins to move


@dataclass
class _Stay:
    """For how long [s] a hand has not been farther than `radius` [m] from one place."""

    radius: float
    time: float = 0.0
    place: Vector3 | None = None

    def see(self, place: Vector3, passed: float) -> None:
        if self.place is None or math.dist(place, self.place) > self.radius:
            self.place, self.time = place, 0.0
        self.time += passed


class Patience:
    """Told what happens, it raises SkillError once that has gone on for too long."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._undone = self._behind = self._lingers = 0.0
        self._rest, self._crawl = _Stay(RESTS), _Stay(SLOW)

    def see(self, place: Vector3, lag: float, undone: bool, achieved: bool, passed: float) -> None:
        """`passed` [s] later the hand is at `place`, `lag` [m] behind; `achieved` while the scene shows the effect,
        `undone` while it does not though the policy says it is done.

        Raises SkillError (UNREACHABLE, EFFECT_MISSING).
        """
        self._lingers = self._lingers + passed if achieved else 0.0
        self._behind = self._behind + passed if lag > BEHIND else 0.0
        self._undone += passed if undone else 0.0
        if self._behind > BEHIND_TIME:
            message = f"the hand does not follow during {self._name}: something is in the way"
            raise SkillError(SkillErrorCode.UNREACHABLE, message)
        if self._undone > UNDONE:
            message = f"{self._name} ended, but the scene does not show its effect"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        self._rest.see(place, passed)
        self._crawl.see(place, passed)

    @property
    def needs_nudge(self) -> bool:
        """Whether the hand has come to rest where nothing is done: another sample may lead on."""
        return self._rest.time > RESTS_TIME

    @property
    def lingers(self) -> bool:
        """Whether the hand dithers though all is done: it rises, goes back, and rises again."""
        return self._lingers > LINGERS

    @property
    def is_slow(self) -> bool:
        """Whether the hand is to carry out what it began: what begins at rest begins slowly, and asked anew before it
        gets going it would begin for ever."""
        return self._crawl.time > SLOW_TIME
