"""Arms of any make: a folder with a `robot.yaml` beside a URDF gives joints, limits, home posture, hand and reach.

    description: ur5e.urdf          # URDF, beside the file; or package://example-robot-data/robots/...
    base: base_link                 # link that stands on the table, with x forward and z up
    tool: tool0                     # link that the hand is mounted on, with z out of the arm
    hand: {turn: 0.0}               # [rad] of the hand about the tool's z axis
    joints:                         # from the base to the tool
      shoulder_pan_joint: {range: [-2.9, 2.9], velocity: 3.14, acceleration: 8, torque: 150, home: 0.0}
    fingers: [left, right]          # finger joints in joint states: finger_joint1 and 2 if left out, [] for none
    reach: [[0.0, 0.25, 0.75], ...] # height, least and largest distance of the grip point from the base axis [m]

The names of base and joints are those of ROS messages. The hand is the parallel gripper of `sim/robots/panda.xml`.
MuJoCo reads the URDF here; the safety filter reads it by itself. An arm with the links and the hand of the Panda needs
names and limits alone, and its reach where narrower ranges make that smaller:

    like: panda
    base: fr3_link0
    joints:
      fr3_joint1: {range: [-2.5, 2.5], velocity: 1.3, acceleration: 10.0}

An arm on a mobile base names the arm, where it stands on the base, and the posture in which it is driven about:

    arm: ur5e
    mount: {ahead: 0.05, height: 0.62} # [m] in front of the centre of the base, and above the floor
    home: {shoulder_pan_joint: -0.5}   # [rad]; every joint
    rest: [0.28, 0.0, 0.45]            # position of the gripper at home [m]
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import model_validator

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import PANDA, ArmModel, ArmShape, BaseMount, Description, arm_model, resolve
from llm_planner.robots.arm_urdf import read_urdf, urdf_spec
from llm_planner.robots.robots import RobotLimits
from llm_planner.share import share_folder
from llm_planner.strict_yaml import FileModel, Interval, LocatedError, Positive, at, no_choice, read_file

if TYPE_CHECKING:
    import mujoco

ROBOT_FILE = "robot.yaml"
FINGERS = ("finger_joint1", "finger_joint2")
STRONG = 50.0  # [Nm] torque from which a joint has the stiff drive
STIFF, WEAK = (6000.0, 600.0), (2500.0, 150.0)  # [Nm/rad], [Nms/rad] of position-controlled drives
ARMATURE = 0.1  # [kg m^2] of drives and gears


class LimitEntry(FileModel):
    """Limits of a joint: its range [rad], least first, largest velocity [rad/s] and acceleration [rad/s^2]."""

    range: Interval
    velocity: Positive
    acceleration: Positive


class JointEntry(LimitEntry):
    """Joint of an arm: limits, largest torque [Nm], home and preferred position [rad]."""

    torque: Positive
    home: float
    posture: float = 0.0  # weight with which inverse kinematics keeps the joint at home

    @model_validator(mode="after")
    def _is_within(self) -> JointEntry:
        _check_home(self.home, self)
        return self


class HandEntry(FileModel):
    """How the hand is mounted: turned about the tool's z axis [rad], and shifted along it [m]."""

    turn: float = 0.0
    offset: float = 0.0


class ArmEntry(FileModel):
    """Content of a `robot.yaml`."""

    description: str
    base: str
    tool: str
    joints: dict[str, JointEntry]
    fingers: tuple[str, ...] = FINGERS
    reach: tuple[tuple[float, float, float], ...]
    rest: tuple[float, float, float]
    hand: HandEntry = HandEntry()


class LikeEntry(FileModel):
    """Content of a `robot.yaml` of an arm with the links, the hand and the home position of another."""

    like: Literal["panda"]
    base: str
    joints: dict[str, LimitEntry]
    fingers: tuple[str, ...] = FINGERS
    reach: tuple[tuple[float, float, float], ...] = PANDA.shape.profile


class MountEntry(FileModel):
    """Where an arm stands on a mobile base: in front of its centre, and above the floor [m]."""

    ahead: float
    height: Positive


class MobileEntry(FileModel):
    """Content of a `robot.yaml` of an arm on a mobile base; home [rad] and rest [m] are those of the tucked arm."""

    arm: str
    mount: MountEntry
    home: dict[str, float]
    rest: tuple[float, float, float]


