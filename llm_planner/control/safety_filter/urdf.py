"""The safety filter's own reader of a robot description: joint frames, limits and covered collision bodies from URDF.

It shares no code and no library with the controller, which reads the same file through MuJoCo.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.control.safety_filter.bodies import Rod
from llm_planner.control.safety_filter.covering import Capsule, box, cover, cylinder, read_mesh
from llm_planner.errors import InputError
from llm_planner.robots.motion import Array

LONGEST_LINK = 10.0  # [m]
MOST_CAPSULES = 4  # of a collision body
Resolve = Callable[[str], Path]  # the path of a mesh from its `package://` or relative name


@dataclass(frozen=True)
class Chain:
    """Serial chain of revolute joints from a base link to a tool link.

    Attributes:
        joints: Names of the joints, from the base.
        frames: Frame (4, 4) of each joint at position 0 in that of the previous joint; it turns about its z axis.
        tool: Frame (4, 4) of the tool link in that of the last joint.
        rods: Capsules that cover the collision bodies of all links; the base is link -1.
    """

    joints: tuple[str, ...]
    frames: tuple[Array, ...]
    tool: Array
    rods: tuple[Rod, ...]


def read_chain(
    text: str,
    base: str,
    tool: str,
    resolve: Resolve,
    bare: Collection[str] = (),
) -> Chain:
    """Read the chain from link `base` to link `tool` in a URDF.

    Args:
        text: URDF document.
        base: Name of the base link.
        tool: Name of the tool link.
        resolve: Finds mesh files.
        bare: Names of links whose collision bodies are left out.

    Raises:
        InputError: The document is malformed, a link is missing, or a joint of the chain is not revolute or fixed.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"the robot description is not XML: {error}") from error
    links = {link.get("name", ""): link for link in root.findall("link")}
    above = {_name(joint, "child"): joint for joint in root.findall("joint")}
    for name in (base, tool):
        if name not in links:
            raise InputError(f"the robot description has no link {name!r}; it has: {', '.join(links)}")
    way: list[ElementTree.Element] = []
    at = tool
    while at != base:
        if above.get(at) in way:
            raise InputError(f"the link {at!r} hangs on itself; a robot description is a tree")
        if at not in above:
            raise InputError(f"no joints lead from the link {base!r} to {tool!r}: {at!r} is a root")
        way.insert(0, above[at])
        at = _name(above[at], "parent")
    names, frames = list[str](), list[Array]()
    placed: dict[str, tuple[int, Array]] = {base: (-1, np.eye(4))}  # joint that moves a link, and its frame there
    for joint in way:
        index, here = placed[_name(joint, "parent")]
        here = here @ _origin(joint)
        if joint.get("type") in ("revolute", "continuous") and not _is_locked(joint):
            turned = _towards(_numbers(joint.find("axis"), "xyz", (1.0, 0.0, 0.0)))
            names.append(joint.get("name", ""))
            frames.append(here @ turned)
            index, here = index + 1, turned.T
        elif joint.get("type") not in ("fixed", "revolute"):
            raise InputError(
                f"the joint {joint.get('name')!r} is {joint.get('type')}; an arm's joints are revolute, continuous or "
                "fixed"
            )
        placed[_name(joint, "child")] = index, here
    if not names:
        raise InputError(f"no joint of the chain from {base!r} to {tool!r} moves")
    tool_frame = placed[tool][1]
    _place_branches(placed, root)
    rods = [
        rod
        for link, (index, frame) in placed.items()
        if link not in bare
        for rod in _covered(links[link], index, frame, resolve)
    ]
    return Chain(tuple(names), tuple(frames), tool_frame, tuple(rods))


def _is_locked(joint: ElementTree.Element) -> bool:
    """Return whether the limits of a joint leave it no range; it stands at 0 then."""
    limit = joint.find("limit")
    if limit is None or joint.get("type") != "revolute" or None in (limit.get("lower"), limit.get("upper")):
        return False
    return _number(limit, "lower") == _number(limit, "upper") == 0.0


