"""Arm of an MJCF as a URDF with STL meshes, so that controller, simulator and safety filter read it as any other.

Bodies become links, at their joint where they have one, and sites become links that are fixed to them, since many
models mark the flange by a site. Only what collides is kept; a body of which nothing collides keeps its looks. A joint
that an equality couples to another one mimics it. Drives, tendons and other equalities are left out.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.robots.urdf import binary_stl

if TYPE_CHECKING:
    import mujoco

Element = ElementTree.Element
MESHES = "meshes"  # folder of the STL files, beside the URDF


def write_as_urdf(path: Path, folder: Path) -> Path:
    """Write the robot in the MJCF `path` as a URDF, with its meshes, to `folder`, and return the URDF.

    Raises:
        InputError: MuJoCo refuses the file, or it has joints that a URDF cannot express; or `folder` cannot be written.
    """
    import mujoco

    try:
        model = mujoco.MjSpec.from_file(str(path)).compile()
    except ValueError as error:
        raise InputError(f"MuJoCo refuses {path}: {' '.join(str(error).split())}") from error
    urdf = folder / f"{path.stem}.urdf"
    try:
        (folder / MESHES).mkdir(parents=True, exist_ok=True)
        root = ElementTree.Element("robot", {"name": path.stem})
        root.extend(_Robot(model, path, folder).elements())
        ElementTree.indent(root)
        urdf.write_text(ElementTree.tostring(root, encoding="unicode") + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    return urdf


def as_urdf(model: mujoco.MjModel, path: Path) -> list[Element]:
    """Return the links and joints of a model without meshes, of the file `path`, as those of a URDF; the first link is
    `world`. Raises InputError as `write_as_urdf` does."""
    return _Robot(model, path, path.parent).elements()


class _Robot:
    """Converter of one compiled model."""

    def __init__(self, model: mujoco.MjModel, path: Path, folder: Path) -> None:
        self._model, self._path, self._folder = model, path, folder
        self._links = [model.body(body).name or f"body{body}" for body in range(model.nbody)]
        self._anchors = np.zeros((model.nbody, 3))  # [m] origin of each link in the frame of its body
        for body in range(1, model.nbody):
            if model.body_jntnum[body]:
                self._anchors[body] = model.jnt_pos[model.body_jntadr[body]]

    def elements(self) -> list[Element]:
        """Return the links and joints, and write the meshes."""
        found = [ElementTree.Element("link", {"name": self._links[0]})]
        for body in range(1, self._model.nbody):
            found += [self._link(body), self._joint(body)]
        for site in range(self._model.nsite):
            found += self._site(site)
        return found

    def _link(self, body: int) -> Element:
        model = self._model
        link = ElementTree.Element("link", {"name": self._links[body]})
        if model.body_mass[body] > 0.0:
            inertial = ElementTree.SubElement(link, "inertial")
            inertial.append(_origin(model.body_ipos[body] - self._anchors[body], model.body_iquat[body]))
            ElementTree.SubElement(inertial, "mass", {"value": f"{model.body_mass[body]:.9g}"})
            diagonal = dict(zip(("ixx", "iyy", "izz"), (f"{one:.9g}" for one in model.body_inertia[body]), strict=True))
            ElementTree.SubElement(inertial, "inertia", {**diagonal, "ixy": "0", "ixz": "0", "iyz": "0"})
        first = model.body_geomadr[body]
        geoms = range(first, first + model.body_geomnum[body])
        for geom in [geom for geom in geoms if model.geom_contype[geom] | model.geom_conaffinity[geom]] or geoms:
            collision = ElementTree.SubElement(link, "collision")
            collision.append(_origin(model.geom_pos[geom] - self._anchors[body], model.geom_quat[geom]))
            ElementTree.SubElement(collision, "geometry").append(self._solid(geom))
        return link

    def _solid(self, geom: int) -> Element:
        import mujoco

        kinds, size = mujoco.mjtGeom, self._model.geom_size[geom]
        kind = kinds(int(self._model.geom_type[geom]))
        if kind == kinds.mjGEOM_MESH:
            return ElementTree.Element("mesh", {"filename": self._mesh(self._model.geom_dataid[geom])})
        if kind == kinds.mjGEOM_SPHERE:
            return ElementTree.Element("sphere", {"radius": f"{size[0]:.9g}"})
        if kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
            name = "capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder"
            return ElementTree.Element(name, {"radius": f"{size[0]:.9g}", "length": f"{2 * size[1]:.9g}"})
        if kind in (kinds.mjGEOM_BOX, kinds.mjGEOM_ELLIPSOID):  # the box around an ellipsoid
            return ElementTree.Element("box", {"size": _numbers(2 * size)})
        raise InputError(
            f"{self._path}: a solid of {self._links[self._model.geom_bodyid[geom]]!r} is a plane or a field"
        )

    def _mesh(self, mesh: int) -> str:
        """Write a mesh, unless it is there, and return its name relative to the URDF."""
        model = self._model
        name = re.sub(r"[^\w.-]", "_", f"{model.mesh(mesh).name or mesh}")
        file = self._folder / MESHES / f"{name}.stl"
        vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
        faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
        file.write_bytes(binary_stl(vertices[faces]))
        return f"{MESHES}/{file.name}"

    def _joint(self, body: int) -> Element:
        import mujoco

        model, name = self._model, self._links[body]
        count, joint = model.body_jntnum[body], model.body_jntadr[body]
        if not count:
            return self._fixed(name, body, model.body_parentid[body], model.body_pos[body], model.body_quat[body])
        kinds = {mujoco.mjtJoint.mjJNT_HINGE: "continuous", mujoco.mjtJoint.mjJNT_SLIDE: "prismatic"}
        kind = kinds.get(mujoco.mjtJoint(int(model.jnt_type[joint])))
        if count > 1 or kind is None:
            raise InputError(
                f"{self._path}: {'several joints move' if count > 1 else 'a free or ball joint moves'} the body "
                f"{name!r}; a URDF has one joint that turns or slides for each link: remove others, or divide the body"
            )
        limited = bool(model.jnt_limited[joint])
        kind = "revolute" if limited and kind == "continuous" else kind
        element = ElementTree.Element("joint", {"name": model.joint(joint).name or f"{name}_joint", "type": kind})
        self._place(element, name, body, model.body_parentid[body], model.body_pos[body], model.body_quat[body])
        ElementTree.SubElement(element, "axis", {"xyz": _numbers(model.jnt_axis[joint])})
        low, high = (model.jnt_range[joint] - model.qpos0[model.jnt_qposadr[joint]]).tolist()
        limits = {"lower": f"{low:.9g}", "upper": f"{high:.9g}"} if limited else {}
        torque = max(self._torques(joint), default=0.0)
        ElementTree.SubElement(element, "limit", limits | ({"effort": f"{torque:.9g}"} if torque else {}))
        element.extend(self._mimic(joint))
        return element

    def _mimic(self, joint: int) -> Iterator[Element]:
        """Yield how a joint follows another one, if an equality couples it."""
        import mujoco

        model = self._model
        for equality in range(model.neq):
            couples = mujoco.mjtEq(int(model.eq_type[equality])) == mujoco.mjtEq.mjEQ_JOINT
            if couples and model.eq_obj1id[equality] == joint and model.eq_obj2id[equality] >= 0:
                offset, multiplier = (f"{one:.9g}" for one in model.eq_data[equality, :2].tolist())
                other = model.joint(model.eq_obj2id[equality]).name
                yield ElementTree.Element("mimic", {"joint": other, "multiplier": multiplier, "offset": offset})
                return

    def _torques(self, joint: int) -> Iterator[float]:
        """Yield what bounds the torque of a joint [Nm]: its own limit, and those of its actuators."""
        import mujoco

        model = self._model
        if model.jnt_actfrclimited[joint]:
            yield float(np.abs(model.jnt_actfrcrange[joint]).max())
            return
        for drive in range(model.nu):
            on_joint = mujoco.mjtTrn(int(model.actuator_trntype[drive])) == mujoco.mjtTrn.mjTRN_JOINT
            if on_joint and model.actuator_trnid[drive, 0] == joint and model.actuator_forcelimited[drive]:
                gear = abs(model.actuator_gear[drive, 0])
                yield float(gear * np.abs(model.actuator_forcerange[drive]).max())

    def _site(self, site: int) -> list[Element]:
        """Return a site as a link that is fixed to its body; nothing if its name is taken."""
        model = self._model
        name, body = model.site(site).name, model.site_bodyid[site]
        if not name or name in self._links:
            return []
        link = ElementTree.Element("link", {"name": name})
        return [link, self._fixed(name, None, body, model.site_pos[site], model.site_quat[site])]

    def _fixed(self, name: str, body: int | None, parent: int, position: Array, quaternion: Array) -> Element:
        element = ElementTree.Element("joint", {"name": f"{name}_fixed", "type": "fixed"})
        self._place(element, name, body, parent, position, quaternion)
        return element

    def _place(
        self, joint: Element, name: str, body: int | None, parent: int, position: Array, quaternion: Array
    ) -> None:
        """Add the ends of a joint, and its place in the parent link, from the pose of the child in the parent body."""
        ElementTree.SubElement(joint, "parent", {"link": self._links[parent]})
        ElementTree.SubElement(joint, "child", {"link": name})
        anchor = np.zeros(3) if body is None else rotation_of(quaternion) @ self._anchors[body]
        joint.append(_origin(position + anchor - self._anchors[parent], quaternion))


def rotation_of(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a quaternion (w, x, y, z)."""
    import mujoco

    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, float))
    return matrix.reshape(3, 3)


def _origin(position: Array, quaternion: Array) -> Element:
    """Return the `<origin>` of a frame: rotations about the fixed axes x, y and z, in this order."""
    m = rotation_of(quaternion)
    pitch = math.asin(max(-1.0, min(1.0, -float(m[2, 0]))))
    if abs(m[2, 0]) < 1.0 - 1e-12:
        roll, yaw = math.atan2(m[2, 1], m[2, 2]), math.atan2(m[1, 0], m[0, 0])
    else:  # x points along z: roll and yaw turn about the same axis
        roll, yaw = 0.0, math.atan2(-m[0, 1], m[1, 1])
    return ElementTree.Element("origin", {"xyz": _numbers(position), "rpy": _numbers(np.array([roll, pitch, yaw]))})


def _numbers(values: Array) -> str:
    return " ".join(f"{value + 0.0:.12g}" for value in np.asarray(values).tolist())
