"""Model of an arm in MuJoCo: its URDF with drives and the gripper, or an MJCF that has both."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import Description
from llm_planner.robots.arm_urdf import urdf_spec
from llm_planner.robots.gripper import DEFAULT_HAND, Gripper
from llm_planner.robots.hand_spec import hand_xml
from llm_planner.scene.scene import Pose
from llm_planner.share import share_folder

if TYPE_CHECKING:
    import mujoco

    from llm_planner.robots.arm_file import JointEntry

STRONG = 50.0  # [Nm] torque from which a joint has the stiff drive
STIFF, WEAK = (6000.0, 600.0), (2500.0, 150.0)  # [Nm/rad], [Nms/rad] of position-controlled drives
ARMATURE = 0.1  # [kg m^2] of drives and gears


def built_spec(joints: Mapping[str, JointEntry], description: Description, gripper: Gripper) -> mujoco.MjSpec:
    """Build an arm from its URDF, with drives, and the gripper on its tool; raises InputError if a link is missing."""
    import mujoco

    spec, meshes = _bare(joints, description)
    for name, joint in joints.items():
        stiffness, damping = STIFF if joint.torque >= STRONG else WEAK
        drive = spec.add_actuator(
            name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, biastype=mujoco.mjtBias.mjBIAS_AFFINE
        )
        drive.gainprm[0] = stiffness
        drive.biasprm[:3] = 0.0, -stiffness, -damping
        drive.forcerange, drive.forcelimited = [-joint.torque, joint.torque], True
    spec.compile()
    arm = ElementTree.fromstring(spec.to_xml())
    tool = arm.find(f".//body[@name='{description.tool}']")
    if tool is None:
        links = ", ".join(body.get("name", "") for body in arm.iter("body"))
        raise InputError(f"{description.path} has no link {description.tool!r} on the base; the links are: {links}")
    place = "{} {} {}".format(*description.shift, description.offset)
    turned = f"{math.cos(description.turn / 2)} 0 0 {math.sin(description.turn / 2)}"
    _mount(arm, tool, _hand() if gripper == DEFAULT_HAND else hand_xml(gripper), place, turned)
    return mujoco.MjSpec.from_string(ElementTree.tostring(arm, encoding="unicode"), assets=meshes)


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


def _bare(joints: Mapping[str, JointEntry], description: Description) -> tuple[mujoco.MjSpec, dict[str, bytes]]:
    """Build an arm alone, with its collision bodies and the given joint limits; return it with its meshes."""
    spec, meshes = urdf_spec(description.path, description.base, joints)
    spec.compiler.degree = False
    spec.body(description.base).pos = description.stand
    for link in description.bare:
        body = spec.body(link)
        if body is None:
            raise InputError(
                f"{description.path} has no link {link!r} for the hand to replace; its links are: "
                + ", ".join(one.name for one in spec.bodies[1:])
            )
        for geom in list(body.geoms):
            spec.delete(geom)
    for name, limit in joints.items():
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


def mounted_spec(make: Callable[[], mujoco.MjSpec], pose: Pose) -> mujoco.MjSpec:
    """Build an arm whose base is at `pose`, T_table_base."""
    spec = make()
    for base in spec.worldbody.bodies:
        base.pos, base.quat = pose.position, np.roll(pose.orientation, 1)
    return spec


def loaded_spec(path: Path) -> mujoco.MjSpec:
    """Load an arm with drives and hand."""
    import mujoco

    return mujoco.MjSpec.from_file(str(path))


def _hand() -> ElementTree.Element:
    """Return the model of the hand, with the body `hand`."""
    return ElementTree.fromstring((share_folder("sim") / "robots" / "hand.xml").read_text(encoding="utf-8"))
