"""A robot in the 3D view: the links of its URDF as nested frames, turned by its joint states.

Each joint is a frame within that of its parent link, so a new joint state sets the frames of the joints that moved and
the browser places the links.
"""

from __future__ import annotations

import math
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.urdf import link_of, number_of, placed_by, vector_of
from llm_planner.scene.geometry import compose, inverse, product, wxyz
from llm_planner.scene.scene import Pose, Vector3
from llm_planner.simulation.looks import link_meshes

if TYPE_CHECKING:
    from viser import FrameHandle, SceneApi

Element = ElementTree.Element
GRAY = (220, 222, 227)
STILL = 1e-4  # [rad, m] of a joint below which its frame is left alone
Color = tuple[int, int, int]


@dataclass
class Joint:
    """Joint that moves: its place in the parent link, axis, kind, and the joint that it mimics."""

    frame: FrameHandle
    origin: Pose
    axis: Vector3
    slides: bool
    source: str
    multiplier: float
    offset: float
    at: float = 0.0  # [rad, m] shown

    def pose(self, value: float) -> Pose:
        """Return the pose of the child in the parent link at this joint position [rad, m]."""
        x, y, z = self.axis
        if self.slides:
            return compose(self.origin, Pose((value * x, value * y, value * z)))
        half = math.sin(value / 2)
        turned = product(self.origin.orientation, (half * x, half * y, half * z, math.cos(value / 2)))
        return Pose(self.origin.position, turned)


