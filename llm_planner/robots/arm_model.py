"""Model of an arm with a gripper, as simulator, controller and skills use it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np
from pydantic import Field

from llm_planner.errors import InputError
from llm_planner.robots.controllers import Controllers, RobotTopics
from llm_planner.robots.gripper import DEFAULT_HAND, Gripper
from llm_planner.robots.limits import RobotLimits
from llm_planner.robots.motion import Array
from llm_planner.robots.robot_folders import DEFAULT, robot_folder
from llm_planner.scene.places import WORKSPACE, Rectangle
from llm_planner.scene.scene import Pose, Vector3
from llm_planner.strict_yaml import FileModel, Text

if TYPE_CHECKING:
    import mujoco

TABLE_FRAME = "table"


class Mounting(FileModel):
    """Where the base stands, in the frame of the table, which has x forward, z up and its origin in the table top.

    `rpy` turns about the fixed axes x, then y, then z, as in a URDF.
    """

    position: Vector3 = Field(default=(0.0, 0.0, 0.0), description="x, y, z of the base [m]")
    rpy: Vector3 = Field(default=(0.0, 0.0, 0.0), description="roll, pitch and yaw of the base [rad]")

    def pose(self) -> Pose:
        """Return T_table_base."""
        (cr, sr), (cp, sp), (cy, sy) = ((math.cos(angle / 2), math.sin(angle / 2)) for angle in self.rpy)
        x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
        z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
        return Pose(self.position, (x, y, z, w))


ON_TABLE = Mounting()


HIGH = 0.5  # [m] greatest height for which the reach of a large arm is known


@dataclass(frozen=True)
class Heights:
    """Heights of the grip point above the table [m].

    Attributes:
        cruise_min: Least height of the lowest point of hand and load while travelling.
        cruise_max: Greatest height at which the hand travels over things.
        detour_max: Greatest height at which it travels over zones that it keeps out of.
        highest: Greatest height of recorded and learned motions.
    """

    cruise_min: float
    cruise_max: float
    detour_max: float
    highest: float


@dataclass(frozen=True)
class ArmShape:
    """Reach, rest and gripper of an arm with a hand that points straight down, in the frame of scenes [m].

    Attributes:
        name: Name of the robot.
        profile: Height of the grip point, with the least and the largest distance from the base axis that the hand
            reaches there, the lowest first; linear in between.
        rest: Position of the gripper in the arm's rest posture.
        axis: Where the base axis meets the table (x, y): a vertical one through the point of the first joint's axis
            that is closest to the base.
        gripper: What the hand opens and pulls, and its shape.
        workspace: Part of the table on which the arm puts things. The hand does not reach all of a short arm's.
        neutral: Direction of the hand's x axis in the middle of the last joint's range, relative to that from the base
            axis to the hand [rad].
    """

    name: str
    profile: tuple[Vector3, ...]
    rest: Vector3
    axis: tuple[float, float] = (0.0, 0.0)
    gripper: Gripper = DEFAULT_HAND
    workspace: Rectangle = WORKSPACE
    neutral: float = 0.0

    def __post_init__(self) -> None:
        heights = [height for height, _, _ in self.profile]
        if len(heights) < 2 or heights != sorted(set(heights)) or any(low >= far for _, low, far in self.profile):
            raise InputError(f"the reach of {self.name} needs rising heights, each with a least and a larger distance")

    def radius(self, x: float, y: float) -> float:
        """Return the distance of (x, y) from the base axis [m]."""
        return math.hypot(x - self.axis[0], y - self.axis[1])

    def radius_range(self, z: float) -> tuple[float, float]:
        """Return the smallest and largest distance from the base axis [m] that the hand reaches at height `z` [m]."""
        z = min(max(z, self.profile[0][0]), self.profile[-1][0])
        for (low, low_min, low_max), (high, high_min, high_max) in pairwise(self.profile):
            if z <= high:
                share = (z - low) / (high - low)
                return low_min + share * (high_min - low_min), low_max + share * (high_max - low_max)
        return self.profile[-1][1:]

    @property
    def ceiling(self) -> float:
        """Greatest height of the grip point for which the reach is known [m]."""
        return self.profile[-1][0]

    @property
    def heights(self) -> Heights:
        """Heights at which the hand travels: those of a large arm, or as much lower as this arm reaches less high."""
        share = min(1.0, self.ceiling / HIGH)
        return Heights(0.12 * share, 0.42 * share, 0.48 * share, 0.6 * share)

    @property
    def table_range(self) -> tuple[float, float]:
        """Smallest and largest distance from the base axis [m] that the hand reaches near the table."""
        return self.profile[0][1:]

    def reaches(self, x: float, y: float) -> bool:
        """Return whether the hand can pick or place on the table at (x, y) [m], in front of the base."""
        nearest, farthest = self.table_range
        return x > 0.0 and nearest <= self.radius(x, y) <= farthest


class Mesh(FileModel):
    """Mesh of a body."""

    file: Text = Field(description="COLLADA file in the folder")
    scale: tuple[float, float, float] = Field(
        default=(1.0, 1.0, 1.0), description="metres for each unit of the file, x, y, z"
    )


class Looks(FileModel):
    """Meshes that pictures show if the folder is there."""

    folder: Text = Field(description="folder, relative to this file, or package://PACKAGE/...")
    meshes: dict[str, Mesh] = Field(description="mesh of each body")


@dataclass(frozen=True)
class Description:
    """URDF of an arm, its base and tool links and joints, and how the hand is mounted on the tool (see `HandEntry`).

    The solids of the links `bare` are left out, because the hand is in their place.
    """

    path: Path
    base: str
    tool: str
    joints: tuple[str, ...]
    turn: float
    offset: float
    shift: tuple[float, float] = (0.0, 0.0)
    bare: tuple[str, ...] = ()


class ArmKinematics:
    """Forward kinematics and Jacobian of the grasp point in the base frame."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Use the arm `model`, with fixed fingers and a site `gripper`."""
        import mujoco

        self._mujoco = mujoco
        self.model = model
        self._data = mujoco.MjData(self.model)
        self._site = self.model.site("gripper").id
        self._jacobian = np.zeros((6, self.model.nv))

    def forward(self, qpos: Array) -> tuple[Array, Array]:
        """Compute the gripper's position (3,) [m] and rotation matrix (3, 3), base frame, at `qpos` (nq,) [rad]."""
        self._data.qpos[:] = qpos
        self._mujoco.mj_kinematics(self.model, self._data)
        return self._data.site_xpos[self._site].copy(), self._data.site_xmat[self._site].reshape(3, 3).copy()

    def jacobian(self, qpos: Array) -> tuple[Array, Array, Array]:
        """Compute the gripper pose of `forward` and its Jacobian.

        Returns:
            Position (3,) [m], rotation matrix (3, 3), and J (6, nq) with (v, w) = J @ qvel: linear velocity [m/s] over
            angular velocity [rad/s]. All are in the base frame.
        """
        position, rotation = self.forward(qpos)
        self._mujoco.mj_comPos(self.model, self._data)
        self._mujoco.mj_jacSite(self.model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
        return position, rotation, self._jacobian.copy()

    def pose(self, qpos: Array) -> Pose:
        """Compute T_base_gripper at `qpos` (nq,) [rad]."""
        position, rotation = self.forward(qpos)
        quaternion = np.zeros(4)  # (w, x, y, z)
        self._mujoco.mju_mat2Quat(quaternion, rotation.ravel())
        return pose_from_mujoco(position, quaternion)


def pose_from_mujoco(position: Array, quaternion: Array) -> Pose:
    """Convert MuJoCo's position (3,) [m] and quaternion (w, x, y, z) to a Pose."""
    x, y, z = position.tolist()
    qw, qx, qy, qz = quaternion.tolist()
    return Pose((x, y, z), (qx, qy, qz, qw))


@dataclass(frozen=True)
class ArmModel:
    """Arm with a gripper.

    Attributes:
        shape: Reach of the hand, and where it rests.
        base: Name of the base link, with x forward and z up.
        joints: Names of the joints in ROS messages, from the base.
        fingers: Names of the two finger joints there; none if joint states lack them.
        limits: Joint limits.
        home: Joint positions at rest [rad].
        posture: Weights (nq,) of the joints that inverse kinematics keeps at home.
        hand: Name of the body of the hand.
        make: Builds the arm with drives, in the order of the joints, and the hand with moving fingers, driven last; the
            site `gripper` is the grasp point.
        source: URDF or MJCF that `make` reads.
        description: URDF with base and tool; None for an MJCF, which has drives and the hand.
        safety: File that the safety filter reads instead of the URDF, in the folder of the arm.
        payload: Largest payload that adaptation makes up for [kg]; None if it does not know the drives.
        looks: Meshes for pictures; None if the solids are shown.
        mounting: Pose of the base in the frame of scenes.
        mount: Pose of the base from the middle of a mobile base, on the floor; None for an arm that stands fixed.
        controllers: What moves the real arm.
        topics: What the real arm publishes.
    """

    shape: ArmShape
    base: str
    joints: tuple[str, ...]
    fingers: tuple[str, ...]
    limits: RobotLimits
    home: tuple[float, ...]
    posture: tuple[float, ...]
    hand: str
    make: Callable[[], mujoco.MjSpec]
    source: Path
    description: Description | None = None
    safety: Path | None = None
    payload: float | None = None
    looks: Looks | None = None
    mounting: Mounting = ON_TABLE
    mount: Mounting | None = None
    controllers: Controllers = field(default_factory=Controllers)
    topics: RobotTopics = field(default_factory=RobotTopics)

    @property
    def name(self) -> str:
        return self.shape.name

    @property
    def gripper(self) -> Gripper:
        return self.shape.gripper

    @property
    def frame(self) -> str:
        """Name of the frame of scenes: that of the base, or `TABLE_FRAME` if the base is mounted elsewhere."""
        return self.base if self.mounting == ON_TABLE else TABLE_FRAME

    @property
    def nq(self) -> int:
        return len(self.joints)

    @property
    def finger(self) -> str:
        """Name in joint commands of the first finger, which the second one mirrors."""
        return self.fingers[0] if self.fingers else "finger_joint1"

    def fixed_fingers_spec(self) -> mujoco.MjSpec:
        """Build the arm with fixed fingers, for kinematics and dynamics."""
        spec = self.make()
        for part in (spec.actuator("gripper"), spec.equality("fingers"), spec.tendon("gripper_width")):
            if part is not None:  # a suction gripper has no fingers
                spec.delete(part)
        for joint in [joint for finger in spec.body(self.hand).bodies for joint in finger.joints]:
            spec.delete(joint)
        return spec

    def kinematics(self) -> ArmKinematics:
        """Return the kinematics of the gripper point."""
        return ArmKinematics(self.fixed_fingers_spec().compile())

    def collision_spec(self) -> mujoco.MjSpec:
        """Build the arm with solids for planning: those of its links, and capsules for the whole range of the hand."""
        import mujoco

        spec = self.fixed_fingers_spec()
        hand = spec.body(self.hand)
        for geom in [*hand.geoms, *(geom for body in hand.bodies for geom in body.geoms)]:
            spec.delete(geom)
        for name, ends, radius in zip(("hand", "fingers"), *_capsules(self.gripper), strict=True):
            hand.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[radius, 0.0, 0.0])
        return spec


