"""URDF of a robot with its gripper, as RViz, Foxglove and robot_state_publisher read `robot_description`.

It has the links of an arm's URDF, or of its MJCF, and those of its gripper, with the names of joint states and the
limits of `robot.yaml`. Joints that joint states lack are fixed. Meshes are named by `file://`; those that are not
installed are left out. A link that has no looks shows what it collides with.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.robots.arm_file import hand_of
from llm_planner.robots.arm_model import ArmModel, Description, resolve
from llm_planner.robots.mjcf_urdf import as_urdf
from llm_planner.robots.mobile_base import BASE_HEIGHT, BASE_RADIUS, MOBILE_BASE
from llm_planner.robots.urdf import keep_subtree, link_of, placed_by, read_urdf
from llm_planner.scene.geometry import rotation_matrix

Element = ElementTree.Element
WORLD = "world"  # the link of a converted MJCF that the robot stands on
GRAY = "0.86 0.87 0.89 1"  # of links without a colour of their own


def robot_description(arm: ArmModel) -> str:
    """Return the URDF of an arm with its gripper; its root is the link `arm.base`, or the mobile base under it.

    Raises:
        InputError: The URDF or the MJCF of the arm cannot be read.
    """
    root = ElementTree.Element("robot", {"name": Path(arm.name).name})
    root.extend(_under(arm))
    root.extend(_of_urdf(arm, arm.description) if arm.description else _of_mjcf(arm))
    _limit_joints(root, arm)
    _find_files(root, arm.source.parent)
    _show(root)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def base_description(link: str) -> str:
    """Return the URDF of the mobile base as one `link`, whose origin is on the floor."""
    root = ElementTree.Element("robot", {"name": "mobile_base"})
    root.append(_base(link, 0.0))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _base(link: str, floor: float) -> Element:
    """Return the link of the mobile base; `floor` is the height of the floor in its frame [m]."""
    middle = floor + BASE_HEIGHT / 2
    body = f'<origin xyz="0 0 {middle}"/><geometry><cylinder radius="{BASE_RADIUS}" length="{BASE_HEIGHT}"/></geometry>'
    fingers = (
        f'<visual><origin xyz="{BASE_RADIUS + 0.09} {y} {floor + 0.1}"/><geometry><box size="0.26 0.036 0.06"/>'
        '</geometry><material name="fingers"><color rgba="0.96 0.52 0.1 1"/></material></visual>'
        for y in (-0.12, 0.12)
    )
    return ElementTree.fromstring(
        f'<link name="{link}"><visual>{body}<material name="body"><color rgba="{GRAY}"/></material></visual>'
        f"{''.join(fingers)}<collision>{body}</collision></link>"
    )


def _under(arm: ArmModel) -> list[Element]:
    """Return the mobile base under an arm, at the height of the arm's base, and the joint that bears this."""
    if arm.mount is None:
        return []
    ahead, left, height = arm.mount.position
    joint = f'<joint name="arm_mount" type="fixed"><parent link="{MOBILE_BASE}"/><child link="{arm.base}"/>'
    place = f'<origin xyz="{ahead} {left} 0"/></joint>'
    return [_base(MOBILE_BASE, -height), ElementTree.fromstring(joint + place)]


def _of_urdf(arm: ArmModel, description: Description) -> list[Element]:
    """Return the links and joints of an arm's own URDF, from its base up, and those of the gripper on its tool."""
    import mujoco

    root = read_urdf(description.path)
    own = [one for one in root if one.tag == "material"]
    keep_subtree(root, description.path, description.base)
    own += list(root)
    for link in own:
        if link.tag == "link" and link.get("name") in description.bare:
            for part in link.findall("visual") + link.findall("collision"):
                link.remove(part)
    model = mujoco.MjSpec.from_string(ElementTree.tostring(hand_of(arm.gripper), encoding="unicode")).compile()
    x, y = description.shift
    place = {"xyz": f"{x} {y} {description.offset}", "rpy": f"0 0 {description.turn}"}
    taken = {one.get("name") for one in own}
    return own + _standing_on(description.tool, as_urdf(model, description.path), taken, place)


def _of_mjcf(arm: ArmModel) -> list[Element]:
    """Return the links and joints of an arm's MJCF, with its looks, under the names of its `robot.yaml`."""
    model = arm.make().compile()
    elements = _standing_on("", as_urdf(model, arm.source), set())
    for link in elements:
        mesh = arm.looks.meshes.get(link.get("name", "")) if arm.looks and link.tag == "link" else None
        if arm.looks and mesh:
            link.append(_mesh(f"{arm.looks.folder}/{mesh.file}", mesh.scale))
    _rename_links(elements, str(elements[0].get("name")), arm.base)
    return elements


def _mesh(file: str, scale: Sequence[float]) -> Element:
    visual = ElementTree.Element("visual")
    geometry = ElementTree.SubElement(visual, "geometry")
    ElementTree.SubElement(geometry, "mesh", {"filename": file, "scale": " ".join(map(str, scale))})
    return visual


def _standing_on(
    link: str, elements: Iterable[Element], taken: Iterable[str | None], place: dict[str, str] | None = None
) -> list[Element]:
    """Return converted elements without their link `world` and names that are taken.

    What stood on `world` is at `place` on `link`, or the root where `link` is "".
    """
    found, names = [], set(taken)
    for one in elements:
        child = one.get("name") if one.tag == "link" else link_of(one, "child")
        if child == WORLD or child in names or (one.tag == "joint" and link_of(one, "parent") == WORLD and not link):
            continue
        if one.tag == "joint" and link_of(one, "parent") == WORLD:
            _set_link(one, "parent", link)
            for origin in one.findall("origin"):
                origin.attrib.update(place or {})
        found.append(one)
    return found


