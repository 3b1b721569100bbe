"""Conversions from vision_msgs and tf2_msgs: detections of things, and transforms between frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_planner.errors import InputError
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.conversions.message_conversions import OBJECTS_MAX, pose_from_msg
from llm_planner.ros.detected_table import Detection
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose

DETECTIONS_MAX = OBJECTS_MAX


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
    checks.items("detections", message.detections, DETECTIONS_MAX)
    time = seconds(message.header.stamp, "detections.header.stamp")
    found = []
    for index, one in enumerate(message.detections):
        field = f"detections[{index}]"
        if not one.results:
            raise InputError(f"{field}.results is empty; it must name the class of the thing")
        best = max((each.hypothesis for each in one.results), key=lambda each: each.score)
        label = label_of(best.class_id, labels, field)
        if not label or not best.score >= least_score:
            continue
        pose = pose_from_msg(one.bbox.center, f"{field}.bbox.center")
        frame = checks.name(f"{field}.header.frame_id", one.header.frame_id or message.header.frame_id)
        size, track = checks.size(f"{field}.bbox.size", one.bbox.size), checks.text(f"{field}.id", one.id)
        found.append(Detection(label, compose(find_frame(frame, time), pose), size, track))
    return tuple(found)


def label_of(class_id: str, labels: Mapping[str, str], field: str) -> str:
    """Return the words for a class id, "" to leave it out; raise InputError for an empty or too long id."""
    told = checks.name(f"the class_id of {field}", class_id)
    return labels[told] if told in labels else " ".join(told.lower().replace("_", " ").split())


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


def transforms_from_msg(message: Any, fixed: bool) -> list[tuple[str, str, Pose, float | None]]:
    """Convert a `tf2_msgs/TFMessage` to parent, child, T_parent_child and time [s], None if it is `fixed`.

    Raises:
        InputError: A name, stamp or transform is invalid.
    """
    checks.items("transforms", message.transforms)
    read = []
    for index, one in enumerate(message.transforms):
        field, transform = f"transforms[{index}]", one.transform
        position = checks.point(f"{field}.translation", transform.translation)
        pose = Pose(position, checks.quaternion(f"{field}.rotation", transform.rotation))
        names = (
            checks.name(f"{field}.header.frame_id", one.header.frame_id).lstrip("/"),
            checks.name(f"{field}.child_frame_id", one.child_frame_id).lstrip("/"),
        )
        read.append((*names, pose, None if fixed else seconds(one.header.stamp, f"{field}.header.stamp")))
    return read
