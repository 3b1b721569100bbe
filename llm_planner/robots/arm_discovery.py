"""Arm that is found in a URDF: its base, its tool, and its joints with what the URDF says of them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import Mounting, resolve
from llm_planner.robots.motion import Array
from llm_planner.robots.urdf import TURNING, Element, link_of, number_of, placed_by, read_urdf, subtree, urdf_spec

if TYPE_CHECKING:
    import mujoco

OF_GRIPPER = frozenset(("gripper", "finger", "fingertip", "jaw", "knuckle", "thumb", "claw", "hand"))  # words of names
MOST_TURNS = 30.0  # [rad] beyond which a limit is taken for one in degrees
PREFERRED = ("tool0", "flange")  # names of the mounting flange, the best first (REP 199)
MOUNT = "hand_mount"  # name of a tool link that is added
ALIGNED = 0.99  # cosine between the tool's z axis and the axis of the last joint


@dataclass(frozen=True)
class FoundJoint:
    """Joint of a URDF with its range [rad], velocity [rad/s] and torque [Nm]; None where the URDF gives none."""

    name: str
    range: tuple[float, float] | None
    velocity: float | None
    torque: float | None


@dataclass(frozen=True)
class Mount:
    """Place of the tool link in the frame of `link`."""

    link: str
    place: Mounting


@dataclass(frozen=True)
class FoundArm:
    """Arm in a URDF.

    Attributes:
        base: Link that stands on the table.
        tool: Link that the hand is mounted on.
        joints: Joints that turn, from the base.
        grippers: Links that belong to the gripper of the description, behind the last joint.
        mount: Where the tool is to be added to the last link; None if the URDF has it.
        notes: What was chosen, and from what, in sentences.
    """

    base: str
    tool: str
    joints: tuple[FoundJoint, ...]
    grippers: tuple[str, ...]
    mount: Mount | None
    notes: tuple[str, ...]


def find_arm(path: Path, base: str = "", tool: str = "") -> FoundArm:
    """Find the arm in a URDF: the longest chain of turning joints, less those of a gripper.

    Args:
        path: URDF file.
        base: Link that stands on the table; by default the highest one that is fixed below the first joint.
        tool: Link that the hand is mounted on, with z out of the arm; by default a flange behind the last joint.

    Raises:
        InputError: The file is malformed, or there is no arm, or more than one; the message lists the choices.
    """
    root = read_urdf(path)
    above = {link_of(joint, "child"): joint for joint in root.findall("joint")}
    links = [link.get("name", "") for link in root.findall("link")]
    for name in filter(None, (base, tool)):
        if name not in links:
            raise InputError(f"{path} has no link {name!r}; its links are: {', '.join(links)}")
    chains = {link: _chain(link, above, base) for link in links}
    if tool and not chains[tool]:
        raise InputError(f"no turning joint leads to the link {tool!r}" + (f" from {base!r}" if base else ""))
    chain = chains[tool] if tool else _longest(path, chains)
    notes = []
    if not base:
        base = _ground(link_of(chain[0], "parent"), above)
        notes.append(f"base: {base} (below the first joint; another with --base)")
    joints = [joint.get("name", "") for joint in chain]
    last, behind = link_of(chain[-1], "child"), subtree(root, link_of(chain[-1], "child"))
    mechanisms = _mechanisms(behind[1:], root, above)
    grippers = tuple(
        link
        for link in behind
        if link not in (last, tool)
        and any(
            name in mechanisms or _is_of_gripper(name)
            for joint in _way(link, last, above)
            for name in (link_of(joint, "child"), joint.get("name", ""))
        )
    )
    mount = None
    if tool == last:  # an arm that was chosen by its last link
        tool, mount = _flange(path, base, joints, [last])
        if mount is not None:
            notes.append(f"tool: {tool} (added to {last}, which does not have z out of the arm)")
    elif not tool:
        rigid = [link for link in behind if link not in grippers and all(map(_is_rigid, _way(link, last, above)))]
        tool, mount = _flange(path, base, joints, rigid)
        choice = f"of {', '.join(rigid)}" if mount is None else f"added to {last}, since none has z out of the arm"
        if tool == last and grippers and (mount := _mount_of(above[grippers[0]], last)):
            tool, choice = MOUNT, f"added to {last}, where the gripper of the description is mounted"
        notes.append(f"tool: {tool} ({choice}; another with --tool)")
    notes.append(f"joints: {', '.join(joints)}")
    return FoundArm(base, tool, tuple(map(_found, chain)), grippers, mount, tuple(notes))


def with_tool(path: Path, found: FoundArm, meshes: Callable[[Path], str]) -> str:
    """Return the URDF with the tool that was found for it, and without its own gripper.

    `meshes` names the files that the URDF gives relative to itself.
    """
    root = read_urdf(path)
    for element in list(root):
        gone = element.get("name") if element.tag == "link" else link_of(element, "child")
        if element.tag not in ("link", "joint") or gone in found.grippers:
            root.remove(element)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if not name.startswith("package://"):
            mesh.set("filename", meshes(resolve(name, path.parent)))
    if found.mount is not None:
        ElementTree.SubElement(root, "link", {"name": found.tool})
        joint = ElementTree.SubElement(root, "joint", {"name": f"{found.tool}_joint", "type": "fixed"})
        ElementTree.SubElement(joint, "parent", {"link": found.mount.link})
        ElementTree.SubElement(joint, "child", {"link": found.tool})
        place = {"xyz": found.mount.place.position, "rpy": found.mount.place.rpy}
        ElementTree.SubElement(
            joint, "origin", {key: " ".join(f"{one:.9g}" for one in numbers) for key, numbers in place.items()}
        )
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _chain(link: str, above: Mapping[str, Element], base: str) -> tuple[Element, ...]:
    """Return the turning joints that lead to `link`, from `base` or from the last joint that is no part of an arm."""
    chain: list[Element] = []
    while link in above and link != base:
        joint = above[link]
        if joint.get("type") in TURNING and joint.find("mimic") is None and not _is_locked(joint):
            if _is_of_gripper(joint.get("name", "")):
                return ()
            chain.insert(0, joint)
        elif not _is_rigid(joint):
            break
        link = link_of(joint, "parent")
    return () if base and link != base else tuple(chain)


def _is_of_gripper(name: str) -> bool:
    """Return whether a word of the name is one of a gripper: "left_finger", "gripperStator", but not "left_handed"."""
    return any(word.lower().removesuffix("s") in OF_GRIPPER for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name))


def _is_locked(joint: Element) -> bool:
    """Return whether a joint's limits leave it no range: it stands at 0."""
    limit = joint.find("limit")
    low, high = number_of(limit, "lower"), number_of(limit, "upper")
    if joint.get("type") != "revolute" or low is None or low != high:
        return False
    if low != 0.0:
        raise InputError(
            f"the joint {joint.get('name')!r} is locked at {low:g} rad by its limits; make it a fixed joint whose "
            "origin is turned by that"
        )
    return True