ROUNDED = 1.06  # radius of a capsule in that of the cylinder around a box; more makes it shorter


def _capsules(gripper: Gripper) -> tuple[list[list[float]], list[float]]:
    """Return ends, in the frame of the mounting, and radii of capsules around palm and range of the fingers [m]."""
    if gripper == DEFAULT_HAND:
        middles = ((0.033, 0.085), (0.0855, 0.056))
        return [[0.0, -half, height, 0.0, half, height] for height, half in middles], [0.047, 0.031]
    ends, radii = list[list[float]](), list[float]()
    for half_x, half_y, low, high in gripper.boxes:
        middle, half_z = (low + high) / 2, (high - low) / 2
        across, along = min(half_y, half_z), max(half_y, half_z)
        radius = ROUNDED * math.hypot(half_x, across)
        half = max(0.0, along - radius * math.sqrt(1 - ROUNDED**-2))
        y, z = (half, 0.0) if along == half_y else (0.0, half)
        ends.append([0.0, -y, middle - z, 0.0, y, middle + z])
        radii.append(radius)
    return ends, radii


def resolve(name: str, folder: Path) -> Path:
    """Return the path of a URDF or mesh: relative to `folder`, `package://PACKAGE/...`, or `file:///...`.

    A package is looked for among the installed Python packages (example-robot-data), in the ROS 2 installation
    (AMENT_PREFIX_PATH), and in and above `folder`.
    """
    if name.startswith("file://"):
        return Path(unquote(urlsplit(name).path))
    if not name.startswith("package://"):
        return Path(os.path.normpath(folder / name))
    package, _, rest = name.removeprefix("package://").partition("/")
    found = find_spec("cmeel")
    wheels = found.submodule_search_locations or () if found else ()
    shares = [Path(place).parent / "cmeel.prefix" / "share" for place in wheels]
    shares += [Path(place) / "share" for place in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if place]
    for share in (*shares, *(folder.absolute() / "here").parents):
        if (share / package / rest).exists():
            return share / package / rest
    raise InputError(
        f"{name} is not found: pip install {package}, source the ROS 2 workspace that has it, or put the folder "
        f"{package} beside the file that names it"
    )


@cache
def arm_model(name: str) -> ArmModel:
    """Return the arm called `name`, or that in a folder; raises InputError for an unknown one.

    "arm" is the default arm, whose name is in `config/robots/default`.
    """
    from llm_planner.robots.arm_file import load_arm

    return load_arm(robot_folder(name))


def fixed_arm(name: str) -> ArmModel:
    """Return the arm called `name` as `arm_model` does; raise InputError for one on a mobile base."""
    arm = arm_model(name)
    if arm.mount is not None:
        raise InputError(
            f"{name!r} is an arm on a mobile base, which drives in --world two_tables; choose that world, or an arm "
            "that stands fixed"
        )
    return arm


def default_arm() -> ArmModel:
    """Return the arm that is meant where none is named."""
    return arm_model(DEFAULT)


def arm_shape(name: str) -> ArmShape:
    """Return the shape of an arm by its name or folder; raises InputError for an unknown one."""
    return arm_model(name).shape
