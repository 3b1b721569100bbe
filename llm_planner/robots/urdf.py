"""URDF of an arm: how it is read, what MuJoCo reads of it, and the transforms between its links."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import Mounting, resolve
from llm_planner.robots.collada import load_collada
from llm_planner.scene.geometry import compose, rotation_matrix
from llm_planner.scene.scene import Pose, Vector3
from llm_planner.strict_yaml import did_you_mean

if TYPE_CHECKING:
    import mujoco

Element = ElementTree.Element
TURNING = ("revolute", "continuous")
MESH_FILES = (".stl", ".obj", ".dae")
MOST_FACES = 200_000  # of a mesh that MuJoCo reads
LIGHT = 0.05  # [kg] mass of a moving link that the URDF gives none


def read_urdf(path: Path) -> Element:
    """Parse a URDF file; raises InputError if it cannot be read or is no URDF."""
    try:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the robot description {path} cannot be read: {error.strerror}") from error
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise InputError(f"the robot description {path} is not XML: {error}") from error
    if root.tag != "robot":
        hint = "; run it through xacro first" if path.suffix == ".xacro" else ""
        raise InputError(f"the robot description {path} is a <{root.tag}>, not the <robot> of a URDF{hint}")
    _check_tree(root, path)
    return root


def _check_tree(root: Element, path: Path) -> None:
    """Raise InputError if a link has two parents, or hangs on itself."""
    above: dict[str, str] = {}
    for joint in root.findall("joint"):
        child = link_of(joint, "child")
        if child in above:
            raise InputError(f"the link {child!r} of {path} has two parents; a URDF is a tree: remove a joint")
        above[child] = link_of(joint, "parent")
    for link in above:
        at, seen = link, set[str]()
        while at in above:
            if at in seen:
                raise InputError(f"the link {at!r} of {path} hangs on itself; a URDF is a tree: remove a joint")
            seen.add(at)
            at = above[at]


def simulated_urdf(path: Path, base: str, joints: Collection[str]) -> tuple[str, dict[str, bytes]]:
    """Return the subtree of the link `base` as a URDF for MuJoCo, and the meshes of its collision bodies by name.

    Only `joints` move; the others stand at 0. A link without collision bodies collides by its looks; other looks and
    plug-ins are left out. A moving link without mass gets a small one, because MuJoCo compiles none without.

    Raises:
        InputError: The file or a mesh cannot be read, or the link or a joint is not there.
    """
    root = read_urdf(path)
    keep_subtree(root, path, base)
    missing = [name for name in joints if name not in {joint.get("name") for joint in root.findall("joint")}]
    if missing:
        found = [joint.get("name", "") for joint in root.findall("joint") if joint.get("type") in TURNING]
        raise InputError(
            f"{path} has no joint {missing[0]!r} above the link {base!r}; its joints are: {', '.join(found)}"
            f"{did_you_mean(missing[0], found)}"
        )
    for joint in root.findall("joint"):
        if joint.get("name") not in joints:
            joint.set("type", "fixed")
    moved = {
        link
        for joint in root.findall("joint")
        if joint.get("name") in joints
        for link in subtree(root, link_of(joint, "child"))
    }
    for link in root.findall("link"):
        for inertial in link.findall("inertial") if link.get("name") not in moved else ():
            link.remove(inertial)  # what stands still needs none, and many are wrong
    for name in massless(root, joints):
        _give_mass(next(link for link in root.findall("link") if link.get("name") == name))
    assets: dict[str, bytes] = {}
    for link in root.findall("link"):
        has_collision = link.find("collision") is not None
        for looks in link.findall("visual"):
            if has_collision:
                link.remove(looks)
            else:
                looks.tag = "collision"  # as the safety filter does
        for mesh in link.iter("mesh"):
            name, data = _mesh(resolve(mesh.get("filename", ""), path.parent))
            if assets.get(name, data) != data:  # another folder has a mesh of this name
                name = f"{len(assets)}_{name}"
            mesh.set("filename", name)
            assets[name] = data
    compiler = {"strippath": "true", "fusestatic": "false", "discardvisual": "true", "balanceinertia": "true"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", compiler)
    return ElementTree.tostring(root, encoding="unicode"), assets


def urdf_spec(path: Path, base: str, joints: Collection[str]) -> tuple[mujoco.MjSpec, dict[str, bytes]]:
    """Return the MuJoCo model of `simulated_urdf`, and its meshes; raises InputError that says what MuJoCo refuses."""
    import mujoco

    text, assets = simulated_urdf(path, base, joints)
    try:
        mujoco.MjSpec.from_string(text, assets=assets).compile()
        return mujoco.MjSpec.from_string(text, assets=assets), assets
    except ValueError as error:
        told = " ".join(str(error).split())
        raise InputError(f"MuJoCo refuses {path}: {told}; mend this element of the URDF") from error


def massless(root: Element, joints: Collection[str]) -> list[str]:
    """Return the links that `joints` move and that have neither mass nor collision bodies to estimate it from."""
    moved = {link_of(joint, "child") for joint in root.findall("joint") if joint.get("name") in joints}
    return [
        link.get("name", "")
        for link in root.findall("link")
        if link.get("name") in moved
        and (number_of(link.find("inertial/mass"), "value") or 0.0) <= 0.0
        and (link.find("inertial") is not None or (link.find("collision") is None and link.find("visual") is None))
    ]


def _give_mass(link: Element) -> None:
    for old in link.findall("inertial"):
        link.remove(old)
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "mass", {"value": str(LIGHT)})
    ElementTree.SubElement(
        inertial,
        "inertia",
        {"ixx": "1e-4", "iyy": "1e-4", "izz": "1e-4", "ixy": "0", "ixz": "0", "iyz": "0"},
    )


def _mesh(path: Path) -> tuple[str, bytes]:
    """Return name and content of a mesh as MuJoCo reads it: COLLADA becomes STL."""
    if path.suffix.lower() == ".dae":
        parts = [mesh.vertices[mesh.faces] for mesh in load_collada(path)]
        return f"{path.stem}.stl", binary_stl(np.concatenate(parts))
    if path.suffix.lower() not in MESH_FILES:
        raise InputError(
            f"the mesh {path} gives the shape of a link and is not an STL, OBJ or COLLADA file; convert it "
            f"(assimp export {path.name} {path.stem}.stl) and name the STL file in a copy of the URDF, or put boxes, "
            "cylinders and spheres in its place"
        )
    try:
        data = path.read_bytes()
        return path.name, data if path.suffix.lower() != ".stl" or _is_simple(data) else _simplified(path)
    except OSError as error:
        near = [one.name for one in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near)
        raise InputError(f"the mesh {path} cannot be read: {error.strerror}{hint}") from error


def _is_simple(data: bytes) -> bool:
    """Return whether this is a binary STL file with no more faces than MuJoCo reads."""
    count = int.from_bytes(data[80:84], "little")
    return len(data) == 84 + 50 * count and count < MOST_FACES


def _simplified(path: Path) -> bytes:
    """Return a text STL file, or one with too many faces, as a binary one, of the latter its convex hull."""
    import trimesh

    try:
        shape: Any = trimesh.load(path, force="mesh", process=False)
        if len(shape.faces) >= MOST_FACES:  # physics has the hull only
            shape = trimesh.convex.convex_hull(np.unique(np.round(shape.vertices, 3), axis=0))
    except Exception as error:
        raise InputError(f"the mesh {path} cannot be read: {error}") from error
    return binary_stl(np.asarray(shape.triangles))


def binary_stl(triangles: NDArray[np.float64]) -> bytes:
    """Return triangles (n, 3, 3) [m] as a binary STL file."""
    table = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    table["corners"] = triangles
    return bytes(80) + len(triangles).to_bytes(4, "little") + table.tobytes()


def keep_subtree(root: Element, path: Path, base: str) -> None:
    """Remove all but links and joints from the link `base` up; raises InputError if it is not there."""
    names = [link.get("name", "") for link in root.findall("link")]
    if base not in names:
        raise InputError(f"{path} has no link {base!r}; its links are: {', '.join(names)}")
    kept = set(subtree(root, base))
    for element in list(root):
        inside = (element.tag == "link" and element.get("name") in kept) or (
            element.tag == "joint" and link_of(element, "parent") in kept
        )
        if not inside:
            root.remove(element)


def subtree(root: Element, link: str) -> list[str]:
    """Return `link` and all links that hang on it, each after the one that bears it."""
    found = [link]
    for one in found:
        found += [link_of(joint, "child") for joint in root.findall("joint") if link_of(joint, "parent") == one]
    return found


def link_of(joint: Element, end: str) -> str:
    """Return the name of the link at the `end` (parent or child) of a joint."""
    found = joint.find(end)
    return found.get("link", "") if found is not None else ""


def on_first_axis(path: Path, base: str, joint: str) -> Vector3:
    """Return the point of the axis of `joint` that is closest to the origin of the link `base`, in its frame [m].

    Joints between the two stand at 0.
    """
    joints = read_urdf(path).findall("joint") if path.is_file() else []
    above = {link_of(one, "child"): one for one in joints}
    frame, axis = Pose((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0)
    for at in (link_of(one, "child") for one in joints if one.get("name") == joint):
        axis, link = vector_of(above[at].find("axis"), "xyz", (1.0, 0.0, 0.0)), at
        while link in above and link != base:
            here = placed_by(above[link].find("origin"))
            frame, link = compose(here.pose(), frame), link_of(above[link], "parent")
    along = np.array(rotation_matrix(frame.orientation)) @ axis
    x, y, z = (np.array(frame.position) - np.dot(frame.position, along) / np.dot(along, along) * along).tolist()
    return x, y, z


def placed_by(origin: Element | None) -> Mounting:
    """Return the place that an `<origin>` gives; raises InputError if it is malformed."""
    return Mounting(position=vector_of(origin, "xyz"), rpy=vector_of(origin, "rpy"))


def vector_of(element: Element | None, key: str, default: Vector3 = (0.0, 0.0, 0.0)) -> Vector3:
    """Return three numbers of an element, `default` if they are not given; raises InputError if they are none."""
    said = None if element is None else element.get(key)
    try:
        x, y, z = default if said is None else map(float, said.split())
    except ValueError:
        x = y = z = math.nan
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"{key}={said!r} in the robot description is not three numbers; mend the URDF")
    return x, y, z


def number_of(element: Element | None, key: str) -> float | None:
    """Return a number of an element, None if it is not given; raises InputError if it is no number."""
    if element is None or element.get(key) is None:
        return None
    try:
        value = float(element.get(key, ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{key}={element.get(key)!r} in the robot description is not a number; mend the URDF")
    return value


@dataclass(frozen=True)
class LinkFrame:
    """Link `child` at `pose`, T_parent_child, in the link `parent`."""

    parent: str
    child: str
    pose: Pose


@dataclass(frozen=True)
class _Joint:
    at_zero: LinkFrame
    axis: Vector3
    slides: bool

    def at(self, position: float) -> LinkFrame:
        x, y, z = self.axis
        if self.slides:
            moved = Pose((position * x, position * y, position * z))
        else:
            s, c = math.sin(position / 2), math.cos(position / 2)
            moved = Pose((0.0, 0.0, 0.0), (s * x, s * y, s * z, c))
        return LinkFrame(self.at_zero.parent, self.at_zero.child, compose(self.at_zero.pose, moved))


class LinkFrames:
    """Frames of the links of a URDF: `fixed` ones, and those that joints move."""

    def __init__(self, urdf: str) -> None:
        """Parse the text of a URDF; raises InputError for an invalid origin or axis."""
        joints = ElementTree.fromstring(urdf).findall("joint")
        frames = {
            str(joint.get("name")): LinkFrame(
                link_of(joint, "parent"), link_of(joint, "child"), placed_by(joint.find("origin")).pose()
            )
            for joint in joints
        }
        moving = [joint for joint in joints if joint.get("type") != "fixed"]
        self._joints = {
            str(joint.get("name")): _Joint(
                frames.pop(str(joint.get("name"))), _unit(joint), joint.get("type") == "prismatic"
            )
            for joint in moving
        }
        self.fixed = tuple(frames.values())

    def moving(self, positions: Mapping[str, float]) -> list[LinkFrame]:
        """Return the frames of the links that joints move.

        Args:
            positions: Positions of the joints [rad or m]; further names are ignored, and links whose joint is not
                named are left out.
        """
        return [joint.at(positions[name]) for name, joint in self._joints.items() if name in positions]


def _unit(joint: Element) -> Vector3:
    x, y, z = vector_of(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    return (x / length, y / length, z / length) if length else (1.0, 0.0, 0.0)