def _is_rigid(joint: Element) -> bool:
    return joint.get("type") == "fixed" or _is_locked(joint)


def _longest(path: Path, chains: Mapping[str, tuple[Element, ...]]) -> tuple[Element, ...]:
    longest = max(map(len, chains.values()), default=0)
    if longest < 5:
        raise InputError(
            f"{path} has no arm: its longest chain has {longest} turning joints, and a hand that points down "
            "everywhere needs 5 at least"
        )
    ends = {chain: link for link, chain in reversed(list(chains.items())) if len(chain) == longest}
    if len(ends) > 1:
        raise InputError(
            f"{path} has {len(ends)} arms of {longest} joints; choose one by its last link: "
            + ", ".join(f"--tool {link}" for link in reversed(ends.values()))
        )
    return next(iter(ends))


def _ground(link: str, above: Mapping[str, Element]) -> str:
    """Return the highest link that is fixed to `link`, except the world."""
    while link in above and _is_rigid(above[link]) and link_of(above[link], "parent") != "world":
        link = link_of(above[link], "parent")
    return link


def _way(link: str, last: str, above: Mapping[str, Element]) -> Iterator[Element]:
    """Yield the joints from `link` down to the link `last`."""
    while link != last:
        yield above[link]
        link = link_of(above[link], "parent")


