"""Collision model of a robot: link positions at every stage of a plan, and their distances from zones.

MuJoCo computes kinematics and distances on a model made of simple solids. All other computations are vectorised over
the stages. The robot may be any chain of hinges and slides, such as an arm, a mobile base or a drone. The
extent of a tucked arm on its mobile base is measured on the same solids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.carried import Carried
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.robots.motion import Array
from llm_planner.scene.geometry import wxyz
from llm_planner.scene.zones import Shape, Subject, Zone, half_sides

if TYPE_CHECKING:
    import mujoco


Indices = NDArray[np.int64]
_MEMORY = 1 << 17  # bytes of MuJoCo's arena: every stage has its own, and nothing is simulated
FAR = 10.0  # [m] up to which distances are measured
_POINT_RADIUS = 0.001  # [m] of the sphere that represents the gripper point
_POINT, _HELD, _ZONE = "the gripper point", "what is held", "zone"
_TYPES = {Shape.SPHERE: 2, Shape.CAPSULE: 3, Shape.CYLINDER: 5, Shape.BOX: 6}  # MuJoCo's mjtGeom


@dataclass(frozen=True)
class Postures:
    """Robot at K configurations `qpos` (K, nq), in the base frame [m].

    Holds the joint `anchors` and `axes` (K, nq, 3), the gripper `point` (K, 3) and the centres of all `solids`
    (K, n, 3).
    """

    qpos: Array
    anchors: Array
    axes: Array
    point: Array
    solids: Array


@dataclass(frozen=True)
class Nearness:
    """Signed distances of P pairs of a solid and a zone at K configurations.

    `distance` is (K, P) [m], `jacobian` (K, P, nq, 3) belongs to the solid's nearest point, and `gradient` (K, P, nq)
    is the derivative of the distance.
    """

    distance: Array
    jacobian: Array
    gradient: Array


class RobotModel:
    """Kinematics of a robot and distances of its solids from `zones`.

    A solid that is attached to the world, or only turns about its own axis, cannot move away from a zone and is
    ignored.
    """

    def __init__(self, spec: Callable[[], mujoco.MjSpec]) -> None:
        """Build the model from `spec`, which returns a new spec with a site `gripper` and solids for the links."""
        self._spec = spec
        self._zones: tuple[Zone, ...] = ()
        self._held: Carried | None = None
        self._build(room=8)

    def _build(self, room: int) -> None:
        """Compile the robot with `room` placeholder geoms for zones."""
        import mujoco

        self._mujoco: Any = mujoco
        spec = self._spec()
        site = spec.site("gripper")
        for name in (_POINT, _HELD):
            body = site.parent
            body.add_geom(
                name=name, type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_POINT_RADIUS, 0, 0], pos=site.pos, mass=0
            )
        for k in range(room):
            spec.worldbody.add_geom(name=f"{_ZONE} {k}", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[1e-3, 0, 0])
        spec.memory = _MEMORY
        self.model = spec.compile()
        self.nq = int(self.model.nq)
        self._data: list[Any] = []
        self._site = self.model.site("gripper").id
        self.point, self.carried = self.model.geom(_POINT).id, self.model.geom(_HELD).id
        self._zone_geoms = np.array([self.model.geom(f"{_ZONE} {k}").id for k in range(room)])
        self.model.geom_sameframe[[self.carried, *self._zone_geoms]] = 0
        self._slides = self.model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
        self._find_links()
        self._reach = np.array([self.model.geom_rbound[g] for g in range(self.model.ngeom)])

    def _find_links(self) -> None:
        """Find the solids that can move, and the joints that move each: `_moves` (ngeom, nq)."""
        model = self.model
        self._moves = np.zeros((model.ngeom, self.nq), dtype=bool)
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            while body:
                first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
                self._moves[geom, first : first + count] = count > 0
                body = int(model.body_parentid[body])
        special = {self.point, self.carried, *self._zone_geoms.tolist()}
        self.links = [geom for geom in range(model.ngeom) if geom not in special and self._travels(geom)]

    def _travels(self, geom: int) -> bool:
        """Return whether a joint shifts an end of the solid's axis."""
        data = self._mujoco.MjData(self.model)
        data.qpos[:] = 0.3
        self._mujoco.mj_kinematics(self.model, data)
        middle, axis = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends = middle + np.outer((-1.0, 1.0), axis * self.model.geom_size[geom, 1])
        moved = _point_jacobian(ends[None], data.xanchor[None, None], data.xaxis[None, None], self._slides)
        return bool(np.abs(moved[0][:, self._moves[geom]]).max(initial=0.0) > 1e-6)

    @property
    def zones(self) -> tuple[Zone, ...]:
        return self._zones

    def watch(self, zones: tuple[Zone, ...]) -> None:
        """Set the zones for distance queries."""
        if len(zones) > len(self._zone_geoms):
            self._build(room=2 * len(zones))
            self.carry(self._held)
        for geom, zone in zip(self._zone_geoms, zones, strict=False):
            self._shape(int(geom), zone)
        self._zones = zones
        self._enclosing(zones)

    def _enclosing(self, zones: Sequence[Zone]) -> None:
        """Compute a bounding box in the frame of each zone, and the solids that each zone applies to."""
        geoms = self._zone_geoms[: len(zones)]
        self._zone_middle = self.model.geom_pos[geoms].copy()
        self._zone_axes = np.array([_matrix(self._mujoco, q) for q in self.model.geom_quat[geoms]]).reshape(-1, 3, 3)
        self._zone_half = np.array([half_sides(zone.shape, zone.size) for zone in zones]).reshape(-1, 3)
        self._concerned = np.zeros((self.model.ngeom, len(zones)), dtype=bool)
        for index, zone in enumerate(zones):
            solids = [self.point] if zone.subject is Subject.GRIPPER else self.links
            self._concerned[solids, index] = True
            self._concerned[self.carried, index] = zone.subject is Subject.ROBOT and self._held is not None

    @property
    def held(self) -> Carried | None:
        return self._held

    def carry(self, held: Carried | None) -> None:
        """Set the object that the gripper holds, or None; it keeps out of zones like the robot."""
        self._held = held
        if held is not None:
            self._shape(self.carried, held)
            rotation, site = _matrix(self._mujoco, self.model.site_quat[self._site]), self.model.site_pos[self._site]
            self.model.geom_pos[self.carried] = site + rotation @ np.array(held.pose.position)
            quaternion = np.zeros(4)
            self._mujoco.mju_mulQuat(quaternion, self.model.site_quat[self._site], _wxyz(held))
            self.model.geom_quat[self.carried] = quaternion
        self.watch(self._zones)

    def _shape(self, geom: int, solid: Zone | Carried) -> None:
        size = (*solid.size, 0.0, 0.0)[:3]
        self.model.geom_type[geom] = _TYPES[solid.shape]
        self.model.geom_size[geom] = size
        self.model.geom_pos[geom] = solid.pose.position
        self.model.geom_quat[geom] = _wxyz(solid)
        self.model.geom_rbound[geom] = np.linalg.norm(half_sides(solid.shape, solid.size))
        self._reach[geom] = self.model.geom_rbound[geom]

    def postures(self, qpos: Array) -> Postures:
        """Compute forward kinematics at `qpos` (K, nq)."""
        while len(self._data) < len(qpos):
            self._data.append(self._mujoco.MjData(self.model))
        kinematics, model, data = self._mujoco.mj_kinematics, self.model, self._data[: len(qpos)]
        for row, each in zip(qpos, data, strict=True):
            each.qpos[:] = row
            kinematics(model, each)
        return Postures(
            qpos,
            np.array([each.xanchor for each in data]),
            np.array([each.xaxis for each in data]),
            np.array([each.site_xpos[self._site] for each in data]),
            np.array([each.geom_xpos for each in data]),
        )

    def point_jacobian(self, postures: Postures) -> Array:
        """Compute the Jacobian J (K, nq, 3) of the gripper point, with its velocity equal to qvel @ J."""
        return _point_jacobian(
            postures.point[:, None], postures.anchors[:, None], postures.axes[:, None], self._slides
        )[:, 0]

    def at_least(self, postures: Postures) -> Array:
        """Compute lower bounds (K, ngeom, zones) of the distances [m], infinite where a zone ignores a solid."""
        local = np.einsum("kgzi,zij->kgzj", postures.solids[:, :, None] - self._zone_middle, self._zone_axes)
        outside = np.maximum(np.abs(local) - self._zone_half, 0.0)
        bound = np.sqrt(np.einsum("kgzi,kgzi->kgz", outside, outside)) - self._reach[:, None]
        return np.where(self._concerned, bound, np.inf)

    def nearness(self, postures: Postures, pairs: Indices) -> Nearness:
        """Compute distances for `pairs` (P, 2) of geom id and zone index, at the postures that were computed last."""
        measure, model = self._mujoco.mj_geomDistance, self.model
        couples = [(int(solid), int(self._zone_geoms[zone])) for solid, zone in pairs]
        segments = np.zeros((len(postures.qpos), len(pairs), 6))
        distance = np.array(
            [
                [
                    measure(model, data, solid, zone, FAR, segment)
                    for (solid, zone), segment in zip(couples, row, strict=True)
                ]
                for data, row in zip(self._data, segments, strict=False)
            ]
        ).reshape(segments.shape[:2])
        near, away = segments[..., :3], segments[..., :3] - segments[..., 3:]
        jacobian = _point_jacobian(near, postures.anchors[:, None], postures.axes[:, None], self._slides)
        jacobian *= self._moves[pairs[:, 0]][:, :, None]
        safe = np.where(np.abs(distance) < 1e-9, np.inf, distance)
        gradient = np.einsum("kpji,kpi->kpj", jacobian, away / safe[..., None])
        return Nearness(distance + _POINT_RADIUS * (pairs[:, 0] == self.point), jacobian, gradient)