def _set_link(joint: Element, end: str, name: str) -> None:
    for found in joint.findall(end):
        found.set("link", name)


def _rename_links(elements: Sequence[Element], old: str, new: str) -> None:
    """Rename the base, and the prefix that others share: for arm_link0 -> lab_link0, arm_link1 becomes lab_link1."""
    if old == new:
        return
    pairs = zip(reversed(old), reversed(new), strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    before, after = old[: len(old) - shared], new[: len(new) - shared]

    def renamed(name: str) -> str:
        return after + name.removeprefix(before) if before and name.startswith(before) else name

    for one in elements:
        if one.tag == "link" or one.get("type") == "fixed":
            one.set("name", renamed(str(one.get("name"))))
        for end in ("parent", "child"):
            _set_link(one, end, renamed(link_of(one, end)))


def _limit_joints(root: Element, arm: ArmModel) -> None:
    """Name the moving joints as joint states do, with the limits of the arm, and fix those that they lack."""
    gripper, limits = arm.gripper, arm.limits
    rows = (limits.qpos_min, limits.qpos_max, limits.torque_max, limits.qvel_max)
    told = dict(zip(arm.joints, zip(*(row.tolist() for row in rows), strict=True), strict=True))
    finger = (gripper.opening[0] / 2, gripper.widest / 2, gripper.force, gripper.speed / 2)
    told |= dict.fromkeys(arm.fingers[: gripper.joints], finger)
    moving = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    own = [str(joint.get("name")) for joint in _in_order(moving, arm)]
    names = dict(zip(own, (*arm.joints, *arm.fingers), strict=False))
    for joint in moving:
        joint.set("name", names.get(str(joint.get("name")), str(joint.get("name"))))
        for limit in joint.findall("limit"):
            joint.remove(limit)
        if joint.get("name") not in told:
            joint.set("type", "fixed")
            for part in joint.findall("mimic") + joint.findall("axis"):
                joint.remove(part)
            continue
        joint.set("type", "prismatic" if joint.get("type") == "prismatic" else "revolute")
        values = zip(("lower", "upper", "effort", "velocity"), told[str(joint.get("name"))], strict=True)
        ElementTree.SubElement(joint, "limit", {key: f"{value:.9g}" for key, value in values})
        for mimic in joint.findall("mimic"):
            mimic.set("joint", names.get(str(mimic.get("joint")), str(mimic.get("joint"))))


def _in_order(moving: Sequence[Element], arm: ArmModel) -> list[Element]:
    """Return the joints of the arm in the order of its `robot.yaml`, then those of the gripper."""
    if arm.description is None:
        return list(moving)
    of_arm = {joint.get("name"): joint for joint in moving if joint.get("name") in arm.joints}
    fingers = [joint for joint in moving if joint.get("name") in ("finger_joint1", "finger_joint2")]
    return [*(of_arm[name] for name in arm.joints), *fingers]


def _find_files(root: Element, folder: Path) -> None:
    """Name meshes and textures by their place on this machine, and leave out those that are not there."""
    for link in root.findall("link"):
        for part in link.findall("visual") + link.findall("collision"):
            if not all(_found(mesh, folder) for mesh in part.iter("mesh")):
                link.remove(part)
    for material in list(root.iter("material")):
        for texture in material.findall("texture"):
            if not _found(texture, folder):
                material.remove(texture)


def _found(element: Element, folder: Path) -> bool:
    """Replace the `filename` of an element by its address; return whether the file is there."""
    try:
        path = resolve(element.get("filename", "").removeprefix("file://"), folder)
    except InputError:
        return False
    element.set("filename", path.absolute().as_uri())
    return path.is_file()


def _show(root: Element) -> None:
    """Write capsules, which a URDF lacks, as cylinders with spheres, and show links without looks by their solids."""
    for link in root.findall("link"):
        for part in link.findall("collision") + link.findall("visual"):
            capsule = part.find("geometry/capsule")
            if capsule is not None:
                link.remove(part)
                link.extend(_parts_of_capsule(part, capsule))
        if link.find("visual") is None:
            for solid in link.findall("collision"):
                visual = copy.deepcopy(solid)
                visual.tag = "visual"
                material = ElementTree.SubElement(visual, "material", {"name": "gray"})
                ElementTree.SubElement(material, "color", {"rgba": GRAY})
                link.append(visual)


def _parts_of_capsule(part: Element, capsule: Element) -> list[Element]:
    """Return a cylinder and the two spheres at its ends in place of a capsule."""
    radius, half = float(capsule.get("radius", "0")), float(capsule.get("length", "0")) / 2
    origin = part.find("origin")
    pose = placed_by(origin).pose()
    rpy = origin.get("rpy", "0 0 0") if origin is not None else "0 0 0"
    along = [row[2] for row in rotation_matrix(pose.orientation)]
    solids = [("cylinder", {"radius": f"{radius}", "length": f"{2 * half}"}, 0.0)]
    solids += [("sphere", {"radius": f"{radius}"}, side * half) for side in (-1.0, 1.0)]
    found = []
    for kind, size, at in solids:
        copied = copy.deepcopy(part)
        for old in copied.findall("origin") + copied.findall("geometry"):
            copied.remove(old)
        middle = (start + at * step for start, step in zip(pose.position, along, strict=True))
        ElementTree.SubElement(copied, "origin", {"xyz": " ".join(f"{one:.9g}" for one in middle), "rpy": rpy})
        ElementTree.SubElement(ElementTree.SubElement(copied, "geometry"), kind, size)
        found.append(copied)
    return found
