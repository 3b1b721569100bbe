"""Conversions of motion references, zones, motion patches, motion constraints and the controller's status."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace

from llm_planner_interfaces.msg import MotionConstraints as MotionConstraintsMsg
from llm_planner_interfaces.msg import MotionPatch as MotionPatchMsg
from llm_planner_interfaces.msg import MotionReference as MotionReferenceMsg
from llm_planner_interfaces.msg import MotionStatus
from llm_planner_interfaces.msg import Zone as ZoneMsg

from llm_planner.control.envelope import STANDSTILL
from llm_planner.control.fallback_supervisor import SupervisorStatus
from llm_planner.control.motion_constraints import LIMITS, MOST_ZONES, InvalidParts, MotionConstraints, Patch
from llm_planner.errors import InputError
from llm_planner.robots.motion import MotionReference
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.geometry_messages import pose_from_msg, pose_to_msg
from llm_planner.ros.conversions.message_checks import header, seconds
from llm_planner.ros.conversions.robot_messages import DT_MIN, MAP_FRAME, WIDTH_MAX
from llm_planner.scene.zones import Shape, Subject, Zone

_SHAPES, _SUBJECTS = checks.members(Shape, ZoneMsg), checks.members(Subject, ZoneMsg)
ZONES_MAX = 256
UNSAID = float("nan")


def zone_to_msg(zone: Zone) -> ZoneMsg:
    return ZoneMsg(
        name=zone.name,
        shape=getattr(ZoneMsg, zone.shape.name),
        size=array("d", zone.size),
        pose=pose_to_msg(zone.pose),
        clearance=float(zone.clearance),
        subject=getattr(ZoneMsg, zone.subject.name),
    )


def zone_from_msg(message: ZoneMsg) -> Zone:
    """Convert a zone; raise InputError for an unknown shape or subject, or sizes that `Zone` refuses."""
    name = checks.text("the name of a zone", message.name, checks.NAME_MAX)
    if message.shape not in _SHAPES or message.subject not in _SUBJECTS:
        raise InputError(
            f"the zone {name!r} has the shape {message.shape} and the subject {message.subject}; the highest "
            f"are {ZoneMsg.BOX} and {ZoneMsg.GRIPPER}"
        )
    checks.items(f"the size of the zone {name!r}", message.size, 3)
    pose = pose_from_msg(message.pose, f"the pose of the zone {name!r}")
    return Zone(name, _SHAPES[message.shape], tuple(message.size), pose, message.clearance, _SUBJECTS[message.subject])


def zones_from_msg(messages: Sequence[ZoneMsg]) -> tuple[Zone, ...]:
    """Convert zones; raise InputError for an invalid zone or too many."""
    checks.items("zones", messages, ZONES_MAX)
    return tuple(map(zone_from_msg, messages))


def patch_to_msg(patch: Patch, frame: str) -> MotionPatchMsg:
    """Convert a patch; `frame` is the frame of its zones."""
    return MotionPatchMsg(
        header=header(patch.stamp, frame),
        source=patch.source,
        epoch=patch.epoch,
        valid_for=patch.expires - patch.stamp,
        **{name: UNSAID if (limit := getattr(patch, name)) is None else float(limit) for name in LIMITS},
        zones=[zone_to_msg(zone) for zone in patch.zones],
        weights=list(patch.weights),
        factors=array("d", patch.weights.values()),
    )


def head_from_msg(message: MotionPatchMsg) -> Patch:
    """Convert source, times and epoch of a patch without its content; raise InputError if they are invalid."""
    stamp = seconds(message.header.stamp)
    return Patch(message.source, stamp, stamp + message.valid_for, message.epoch)


def patch_from_msg(message: MotionPatchMsg, frame: str = "") -> tuple[Patch, InvalidParts]:
    """Convert a patch part by part, so that one invalid part does not void the others.

    Args:
        message: Patch message.
        frame: Frame that zones must have; "" accepts any.

    Returns:
        The patch of all valid parts, and a record of the parts that are invalid.

    Raises:
        InputError: Source, times or epoch are invalid, so the patch has no effect.
    """
    patch, told = head_from_msg(message), []
    limits = set[str]()
    for name in LIMITS:
        try:
            limit = getattr(message, name)
            patch = replace(patch, **{name: None if math.isnan(limit) else limit})
        except InputError as error:
            limits.add(name)
            told.append(str(error))
    if message.zones and frame and message.header.frame_id != frame:
        told.append(f"its zones are in the frame {message.header.frame_id!r}; those of this robot are in {frame!r}")
        zones, lost = [], {zone.name for zone in message.zones}
    else:
        zones, lost = _zones_of(message, told)
    if len(zones) > MOST_ZONES:
        told.append(f"it has {len(zones)} zones; {MOST_ZONES} is the most: the robot comes to a stand instead")
        patch = replace(patch, speed=STANDSTILL, joint_share=STANDSTILL)
    patch = _weighted(replace(patch, zones=tuple(zones[:MOST_ZONES])), message, told)
    return patch, InvalidParts(frozenset(limits), frozenset(lost), tuple(told))


def _zones_of(message: MotionPatchMsg, told: list[str]) -> tuple[list[Zone], set[str]]:
    """Return the valid zones and the names of the invalid ones; append the errors to `told`."""
    zones, lost = [], set()
    for zone in message.zones:
        try:
            zones.append(zone_from_msg(zone))
        except InputError as error:
            lost.add(zone.name)
            told.append(str(error))
    return zones, lost


def _weighted(patch: Patch, message: MotionPatchMsg, told: list[str]) -> Patch:
    """Return `patch` with the valid weight factors of the message; append the errors to `told`."""
    if len(message.weights) != len(message.factors):
        told.append(
            f"it names {len(message.weights)} weights and gives {len(message.factors)} factors; give one for each"
        )
        return patch
    for name, factor in zip(message.weights, message.factors, strict=True):
        try:
            patch = replace(patch, weights={**patch.weights, name: factor})
        except InputError as error:
            told.append(str(error))
    return patch


def constraints_to_msg(
    constraints: MotionConstraints,
    time: float,
    frame: str,
    sources: Sequence[str] = (),
    refused: Sequence[str] = (),
    conflict: str = "",
) -> MotionConstraintsMsg:
    """Report the motion constraints in force.

    Args:
        constraints: Constraints in force.
        time: Stamp [s].
        frame: Frame of the zones.
        sources: Sources of the patches in force.
        refused: Recently refused patches, a sentence each.
        conflict: Conflict between patches; "" if none.
    """
    return MotionConstraintsMsg(
        header=header(time, frame),
        version=constraints.version,
        speed=constraints.speed,
        joint_share=constraints.joint_share,
        zones=[zone_to_msg(zone) for zone in constraints.zones],
        weights=list(constraints.weights),
        factors=array("d", constraints.weights.values()),
        sources=list(sources),
        refused=list(refused),
        conflict=conflict,
    )


def speed_limit_from_msg(message: MotionConstraintsMsg) -> float:
    """Return the speed limit [m/s], infinite if none is set, 0 for standstill; raise InputError if it is invalid."""
    if not message.speed >= 0:  # also refuses NaN
        raise InputError(f"motion_constraints.speed is {message.speed}; it must be a speed of 0 m/s or more")
    return message.speed


def supervisor_status_to_msg(standing: SupervisorStatus, time: float, version: int, frame: str) -> MotionStatus:
    """Convert the controller's standing at `time` [s] under `version` of the motion constraints."""
    return MotionStatus(
        header=header(time, frame),
        state=getattr(MotionStatus, standing.level.name),
        epoch=standing.epoch,
        version=version,
        reason=standing.reason,
    )