def _built(entry: ArmEntry, description: Description) -> mujoco.MjSpec:
    """Build an arm from its URDF, with drives, and our hand on its tool."""
    import mujoco

    spec, meshes = _bare(entry, description)
    for name, joint in entry.joints.items():
        stiffness, damping = STIFF if joint.torque >= STRONG else WEAK
        drive = spec.add_actuator(
            name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, biastype=mujoco.mjtBias.mjBIAS_AFFINE
        )
        drive.gainprm[0] = stiffness
        drive.biasprm[:3] = 0.0, -stiffness, -damping
        drive.forcerange, drive.forcelimited = [-joint.torque, joint.torque], True
    spec.compile()
    arm, hand = ElementTree.fromstring(spec.to_xml()), _hand()
    body, tool = hand.find(".//body[@name='hand']"), arm.find(f".//body[@name='{description.tool}']")
    assert body is not None
    if tool is None:
        links = ", ".join(body.get("name", "") for body in arm.iter("body"))
        raise InputError(f"{description.path} has no link {description.tool!r} on the base; the links are: {links}")
    body.set("pos", f"0 0 {description.offset}")
    body.set("quat", f"{math.cos(description.turn / 2)} 0 0 {math.sin(description.turn / 2)}")
    tool.append(body)
    for section in ("default", "tendon", "equality", "actuator"):
        found, added = arm.find(section), hand.find(section)
        assert added is not None
        if found is None:
            arm.append(added)
        else:
            found.extend(list(added))
    return mujoco.MjSpec.from_string(ElementTree.tostring(arm, encoding="unicode"), assets=meshes)


def _bare(entry: ArmEntry, description: Description) -> tuple[mujoco.MjSpec, dict[str, bytes]]:
    """Build an arm alone, with its collision bodies and the given joint limits; return it with its meshes."""
    spec, meshes = urdf_spec(description.path, description.base, entry.joints)
    spec.compiler.degree = False
    for name, limit in entry.joints.items():
        joint = spec.joint(name)
        joint.range, joint.limited = list(limit.range), True
        joint.armature = ARMATURE
        joint.actfrcrange, joint.actfrclimited = [-limit.torque, limit.torque], True
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
    for geom in spec.geoms:
        geom.contype, geom.conaffinity, geom.condim, geom.group = 1, 0, 3, 3
        geom.rgba = [0.86, 0.87, 0.89, 1.0]
    return spec, meshes


@cache
def load_arm(folder: Path) -> ArmModel:
    """Read the arm in `folder`, which contains a `robot.yaml`.

    Raises:
        InputError: A file is missing or invalid; the message names file, line, key and what is expected.
    """
    path = folder / ROBOT_FILE
    if not path.is_file():
        raise InputError(f"{folder} is not the folder of a robot: it has no {ROBOT_FILE}")
    text = path.read_text(encoding="utf-8")
    if re.search(r"^like\s*:", text, re.MULTILINE):
        return read_file(path, LikeEntry, lambda entry: _like(entry, path))
    if re.search(r"^arm\s*:", text, re.MULTILINE):
        return read_file(path, MobileEntry, lambda entry: _mobile(entry, path))
    return read_file(path, ArmEntry, lambda entry: arm_of(entry, folder))


def arm_of(entry: ArmEntry, folder: Path) -> ArmModel:
    """Return the arm that `entry` describes, as the `robot.yaml` of `folder`; raises InputError for a missing URDF."""
    path = folder / ROBOT_FILE
    _check_names(entry.joints, entry.fingers, path)
    joints = entry.joints.values()
    urdf = resolve(entry.description, path.parent)
    there = [one.get("name", "") for one in read_urdf(urdf).findall("joint")] if urdf.is_file() else [*entry.joints]
    for name in entry.joints:
        if name not in there:
            raise no_choice(f"no joint of {urdf.name}", there, "joints", name)
    description = Description(urdf, entry.base, entry.tool, entry.hand.turn, entry.hand.offset)
    return ArmModel(
        ArmShape(_name(path.parent), entry.reach, entry.rest), entry.base, tuple(entry.joints), entry.fingers,
        _limits(joints, [one.torque for one in joints]), tuple(one.home for one in joints),
        tuple(one.posture for one in joints), "hand", partial(_built, entry, description), description,
    )  # fmt: skip


