"""Inputs that several nodes read: the newest scene, the newest camera picture, and the skill library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from llm_planner_interfaces.msg import MotionConstraints
from llm_planner_interfaces.msg import Scene as SceneMsg
from rclpy.subscription import Subscription
from sensor_msgs.msg import Image
from std_msgs.msg import String

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import default_arm
from llm_planner.robots.motion import Observation
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, BaseNode
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.camera_messages import image_from_msg
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.motion_messages import zones_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.heartbeat_monitor import LONGEST_LOOK, DataSilence
from llm_planner.ros.parameters import CAMERA, SKILLS, arm_of
from llm_planner.ros.strip_feed import boundaries_of
from llm_planner.scene.driven_base import zones_in_frame_of
from llm_planner.scene.scene import Scene
from llm_planner.scene.shared_table import Boundary
from llm_planner.scene.zones import Subject, Zone
from llm_planner.skills.arm import NO_PICTURE, Picture, blind
from llm_planner.skills.base import MakeBase, own_base
from llm_planner.skills.library import SkillLibrary, load_skills

NO_SCENE = "Nothing shows me the scene. Is the simulator, or the robot's perception, running?"


def obstacles_among(zones: Iterable[Zone], boundaries: Sequence[Boundary]) -> tuple[Zone, ...]:
    """Return those of the zones in force that every plan goes around: of the envelope, and of patches of others.

    Zones of rules keep the hand out and belong to the steps of one plan. Across `boundaries` robots make reservations.
    """
    shared = {zone.name for one in boundaries for zone in (one.near, one.far) if zone is not None}
    return tuple(zone for zone in zones if zone.subject is Subject.ROBOT and zone.name not in shared)


class SceneFeed:
    """Keeps the newest message of `scene`, with the node's arm, and the robot's reports from `diagnosis`.

    What `motion_constraints` closes to the whole robot is off limits in it.
    A scene is fresh for `timeout` [s], as `DataSilence` counts them. `on_scene(restarted)` is called in the node's
    executor for each scene; `restarted` says that the world has begun a new run.
    """

    def __init__(self, node: BaseNode, timeout: float, on_scene: Callable[[bool], None]) -> None:
        self.scene: Scene | None = None
        self._timeout, self._on_scene = timeout, on_scene
        self._run = 0  # of the scene before
        self._silence = DataSilence(node.now, min(LONGEST_LOOK, timeout / 2))
        self._reports: tuple[str, ...] = ()
        self.arm, self._boundaries = arm_of(node) or default_arm(), boundaries_of(node)
        self._off_limits = tuple(one.far for one in self._boundaries if one.far)
        self.constraints, self._obstacles = MotionConstraints(speed=float("inf")), tuple[Zone, ...]()
        self._reader = SceneReader.of(node, self.arm.name)
        seen = checks.validated(node, self._reader.read, self._on_message, "a scene cannot be used: ")
        node.create_subscription(SceneMsg, "scene", seen, NEWEST_ONLY)
        node.create_subscription(String, "diagnosis", checks.validated(node, self._on_diagnosis), LATCHED)
        limited = checks.validated(node, self._on_constraints)
        node.create_subscription(MotionConstraints, "motion_constraints", limited, LATCHED)

    @property
    def frame(self) -> str:
        return self._reader.frame

    @property
    def is_fresh(self) -> bool:
        return self._silence.seconds <= self._timeout

    def watch(self) -> None:
        """Count the time without a scene; call a few times a second."""
        self._silence.look()

    def _on_message(self, scene: Scene) -> None:
        off_limits = (*self._off_limits, *zones_in_frame_of(scene, self._obstacles))
        before, self.scene = self.scene, replace(scene, reports=self._reports, off_limits=off_limits)
        restarted = before is not None and (self._reader.run != self._run or self.scene.time < before.time)
        self._run = self._reader.run
        self._silence.heard()
        self._on_scene(restarted)

    def _on_constraints(self, message: MotionConstraints) -> None:
        self._obstacles = obstacles_among(zones_from_msg(message.zones), self._boundaries)
        self.constraints = message

    def _on_diagnosis(self, message: String) -> None:
        told = checks.text("diagnosis", message.data)
        self._reports = (told,) if told else ()


FRESH = 0.4  # [s, robot time] largest age of a picture
IDLE = 10.0  # [s, wall time] without a request, after which the subscription ends


class CameraFeed:
    """Pictures of `camera/image_raw` for skills; subscribes only while skills ask for them, as rendering is costly."""

    def __init__(self, node: BaseNode, clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._clock = node, clock
        self._subscription: Subscription | None = None
        self._message: Image | None = None
        self._asked = 0.0
        node.every(IDLE / 2, self._on_idle)

    def __call__(self, observation: Observation) -> Picture:
        """Return the newest picture, or `NO_PICTURE` if none has arrived or it is too old."""
        self._asked = self._clock()
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                Image, "camera/image_raw", self._on_picture, NEWEST_ONLY
            )
        message = self._message
        if message is None:
            return NO_PICTURE
        try:
            is_fresh = seconds(message.header.stamp, "camera/image_raw.header.stamp") >= observation.time - FRESH
            return image_from_msg(message) if is_fresh else NO_PICTURE
        except InputError as error:
            self._node.get_logger().error(str(error), throttle_duration_sec=5.0)
            return NO_PICTURE

    def _on_picture(self, message: Image) -> None:
        self._message = message

    def _on_idle(self) -> None:
        if self._subscription is not None and self._clock() - self._asked > IDLE:
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._message = None


def library_of(node: BaseNode, learned: bool = False, make_base: MakeBase = own_base) -> SkillLibrary:
    """Load the skill library that the node's parameters name; policies are opened only if `learned` is set."""
    folder, camera = node.setting(SKILLS.name), CameraFeed(node) if node.setting(CAMERA.name) else blind
    return load_skills(Path(folder) if folder else None, make_base=make_base, learned=learned, camera=camera)
