"""The MuJoCo model of the world `tabletop`: table, robot, objects and furniture.

The module builds the model, draws initial layouts from a seed, and tracks the state of furniture while the world is
stepped (extension of a drawer, lamp of a button, remaining points of a stain).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, ArmShape, pose_from_mujoco
from llm_planner.robots.motion import Array
from llm_planner.scene.geometry import compose, rotation_matrix, upright_pose, wxyz
from llm_planner.scene.places import scale_of
from llm_planner.scene.predicates import BUTTON, STAIN
from llm_planner.scene.scene import Pose, SceneObject, Vector3
from llm_planner.share import share_folder
from llm_planner.simulation.objects import COLORS, ObjectSpec, named, object_color
from llm_planner.simulation.shapes import SMALLEST, Box

if TYPE_CHECKING:
    import mujoco


# Collision bits, see tabletop.xml. Objects collide with robot, objects and table.
OBJECT_CONTYPE = 2
OBJECT_CONAFFINITY = 7
TRAY_MASS, TRAY_FRICTION, TRAY_DAMPING = 0.3, 2.0, 4.0  # [kg], [N], [Ns/m]
CAP_MASS, CAP_SPRING, CAP_DAMPING = 0.03, 400.0, 4.0  # [kg], [N/m], [Ns/m]
_INCLUDED = re.compile(r'(?<=<include file=")[^"]+')  # the arm, in tabletop.xml
_INCLUDE = re.compile(r'<include file="[^"]+"/>')
_ROBOT_FILE = "robot.xml"
CAP_PRELOAD = 0.003  # [m] preload of the spring


def tabletop_spec(objects: Sequence[ObjectSpec], arm: ArmModel) -> mujoco.MjSpec:
    """Build the model of the world with an arm, and one body per object, named after it and at the origin.

    Furniture is a mocap body with its sliding part on a joint. Other objects are free bodies.
    """
    import mujoco

    robot = arm.make()
    robot.compile()
    built = arm.source.read_bytes() if arm.description is None else robot.to_xml().encode()
    text = _INCLUDED.sub(_ROBOT_FILE, _table_file().read_text(encoding="utf-8"))
    spec = mujoco.MjSpec.from_string(text, include={_ROBOT_FILE: built}, assets=dict(robot.assets))
    add_objects(spec, objects)
    return spec


def bare_table_spec(bounds: Sequence[float]) -> mujoco.MjSpec:
    """Build the model of a table without a robot, from x_min to x_max and y_min to y_max in `bounds` [m]."""
    import mujoco

    spec = mujoco.MjSpec.from_string(_INCLUDE.sub("", _table_file().read_text(encoding="utf-8")))
    x_min, x_max, y_min, y_max = bounds
    top = spec.geom("table")
    top.pos = [(x_min + x_max) / 2, (y_min + y_max) / 2, top.pos[2]]
    top.size = [(x_max - x_min) / 2, (y_max - y_min) / 2, top.size[2]]
    return spec


def _table_file() -> Path:
    return share_folder("sim") / "worlds" / "tabletop.xml"


def add_objects(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Add one body per object, named after it and at the origin; see `tabletop_spec`."""
    for item in objects:
        if item.shape.fixed:
            _add_furniture(spec, item)
        else:
            body = spec.worldbody.add_body(name=item.name)
            body.add_freejoint(name=item.name)
            add_parts(body, item)


def _add_furniture(spec: mujoco.MjSpec, item: ObjectSpec) -> None:
    import mujoco

    kind = item.shape
    base = spec.worldbody.add_body(name=item.name, mocap=True)
    _add_boxes(base, item, kind.parts)
    if kind.sliding is None:
        return
    part = base.add_body(name=sliding_name(item), gravcomp=1.0)
    joint = part.add_joint(name=item.name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=kind.sliding.axis)
    joint.range, joint.limited = [0.0, kind.sliding.travel], True
    _add_boxes(part, item, kind.sliding.parts)
    mass = TRAY_MASS if kind.opens else CAP_MASS
    part.mass, part.inertia, part.explicitinertial = mass, [1e-4 * mass] * 3, True
    if kind.opens:
        joint.frictionloss, joint.damping[0] = TRAY_FRICTION, TRAY_DAMPING
    else:
        joint.stiffness[0], joint.damping[0], joint.springref = CAP_SPRING, CAP_DAMPING, -CAP_PRELOAD
    spec.add_exclude(bodyname1=base.name, bodyname2=part.name)


def sliding_name(item: ObjectSpec) -> str:
    """Return the name of the body that slides in a piece of furniture."""
    return f"{item.name} part"


def add_parts(body: mujoco.MjsBody, item: ObjectSpec, state: float = 0.0) -> None:
    """Add the shapes of an object in that state, in the frame of `body`."""
    kind = item.shape
    volume = sum(8 * part.half[0] * part.half[1] * part.half[2] for part in kind.parts)
    _add_boxes(body, item, kind.parts_at(state), kind.mass / volume)


