"""Arms of any make: a folder with a `robot.yaml` beside a URDF gives joints, limits, home posture, hand and reach.

    description: ur5e.urdf          # URDF, beside the file; or package://example-robot-data/robots/...
    base: base_link                 # link that stands on the table, with x forward and z up
    tool: tool0                     # link that the hand is mounted on, with z out of the arm
    hand: {turn: 0.0}               # [rad] of the hand about the tool's z axis
    joints:                         # from the base to the tool
      shoulder_pan_joint: {range: [-2.9, 2.9], velocity: 3.14, acceleration: 8, torque: 150, home: 0.0}
    reach: [[0.0, 0.25, 0.75], ...] # height, least and largest distance of the grip point from the base axis [m]

The hand is the parallel gripper of `sim/robots/panda.xml`. MuJoCo reads the URDF here; the safety filter reads it by
itself.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, Description, resolve
from llm_planner.robots.arm_shape import ArmShape
from llm_planner.robots.arm_urdf import simulated_urdf, urdf_spec
from llm_planner.robots.robots import RobotLimits
from llm_planner.share import share_folder
from llm_planner.strict_yaml import FileModel, read_file

if TYPE_CHECKING:
    import mujoco

ROBOT_FILE = "robot.yaml"
STRONG = 50.0  # [Nm] torque from which a joint has the stiff drive
STIFF, WEAK = (6000.0, 600.0), (2500.0, 150.0)  # [Nm/rad], [Nms/rad] of position-controlled drives
ARMATURE = 0.1  # [kg m^2] of drives and gears


class JointEntry(FileModel):
    """Joint of an arm: its range [rad], limits [rad/s, rad/s^2, Nm], home and preferred position [rad]."""

    range: tuple[float, float]
    velocity: float
    acceleration: float
    torque: float
    home: float
    posture: float = 0.0  # weight with which inverse kinematics keeps the joint at home


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
    reach: tuple[tuple[float, float, float], ...]
    rest: tuple[float, float, float]
    hand: HandEntry = HandEntry()


def _built(entry: ArmEntry, description: Description) -> mujoco.MjSpec:
    """Build an arm from its URDF, with drives, and our hand on its tool."""
    import mujoco

    spec = _bare(entry, description)
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
    return mujoco.MjSpec.from_string(
        ElementTree.tostring(arm, encoding="unicode"),
        assets=simulated_urdf(description.path, description.base, entry.joints)[1],
    )


def _bare(entry: ArmEntry, description: Description) -> mujoco.MjSpec:
    """Build an arm alone, with its collision bodies and the given joint limits."""
    spec, _ = urdf_spec(description.path, description.base, entry.joints)
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
    return spec


@cache
def load_arm(folder: Path) -> ArmModel:
    """Read the arm in `folder`, which contains a `robot.yaml`.

    Raises:
        InputError: A file is missing or invalid; the message names file, line, key and what is expected.
    """
    path = folder / ROBOT_FILE
    if not path.is_file():
        raise InputError(f"{folder} is not the folder of a robot: it has no {ROBOT_FILE}")
    return read_file(path, ArmEntry, lambda entry: arm_of(entry, folder))


def arm_of(entry: ArmEntry, folder: Path) -> ArmModel:
    """Return the arm that `entry` describes, as the `robot.yaml` of `folder`; raises InputError for a missing URDF."""
    joints = entry.joints.values()
    limits = RobotLimits(
        qpos_min=np.array([one.range[0] for one in joints]),
        qpos_max=np.array([one.range[1] for one in joints]),
        qvel_max=np.array([one.velocity for one in joints]),
        qacc_max=np.array([one.acceleration for one in joints]),
        torque_max=np.array([one.torque for one in joints]),
    )
    urdf = resolve(entry.description, folder)
    description = Description(urdf, entry.base, entry.tool, entry.hand.turn, entry.hand.offset)
    home = tuple(one.home for one in joints)
    shape = ArmShape(str(folder) if folder.parent != _shipped() else folder.name, entry.reach, entry.rest)
    return ArmModel(
        shape, tuple(entry.joints), ("finger_joint1", "finger_joint2"), limits, home,
        tuple(one.posture for one in joints), "hand", partial(_built, entry, description), description,
    )  # fmt: skip


def robot_folder(name: str) -> Path:
    """Return the folder of an arm: a path, or the name of one that ships; raises InputError that lists these."""
    if "/" in name:
        return Path(name).expanduser()
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
