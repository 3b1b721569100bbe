"""Node that records a run: the topics of the system and its log, as they are, in one MCAP file.

The executor does not wait for the recorded topics. DDS keeps their messages, and the node takes all of them a few
times a second, unread; so recording costs little of the machine that moves the robot. The process has a low priority.
"""

from __future__ import annotations

import io
import os
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from llm_planner import __version__
from llm_planner.errors import InputError
from llm_planner.recording.writing import RunWriter, Sample, Topic, check_installed
from llm_planner.ros.base_node import NEWEST_ONLY, OK, WARN, BaseNode, run_node
from llm_planner.ros.conversions.camera_messages import image_from_msg
from llm_planner.ros.journal_file import journal_path, recordings_path, system_of
from llm_planner.ros.message_types import definition_of, message_type, qos_in_yaml
from llm_planner.ros.node_executor import Unattended
from llm_planner.ros.node_table import PUBLISHED, is_recorded
from llm_planner.ros.parameters import JOURNAL, ROBOT, Setting, arm_of
from llm_planner.ros.sender_identity import publisher_gid

PERIOD = 0.2  # [s, wall time] between two looks for messages
DEPTH = 400  # messages of a topic that DDS keeps: some seconds of the fastest one, should the disk be slow
NICENESS = 10
QUALITY = 80  # of JPEG


class RecorderNode(BaseNode):
    """Records what `node_table.is_recorded` names, from the moment that a topic is there."""

    SETTINGS = (
        Setting("file", "", "MCAP file to write; empty: one named after the time, in ROS's folder beside the journal"),
        Setting("most_megabytes", 512, "size of the newest recordings that are kept [MiB]", 16, 1_000_000),
        Setting("picture_rate", 0.0, "pictures of camera/image_raw a second of wall time; 0: none [Hz]", 0.0, 5.0),
        JOURNAL,
        ROBOT,
    )

    def configure(self) -> None:
        self._writer: RunWriter | None = None
        self._missing = ""
        arm = arm_of(self)
        states = (arm.topics.states, arm.topics.gripper_states) if arm else ()
        self._states = {self.resolve_topic_name(name) for name in states if name}  # of a real robot
        self._taken: dict[str, tuple[Topic, Subscription]] = {}
        self._skipped: set[str] = set()
        self._messages = 0  # since the last diagnosis
        with suppress(OSError):
            os.nice(NICENESS)
        try:
            check_installed()
        except InputError as error:  # the robot works without a recording
            self._missing = str(error)
            self.get_logger().warning(self._missing)
            return
        finally:
            self.report_with(self._on_second)
        journal = journal_path(self.setting("journal"), *system_of(self))
        given = self.setting("file")
        path = Path(given).expanduser() if given else recordings_path(*system_of(self)) / f"{_now()}.mcap"
        about = {
            "version": __version__,
            "robot": self.setting("robot"),
            "journal": os.path.relpath(journal, path.parent),
            "began": _now(),
        }
        most = int(self.setting("most_megabytes")) * 2**20
        self._writer = RunWriter(path, most, about, shared=not given)
        self.tell(f"recording to {path}")
        self._look()
        self.every(PERIOD, self._take)
        if self.setting("picture_rate"):
            self._camera: list[Subscription] = [
                self.create_subscription(kind, name, lambda message: None, NEWEST_ONLY, callback_group=Unattended())
                for kind, name in ((Image, "camera/image_raw"), (CameraInfo, "camera/camera_info"))
            ]
            self.every(1.0 / self.setting("picture_rate"), self._take_picture)

    def close(self) -> None:
        if getattr(self, "_writer", None) is not None:
            with suppress(Exception):  # at shutdown, rclpy's own work fails in many ways; the file is closed anyway
                self._take()
            self._writer.close()

    def _look(self) -> None:
        """Subscribe to the topics that are there now and were not before."""
        for name, types in self.get_topic_names_and_types():
            is_wanted = name in self._states or is_recorded(name, self.get_namespace())
            if is_wanted and name not in self._taken and name not in self._skipped:
                self._begin(name, types[0])

    def _begin(self, name: str, type_name: str) -> None:
        offered = [one.qos_profile for one in self.get_publishers_info_by_topic(name)]
        if not offered and not PUBLISHED.isdisjoint((name, name.rpartition("/")[2])):
            return  # it will have a publisher, whose quality of service is not known yet
        try:
            definition, message = definition_of(type_name), message_type(type_name)
        except InputError as error:
            self._skipped.add(name)
            self.get_logger().warning(f"{name} is not recorded: {error}")
            return
        is_latched = bool(offered) and all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in offered)
        is_reliable = all(one.reliability == ReliabilityPolicy.RELIABLE for one in offered)
        qos = QoSProfile(
            depth=max(DEPTH, *(one.depth for one in offered), 0) if offered else DEPTH,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if is_latched else DurabilityPolicy.VOLATILE,
            reliability=ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT,
        )
        subscription = LifecycleNode.create_subscription(  # not guarded, since nothing is called
            self, message, name, lambda message: None, qos, raw=True, callback_group=Unattended()
        )
        told = qos_in_yaml(offered[0]) if offered else ""
        self._taken[name] = Topic(name, type_name, definition, told, is_latched), subscription

    def _take(self) -> None:
        """Write every message that has arrived since the last look, in the order of arrival."""
        found: list[tuple[Topic, Sample]] = []
        for topic, subscription in self._taken.values():
            with subscription.handle:
                while (taken := subscription.handle.take_message(subscription.msg_type, True)) is not None:
                    found.append((topic, _sample(*taken)))
        found.sort(key=lambda one: one[1].received)
        for topic, sample in found:
            self._writer.write(topic, sample)
        self._messages += len(found)

    def _take_picture(self) -> None:
        """Write the newest picture, as JPEG, and the newest parameters of the camera."""
        for subscription in self._camera:
            with subscription.handle:
                taken = subscription.handle.take_message(subscription.msg_type, False)
            if taken is None:
                continue
            message, name = taken[0], subscription.topic_name
            if isinstance(message, Image):
                message, name = _compressed(message), f"{name}/compressed"
            kind = f"sensor_msgs/msg/{type(message).__name__}"
            sample = Sample(serialize_message(message), time.time_ns(), time.time_ns())
            self._writer.write(Topic(name, kind, definition_of(kind)), sample)
            self._messages += 1

    def _on_second(self) -> None:
        if self._writer is None:
            self.report(WARN, self._missing)
            return
        before = self._writer.trouble
        self._look()
        self._writer.flush()
        trouble = self._writer.trouble
        if trouble and trouble != before:
            self.get_logger().warning(trouble)
        values = [("file", self._writer.path), ("messages", self._messages), ("lost", self._writer.lost)]
        self.report(WARN if trouble else OK, trouble or "recording", values)
        self._messages = 0


def _now() -> str:
    return datetime.now().strftime("%Y-%m-%d_%H-%M-%S")


def _sample(data: bytes, info: dict) -> Sample:
    received = int(info["received_timestamp"] or 0) or time.time_ns()
    return Sample(bytes(data), received, int(info["source_timestamp"] or 0) or received, publisher_gid(info))


def _compressed(message: Image) -> CompressedImage:
    from PIL import Image as Picture

    stream = io.BytesIO()
    Picture.fromarray(image_from_msg(message)).save(stream, "JPEG", quality=QUALITY)
    return CompressedImage(header=message.header, format="jpeg", data=stream.getvalue())


def main() -> None:
    run_node(RecorderNode, "recorder")


if __name__ == "__main__":
    main()