def _add_boxes(body: mujoco.MjsBody, item: ObjectSpec, boxes: Sequence[Box], density: float = 0.0) -> None:
    import mujoco

    touches = item.kind != STAIN
    for part in boxes:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=part.center,
            quat=part.quaternion(),
            size=part.half,
            density=density,
            rgba=[*object_color(item), 1.0],
            contype=OBJECT_CONTYPE if touches else 0,
            conaffinity=OBJECT_CONAFFINITY if touches else 0,
            condim=4,
            friction=[0.5, 0.005, 0.0001],
            solref=[0.02, 1.0],
            solimp=[0.95, 0.99, 0.001, 0.5, 2.0],
            group=1,
        )


CLEARANCES = (0.05, 0.04, 0.03, 0.02, 0.012)  # [m] between footprints, tried in turn
DRAWS = 60  # candidate positions per object before the clearance is relaxed
LAYOUTS = 40  # layouts per clearance
EDGE = np.array([0.05, 0.10])  # [m] of the workspace's border in x and y kept free while possible
DRAWER_NEAREST = 0.43  # [m] from a large arm's axis to the middle of an open drawer; closer ones are out of reach


@dataclass(frozen=True)
class Placement:
    """Position (x, y) [m, base frame] and yaw [rad] of an object; of a drawer, those of its box when open."""

    x: float
    y: float
    yaw: float


def default_objects(rng: np.random.Generator) -> tuple[ObjectSpec, ...]:
    """Draw four blocks and three bowls in different colours, and sometimes a mug, a vase or a plate."""
    blocks = rng.choice(list(COLORS), size=4, replace=False)
    bowls = rng.choice(list(COLORS), size=3, replace=False)
    things = [(str(color), "block") for color in blocks] + [(str(color), "bowl") for color in bowls]
    if rng.random() < 0.5:
        things.append(("", str(rng.choice(["mug", "vase", "plate"]))))
    return named(things)


def size_for(arm: ArmShape) -> float:
    """Return the size of things for an arm, relative to those for a large one: that of its workspace, at most 1."""
    return max(SMALLEST, scale_of(arm.workspace))


def fitted(objects: Sequence[ObjectSpec], arm: ArmShape) -> tuple[ObjectSpec, ...]:
    """Return the objects in sizes for an arm; furniture has one size."""
    size = size_for(arm)
    if size == 1.0:
        return tuple(objects)
    return tuple(
        item if item.shape.fixed else replace(item, scale=max(SMALLEST, size * item.scale)) for item in objects
    )


def draw_layout(objects: Sequence[ObjectSpec], rng: np.random.Generator, arm: ArmShape) -> tuple[Placement, ...]:
    """Draw placements with footprints apart, inside the workspace of the arm and in its reach.

    Raises InputError if the objects do not fit.
    """
    radii = np.array([item.shape.radius for item in objects])
    opens = np.array([item.shape.opens for item in objects], dtype=bool)
    for clearance in CLEARANCES:
        for attempt in range(LAYOUTS):
            edge = size_for(arm) * EDGE * max(0.0, 1.0 - 2 * attempt / LAYOUTS)
            points = _draw(radii, opens, clearance, edge, rng, arm)
            if points is not None:
                return tuple(
                    Placement(float(x), float(y), _yaw(item, float(x), float(y), rng))
                    for item, (x, y) in zip(objects, points, strict=True)
                )
    raise InputError(
        f"{len(objects)} objects do not fit on the table; ask for fewer (about 30 blocks fit before a large arm, or 8 "
        f"bowls; {arm.name} reaches {arm.table_range[0]:g} to {arm.table_range[1]:g} m)"
    )


def standing(item: ObjectSpec, place: Placement) -> SceneObject:
    """Return the object upright on the table in its initial state: drawers closed, lamps off, stains whole."""
    kind, (c, s) = item.shape, (math.cos(place.yaw), math.sin(place.yaw))
    out = kind.middle_at(kind.sliding.travel)[0] if kind.sliding and kind.opens else 0.0
    position = place.x - c * out, place.y - s * out, kind.size[2] / 2
    turned = upright_pose(0.0, 0.0, place.yaw).orientation
    return SceneObject(item.name, item.kind, item.color, position, turned, kind.size, float(item.kind == STAIN))


def _yaw(item: ObjectSpec, x: float, y: float, rng: np.random.Generator) -> float:
    """Draw a yaw: small for a tidy look, any for a mug's handle, and towards the robot for a drawer."""
    spread = np.pi if item.kind == "mug" else np.pi / 6
    facing = math.atan2(y, x) if item.shape.opens else 0.0
    return facing + float(rng.uniform(-spread, spread))


