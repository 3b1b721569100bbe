"""Frames of a recorded arm: joint states, scenes and, where there are some, pictures, at a steady rate."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.recording.reading import Heard, Recording
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.ros.conversions.message_conversions import SceneReader, joint_state_from_msg
from llm_planner.ros.message_definitions import message_type
from llm_planner.ros.parameters import MOBILE, ROBOT
from llm_planner.scene.scene import Scene

TOPICS = ("joint_states", "scene", "compressed")


@dataclass(frozen=True)
class RecordedFrame:
    """State of a recorded arm.

    Attributes:
        time: Time of reception [s since the epoch].
        stamp: Robot's time [s].
        qpos: Joint positions (nq,) [rad].
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


def recorded_arm(recording: Recording) -> ArmModel:
    """Return the arm that was moved; raise InputError for a mobile base."""
    name = recording.about.get("robot", ROBOT.default)
    if name == MOBILE:
        raise InputError(
            f"{recording.name} is of a mobile base, which has no joints to convert; choose a run of an arm"
        )
    return arm_model(str(name))


def recorded_frames(recording: Recording) -> list[RecordedFrame]:
    """Return a frame for each recorded joint state from the first scene on."""
    arm = recorded_arm(recording)
    scenes, scene, picture = SceneReader(lambda flaw: None, arm.name), None, None
    frames: list[RecordedFrame] = []
    for heard in recording.messages(TOPICS):
        name = heard.topic.name.rpartition("/")[2]
        try:
            if name == "scene":
                scene = scenes.read(_message(heard))
            elif name == "compressed":
                picture = _picture(bytes(_message(heard).data))
            elif scene is not None:
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
