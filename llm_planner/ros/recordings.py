"""Recorded messages: published again for RViz, Foxglove and the console, or read as frames of the recorded robot.

A player never commands a robot.
"""

from __future__ import annotations

import io
import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
import rclpy
import yaml
from numpy.typing import NDArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.recording.reading import NANO, Heard, Recording
from llm_planner.recording.story import TOPICS as TOLD
from llm_planner.recording.story import Event, Story
from llm_planner.recording.writing import Topic
from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.ros.base_node import LATCHED, RELIABLE
from llm_planner.ros.conversions.robot_messages import joint_state_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.message_types import message_type
from llm_planner.ros.node_table import CLIENT, GRAPH, REPLAY_CONTROL, REPLAY_STATUS, SENDERS
from llm_planner.ros.parameters import MOBILE, ROBOT
from llm_planner.ros.transport import use_sockets
from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.scene import Scene

CLOCK, CLOCK_PERIOD = "/clock", 0.01  # [s] between messages of a clock that was not recorded
# Topics of which a viewer keeps every message: what was said, and transforms of several publishers.
KEPT = ("command_status", "correction_result", "transcript", "tf_static")
DISCOVERY = 1.0  # [s] for listeners to find the topics
SETTLE = 0.1  # [s] for viewers to hear that the time has leapt
PERIOD = 0.1  # [s] between two messages of the status
HELD = 20.0  # [s of the recording] between two times of which the player knows what held
MARGIN = 1e-3  # [s] for the rounding of times
DEPTH = 100
# What moves a robot, or is taken for a person's words.
COMMANDS = (
    frozenset({*SENDERS, "gripper_command", "motion_patch", "motion_tuning", "language_command", "stop"})
    - {"plan_status"}
    | GRAPH[CLIENT].publishes
    | GRAPH["console"].publishes
)


def is_played(topic: str) -> bool:
    """Return whether a recorded topic is published again; one that commands a robot never is."""
    return topic.rpartition("/")[2] not in COMMANDS