def _mechanisms(links: Sequence[str], root: Element, above: Mapping[str, Element]) -> set[str]:
    """Return the links that slide or mimic, and those with solids that bear one of these: parts of a gripper."""
    solid = {
        link.get("name", "")
        for link in root.findall("link")
        if link.find("collision") is not None or link.find("visual") is not None
    }
    found: set[str] = set()
    for link in reversed(links):  # each link comes after the one that bears it
        joint = above[link]
        bears = any(link_of(above[other], "parent") == link for other in found)
        if joint.get("type") == "prismatic" or joint.find("mimic") is not None or (bears and link in solid):
            found.add(link)
    return found


def _flange(path: Path, base: str, joints: Sequence[str], rigid: Sequence[str]) -> tuple[str, Mount | None]:
    """Return the link behind the last joint with z out of the arm, a flange by name if there is one.

    If there is none, return a new link and where it is to be mounted: on the end of the last link, on the joint's axis.
    """
    import mujoco

    model = urdf_spec(path, base, joints)[0].compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    axis, before = data.joint(joints[-1]).xaxis, data.joint(joints[-2]).xanchor
    last = data.body(rigid[0])
    axis = axis if axis @ (_middle(model, data, last.id) - before) > 0.0 else -axis
    out = [link for link in rigid if data.body(link).xmat.reshape(3, 3)[:, 2] @ axis > ALIGNED]
    if not out:
        ends = [0.0] + [end @ axis for end in _corners(model, data, last.id) - last.xpos]
        turned = last.xmat.reshape(3, 3).T @ axis
        x, y, z = (max(ends) * turned).tolist()
        return MOUNT, Mount(rigid[0], Mounting(position=(x, y, z), rpy=_upright(turned)))
    named = [link for word in PREFERRED for link in out if link.endswith(word)]
    return named[0] if named else out[-1], None


def _mount_of(joint: Element, last: str) -> Mount | None:
    """Return the place of a gripper that is fixed to the link `last`, with the z axis of that; otherwise None."""
    origin = joint.find("origin")
    if link_of(joint, "parent") != last or joint.get("type") != "fixed" or origin is None:
        return None
    place = placed_by(origin)
    aligned = math.cos(place.rpy[0]) * math.cos(place.rpy[1]) > ALIGNED
    return Mount(last, place) if aligned else None


def _middle(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Array:
    corners = _corners(model, data, body)
    middle: Array = corners.mean(axis=0) if len(corners) else data.xipos[body]
    return middle


def _corners(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Array:
    """Return the corners of the boxes around the collision solids of a body, (n, 3) [m]."""
    signs = np.array(list(np.ndindex(2, 2, 2))) * 2.0 - 1.0
    first = model.body_geomadr[body]
    found = [
        data.geom_xpos[geom]
        + (model.geom_aabb[geom, :3] + signs * model.geom_aabb[geom, 3:]) @ data.geom_xmat[geom].reshape(3, 3).T
        for geom in range(first, first + model.body_geomnum[body])
    ]
    return np.concatenate(found) if found else np.empty((0, 3))


def _upright(axis: Array) -> tuple[float, float, float]:
    """Return roll, pitch and yaw [rad] of a frame whose z axis is the unit vector `axis`."""
    return math.asin(-max(-1.0, min(1.0, axis[1]))), math.atan2(axis[0], axis[2]), 0.0


def joints_of(path: Path) -> dict[str, FoundJoint]:
    """Return the turning joints of a URDF by name; raises InputError if it is malformed."""
    return {one.get("name", ""): _found(one) for one in read_urdf(path).findall("joint") if one.get("type") in TURNING}


def _found(joint: Element) -> FoundJoint:
    limit = joint.find("limit")
    low, high = number_of(limit, "lower"), number_of(limit, "upper")
    turns = joint.get("type") == "revolute" and low is not None and high is not None
    span = (low, high) if turns and low is not None and high is not None and low != high else None
    if span is not None and max(map(abs, span)) > MOST_TURNS:
        raise InputError(
            f"the range of the joint {joint.get('name')!r} is {span[0]:g} to {span[1]:g}, in degrees it seems; a URDF "
            f"has radians: {math.radians(span[0]):.4g} to {math.radians(span[1]):.4g}"
        )
    if span is not None and span[0] > span[1]:
        raise InputError(
            f"the range of the joint {joint.get('name')!r} is the wrong way round, lower {low:g} and upper {high:g}; "
            "mend the URDF"
        )
    return FoundJoint(
        joint.get("name", ""), span, number_of(limit, "velocity") or None, number_of(limit, "effort") or None
    )
