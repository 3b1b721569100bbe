"""Live adjustment of a running skill: an offset of its motion, or a greater travel height.

An offset shifts the observed hand, and the objects that move with it, in the opposite direction, and the commanded
motion in its own. The skill itself is unchanged, so this works for scripted, learned and remote skills. An offset is no
larger than the motion bears (`MotionReference.slack`): a hand that is about to take an object still gets it between its
fingers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, Scene, Vector3
from llm_planner.skills.contract import Arguments, Skill, SkillResult, SkillRun

RATE = 0.1  # [m/s] rate at which an offset takes effect
LOWEST = 0.010  # [m] above the table: no offset takes the hand lower (half a fingertip)
NOWHERE: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Tuning:
    """Wanted `offset` [m, robot frame] of hand or base from the skill's motion; extra travel height `higher` [m]."""

    offset: Vector3 = NOWHERE
    higher: float = 0.0


Wanted = Callable[[], Tuning]


class TunedSkill:
    """Wraps `skill` with live tuning; the objects in `moved` move with the hand without being held."""

    def __init__(self, skill: Skill, wanted: Wanted, moved: frozenset[str] = frozenset()) -> None:
        self.name = skill.name
        self._skill, self._wanted, self._moved = skill, wanted, moved

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun:
        """Start the skill with the current offset in full effect; see `Skill`."""
        tuning = self._wanted()
        run = self._skill.start(arguments, _seen(observation, tuning, self._moved))
        return TunedRun(run, self._wanted, self._moved, observation.time)


class TunedRun:
    """One execution; a change of offset takes effect at `RATE`."""

    def __init__(self, run: SkillRun, wanted: Wanted, moved: frozenset[str], time: float) -> None:
        self._run, self._wanted, self._moved = run, wanted, moved
        self._offset, self._time, self._slack = wanted().offset, time, math.inf

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """Step the skill with shifted observation and reference; see `SkillRun`."""
        wanted = self._wanted()
        bearable = _towards(NOWHERE, wanted.offset, self._slack)
        self._offset = _towards(self._offset, bearable, RATE * max(0.0, observation.time - self._time))
        self._time = observation.time
        tuning = replace(wanted, offset=self._offset)
        outcome = self._run.step(_seen(observation, tuning, self._moved))
        if isinstance(outcome, SkillResult):
            return outcome
        self._slack = outcome.slack
        if tuning.offset == NOWHERE:
            return outcome
        return replace(outcome, poses=tuple(_shifted(pose, tuning.offset) for pose in outcome.poses))


def shifted_things(scene: Scene, names: frozenset[str], offset: Vector3) -> Scene:
    """Return `scene` with the named objects moved by `offset` [m]."""
    if offset == NOWHERE:
        return scene
    objects = tuple(
        replace(item, position=added(item.position, offset)) if item.name in names else item for item in scene.objects
    )
    return replace(scene, objects=objects)


def _seen(observation: Observation, tuning: Tuning, moved: frozenset[str]) -> Observation:
    """Shift the observed hand, and what moves with it, opposite to the offset."""
    if tuning.offset == NOWHERE:
        return replace(observation, higher=tuning.higher)
    x, y, z = tuning.offset
    back = (-x, -y, -z)
    scene = shifted_things(observation.scene, moved | {observation.scene.held}, back)
    if scene.robot is not None:
        scene = replace(scene, robot=_moved(scene.robot, back))
    hand = _moved(observation.T_base_gripper, back)
    return replace(observation, scene=scene, T_base_gripper=hand, higher=tuning.higher)


def _towards(now: Vector3, wanted: Vector3, most: float) -> Vector3:
    """Return `now` moved towards `wanted` by at most `most` [m]."""
    way = math.dist(now, wanted)
    if way <= most:
        return wanted
    x, y, z = (a + (b - a) * most / way for a, b in zip(now, wanted, strict=True))
    return x, y, z


def _shifted(pose: Pose, offset: Vector3) -> Pose:
    """Shift a pose, but not below `LOWEST` or the height that the skill asks for."""
    x, y, z = added(pose.position, offset)
    return replace(pose, position=(x, y, max(z, min(pose.position[2], LOWEST))))


def _moved(pose: Pose, by: Vector3) -> Pose:
    return replace(pose, position=added(pose.position, by))


def added(a: Vector3, b: Vector3) -> Vector3:
    """Add two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
