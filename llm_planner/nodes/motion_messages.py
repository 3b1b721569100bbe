"""Where ROS messages meet zones, patches and the constraints in force. Times are seconds here, stamps there."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from llm_planner_interfaces.msg import MotionConstraints as MotionConstraintsMsg
from llm_planner_interfaces.msg import MotionPatch as MotionPatchMsg
from llm_planner_interfaces.msg import MotionStatus
from llm_planner_interfaces.msg import Zone as ZoneMsg

from llm_planner.control.ladder import Rung, Standing
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.patches import Patch
from llm_planner.control.zones import Shape, Subject, Zone
from llm_planner.errors import InputError
from llm_planner.nodes.message_conversions import BASE_FRAME, header, pose_from_msg, pose_to_msg
from llm_planner.nodes.stamps import seconds

_SHAPE = {
    Shape.SPHERE: ZoneMsg.SPHERE,
    Shape.CAPSULE: ZoneMsg.CAPSULE,
    Shape.CYLINDER: ZoneMsg.CYLINDER,
    Shape.BOX: ZoneMsg.BOX,
}
_SUBJECT = {Subject.ROBOT: ZoneMsg.ROBOT, Subject.GRIPPER: ZoneMsg.GRIPPER}
_STATE = {
    Rung.TRACKING: MotionStatus.TRACKING,
    Rung.RESTING: MotionStatus.RESTING,
    Rung.REPLAYING: MotionStatus.REPLAYING,
    Rung.RELAXED: MotionStatus.RELAXED,
    Rung.BRAKING: MotionStatus.BRAKING,
    Rung.STOPPED: MotionStatus.STOPPED,
}
_RUNG_OF = {number: rung for rung, number in _STATE.items()}
_SHAPE_OF = {number: shape for shape, number in _SHAPE.items()}
_SUBJECT_OF = {number: subject for subject, number in _SUBJECT.items()}
UNSAID = float("nan")


def zone_to_msg(zone: Zone) -> ZoneMsg:
    return ZoneMsg(
        name=zone.name,
        shape=_SHAPE[zone.shape],
        size=array("d", zone.size),
        pose=pose_to_msg(zone.pose),
        clearance=float(zone.clearance),
        subject=_SUBJECT[zone.subject],
    )


def zone_from_msg(message: ZoneMsg) -> Zone:
    """Raises InputError for a shape or subject that does not exist, and as `Zone` does."""
    if message.shape not in _SHAPE_OF or message.subject not in _SUBJECT_OF:
        raise InputError(
            f"the zone {message.name!r} has the shape {message.shape} and the subject {message.subject}; the highest "
            f"are {ZoneMsg.BOX} and {ZoneMsg.GRIPPER}"
        )
    shape, subject = _SHAPE_OF[message.shape], _SUBJECT_OF[message.subject]
    return Zone(message.name, shape, tuple(message.size), pose_from_msg(message.pose), message.clearance, subject)


def patch_to_msg(patch: Patch, frame: str = BASE_FRAME) -> MotionPatchMsg:
    """`frame` is that of the zones."""
    return MotionPatchMsg(
        header=header(patch.stamp, frame),
        source=patch.source,
        epoch=patch.epoch,
        valid_for=patch.expires - patch.stamp,
        speed=_said(patch.speed),
        joint_share=_said(patch.joint_share),
        clearance=_said(patch.clearance),
        zones=[zone_to_msg(zone) for zone in patch.zones],
        weights=list(patch.weights),
        factors=array("d", patch.weights.values()),
    )


def patch_from_msg(message: MotionPatchMsg) -> Patch:
    """Raises InputError as `Patch` and `Zone` do, and where weights and factors are not of one number."""
    if len(message.weights) != len(message.factors):
        raise InputError(
            f"the patch of {message.source!r} names {len(message.weights)} weights and gives {len(message.factors)} "
            "factors; give one for each"
        )
    stamp = seconds(message.header.stamp)
    return Patch(
        message.source,
        stamp,
        stamp + message.valid_for,
        message.epoch,
        _heard(message.speed),
        _heard(message.joint_share),
        _heard(message.clearance),
        tuple(map(zone_from_msg, message.zones)),
        dict(zip(message.weights, message.factors, strict=True)),
    )


def constraints_to_msg(
    constraints: MotionConstraints,
    time: float,
    sources: Sequence[str] = (),
    refused: Sequence[str] = (),
    conflict: str = "",
    frame: str = BASE_FRAME,
) -> MotionConstraintsMsg:
    """What is in force at `time` [s], by whom, and what is told of it; `frame` is that of the zones."""
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


def constraints_from_msg(message: MotionConstraintsMsg) -> MotionConstraints:
    """Raises InputError as `MotionConstraints` and `Zone` do."""
    weights = dict(zip(message.weights, message.factors, strict=False))
    zones = tuple(map(zone_from_msg, message.zones))
    return MotionConstraints(message.speed, message.joint_share, zones, message.version, weights)


def standing_to_msg(standing: Standing, time: float, version: int, frame: str = BASE_FRAME) -> MotionStatus:
    """Where the controller stands at `time` [s], under the `version` of the motion constraints."""
    return MotionStatus(
        header=header(time, frame),
        state=_STATE[standing.rung],
        epoch=standing.epoch,
        version=version,
        reason=standing.reason,
    )


def standing_from_msg(message: MotionStatus) -> Standing:
    """Raises InputError for a state that does not exist."""
    if message.state not in _RUNG_OF:
        raise InputError(f"motion_status has the state {message.state}; the highest is {MotionStatus.STOPPED}")
    return Standing(_RUNG_OF[message.state], message.reason, message.epoch)


def _said(value: float | None) -> float:
    return UNSAID if value is None else float(value)


def _heard(value: float) -> float | None:
    return None if math.isnan(value) else value