def _place_branches(placed: dict[str, tuple[int, Array]], root: ElementTree.Element) -> None:
    """Place the links beside the chain as if their joints stood at 0: covers, cables, fingers."""
    waiting = [joint for joint in root.findall("joint") if _name(joint, "child") not in placed]
    while ready := [joint for joint in waiting if _name(joint, "parent") in placed]:
        for joint in ready:
            index, here = placed[_name(joint, "parent")]
            placed[_name(joint, "child")] = index, here @ _origin(joint)
            waiting.remove(joint)


def _covered(link: ElementTree.Element, index: int, frame: Array, resolve: Resolve) -> Iterator[Rod]:
    """Yield capsules, in the frame of joint `index`, that cover the collision bodies of a link."""
    bodies = link.findall("collision") or link.findall("visual")
    for body in bodies:
        shape = body.find("geometry")
        if shape is None or not len(shape):
            continue
        for start, end, radius in _capsules(shape[0], resolve):
            here = frame @ _origin(body)
            a, b = (here[:3, :3] @ point + here[:3, 3] for point in (start, end))
            yield Rod(index, (a[0], a[1], a[2]), (b[0], b[1], b[2]), radius)


def _capsules(shape: ElementTree.Element, resolve: Resolve) -> Sequence[Capsule]:
    scale = np.array(_numbers(shape, "scale", (1.0, 1.0, 1.0)))
    match shape.tag:
        case "sphere":
            return [(np.zeros(3), np.zeros(3), _number(shape, "radius"))]
        case "capsule":
            half = np.array([0.0, 0.0, _number(shape, "length") / 2])
            return [(-half, half, _number(shape, "radius"))]
        case "cylinder":
            return cover(cylinder(_number(shape, "radius"), _number(shape, "length")), MOST_CAPSULES)
        case "box":
            return cover(box(np.array(_numbers(shape, "size", (0.0, 0.0, 0.0)))), MOST_CAPSULES)
        case "mesh":
            path = resolve(shape.get("filename", ""))
            triangles = read_mesh(path) * scale
            if (long := float(np.ptp(triangles.reshape(-1, 3), axis=0).max())) > LONGEST_LINK:
                raise InputError(
                    f"the mesh {path} is {long:.3g} m long, in millimetres it seems; a URDF has metres: give its "
                    '<mesh> scale="0.001 0.001 0.001"'
                )
            return cover(triangles, MOST_CAPSULES)
    raise InputError(f"a collision body is a {shape.tag!r}; it may be a box, capsule, cylinder, mesh or sphere")


def _origin(element: ElementTree.Element) -> Array:
    origin = element.find("origin")
    return placed(_numbers(origin, "xyz", (0.0, 0.0, 0.0)), _numbers(origin, "rpy", (0.0, 0.0, 0.0)))


def placed(xyz: Sequence[float], rpy: Sequence[float]) -> Array:
    """Return the frame (4, 4) at `xyz` [m], turned about the fixed axes x, y and z in turn by `rpy` [rad]."""
    frame = np.eye(4)
    frame[:3, 3] = xyz
    roll, pitch, yaw = rpy
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(angle), math.sin(angle)) for angle in (roll, pitch, yaw))
    frame[:3, :3] = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return frame


def _towards(axis: Sequence[float]) -> Array:
    """Return a rotation (4, 4) whose z axis is `axis`."""
    z = np.array(axis) / np.linalg.norm(axis)
    x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    turned = np.eye(4)
    turned[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    return turned


def _name(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return found.get("link", "") if found is not None else ""


def _number(element: ElementTree.Element, key: str) -> float:
    return _numbers(element, key, (0.0,))[0]


def _numbers(element: ElementTree.Element | None, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
    said = None if element is None else element.get(key)
    if said is None:
        return default
    try:
        numbers = tuple(map(float, said.split()))
    except ValueError as error:
        raise InputError(f"{key}={said!r} in the robot description is not {len(default)} numbers") from error
    if len(numbers) != len(default) or not all(map(math.isfinite, numbers)):
        raise InputError(f"{key}={said!r} in the robot description is not {len(default)} finite numbers")
    return numbers
