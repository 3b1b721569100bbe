"""Node that makes `scene` of the detections of a perception that speaks vision_msgs, for a real arm at a table.

It subscribes to `vision_msgs/Detection3DArray`, to the robot's joint states and to `gripper_command`. What the hand
holds follows from its fingers: at rest, wider than commanded, with a thing around the grip point. Detections may be in
any frame that `/tf` and `/tf_static` connect to that of the scene. No scene is published while detections or states do
not arrive, so a running plan ends; a detector that sees nothing must publish an empty array.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from llm_planner_interfaces.msg import Scene as SceneMsg
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from llm_planner.errors import InputError
from llm_planner.ros.base_node import ERROR, LATCHED, NEWEST_ONLY, OK, SENSOR_DATA, STATES, BaseNode, run_node
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.geometry_messages import pose_from_msg
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.robot_messages import width_from_msg
from llm_planner.ros.conversions.scene_messages import OBJECTS_MAX, SPEED_MAX, scene_to_msg
from llm_planner.ros.detected_table import DetectedTable, Detection
from llm_planner.ros.message_types import required_type
from llm_planner.ros.observed_robots import ObservedArm, RobotState
from llm_planner.ros.parameters import ROBOT, Setting, arm_of
from llm_planner.ros.robot_topics import GRIPPER_STATE_TOPIC, SIMULATOR, STATE_TOPIC
from llm_planner.ros.transforms import FrameFinder
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose, Scene

AHEAD = 0.5  # [s] by which a picture may be ahead of the robot's states


def detections_from_msg(
    message: Any, labels: Mapping[str, str], least_score: float, find_frame: Callable[[str, float], Pose]
) -> tuple[Detection, ...]:
    """Convert a `vision_msgs/Detection3DArray`.

    Args:
        message: All detections of one picture. The pose of a thing is the centre of its `bbox`.
        labels: Words for class ids; "" leaves a class out. Other ids count as words: "red_block" is "red block".
        least_score: Detections whose best hypothesis has a lower score are left out.
        find_frame: Returns T_scene_frame of a frame at a time [s], or raises InputError.

    Raises:
        InputError: A value is out of range, or a frame is unknown.
    """
    checks.items("detections", message.detections, OBJECTS_MAX)
    taken = seconds(message.header.stamp, "detections.header.stamp")
    found = []
    for index, one in enumerate(message.detections):
        field = f"detections[{index}]"
        if not one.results:
            raise InputError(f"{field}.results is empty; it must name the class of the thing")
        best = max((each.hypothesis for each in one.results), key=lambda each: each.score)
        told = checks.name(f"the class_id of {field}", best.class_id)
        label = labels[told] if told in labels else " ".join(told.lower().replace("_", " ").split())
        if not label or not best.score >= least_score:
            continue
        pose = pose_from_msg(one.bbox.center, f"{field}.bbox.center")
        frame = checks.name(f"{field}.header.frame_id", one.header.frame_id or message.header.frame_id)
        size, track = checks.size(f"{field}.bbox.size", one.bbox.size), checks.text(f"{field}.id", one.id)
        found.append(Detection(label, compose(find_frame(frame, taken), pose), size, track))
    return tuple(found)


def labels_from_text(text: str) -> dict[str, str]:
    """Parse "17=cat, red_cube=red block, 0="; raise InputError for an entry without "=" or a repeated id."""
    labels: dict[str, str] = {}
    for entry in filter(str.strip, text.split(",")):
        name, equals, words = map(str.strip, entry.partition("="))
        if not equals or not name or name in labels:
            raise InputError(
                f"labels has the entry {entry.strip()!r}; write each class id once, as in: 17=cat, red_cube=red block"
            )
        labels[name] = words
    return labels


class DetectionsNode(BaseNode):
    """Publishes the scene at a fixed rate, from the newest detections and the newest state of the arm."""

    SETTINGS = (
        Setting("detections_topic", "detections", "the topic of the detections, vision_msgs/Detection3DArray"),
        Setting("labels", "", "words for class ids, e.g. '17=cat, red_cube=red block'; '0=' leaves a class out"),
        Setting("least_score", 0.5, "detections with a lower score are left out", 0.0, 1.0),
        Setting("memory", 10.0, "a thing that is not detected for so long is gone [s]", 0.1, 3600.0),
        Setting("detections_timeout", 1.0, "wall time without detections after which no scene is sent [s]", 0.1, 60.0),
        Setting("state_timeout", 1.0, "wall time without states after which no scene is sent [s]", 0.02, 60.0),
        Setting("scene_rate", 10.0, "scenes a second [Hz]", 1.0, 50.0),
        ROBOT,
        replace(SIMULATOR, default=False),
        STATE_TOPIC,
        GRIPPER_STATE_TOPIC,
    )

    def configure(self) -> None:
        arm = arm_of(self)
        if arm is None:
            raise InputError("the parameter robot is mobile; detections make the scene of an arm at a table: name one")
        self._labels = labels_from_text(self.setting("labels"))
        self._robot, self._table = ObservedArm(self, arm), DetectedTable(self.setting("memory"))
        self._frames = FrameFinder(self, self._robot.frame, "detections")
        self._hand: Pose | None = None
        self._time, self._speed, self._wanted = 0.0, 0.0, math.nan
        self._seen = self._heard = -math.inf  # [s, monotonic] last detections, last state
        self._run, self._flaw = time.time_ns(), ""
        self._scene = self.create_lifecycle_publisher(SceneMsg, "scene", STATES)
        felt = checks.validated(self, self._robot.state, self._on_state)
        self.create_subscription(JointState, self._robot.topic, felt, NEWEST_ONLY)
        self.create_subscription(Float64, "gripper_command", checks.validated(self, self._on_width), LATCHED)
        kind = required_type("vision_msgs.msg", "Detection3DArray", "detections need")
        self.create_subscription(kind, self.setting("detections_topic"), self._on_detections, SENSOR_DATA)
        self.every(1.0 / self.setting("scene_rate"), self._on_tick)
        self.report_with(self._on_diagnose)

    def _on_width(self, message: Float64) -> None:
        width = width_from_msg(message)
        self._wanted = self._wanted if math.isnan(width) else width

    def _on_state(self, state: RobotState) -> None:
        hand, before = self._robot.hand(state), self._time
        if self._hand is not None and state.time > before:
            self._speed = math.dist(hand.position, self._hand.position) / (state.time - before)
        self._hand, self._time, self._heard = hand, state.time, time.monotonic()
        self._table.feel(hand, state.width, self._wanted, state.time)

    def _on_detections(self, message: Any) -> None:
        if self._hand is None:
            return  # the robot's time is not known yet
        try:
            at = seconds(message.header.stamp, "detections.header.stamp")
            if at > self._time + AHEAD:
                raise InputError(
                    f"their stamp is {at - self._time:.2f} s ahead of the robot's states; at most {AHEAD} s are taken: "
                    "synchronise the clocks"
                )
            found = detections_from_msg(message, self._labels, self.setting("least_score"), self._frames.find)
        except InputError as error:
            self._flaw = f"detections cannot be used: {error}"
            self.get_logger().error(self._flaw, throttle_duration_sec=5.0)
            return
        self._table.see(found, self._time)
        self._seen, self._flaw = time.monotonic(), ""

    def _missing(self) -> str:
        """Return what is missing for a scene, "" if nothing is."""
        now = time.monotonic()
        if now - self._heard > self.setting("state_timeout"):
            return f"no joint states arrive on {self._robot.topic}"
        if now - self._seen > self.setting("detections_timeout"):
            return self._flaw or f"no detections arrive on {self.setting('detections_topic')}"
        return ""

    def _on_tick(self) -> None:
        if not self.is_active or self._missing():
            return
        table, arm = self._table, self._robot.name
        scene = Scene(self._time, table.objects, table.held, self._hand, min(self._speed, SPEED_MAX), arm=arm)
        self._scene.publish(scene_to_msg(scene, self._robot.frame, run=self._run))

    def _on_diagnose(self) -> None:
        missing, flaw = self._missing(), self._robot.flaw
        names = ", ".join(item.name for item in self._table.objects)
        values = [("objects", names), ("held", self._table.held or "nothing"), ("run", self._run)]
        if missing:
            self.report(ERROR, f"{missing}; no scene is sent", values)
        elif flaw:
            self.report(ERROR, f"{flaw}: what is held is not known", values)
        else:
            self.report(OK, f"{len(self._table.objects)} things are known", values)


def main() -> None:
    run_node(DetectionsNode, "detections")


if __name__ == "__main__":
    main()