def _like(entry: LikeEntry, path: Path) -> ArmModel:
    """Return an arm with the links and the hand of the Panda."""
    _check_names(entry.joints, entry.fingers, path)
    if len(entry.joints) != PANDA.nq:
        raise InputError(
            f"{path}: joints: an arm like the Panda has {PANDA.nq} joints, not {len(entry.joints)}; for an arm with "
            "other links name its URDF (description)"
        )
    for (name, joint), home in zip(entry.joints.items(), PANDA.home, strict=True):
        with at("joints", name):
            _check_home(home, joint)
    return replace(
        PANDA,
        shape=replace(PANDA.shape, name=_name(path.parent), profile=entry.reach),
        base=entry.base,
        joints=tuple(entry.joints),
        fingers=entry.fingers,
        limits=_limits(entry.joints.values(), PANDA.limits.torque_max.tolist()),
    )


def _mobile(entry: MobileEntry, path: Path) -> ArmModel:
    """Return the arm of `entry` on a mobile base."""
    with at("arm"):
        arm = arm_model(entry.arm)
    if arm.mount is not None:
        raise LocatedError(f"is {entry.arm!r}, which stands on a base already; name the arm alone", "arm")
    if set(entry.home) != set(arm.joints):
        raise LocatedError(f"gives {', '.join(entry.home)}; give each joint: {', '.join(arm.joints)}", "home")
    home = tuple(entry.home[name] for name in arm.joints)
    for name, low, high in zip(arm.joints, arm.limits.qpos_min, arm.limits.qpos_max, strict=True):
        if not low < entry.home[name] < high:
            raise LocatedError(f"is {entry.home[name]:g}, outside of the range [{low:g}, {high:g}]", "home", name)
    return replace(
        arm,
        shape=replace(arm.shape, name=_name(path.parent), rest=entry.rest),
        home=home,
        mount=BaseMount(entry.mount.ahead, entry.mount.height),
    )


def _limits(joints: Collection[LimitEntry], torques: Collection[float]) -> RobotLimits:
    return RobotLimits(
        qpos_min=np.array([one.range[0] for one in joints]),
        qpos_max=np.array([one.range[1] for one in joints]),
        qvel_max=np.array([one.velocity for one in joints]),
        qacc_max=np.array([one.acceleration for one in joints]),
        torque_max=np.array(torques),
    )


def _check_home(home: float, limits: LimitEntry) -> None:
    """Raise LocatedError if a joint's home position [rad] lies outside of its range."""
    low, high = limits.range
    if not low < home < high:
        raise LocatedError(f"has its home position {home:g} outside of its range [{low:g}, {high:g}]")


def _check_names(joints: Collection[str], fingers: Collection[str], path: Path) -> None:
    """Raise InputError unless there are joints, two fingers or none, and each has a name of its own."""
    names = [*joints, *fingers]
    if not joints:
        raise InputError(f"{path}: joints: an arm has one joint at least; list them from the base to the tool")
    if len(fingers) not in (0, 2):
        raise InputError(
            f"{path}: fingers: the hand has two finger joints, not {len(fingers)}; name both, or [] if joint states "
            "lack them"
        )
    if len(set(names)) != len(names):
        raise InputError(f"{path}: each joint and finger needs a name of its own, not: {', '.join(names)}")


def _name(folder: Path) -> str:
    """Return the name by which a folder is found again."""
    return folder.name if folder.parent == _shipped() else str(folder.absolute())


def robot_folder(name: str) -> Path:
    """Return the folder of an arm: a path, or the name of one that ships; raises InputError that lists these."""
    if "/" in name:
        return Path(name).expanduser().absolute()
    if not (_shipped() / name / ROBOT_FILE).is_file():
        known = ", ".join(shipped_names())
        raise InputError(
            f"there is no robot {name!r}; the robots are: panda, {known}, and folders with a {ROBOT_FILE}, such as "
            "./my_robots/mine"
        )
    return _shipped() / name


def shipped_names() -> list[str]:
    """Return the names of the arms with a `robot.yaml` that ship."""
    return sorted(path.parent.name for path in _shipped().glob(f"*/{ROBOT_FILE}"))


def _shipped() -> Path:
    return share_folder("config") / "robots"


def _hand() -> ElementTree.Element:
    """Return the model of the Panda's hand, with the body `hand`."""
    text = (share_folder("sim") / "robots" / "panda.xml").read_text(encoding="utf-8").replace("panda_", "")
    root = ElementTree.fromstring(text)
    hand, drives = root.find(".//body[@name='hand']"), root.find("actuator")
    assert hand is not None
    assert drives is not None
    hand.set("childclass", "panda")
    for drive in [one for one in drives if one.get("name") != "gripper"]:
        drives.remove(drive)
    return root