def _point_jacobian(points: Array, anchors: Array, axes: Array, slides: NDArray[np.bool_]) -> Array:
    """Return the Jacobians (K, P, nq, 3) of `points` (K, P, 3) for joints at `anchors`, `axes` (K, 1, nq, 3)."""
    arm = points[:, :, None] - anchors
    turned: Array = np.empty(arm.shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        turned[..., i] = axes[..., j] * arm[..., k] - axes[..., k] * arm[..., j]
    return np.where(slides[:, None], axes, turned) if slides.any() else turned


def _wxyz(solid: Zone | Carried) -> Array:
    quaternion = np.array(wxyz(solid.pose.orientation))
    unit: Array = quaternion / np.sqrt(quaternion @ quaternion)
    return unit


def _matrix(mujoco: Any, quaternion: Array) -> Array:
    matrix: Array = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


OVERHANG = 0.05  # [m] beyond the base: less does not reach over a table that the base keeps off
GRID = 21  # points along each edge of a solid's bounding box


@dataclass(frozen=True)
class Footprint:
    """Disc around the centre of the base that contains base and arm.

    Attributes:
        radius: Of the disc [m].
        bottom: Height above the arm's base of the lowest part that reaches `OVERHANG` beyond the base [m].
    """

    radius: float
    bottom: float


@lru_cache(maxsize=8)
def tucked_footprint(name: str) -> Footprint:
    """Return the footprint of the robot called `name` with its arm at home; raises InputError if it cannot drive."""
    import mujoco

    arm = arm_model(name)
    if arm.mount is None:
        raise InputError(f"the robot {name!r} stands fixed; it has no footprint to drive with")
    model = arm.collision_spec().compile()
    data = mujoco.MjData(model)
    data.qpos[:] = arm.home
    mujoco.mj_kinematics(model, data)
    points = np.concatenate([_outline(model, data, geom) for geom in range(model.ngeom)])
    away = np.hypot(points[:, 0] + arm.mount.position[0], points[:, 1])
    lowest = points[away > BASE_RADIUS + OVERHANG, 2].min(initial=np.inf)
    return Footprint(max(BASE_RADIUS, float(away.max())), float(lowest))


def _outline(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return points (n, 3) [m] on the surface of a solid: vertices of a mesh, otherwise a grid on its bounding box.

    The grid is drawn in to the circumference of a round solid.
    """
    import mujoco

    kind = model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        local = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    else:
        steps = np.linspace(-1.0, 1.0, GRID)
        local = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
        if kind != mujoco.mjtGeom.mjGEOM_BOX:
            local = local[np.hypot(local[:, 0], local[:, 1]) <= 1.0]
        local = model.geom_aabb[geom, :3] + local * model.geom_aabb[geom, 3:]
    points: Array = data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T
    return points