def _draw(
    radii: np.ndarray, opens: np.ndarray, clearance: float, edge: np.ndarray, rng: np.random.Generator, arm: ArmShape
) -> np.ndarray | None:
    """Draw centres (n, 2), the widest object first; None if one does not fit.

    A drawer (`opens`, (n,)) needs only its middle in the workspace, where the hand reaches its handle.
    """
    points = np.zeros((len(radii), 2))
    area, drawers = arm.workspace, size_for(arm) * DRAWER_NEAREST
    low, high = np.array([area.x_min, area.y_min]), np.array([area.x_max, area.y_max])
    done: list[int] = []
    for index in np.argsort(-radii, kind="stable"):
        margin = np.zeros(2) if opens[index] else edge + radii[index]
        if (low + margin > high - margin).any():
            return None
        candidates = rng.uniform(low + margin, high - margin, size=(DRAWS, 2))
        gaps = np.linalg.norm(candidates[:, None] - points[done], axis=-1) - radii[done] - radii[index]
        away = np.linalg.norm(candidates - arm.axis, axis=-1)
        nearest, farthest = arm.table_range
        reached = (away >= max(nearest, drawers * opens[index])) & (away <= farthest)
        free = np.flatnonzero((gaps >= clearance).all(axis=1) & reached)
        if not len(free):
            return None
        points[index] = candidates[free[0]]
        done.append(int(index))
    return points


Mask = NDArray[np.bool_]

APART = 0.008  # [m] between the points of a stain
TOUCH = 0.003  # [m] distance at which a wiping geom removes a point


def stain_points(size: Vector3) -> Array:
    """Return the points (n, 2) [m] of a stain of that size in its frame, ordered from one end to the other."""
    half = np.array(size[:2]) / 2
    x, y = (np.arange(-h + APART / 2, h, APART) for h in half)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    points: Array = grid[(np.square(grid / half).sum(axis=1)) <= 1.0]
    return points


def left_at(size: Vector3, share: float) -> Mask:
    """Return the mask (n,) of the points that remain at that share: those at one end."""
    count = len(stain_points(size))
    mask: Mask = np.arange(count) < round(share * count)
    return mask


def touched(points: Array, model: mujoco.MjModel, data: mujoco.MjData, geoms: NDArray[np.intp]) -> Mask:
    """Return the mask of the `points` (n, 3) [m] within `TOUCH` of one of the boxes `geoms`."""
    mask = np.zeros(len(points), dtype=bool)
    centers, reach = data.geom_xpos[geoms], model.geom_rbound[geoms] + TOUCH
    middle = points.mean(axis=0)
    spread = np.linalg.norm(points - middle, axis=1).max()
    near = (centers[:, 2] < reach) & (np.linalg.norm(centers - middle, axis=1) < reach + spread)
    for geom in geoms[near]:
        local = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
        mask |= (np.abs(local) <= model.geom_size[geom] + TOUCH).all(axis=1)
    return mask


LIT_AT = 0.6  # share of its travel that a cap must be pressed
LOOK = 10  # physics steps between checks of contact with furniture


class Fixture:
    """Piece of furniture in a model; its state is as in `SceneObject`.

    `done` holds the state that MuJoCo's data lack: the remaining points of a stain, or whether a lamp is lit.
    """

    def __init__(self, model: mujoco.MjModel, item: ObjectSpec) -> None:
        self._item, self._kind = item, item.shape
        self._mocap = int(model.body(item.name).mocapid[0])
        self._slide = int(model.joint(item.name).qposadr[0]) if self._kind.sliding else -1
        self.done: NDArray[np.bool_] = np.zeros(1, dtype=bool)

    def place(self, data: mujoco.MjData, pose: Pose, state: float) -> None:
        """Put the centre of its box at `pose`, in that state."""
        base = compose(pose, Pose(self._kind.middle_at(-state)))
        data.mocap_pos[self._mocap], data.mocap_quat[self._mocap] = base.position, wxyz(base.orientation)
        if self._kind.opens:
            data.qpos[self._slide] = state
        is_stain = self._item.kind == STAIN
        self.done = left_at(self._kind.size, state) if is_stain else np.array([state >= 1.0])

    def state(self, data: mujoco.MjData) -> float:
        """Return its state, as in `SceneObject`."""
        return float(data.qpos[self._slide]) if self._kind.opens else float(self.done.mean())

    def pose(self, data: mujoco.MjData) -> Pose:
        """Return the pose of the centre of its box."""
        return compose(self._base(data), Pose(self._kind.middle_at(self.state(data))))

    def size(self, data: mujoco.MjData) -> Vector3:
        """Return the extents of its box [m]."""
        return self._kind.size_at(self.state(data))

    def see(self, model: mujoco.MjModel, data: mujoco.MjData, wiping: NDArray[np.intp]) -> None:
        """Update `done` since the last check. The geoms `wiping` remove the points that they pass."""
        if self._item.kind == BUTTON and self._kind.sliding:
            self.done = self.done | (data.qpos[self._slide] >= LIT_AT * self._kind.sliding.travel)
        elif self._item.kind == STAIN and self.done.any():
            self.done = self.done & ~touched(self._points(data), model, data, wiping)

    def _base(self, data: mujoco.MjData) -> Pose:
        return pose_from_mujoco(data.mocap_pos[self._mocap], data.mocap_quat[self._mocap])

    def _points(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """Return the points of a stain on the table top (n, 3) [m]."""
        base = self._base(data)
        flat = stain_points(self._kind.size) @ np.array(rotation_matrix(base.orientation))[:2, :2].T
        return np.column_stack([flat + base.position[:2], np.zeros(len(flat))])