class Player:
    """Publishes recorded messages at the pace at which they came, and obeys a viewer who pauses or goes elsewhere.

    A viewer sends JSON on `/replay_control` with one of the keys `to` [s of the recording], `paused` (true or false)
    and `rate` (seconds of the recording a second). `/replay_status` tells where the player is. `namespace` is that of
    the first robot.

    Args:
        recording: What to play.
        rate: Seconds of the recording a second.
        domain_id: ROS domain; None for that of the environment.
    """

    def __init__(
        self,
        recording: Recording,
        rate: float = 1.0,
        domain_id: int | None = None,
    ) -> None:
        self._recording, self._rate = recording, rate
        self._context = rclpy.Context()
        use_sockets()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node("player", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._publishers: dict[str, Publisher | None] = {}
        topics, times, story, events = dict[str, Topic](), [0.0], Story(), list[Event]()
        self._kept: list[Heard] = []
        self._held: list[tuple[float, dict[str, Heard]]] = [(0.0, {})]  # what held before a time, every `HELD` seconds
        newest: dict[str, Heard] = {}
        for heard in recording.messages():
            topics.setdefault(heard.topic.name, heard.topic)
            times = [times[0] or heard.time, heard.time]
            if heard.time - times[0] >= HELD * len(self._held):
                self._held.append((heard.time - times[0], dict(newest)))
            if heard.topic.name.rpartition("/")[2] in KEPT:
                self._kept.append(heard)
            else:
                newest[heard.topic.name] = heard
            if heard.topic.name.rpartition("/")[2] in TOLD:
                events += story.hear(heard)
        self._began, self._length = times[0], times[-1] - times[0]
        self._marks = [(round(event.time - self._began, 2), event.text) for event in events]  # a viewer may go there
        self._clock = None if CLOCK in topics else self._node.create_publisher(Clock, CLOCK, QoSProfile(depth=DEPTH))
        self._status = self._node.create_publisher(String, REPLAY_STATUS, LATCHED)
        self._node.create_subscription(String, REPLAY_CONTROL, self._on_control, RELIABLE)
        scenes = [name for name in topics if name.endswith("/scene")]
        self.namespace = min(scenes, default="").removesuffix("/scene").strip("/")  # of the first robot
        for topic in topics.values():
            self._publisher(topic)
        self._at, self._wanted = 0.0, None  # where it is and where a viewer wants it to be [s of the recording]
        self._anchor = 0.0  # when the recording would have begun at this pace [s, monotonic]
        self._told = 0.0  # when the status was published last [s, monotonic]
        self._ticked, self._paused, self._jumps, self._ended = 0.0, False, 0, False
        self._seeks = False  # whether it reads up to where it is
        self._jumped = 0  # when it last went elsewhere [ns since the epoch]; what was published before is void
        time.sleep(DISCOVERY)  # listeners find the topics

    def play(self, start: float, on_message: Callable[[Heard], None], stays: bool = False) -> int:
        """Publish from `start` [s of the recording] to the end; return how many messages.

        What came before a time that a viewer goes to is published as far as it still holds then: everything said,
        static transforms, and the newest message of each other topic.

        Args:
            start: Time to begin with [s].
            on_message: Called before each message at its time; may pause.
            stays: Whether it waits at the end for a viewer who goes elsewhere, until interrupted.
        """
        count, self._wanted = 0, start
        while self._wanted is not None and not self._ended:
            self._go_to(self._wanted)
            for heard in self._since(self._at):
                at = heard.time - self._began
                if at >= self._at:
                    self._seeks, before = False, time.monotonic()
                    on_message(heard)
                    self._anchor += time.monotonic() - before  # a pause is not caught up with
                    self._wait_until(at)
                if self._wanted is not None or self._ended:
                    break
                count += self._publish(heard)
            if stays and self._wanted is None:
                self._paused, self._seeks = True, False
                self._wait_until(inf)
        return count

    def _go_to(self, at: float) -> None:
        self._at, self._wanted = min(max(at, 0.0), self._length), None
        self._anchor = time.monotonic() - self._at / self._rate
        self._jumps, self._ticked, self._seeks = self._jumps + 1, 0.0, True
        self._jumped = time.time_ns()
        self._tell()
        time.sleep(SETTLE if self._jumps > 1 else 0.0)  # viewers forget what they have shown

    def _since(self, start: float) -> Iterator[Heard]:
        """Yield what viewers keep of before `start` [s], the newest message of each other topic, then all messages."""
        began, held = self._held[max(bisect_right([at for at, _ in self._held], start) - 1, 0)]
        newest = dict(held)
        yield from (heard for heard in self._kept if heard.time - self._began < start)
        for heard in self._recording.messages(since=self._began + began - MARGIN):
            if heard.time - self._began >= start:
                yield from sorted(newest.values(), key=lambda one: one.time)
                newest.clear()
                yield heard
            elif heard.topic.name.rpartition("/")[2] not in KEPT:
                newest[heard.topic.name] = heard
        yield from sorted(newest.values(), key=lambda one: one.time)

    def _wait_until(self, at: float) -> None:
        """Wait for the time of the recording, and hear viewers; return at once if one wants another time."""
        while self._wanted is None and not self._ended:
            now = time.monotonic()
            if not self._paused:
                self._at = min(at, self._length, (now - self._anchor) * self._rate)
            if now > self._told + PERIOD:
                self._tell()
                self._executor.spin_once(timeout_sec=0.0)
            elif self._paused:
                self._executor.spin_once(timeout_sec=PERIOD)
            elif self._at < at:
                self._executor.spin_once(timeout_sec=min(PERIOD, (at - self._at) / self._rate))
            else:
                return

    def _on_control(self, message: String) -> None:
        try:
            wanted = json.loads(message.data)
            to, paused, rate = (wanted.get(key) for key in ("to", "paused", "rate"))
            to, rate = (None if one is None else float(one) for one in (to, rate))
            if (
                paused not in (None, True, False)
                or not (to is None or isfinite(to))
                or not 0.01 <= (rate or 1.0) <= 100.0
            ):
                raise ValueError("choose `to` [s], `paused` (true or false) or `rate` (0.01 to 100)")
        except (ValueError, TypeError, AttributeError) as error:
            self._node.get_logger().warning(f"{REPLAY_CONTROL}: {message.data[:200]!r} is not understood: {error}")
            return
        is_over = self._at >= self._length
        self._wanted = 0.0 if paused is False and to is None and is_over else to
        self._paused, self._rate = self._paused if paused is None else paused, rate or self._rate
        self._anchor = time.monotonic() - self._at / self._rate
        self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        told = {"at": round(self._at, 2), "length": round(self._length, 2), "paused": self._paused, "rate": self._rate}
        told |= {"name": self._recording.name, "jumps": self._jumps, "marks": self._marks, "seeks": self._seeks}
        told |= {"jumped": self._jumped}
        self._status.publish(String(data=json.dumps(told)))

    def _publish(self, heard: Heard) -> int:
        if self._clock is not None and heard.time >= self._ticked + CLOCK_PERIOD:
            self._tick(heard)
        publisher = self._publisher(heard.topic)
        if publisher is not None:
            publisher.publish(heard.sample.data)
        return publisher is not None

    def end(self) -> None:
        """Let `play`, in another thread, return."""
        self._ended = True

    def close(self) -> None:
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _tick(self, heard: Heard) -> None:
        """Publish the time of reception, which is that of the stamps beside a real robot."""
        self._ticked, message = heard.time, Clock()
        message.clock.sec, message.clock.nanosec = divmod(heard.sample.received, round(1 / NANO))
        self._clock.publish(message)

    def _publisher(self, topic: Topic) -> Publisher | None:
        """Return the topic's publisher, with the recorded quality of service; None for what is not played."""
        if topic.name not in self._publishers:
            self._publishers[topic.name] = self._made(topic)
        return self._publishers[topic.name]

    def _made(self, topic: Topic) -> Publisher | None:
        if not is_played(topic.name):
            return None
        try:
            kind = message_type(topic.type)
        except InputError as error:
            self._node.get_logger().warning(f"{topic.name} is not played: {error}")
            return None
        return self._node.create_publisher(kind, topic.name, _qos(topic))


def _qos(topic: Topic) -> QoSProfile:
    offered = (yaml.safe_load(topic.qos) or [{}])[0] if topic.qos else {}
    is_best_effort = offered.get("reliability") == "best_effort"
    return QoSProfile(
        depth=max(int(offered.get("depth", DEPTH)), DEPTH),
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.is_latched else DurabilityPolicy.VOLATILE,
        reliability=ReliabilityPolicy.BEST_EFFORT if is_best_effort else ReliabilityPolicy.RELIABLE,
    )


TOPICS = ("joint_states", "scene", "compressed")
BASE = ("x", "y", "yaw")


@dataclass(frozen=True)
class RecordedFrame:
    """State of a recorded robot.

    Attributes:
        time: Time of reception [s since the epoch].
        stamp: Robot's time [s].
        qpos: Joint positions (nq,) [rad]; () of a base without an arm.
        width: Width between the fingers [m].
        scene: Newest scene at this time.
        picture: Newest picture at this time (height, width, 3), None without a camera.
    """

    time: float
    stamp: float
    qpos: tuple[float, ...]
    width: float
    scene: Scene
    picture: NDArray[np.uint8] | None = None

    @property
    def state(self) -> tuple[float, ...]:
        """Numbers in the order of `RecordedRobot.names`."""
        arm = (*self.qpos, self.width) if self.qpos else ()
        base = self.scene.base.pose if self.scene.base else self.scene.robot if self.scene.building else None
        stands = (*base.position[:2], yaw_of(base)) if base else ()
        return (*arm, *stands, *(() if arm else (float(bool(self.scene.held)),)))


@dataclass(frozen=True)
class RecordedRobot:
    """Robot that was moved: its `arm`, None for a base in a building, and the namespace of its topics."""

    arm: ArmModel | None
    namespace: str

    @property
    def name(self) -> str:
        return self.arm.name if self.arm else MOBILE

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers of a state: joints [rad], gripper [m], pose of a base in the map [m, m, rad], load."""
        if self.arm is None:
            return (*BASE, "holds")
        return (*self.arm.joints, "gripper", *(() if self.arm.mount is None else BASE))


def recorded_robot(recording: Recording) -> RecordedRobot:
    """Return the robot of a recording; raise InputError for a recording of several."""
    spaces = {heard.topic.name.rpartition("/")[0] for heard in recording.messages(("scene",))}
    if len(spaces) > 1:
        robots = ", ".join(space.strip("/") for space in sorted(spaces))
        raise InputError(
            f"{recording.name} is of several robots ({robots}), and a data set is of one; convert the recording of one"
        )
    name = str(recording.about.get("robot", ROBOT.default))
    return RecordedRobot(None if name == MOBILE else arm_model(name), min(spaces, default=""))


def recorded_frames(recording: Recording, robot: RecordedRobot) -> list[RecordedFrame]:
    """Return a frame for each recorded joint state from the first scene on; of a base alone, for each scene."""
    arm = robot.arm
    scenes, scene, picture = SceneReader(lambda flaw: None, (arm or default_arm()).name), None, None
    frames: list[RecordedFrame] = []
    for heard in recording.messages(TOPICS):
        name = heard.topic.name.rpartition("/")[2]
        try:
            if name == "scene":
                scene = scenes.read(_message(heard))
                if arm is None and scene.robot is not None:
                    frames.append(RecordedFrame(heard.time, scene.time, (), 0.0, scene, picture))
            elif name == "compressed":
                picture = _picture(bytes(_message(heard).data))
            elif scene is not None and arm is not None:
                message = _message(heard)
                state, width = joint_state_from_msg(message, arm.joints, arm.fingers)
                stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
                frames.append(RecordedFrame(heard.time, stamp, tuple(state.qpos.tolist()), width, scene, picture))
        except LlmPlannerError:  # an unusable message, which the nodes did not use either
            continue
    return frames


def at_rate(frames: Sequence[RecordedFrame], fps: float) -> list[RecordedFrame]:
    """Return the newest frame at each multiple of 1 / fps of the robot's time, from the first to the last."""
    if not frames:
        return []
    stamps = [frame.stamp for frame in frames]
    count = int((stamps[-1] - stamps[0]) * fps + 1e-6) + 1
    return [frames[bisect_right(stamps, stamps[0] + number / fps + 1e-6) - 1] for number in range(count)]


def _message(heard: Heard):
    return deserialize_message(heard.sample.data, message_type(heard.topic.type))


def _picture(data: bytes) -> NDArray[np.uint8]:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