def reference_to_msg(reference: MotionReference, frame: str) -> MotionReferenceMsg:
    """Convert a reference; `frame` is that of the robot, unless the reference is of the base that carries an arm."""
    return MotionReferenceMsg(
        header=header(reference.start_time, MAP_FRAME if reference.of_base else frame),
        dt=reference.dt,
        poses=[pose_to_msg(pose) for pose in reference.poses],
        gripper_width=reference.gripper_width,
        valid_for=reference.valid_for,
        speed_scale=reference.speed_scale,
        epoch=reference.epoch,
    )


def reference_from_msg(message: MotionReferenceMsg) -> MotionReference | None:
    """Convert a reference; return None for one without poses, which means: brake now.

    Raises:
        InputError: A value is out of range.
    """
    if not message.poses:
        return None
    checks.items("motion_reference.poses", message.poses)
    return MotionReference(
        seconds(message.header.stamp, "motion_reference.header.stamp"),
        checks.number("motion_reference.dt", message.dt, DT_MIN, 10.0),
        tuple(pose_from_msg(pose, f"motion_reference.poses[{k}]") for k, pose in enumerate(message.poses)),
        checks.number("motion_reference.gripper_width", message.gripper_width, 0.0, WIDTH_MAX),
        checks.number("motion_reference.valid_for", message.valid_for, 0.0, 10.0),
        checks.number("motion_reference.speed_scale", message.speed_scale, 0.0, 1.0),
        message.epoch,
        message.header.frame_id == MAP_FRAME,
    )


def no_motion(time: float, frame: str) -> MotionReferenceMsg:
    """Make the reference message that ends a motion at once."""
    return MotionReferenceMsg(header=header(time, frame))
