"""The rules of a plan under way, and the manner that the person wants, as patches of what its motion has to keep:
offered, renewed and withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import dist

from llm_planner.control.patches import MOST_ZONES, Patch
from llm_planner.control.zones import Zone
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.imminent import Turn, imminent, turns_of
from llm_planner.plan.motion_binding import Binding, bindings
from llm_planner.world.scene import Scene

VALID_FOR = 4.0  # [s] of a patch: longer than a skill goes on when the executor that asked for it is gone
RENEWED_AFTER = 0.4  # [s]
STILL = 0.002  # [m] that a thing may move before its zone does
SHOWN = 200  # letters of a rule's words
FASTEST = 5.0  # [m/s] a limit above it binds no robot of ours


class MotionRules:
    """Of one plan, for its whole run; single-owner. `epoch` rises with each run."""

    def __init__(self, epoch: int = 0) -> None:
        self._epoch = epoch
        self._step = ""
        self._turns: tuple[Turn, ...] = ()
        self._offered: dict[str, Patch] = {}

    def patches(self, state: Execution, now: float) -> tuple[Patch, ...]:
        """What has to be said at `now` [s, robot time], one patch a rule: what is new, what runs out, what is over."""
        wanted = dict(self._wanted(state, now))
        over = [source for source in self._offered if source not in wanted]
        due = [patch for source, patch in wanted.items() if self._is_due(self._offered.get(source), patch)]
        self._offered = {source: patch for source, patch in self._offered.items() if source in wanted}
        self._offered |= {patch.source: patch for patch in due}
        return (*due, *(Patch(source, now, now + VALID_FOR, self._epoch) for source in over))

    def _wanted(self, state: Execution, now: float) -> Iterator[tuple[str, Patch]]:
        if state.scene is None or state.phase is Phase.ENDED:
            return
        step = state.run.step.id if state.run else ""
        manner = state.manner.patch(state.scene.robot_kind, step, now, now + VALID_FOR, self._epoch)
        if not manner.says_nothing:
            yield manner.source, manner
        for number, binding in enumerate(bindings(state.watch, state.scene, self._ahead(state, state.scene)), start=1):
            for patch in self._patches(f"rule {number}", binding, now):
                yield patch.source, patch

    def _ahead(self, state: Execution, scene: Scene) -> tuple[frozenset[str], ...]:
        """What the step under way is about to bring about; its way is foreseen once, when it has just begun."""
        step = state.run.step.id if state.run and state.phase is Phase.RUNNING else ""
        if step != self._step:
            self._step, self._turns = step, turns_of(state) if step else ()
        return imminent(self._turns, scene)

    def _patches(self, rule: str, binding: Binding, now: float) -> Iterator[Patch]:
        """One, but for zones that are too many for it."""
        speed, words = binding.limit if binding.limit < FASTEST else None, binding.constraint.words[:SHOWN]
        if speed is None and not binding.zones:
            return
        for k in range(0, max(1, len(binding.zones)), MOST_ZONES):
            source = f"{rule}, {k // MOST_ZONES + 1}: {words}" if k else f"{rule}: {words}"
            zones = binding.zones[k : k + MOST_ZONES]
            yield Patch(source, now, now + VALID_FOR, self._epoch, speed, zones=zones)

    def _is_due(self, said: Patch | None, patch: Patch) -> bool:
        if said is None or patch.stamp - said.stamp >= RENEWED_AFTER:
            return True
        if (said.speed, said.clearance) != (patch.speed, patch.clearance):
            return True
        return len(said.zones) != len(patch.zones) or not all(map(_same, said.zones, patch.zones))


def _same(a: Zone, b: Zone) -> bool:
    """Whether the zone is where it was."""
    moved = dist(a.pose.position, b.pose.position) > STILL or dist(a.size, b.size) > STILL
    return not moved and replace(a, size=b.size, pose=b.pose) == b
