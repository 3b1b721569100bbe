"""The movements that scripted skills are made of: follow a path, close and open the fingers, retreat.

What skills see of the world beside its scene: the picture of a camera, taken when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import SimulationError
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.names import the
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.skills.arm_paths import way_to
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import OPENING_MAX, TIP, Aim, Grip, grip_of, into_reach
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

SQUEEZE = 0.012  # [m] the fingers are told to close this much tighter than what they hold is wide

SLOWER = 0.95  # share of a speed limit at which a path is planned: what lags behind it has to catch up
CLOSER = 0.001  # [m] from one look to the next that a hand comes nearer which is not stuck
DESCENT_BLEND = 0.4
ALIGNED = 0.003  # [m] off the axis of its goal a hand comes down straight, without stopping to get onto it

Script = Generator[MotionReference, None, None]


@dataclass(frozen=True)
class ArmSettings:
    """How scripted skills move; lengths in m, times in s."""

    limits: MotionLimits = field(default_factory=MotionLimits)
    ahead: float = 1.0  # of path in every reference: the controller's horizon
    cruise_min: float = 0.12  # lowest height of whatever hangs in or under the hand while it travels
    cruise_max: float = 0.42
    cruise_room: float = 0.035  # above the tallest thing on the table
    approach: float = 0.06  # above a grasp or a release, from where the hand goes straight down, slowly
    descent_speed: float = 0.6  # of the full speed, for that last piece
    lag_max: float = 0.05  # behind its path by more than this, the hand is waited for
    arrived: float = 0.004
    patience: float = 0.6  # until a hand that comes no nearer counts as stopped by what it touches; stuck: 4 times that
    fingers_timeout: float = 1.5


class Arm:
    """What a script sees and commands. The run puts each new `observation` here before it resumes the script."""

    def __init__(self, observation: Observation, settings: ArmSettings, began: Observation | None = None) -> None:
        self.observation = observation
        self.settings = settings
        self.began = began or observation  # what was seen when the skill began, of which this is a part or all
        self.phase = "start"
        self.aim: Aim | None = None  # said by a script before it moves
        # Told to hold the width that it measures, the hand would let go of what it holds.
        squeeze = SQUEEZE if observation.scene.held else 0.0
        self.width = max(0.0, observation.gripper_width - squeeze)
        self.grip = grip_of(observation.T_base_gripper)  # where the hand is, or is on its way to
        self._still = self.grip.pose()

    @property
    def scene(self) -> Scene:
        return self.observation.scene

    def find(self, name: str) -> SceneObject:
        """The object as it is now; raises SkillError (OBJECT_LOST) when it has left the scene."""
        try:
            return self.scene.find(name)
        except KeyError as error:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} is no longer in the scene") from error

    def cruise_height(self, hanging: float = TIP, ignore: str = "") -> float:
        """The height [m] at which a hand, with something `hanging` [m] below its grip point, passes over everything."""
        settings = self.settings
        tops = (top(item) + settings.cruise_room for item in self.scene.objects if item.name != ignore)
        return min(max(settings.cruise_min, *tops, 0.0) + self.observation.higher + hanging, settings.cruise_max)

    def travel(self, goal: Grip, cruise: float) -> list[Leg]:
        """Legs from here up to the height `cruise` [m], over, and down to `goal`, around what is forbidden.

        Raises SkillError (NO_FREE_SPACE) where no way leads there.
        """
        settings = self.settings
        above = goal.raised(goal.z + settings.approach)
        corners = way_to(self.grip, goal, cruise, self.observation.zones)
        legs = [Leg(corner) for corner in corners]
        if corners[-1].z > above.z + 0.01:
            # Hardly rounded: beside something tall, the hand comes down on it if it is still on its way over.
            legs.append(Leg(into_reach(above), blend=DESCENT_BLEND))
        return [*legs, Leg(goal, settings.descent_speed)]

    def descent(self, goal: Grip, apex: float) -> list[Leg]:
        """Legs from inside the funnel above `goal` (see `descent`) onto its axis, at `apex` [m] or higher, and down."""
        above = goal.z + self.settings.approach
        entry = above if self.grip.z > above + 0.01 else apex
        aligned = math.dist((self.grip.x, self.grip.y), (goal.x, goal.y)) < ALIGNED
        onto = [] if self.grip.z <= entry or (aligned and entry == apex) else [Leg(goal.raised(entry))]
        return [*onto, Leg(goal, self.settings.descent_speed)]

    def rise(self, height: float) -> Leg:
        """Straight up from here to `height` [m], or as steeply as the arm can."""
        return Leg(into_reach(self.grip.raised(height)))

    def move(self, phase: str, legs: list[Leg], stop_early: bool = False, straight: bool = False) -> Script:
        """Follow `legs` (see `plan_path`); raises SkillError (UNREACHABLE) when the hand does not get there.

        With `stop_early` a hand that something solid has stopped on its last centimetres counts as arrived.
        """
        limit = SLOWER * self.observation.path_speed
        poses = plan_path(self.grip, legs, replace(self.settings.limits, in_space=limit), straight)
        self.grip = legs[-1].to
        yield from self.follow(phase, poses, stop_early=stop_early)

    def follow(
        self, phase: str, poses: Sequence[Pose], widths: Sequence[float] = (), stop_early: bool = False
    ) -> Script:
        """Along `poses`, one each `PATH_DT` s, the fingers at each as far apart as `widths` says [m]; see `move`."""
        settings = self.settings
        self.phase = phase
        count = round(settings.ahead / PATH_DT)
        elapsed, waited, last, nearest = 0.0, 0.0, self.observation.time, math.inf
        while True:
            index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
            ahead = tuple(poses[index : index + count + 1])
            self.width = widths[index] if widths else self.width
            start = self.observation.time - max(0.0, elapsed - index * PATH_DT)
            yield MotionReference(start, PATH_DT, ahead, self.width)
            step, last = self.observation.time - last, self.observation.time
            waiting = step * self.observation.freedom
            if index == len(poses) - 1:
                error = math.dist(self.observation.T_base_gripper.position, poses[-1].position)
                waited = waited + waiting if error > nearest - CLOSER else 0.0
                nearest = min(nearest, error)
                if error <= settings.arrived:
                    break
                if stop_early and waited > settings.patience and error < 0.02:
                    break
                if waited > 4 * settings.patience:  # a busy computer holds the arm up, too
                    raise _stuck(phase, error)
            elif self._lag(poses, elapsed + step) <= settings.lag_max:
                elapsed += step
                waited = 0.0
            else:
                waited += waiting
                if waited > 4 * settings.patience:
                    raise _stuck(phase, self._lag(poses, elapsed))
        self._still = poses[-1]

    def fingers(self, phase: str, width: float) -> Script:
        """Open or close to `width` [m], until they stop moving; the hand stays where it is."""
        self.phase, self.width = phase, min(width, OPENING_MAX)
        began, before, still = self.observation.time, self.observation.gripper_width, 0
        while still < 2 and self.observation.time - began < self.settings.fingers_timeout:
            yield self.hold()
            now = self.observation.gripper_width
            done = abs(now - self.width) < 0.002 or self.observation.time - began > 0.15
            still = still + 1 if abs(now - before) < 0.0005 and done else 0
            before = now

    def hold(self) -> MotionReference:
        """Stay where the last path ended."""
        return MotionReference(self.observation.time, PATH_DT, (self._still,), self.width)

    def rest(self, phase: str, seconds: float) -> Script:
        """Stay for that time."""
        self.phase = phase
        until = self.observation.time + seconds
        while self.observation.time < until - 1e-6:
            yield self.hold()

    def retreat(self) -> Script:
        """Straight up, out of the way; gives up silently when that is impossible, since it follows a failure."""
        self.grip = grip_of(self.observation.T_base_gripper)
        height = min(max(self.grip.z, self.cruise_height()), self.settings.cruise_max)
        try:
            yield from self.move("retreat", [self.rise(height)])
        except SkillError:
            return

    def require_held(self, name: str) -> None:
        """Raises SkillError (OBJECT_LOST) unless the fingers hold the object."""
        if self.scene.held != name:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} slipped out of the fingers")

    def _lag(self, poses: Sequence[Pose], elapsed: float) -> float:
        index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
        return math.dist(self.observation.T_base_gripper.position, poses[index].position)


def hanging(arm: Arm, name: str) -> float:
    """How far the held object reaches below the grip point [m], the fingertips at the least."""
    return max(TIP, arm.observation.T_base_gripper.position[2] - bottom(arm.find(name)))


def _stuck(phase: str, error: float) -> SkillError:
    return SkillError(
        SkillErrorCode.UNREACHABLE,
        f"the hand stopped {error * 100:.1f} cm short during {phase!r}: something is in the way or it is out of reach",
    )


Picture = NDArray[np.uint8]  # (height, width, 3), red green blue
Camera = Callable[[Observation], Picture]  # the newest picture; of no size where there is none, or none yet
NO_PICTURE: Picture = np.zeros((0, 0, 3), np.uint8)
PATIENCE = 10.0  # [s] until a camera that gives no picture counts as none; opening OpenGL takes some


def blind(observation: Observation) -> Picture:
    """The camera of a robot that has none."""
    return NO_PICTURE


def seen(arm: Arm, camera: Camera, name: str) -> Generator[MotionReference, None, Picture]:
    """The next picture, for which the hand holds still; `name` is the skill that wants it.

    Raises SkillError (PRECONDITION_FAILED) where there is no camera, none of its pictures arrive, or none can be drawn.
    """
    began = arm.observation.time
    while True:
        try:
            picture = camera(arm.observation)
        except SimulationError as error:
            raise _none(name, str(error)) from error
        if picture.size:
            return picture
        if camera is blind:
            raise _none(name, "there is no camera")
        if arm.observation.time - began > PATIENCE:
            raise _none(name, f"no picture came in {PATIENCE:g} s")
        yield arm.hold()


def _none(name: str, reason: str) -> SkillError:
    return SkillError(SkillErrorCode.PRECONDITION_FAILED, f"{name} needs the camera's picture: {reason}")
