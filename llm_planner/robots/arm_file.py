"""Arms of any make: a folder with a `robot.yaml` gives description, joints, limits, home posture, hand and reach.

    description: arm.urdf           # URDF, beside the file; or package://example-robot-data/robots/...
    base: base_link                 # link that stands on the table, with x forward and z up
    tool: tool0                     # link that the hand is mounted on, with z out of the arm
    hand: {turn: 0.0}               # [rad] of the hand about the tool's z axis
    mounting: {position: [0, 0, 1], rpy: [3.14, 0, 0]}  # [m], [rad] of the base in the table's frame, if not upright
    gripper: default_hand           # what is mounted there (see `arm_entries.GripperEntry`)
    joints:                         # from the base to the tool
      shoulder_pan_joint: {range: [-2.9, 2.9], velocity: 3.14, acceleration: 8, torque: 150, home: 0.0}
    fingers: [left, right]          # finger joints in joint states: finger_joint1 and 2 if left out, [] for none
    reach: [[0.0, 0.25, 0.75], ...] # height, least and largest distance of the grip point from the base axis [m]
    rest: [0.40, 0.0, 0.45]         # position of the gripper at home [m]
    controllers: {...}              # of the real robot (see `controllers.Controllers`)
    topics: {...}

The names of base and joints are those of ROS messages. MuJoCo reads the URDF here; the safety filter reads it, and the
gripper, by itself. An MJCF of an arm with drives, a hand with the site `gripper` and no meshes may be the description
instead. It has no `tool` and no `hand`, its `gripper` says what the hand is, and it names a file for the filter:

    description: arm.xml
    safety: safety.yaml             # see `control.safety_filter.robots`

An arm with the links and the hand of one that ships needs names and limits alone, and its reach where narrower ranges
make that smaller:

    like: NAME
    base: lab_base
    joints:
      lab_joint1: {range: [-2.5, 2.5], velocity: 1.3, acceleration: 10.0}

`adaptation: {payload: 3.0}` says that the drives are known, so that adaptation may estimate a payload [kg] and their
faults; `looks` names meshes for pictures.

An arm on a mobile base names the arm, where it stands on the base, and the posture in which it is driven about:

    arm: NAME
    mounting: {position: [0.05, 0, 0.62]} # [m] from the middle of the mobile base, on the floor
    home: {shoulder_pan_joint: -0.5}   # [rad]; every joint
    rest: [0.28, 0.0, 0.45]            # position of the gripper at home [m]
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_entries import (
    ArmEntry,
    LikeEntry,
    LimitEntry,
    MobileEntry,
    check_home,
    read_gripper,
)
from llm_planner.robots.arm_model import ON_TABLE, ArmModel, ArmShape, Description, arm_model, resolve
from llm_planner.robots.gripper import DEFAULT_HAND, Gripper, hand_xml
from llm_planner.robots.limits import RobotLimits
from llm_planner.robots.robot_folders import ROBOT_FILE, folder_name, has_key, robot_folder, shipped_names
from llm_planner.robots.urdf import on_first_axis, read_urdf, urdf_spec
from llm_planner.scene.geometry import compose
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Pose
from llm_planner.share import share_folder
from llm_planner.strict_yaml import LocatedError, at, no_choice, read_file

if TYPE_CHECKING:
    import mujoco

STRONG = 50.0  # [Nm] torque from which a joint has the stiff drive
STIFF, WEAK = (6000.0, 600.0), (2500.0, 150.0)  # [Nm/rad], [Nms/rad] of position-controlled drives
ARMATURE = 0.1  # [kg m^2] of drives and gears


class _FromUrdf:
    """Builds an arm from its URDF, with drives, and the gripper on its tool; the files are read once."""

    def __init__(self, entry: ArmEntry, description: Description, gripper: Gripper) -> None:
        self._entry, self._description, self._gripper = entry, description, gripper

    def __call__(self) -> mujoco.MjSpec:
        import mujoco

        text, meshes = self._document
        return mujoco.MjSpec.from_string(text, assets=meshes)

    @cached_property
    def _document(self) -> tuple[str, dict[str, bytes]]:
        """The MJCF and the meshes that it names."""
        import mujoco

        entry, description = self._entry, self._description
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
        arm = ElementTree.fromstring(spec.to_xml())
        arm.insert(0, ElementTree.Element("compiler", {"balanceinertia": "true"}))  # which `to_xml` leaves out
        tool = arm.find(f".//body[@name='{description.tool}']")
        if tool is None:
            links = ", ".join(body.get("name", "") for body in arm.iter("body"))
            raise InputError(f"{description.path} has no link {description.tool!r} on the base; the links are: {links}")
        place = "{} {} {}".format(*description.shift, description.offset)
        turned = f"{math.cos(description.turn / 2)} 0 0 {math.sin(description.turn / 2)}"
        _mount(arm, tool, hand_of(self._gripper), place, turned)
        return ElementTree.tostring(arm, encoding="unicode"), meshes


def _mount(arm: ElementTree.Element, tool: ElementTree.Element, hand: ElementTree.Element, pos: str, quat: str) -> None:
    """Add the body `hand` of an MJCF document to `tool` of another one, with what belongs to it."""
    body = hand.find(".//body[@name='hand']")
    assert body is not None
    body.set("pos", pos)
    body.set("quat", quat)
    tool.append(body)
    for section in ("default", "tendon", "equality", "actuator"):
        found, added = arm.find(section), hand.find(section)
        if found is None and added is not None:
            arm.append(added)
        elif found is not None and added is not None:
            found.extend(list(added))


def _bare(entry: ArmEntry, description: Description) -> tuple[mujoco.MjSpec, dict[str, bytes]]:
    """Build an arm alone, with its collision bodies and the given joint limits; return it with its meshes."""
    spec, meshes = urdf_spec(description.path, description.base, entry.joints)
    spec.compiler.degree = False
    for link in description.bare:
        body = spec.body(link)
        if body is None:
            raise InputError(
                f"{description.path} has no link {link!r} for the hand to replace; its links are: "
                + ", ".join(one.name for one in spec.bodies[1:])
            )
        for geom in list(body.geoms):
            spec.delete(geom)
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


def _mounted(make: Callable[[], mujoco.MjSpec], pose: Pose) -> mujoco.MjSpec:
    """Build an arm whose base is at `pose`, T_table_base."""
    spec = make()
    for base in spec.worldbody.bodies:
        base.pos, base.quat = pose.position, np.roll(pose.orientation, 1)
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
    if has_key(path, "like"):
        return read_file(path, LikeEntry, lambda entry: _like(entry, path))
    if has_key(path, "arm"):
        return read_file(path, MobileEntry, lambda entry: _mobile(entry, path))
    return read_file(path, ArmEntry, lambda entry: arm_of(entry, folder))


def arm_of(entry: ArmEntry, folder: Path) -> ArmModel:
    """Return the arm that `entry` describes, as the `robot.yaml` of `folder`; raises InputError for a wrong file."""
    _check_names(entry.joints, entry.fingers, folder / ROBOT_FILE)
    gripper = read_gripper(entry.gripper, folder / ROBOT_FILE)
    source = resolve(entry.description, folder)
    make: Callable[[], mujoco.MjSpec]
    if source.suffix == ".xml":
        description, make, hand = None, partial(_loaded, source), _check_mjcf(entry, source)
    else:
        description, hand = _described(entry, source), "hand"
        make = _FromUrdf(entry, description, gripper)
    joints = entry.joints.values()
    mounting = entry.mounting
    area = Rectangle(*entry.workspace[0], *entry.workspace[1])
    name = folder_name(folder)
    below = on_first_axis(source, entry.base, next(iter(entry.joints))) if description else (0.0, 0.0, 0.0)
    axis = compose(mounting.pose(), Pose(below)).position[:2]
    looks = entry.looks
    if looks is not None and "://" not in looks.folder:
        looks = looks.model_copy(update={"folder": str(folder / looks.folder)})
    shape = ArmShape(name, entry.reach, entry.rest, axis, gripper, area, entry.hand.neutral)
    return ArmModel(
        shape=shape,
        base=entry.base,
        joints=tuple(entry.joints),
        fingers=entry.fingers,
        limits=_limits(joints, [one.torque for one in joints]),
        home=tuple(one.home for one in joints),
        posture=tuple(one.posture for one in joints),
        hand=hand,
        make=make if mounting == ON_TABLE else partial(_mounted, make, mounting.pose()),
        source=source,
        description=description,
        safety=folder / entry.safety if entry.safety else None,
        payload=entry.adaptation.payload if entry.adaptation else None,
        looks=looks,
        mounting=mounting,
        controllers=entry.controllers,
        topics=entry.topics,
    )


def _described(entry: ArmEntry, urdf: Path) -> Description:
    """Return the URDF of an arm, if its joints are there."""
    if entry.tool is None:
        raise LocatedError("has no key 'tool', the link of the URDF that the hand is mounted on")
    if urdf.is_file():
        _check_joints(entry.joints, [one.get("name", "") for one in read_urdf(urdf).findall("joint")], urdf)
    hand = entry.hand
    return Description(
        urdf, entry.base, entry.tool, tuple(entry.joints), hand.turn, hand.offset, hand.shift,
        hand.replaces,
    )  # fmt: skip


def _check_mjcf(entry: ArmEntry, path: Path) -> str:
    """Check that an MJCF has the joints of `entry` and a gripper; return the name of the body of the hand."""
    for key in sorted({"tool", "hand"} & entry.model_fields_set):
        raise LocatedError("is for a URDF; an MJCF has the hand already", key)
    if entry.safety is None:
        raise LocatedError("has no key 'safety', a file for the safety filter, which does not read MJCF")
    try:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise LocatedError(f"cannot be read: {error}", "description") from error
    found = [one.get("name", "") for one in root.findall("worldbody//joint")]
    _check_joints(entry.joints, found, path)
    if found[: len(entry.joints)] != [*entry.joints]:
        raise LocatedError(f"must be the first ones of {path.name}, in its order: {', '.join(found)}", "joints")
    hand = root.find(".//site[@name='gripper']/..")
    if hand is None or root.find("asset") is not None:
        raise LocatedError(
            "needs the site 'gripper' between its fingers, and solids without assets; from others "
            "llm-planner new robot NAME --urdf FILE.xml makes a robot",
            "description",
        )
    return hand.get("name", "")


def _check_joints(joints: Collection[str], found: Sequence[str], path: Path) -> None:
    for name in joints:
        if name not in found:
            raise no_choice(f"no joint of {path.name}", found, "joints", name)


def _loaded(path: Path) -> mujoco.MjSpec:
    """Load an arm with drives and hand."""
    import mujoco

    return mujoco.MjSpec.from_file(str(path))


def _like(entry: LikeEntry, path: Path) -> ArmModel:
    """Return an arm with the links and the hand of another."""
    _check_names(entry.joints, entry.fingers, path)
    others = [name for name in shipped_names() if has_key(robot_folder(name) / ROBOT_FILE, "description")]
    if entry.like not in others:
        raise no_choice(repr(entry.like), others, "like")
    other = load_arm(robot_folder(entry.like))
    if len(entry.joints) != other.nq:
        raise InputError(
            f"{path}: joints: an arm like {entry.like} has {other.nq} joints, not {len(entry.joints)}; for an arm with "
            "other links name its URDF (description)"
        )
    for (name, joint), home in zip(entry.joints.items(), other.home, strict=True):
        with at("joints", name):
            check_home(home, joint)
    return replace(
        other,
        shape=replace(other.shape, name=folder_name(path.parent), profile=entry.reach or other.shape.profile),
        base=entry.base,
        joints=tuple(entry.joints),
        fingers=entry.fingers,
        limits=_limits(entry.joints.values(), other.limits.torque_max.tolist()),
        payload=entry.adaptation.payload if entry.adaptation else None,
        controllers=entry.controllers,
        topics=entry.topics,
    )


def _mobile(entry: MobileEntry, path: Path) -> ArmModel:
    """Return the arm of `entry` on a mobile base."""
    with at("arm"):
        arm = arm_model(entry.arm)
    if arm.mount is not None:
        raise LocatedError(f"is {entry.arm!r}, which stands on a base already; name the arm alone", "arm")
    if arm.mounting != ON_TABLE:
        raise LocatedError(f"is {entry.arm!r}, which has a mounting already; name an arm that has none", "arm")
    if set(entry.home) != set(arm.joints):
        raise LocatedError(f"gives {', '.join(entry.home)}; give each joint: {', '.join(arm.joints)}", "home")
    home = tuple(entry.home[name] for name in arm.joints)
    for name, low, high in zip(arm.joints, arm.limits.qpos_min, arm.limits.qpos_max, strict=True):
        if not low < entry.home[name] < high:
            raise LocatedError(f"is {entry.home[name]:g}, outside of the range [{low:g}, {high:g}]", "home", name)
    return replace(
        arm,
        shape=replace(arm.shape, name=folder_name(path.parent), rest=entry.rest),
        home=home,
        mount=entry.mounting,
    )


def _limits(joints: Collection[LimitEntry], torques: Collection[float]) -> RobotLimits:
    return RobotLimits(
        qpos_min=np.array([one.range[0] for one in joints]),
        qpos_max=np.array([one.range[1] for one in joints]),
        qvel_max=np.array([one.velocity for one in joints]),
        qacc_max=np.array([one.acceleration for one in joints]),
        torque_max=np.array(torques),
    )


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


def hand_of(gripper: Gripper) -> ElementTree.Element:
    """Return the MJCF document of a gripper, with the body `hand`."""
    if gripper != DEFAULT_HAND:
        return hand_xml(gripper)
    return ElementTree.fromstring((share_folder("sim") / "robots" / "hand.xml").read_text(encoding="utf-8"))