class RobotView:
    """Links of a robot below the frame `/robot`, whose pose is that of the root link.

    Raises:
        InputError: The description is not a URDF with one root.
    """

    def __init__(self, scene: SceneApi, description: str) -> None:
        try:
            root = ElementTree.fromstring(description)
        except ElementTree.ParseError as error:
            raise InputError(f"the robot_description is not XML: {error}; publish a URDF") from error
        self.description = description
        self._scene, self._links = scene, {link.get("name", ""): link for link in root.findall("link")}
        self._below: dict[str, list[Element]] = {}
        for joint in root.findall("joint"):
            self._below.setdefault(link_of(joint, "parent"), []).append(joint)
        roots = self._links.keys() - {link_of(joint, "child") for joint in root.findall("joint")}
        if len(roots) != 1:
            raise InputError(f"the robot_description has {len(roots)} root links: {sorted(roots)[:5]}; it must have 1")
        self._colors = {one.get("name", ""): one for one in root.findall("material") if one.find("color") is not None}
        self._joints: list[Joint] = []
        self._fixed: dict[str, Pose] = {}  # T_root_link of links that no moving joint bears
        self.missing: list[str] = []  # meshes that cannot be shown, with the reason
        self._root = scene.add_frame("/robot", show_axes=False)
        self._add(roots.pop(), "/robot", Pose((0.0, 0.0, 0.0)))

    def place(self, frame: str, robot: Pose | None) -> None:
        """Place the robot in the frame of the scene: by its link of that name, else at the pose of its base there."""
        pose = inverse(self._fixed[frame]) if frame in self._fixed else robot
        if pose is not None:
            self._root.position, self._root.wxyz = pose.position, wxyz(pose.orientation)

    def move(self, positions: Mapping[str, float]) -> None:
        """Show joint positions by name [rad, m]; joints that are not named stay."""
        for joint in self._joints:
            if joint.source not in positions:
                continue
            value = joint.multiplier * positions[joint.source] + joint.offset
            if abs(value - joint.at) > STILL:
                joint.at, pose = value, joint.pose(value)
                if joint.slides:
                    joint.frame.position = pose.position
                else:
                    joint.frame.wxyz = wxyz(pose.orientation)

    def _add(self, link: str, path: str, fixed: Pose | None) -> None:
        """Add a link's looks to the frame `path`, and the links below it."""
        if fixed is not None:
            self._fixed[link] = fixed
        for number, visual in enumerate(self._links[link].findall("visual")):
            try:
                self._show(visual, f"{path}/look{number}")
            except (LlmPlannerError, OSError, ValueError) as error:
                self.missing.append(f"{link}: {error}")
        for joint in self._below.get(link, ()):
            child = link_of(joint, "child")
            origin, below = placed_by(joint.find("origin")).pose(), f"{path}/{child}"
            frame = self._scene.add_frame(
                below, show_axes=False, position=origin.position, wxyz=wxyz(origin.orientation)
            )
            kind = joint.get("type")
            moves = kind in ("revolute", "continuous", "prismatic")
            if moves:
                x, y, z = vector_of(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
                norm = math.hypot(x, y, z) or 1.0
                mimic = joint.find("mimic")
                factor, offset = number_of(mimic, "multiplier"), number_of(mimic, "offset")
                source = joint.get("name", "") if mimic is None else mimic.get("joint", "")
                axis = (x / norm, y / norm, z / norm)
                factor = 1.0 if factor is None else factor
                self._joints.append(Joint(frame, origin, axis, kind == "prismatic", source, factor, offset or 0.0))
            self._add(child, below, None if moves or fixed is None else compose(fixed, origin))

    def _show(self, visual: Element, path: str) -> None:
        place, color = placed_by(visual.find("origin")).pose(), self._color(visual)
        at: dict[str, Any] = {"position": place.position, "wxyz": wxyz(place.orientation)}
        solid = next(iter(visual.find("geometry") or ()), None)
        if solid is None:
            return
        if solid.tag == "box":
            self._scene.add_box(path, color=color or GRAY, dimensions=vector_of(solid, "size"), **at)
        elif solid.tag == "sphere":
            self._scene.add_icosphere(path, radius=number_of(solid, "radius") or 0.0, color=color or GRAY, **at)
        elif solid.tag == "cylinder":
            radius, length = number_of(solid, "radius") or 0.0, number_of(solid, "length") or 0.0
            self._scene.add_cylinder(path, radius=radius, height=length, color=color or GRAY, **at)
        elif solid.tag == "mesh":
            scale = np.array(vector_of(solid, "scale", (1.0, 1.0, 1.0)))
            for number, (vertices, faces, own) in enumerate(_meshes(_file(solid.get("filename", "")))):
                self._scene.add_mesh_simple(
                    f"{path}/{number}", (vertices * scale).astype(np.float32), faces, color=color or own or GRAY, **at
                )

    def _color(self, visual: Element) -> Color | None:
        material = visual.find("material")
        if material is not None and material.find("color") is None:
            material = self._colors.get(material.get("name", ""))
        color = None if material is None else material.find("color")
        if color is None:
            return None
        red, green, blue = (round(255 * float(one)) for one in color.get("rgba", "1 1 1").split()[:3])
        return red, green, blue


class RobotBuilder:
    """Builds the robot of the newest description in threads, one after the other, each in place of the one before."""

    def __init__(self, scene: SceneApi) -> None:
        self._scene, self._wanted, self._building = scene, "", threading.Lock()

    def wants(self, description: str) -> bool:
        """Note the newest description; return whether it differs from the one before."""
        before, self._wanted = self._wanted, description
        return description != before

    def is_wanted(self, robot: RobotView | None) -> bool:
        """Return whether this is the robot of the newest description."""
        return robot is not None and robot.description == self._wanted

    def build(self, description: str) -> RobotView | None:
        """Return the robot, None if a newer one is wanted by now; raise as `RobotView` does."""
        with self._building:
            if description != self._wanted:
                return None
            self._scene.remove_by_name("/robot")
            return RobotView(self._scene, description)


def _file(name: str) -> Path:
    """Return the file of a mesh; raise InputError for an address that is not one of this machine."""
    parts = urlsplit(name)
    if parts.scheme not in ("", "file"):
        raise InputError(f"the mesh {name!r} is not a file of this machine; name it by file://")
    return Path(unquote(parts.path))


def _meshes(path: Path) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int32], Color | None]]:
    """Yield vertices (n, 3), faces (m, 3) and colour of the parts of a mesh file."""
    if path.suffix.lower() == ".dae":
        for mesh in link_meshes(path):
            red, green, blue = (round(255 * one) for one in mesh.color)
            yield mesh.vertices, mesh.faces, (red, green, blue)
        return
    import trimesh

    whole: Any = trimesh.load(path, force="mesh", process=True)
    yield np.asarray(whole.vertices), np.asarray(whole.faces, dtype=np.int32), None
