"""Motion primitives of the scripted arm skills: follow a path, move the fingers, retreat.

Also contains access to the camera, whose picture a skill requests on demand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.input_validation import check_pose
from llm_planner.errors import SimulationError
from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.geometry import bottom
from llm_planner.scene.names import the
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.skills.arm_paths import Parts, cruise_height, in_funnel, is_clear, way_over
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import Aim, HandPose, comfortable_yaw, grip_of, hand_slices, into_reach, wrap
from llm_planner.skills.level_hand import Begins, coming, leaving, level_cruise
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

BEGINS = 0.8  # [s] within which fingers begin to move; those of real grippers take a goal of an action first
SEEN = 1.0  # [s] within which the scene shows that an object is held; perception is later than the fingers
SQUEEZE = 0.012  # [m] commanded width below the width of the held object

CLOSED = 0.004  # [m] opening up to which fingers count as closed
SLOWER = 0.95  # share of a speed limit at which paths are planned, so that a lagging hand can catch up
CLOSER = 0.001  # [m] least progress between two steps of a hand that does not count as stuck
DESCENT_BLEND = 0.4
ASIDE = 0.1  # [m] by which a level hand goes back after a failure
ALIGNED = 0.003  # [m] off the axis of its goal up to which a hand descends without aligning first

Script = Generator[MotionReference, None, None]


@dataclass(frozen=True)
class ArmSettings:
    """Parameters of the scripted arm motions; lengths in m, times in s."""

    limits: MotionLimits = field(default_factory=MotionLimits)
    ahead: float = 1.0  # length of the path in each reference: the controller's horizon
    approach: float = 0.06  # height above a grasp or release from which the hand descends vertically
    descent_speed: float = 0.6  # share of full speed during this descent
    lag_max: float = 0.05  # the path waits for a hand that lags by more than this
    arrived: float = 0.004
    patience: float = 0.6  # time without progress until contact is assumed; 4 times that: stuck
    fingers_timeout: float = 1.5


class Arm:
    """State that a script reads and commands; the run replaces `observation` before it resumes the script."""

    def __init__(self, observation: Observation, settings: ArmSettings, began: Observation | None = None) -> None:
        self.observation = observation
        self.settings = settings
        self.began = began or observation  # observation at the start of the whole skill, of which this may be a part
        self.phase = "start"
        self.aim: Aim | None = None  # set by a script before it moves
        # A command of the measured width would release the held object.
        squeeze = SQUEEZE if observation.scene.held else 0.0
        self.width = max(0.0, observation.gripper_width - squeeze)
        self.grip = self.hand  # current grip, or the end of the current path
        self._still = self.grip.pose()

    @property
    def scene(self) -> Scene:
        return self.observation.scene

    @property
    def shape(self) -> ArmShape:
        """Reach and rest position of the arm that the scene shows."""
        return arm_shape(self.scene.arm)

    @property
    def hand(self) -> HandPose:
        """Measured grip, with its yaw within a half turn of the wrist's middle."""
        grip = grip_of(self.observation.T_base_gripper)
        if grip.is_level:
            return grip
        middle = math.atan2(grip.y, grip.x) + self.shape.neutral
        return replace(grip, yaw=middle + wrap(grip.yaw - middle))

    @property
    def begins(self) -> Begins:
        """Where hand and joints are now."""
        return Begins(self.hand, self.observation.qpos)

    @property
    def gripper(self) -> Gripper:
        """Gripper of that arm."""
        return self.shape.gripper

    @property
    def is_closed(self) -> bool:
        """Whether nothing is between the fingers; a suction cup needs no closing."""
        gripper = self.gripper
        return gripper.is_suction or self.observation.gripper_width <= gripper.opening[0] + CLOSED

    def find(self, name: str) -> SceneObject:
        """Return the current state of an object; raises SkillError (OBJECT_LOST) if it has left the scene."""
        try:
            return self.scene.find(name)
        except KeyError as error:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} is no longer in the scene") from error

    def cruise_height(self, hanging: float = 0.0, ignore: str = "") -> float:
        """Return the height [m] of the grip point at which the hand passes over all objects but `ignore`.

        `hanging` [m] is how far a load reaches below the grip point.
        """
        return cruise_height(self.scene, max(hanging, self.gripper.tip), ignore, self.observation.higher)

    def travel(self, goal: HandPose, cruise: float) -> list[Leg]:
        """Plan legs up to the height `cruise` [m], over and down to `goal`, around forbidden zones.

        Raises SkillError (NO_FREE_SPACE) if there is no such path.
        """
        settings = self.settings
        above = goal.raised(goal.z + settings.approach)
        corners = way_over(self.scene, self.grip, goal, cruise, self.observation.zones)
        legs = [Leg(corner) for corner in corners]
        if corners[-1].z > above.z + 0.01:
            # A small blend: next to a tall object the hand would descend onto it while still moving sideways.
            legs.append(Leg(into_reach(above, self.shape), blend=DESCENT_BLEND))
        return [*legs, Leg(goal, settings.descent_speed)]

    def descent(self, goal: HandPose, apex: float) -> list[Leg]:
        """Plan legs from inside the funnel above `goal` (see `in_funnel`) onto its axis and down.

        `apex` [m] is the height at which the hand is aligned if it starts below the approach height.
        """
        above = goal.z + self.settings.approach
        entry = above if self.grip.z > above + 0.01 else apex
        aligned = math.dist((self.grip.x, self.grip.y), (goal.x, goal.y)) < ALIGNED
        onto = [] if self.grip.z <= entry or (aligned and entry == apex) else [Leg(goal.raised(entry))]
        return [*onto, Leg(goal, self.settings.descent_speed)]

    def straight_down(self, goal: HandPose, apex: float, parts: Parts, ignore: Collection[str] = ()) -> list[Leg]:
        """Plan `descent` from the funnel above `goal`; empty if the hand is elsewhere or the way is not clear."""
        legs = self.descent(goal, apex) if in_funnel(self.grip, goal, apex) else []
        return legs if legs and self.is_clear([leg.to for leg in legs], parts, ignore) else []

    def is_clear(self, corners: Sequence[HandPose], parts: Parts, ignore: Collection[str] = ()) -> bool:
        """Return whether hand and load, `parts` at a grip, keep clear of all but `ignore` from here along `corners`."""
        return is_clear([self.grip, *corners], parts, self.scene, ignore, self.observation.zones)

    def opened(self, opening: float) -> Parts:
        """Return the slices of the hand at a grip, with its fingertips `opening` [m] apart."""
        return lambda grip: hand_slices(grip, opening, self.gripper)

    def travel_level(self, goal: HandPose, back: float, hanging: float, ignore: str) -> list[Leg]:
        """Plan legs of a level hand over objects, down to `back` [m] behind `goal` and forward to it; see `travel`."""
        height = level_cruise(self.scene, hanging, ignore, self.observation.higher)
        return coming(self.grip, goal, back, height, self.scene, self.observation.zones)

    def withdraw(self, back: float, height: float) -> list[Leg]:
        """Plan legs of a level hand without a load: `back` [m] away, up to `height` [m], and there down again."""
        legs = leaving(self.grip, back, height)
        x, y = legs[-1].to.x, legs[-1].to.y
        down = HandPose(x, y, legs[-1].to.z, comfortable_yaw(x, y, self.grip.yaw, self.shape.neutral))
        return [*legs, Leg(into_reach(down, self.shape))]

    def rise(self, height: float) -> Leg:
        """Return a vertical leg to `height` [m], as steep as the reach of the arm allows."""
        return Leg(into_reach(self.grip.raised(height), self.shape))

    def move(self, phase: str, legs: list[Leg], stop_early: bool = False, straight: bool = False) -> Script:
        """Plan and follow a path along `legs` (see `plan_path`); raises SkillError (UNREACHABLE) if it does not arrive.

        With `stop_early`, a hand that contact has stopped on the last centimetres counts as arrived.
        """
        if self.scene.held and self.grip.is_level:  # what is held from the side stays upright
            legs = [replace(leg, to=replace(leg.to, tilt=self.grip.tilt)) for leg in legs]
        limit = SLOWER * self.observation.path_speed
        poses = plan_path(self.grip, legs, replace(self.settings.limits, in_space=limit), straight)
        self.grip = legs[-1].to
        yield from self.follow(phase, poses, stop_early=stop_early)

    def follow(
        self, phase: str, poses: Sequence[Pose], widths: Sequence[float] = (), stop_early: bool = False
    ) -> Script:
        """Follow `poses`, one every `PATH_DT` s, with finger `widths` [m] for each pose; see `move`.

        Raises InputError before anything moves if a pose is invalid.
        """
        for pose in poses:
            check_pose(pose)
        settings = self.settings
        self.phase = phase
        count = round(settings.ahead / PATH_DT)
        elapsed, waited, last, nearest = 0.0, 0.0, self.observation.time, math.inf
        while True:
            index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
            ahead = tuple(poses[index : index + count + 1])
            self.width = widths[index] if widths else self.width
            start = self.observation.time - max(0.0, elapsed - index * PATH_DT)
            yield MotionReference(start, PATH_DT, ahead, self.width, slack=self.slack)
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
                if waited > 4 * settings.patience:  # a margin, because a busy computer also delays the arm
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
        """Open or close the fingers to `width` [m] and wait until they stop; the hand does not move."""
        self.phase, self.width = phase, min(width, self.gripper.widest)
        began, before, still = self.observation.time, self.observation.gripper_width, 0
        starts = BEGINS
        while still < 2 and self.observation.time - began < self.settings.fingers_timeout:
            yield self.hold()
            now = self.observation.gripper_width
            if abs(now - before) >= 0.0005:
                starts = 0.15  # they move, so they no longer have to begin
            done = abs(now - self.width) < 0.002 or self.observation.time - began > starts
            still = still + 1 if abs(now - before) < 0.0005 and done else 0
            before = now

    def await_held(self, name: str) -> Script:
        """Hold still until the scene shows the object `name` in the hand, or for `SEEN` at most."""
        until = self.observation.time + SEEN
        while self.scene.held != name and self.observation.time < until:
            yield self.hold()

    def hold(self) -> MotionReference:
        """Return a reference that stays at the end of the last path."""
        return MotionReference(self.observation.time, PATH_DT, (self._still,), self.width, slack=self.slack)

    @property
    def slack(self) -> float:
        """How far the hand may be off its path [m]: an object that it is about to take or a vessel bounds it."""
        if self.aim is None:
            return math.inf
        return self.aim.room if self.scene.held else self.aim.slack

    def rest(self, phase: str, seconds: float) -> Script:
        self.phase = phase
        until = self.observation.time + seconds
        while self.observation.time < until - 1e-6:
            yield self.hold()

    def retreat(self) -> Script:
        """Rise out of the way after a failure; a retreat that fails itself raises no error."""
        self.grip = self.hand
        height = min(max(self.grip.z, self.cruise_height()), self.shape.heights.cruise_max)
        away = self.grip.is_level and not self.scene.held
        try:
            yield from self.move("retreat", self.withdraw(ASIDE, height) if away else [self.rise(height)])
        except SkillError:
            return

    def require_held(self, name: str) -> None:
        """Raise SkillError (OBJECT_LOST) unless the fingers hold the object."""
        if self.scene.held != name:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} slipped out of {self.gripper.holder}")

    def _lag(self, poses: Sequence[Pose], elapsed: float) -> float:
        index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
        return math.dist(self.observation.T_base_gripper.position, poses[index].position)


def hanging(arm: Arm, name: str) -> float:
    """Return how far the held object reaches below the grip point [m], at least to the fingertips."""
    return max(arm.gripper.tip, arm.observation.T_base_gripper.position[2] - bottom(arm.find(name)))


def _stuck(phase: str, error: float) -> SkillError:
    return SkillError(
        SkillErrorCode.UNREACHABLE,
        f"the hand stopped {error * 100:.1f} cm short during {phase!r}: something is in the way or it is out of reach",
    )


Picture = NDArray[np.uint8]  # (height, width, 3), RGB
Camera = Callable[[Observation], Picture]  # returns the newest picture, empty if there is none yet
NO_PICTURE: Picture = np.zeros((0, 0, 3), np.uint8)
PATIENCE = 10.0  # [s] to wait for the first picture; creating an OpenGL context takes some seconds


def blind(observation: Observation) -> Picture:
    """Return no picture: the camera of a robot without one."""
    return NO_PICTURE


def seen(arm: Arm, camera: Camera, name: str) -> Generator[MotionReference, None, Picture]:
    """Wait with the hand at rest for the next picture of `camera` and return it.

    Raises SkillError (PRECONDITION_FAILED), in the name of the skill `name`, if there is no picture.
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
