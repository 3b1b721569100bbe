"""Where a learned skill is to act: its demonstrator decides that, as it does when it acts by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from llm_planner.errors import InputError
from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.contract import Argument, Observation
from llm_planner.skills.gripper_shape import wrap
from llm_planner.skills.scripts import ScriptFunction
from llm_planner.world.scene import SceneObject

MOVED, TURNED = 0.008, 0.1  # [m], [rad] that a thing may move before where to act is decided again
SAME, SAME_TURN = 0.003, 0.03  # [m], [rad] by which two aims may differ that are one


@dataclass(frozen=True)
class _Looked:
    """What was decided upon: what is held, and where the things lay that the skill is about."""

    held: str
    things: tuple[SceneObject, ...]

    def still(self, other: _Looked) -> bool:
        """Whether the things lie as in `other`, and nothing was taken since; what was let go shows among the things."""
        kept = self.held in (other.held, "") and len(self.things) == len(other.things)
        return kept and all(_still(a, b) for a, b in zip(self.things, other.things, strict=True))


class Decision:
    """The aim of a demonstrator, decided anew when a thing that it speaks of has moved, or was taken or let go."""

    def __init__(
        self, script: ScriptFunction, settings: ArmSettings, arguments: Mapping[str, Argument], began: Observation
    ) -> None:
        self._script, self._settings, self._arguments, self._began = script, settings, arguments, began
        self._aim: Aim | None = None
        self._looked: _Looked | None = None

    def aim(self, observation: Observation) -> Aim:
        """The aim as things are now; the one before where only little has changed.

        Raises SkillError where the demonstrator refuses, InputError for a demonstrator that says no aim.
        """
        looked = self._look(observation)
        if self._aim is None or self._looked is None or not looked.still(self._looked):
            decided = self._decided(observation)
            # The same aim as before stays exactly the same: whoever follows it need not begin anew.
            same = self._aim is not None and _alike(self._aim, decided)
            self._aim = replace(self._aim, start=decided.start) if self._aim and same else decided
            self._looked = looked
        return self._aim

    def _decided(self, observation: Observation) -> Aim:
        arm = Arm(observation, self._settings, self._began)
        motion = self._script(arm, self._arguments)
        next(motion, None)
        motion.close()
        aim = arm.aim or self._aim  # one that only has to leave has none any more
        if aim is None:
            raise InputError(f"the script {self._script.__name__} says no aim before it moves; a skill cannot learn it")
        return aim

    def _look(self, observation: Observation) -> _Looked:
        scene, wanted = observation.scene, set(map(str, self._arguments.values()))
        things = tuple(item for item in scene.objects if item.name in wanted and item.name != scene.held)
        return _Looked(scene.held, things)


def _alike(a: Aim, b: Aim) -> bool:
    places = math.dist((a.grip.x, a.grip.y, a.grip.z), (b.grip.x, b.grip.y, b.grip.z)) <= SAME
    angles = [(a.grip.yaw, b.grip.yaw), (a.heading or 0.0, b.heading or 0.0)]
    turned = all(abs(wrap(p - q)) <= SAME_TURN for p, q in angles)
    numbers = a.numbers.keys() == b.numbers.keys() and all(abs(a.numbers[k] - b.numbers[k]) <= SAME for k in a.numbers)
    return places and turned and numbers


def _still(a: SceneObject, b: SceneObject) -> bool:
    same = abs(sum(p * q for p, q in zip(a.orientation, b.orientation, strict=True)))
    return math.dist(a.position, b.position) <= MOVED and same >= math.cos(TURNED / 2)
