"""Model of an arm with a parallel gripper, as simulator, controller and skills use it."""

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

from llm_planner.errors import InputError
from llm_planner.robots.controllers import Controllers
from llm_planner.robots.robot_folders import DEFAULT, robot_folder
from llm_planner.robots.robots import ArmKinematics, RobotLimits
from llm_planner.scene.scene import Vector3

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class ArmShape:
    """Reach and rest of an arm with a hand that points straight down, in the base frame [m].

    Attributes:
        name: Name of the robot.
        profile: Height of the grip point, with the least and the largest distance from the base axis that the hand
            reaches there, the lowest first; linear in between.
        rest: Position of the gripper in the arm's rest posture.
    """

    name: str
    profile: tuple[Vector3, ...]
    rest: Vector3

    def __post_init__(self) -> None:
        heights = [height for height, _, _ in self.profile]
        if len(heights) < 2 or heights != sorted(set(heights)) or any(low >= far for _, low, far in self.profile):
            raise InputError(f"the reach of {self.name} needs rising heights, each with a least and a larger distance")

    def radius_range(self, z: float) -> tuple[float, float]:
        """Return the smallest and largest distance from the base axis [m] that the hand reaches at height `z` [m]."""
        z = min(max(z, self.profile[0][0]), self.profile[-1][0])
        for (low, low_min, low_max), (high, high_min, high_max) in pairwise(self.profile):
            if z <= high:
                share = (z - low) / (high - low)
                return low_min + share * (high_min - low_min), low_max + share * (high_max - low_max)
        return self.profile[-1][1:]

    @property
    def table_range(self) -> tuple[float, float]:
        """Smallest and largest distance from the base axis [m] that the hand reaches near the table."""
        return self.profile[0][1:]

    def reaches(self, x: float, y: float) -> bool:
        """Return whether the hand can pick or place on the table at (x, y) [m], in front of the base."""
        nearest, farthest = self.table_range
        return x > 0.0 and nearest <= math.hypot(x, y) <= farthest


@dataclass(frozen=True)
class Looks:
    """Meshes that pictures show: `folder` with them, as `resolve` takes it, and a file and a scale for each body."""

    folder: str
    meshes: tuple[tuple[str, str, Vector3], ...]


@dataclass(frozen=True)
class Description:
    """URDF of an arm, its base and tool links and joints, and how the hand is mounted on the tool (see `HandEntry`)."""

    path: Path
    base: str
    tool: str
    joints: tuple[str, ...]
    turn: float
    offset: float


@dataclass(frozen=True)
class BaseMount:
    """Where an arm stands on the mobile base of this package: x ahead of its centre, and above the floor [m]."""

    ahead: float
    height: float


@dataclass(frozen=True)
class ArmModel:
    """Arm with a parallel gripper.

    Attributes:
        shape: Reach of the hand, and where it rests.
        base: Name of the frame of the base, with x forward and z up.
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
        mount: Where it stands on a mobile base; None for an arm that stands fixed.
        controllers: What moves the real arm.
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
    mount: BaseMount | None = None
    controllers: Controllers = field(default_factory=Controllers)

    @property
    def name(self) -> str:
        return self.shape.name

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
        spec.delete(spec.actuator("gripper"))
        spec.delete(spec.equality("fingers"))
        spec.delete(spec.tendon("gripper_width"))
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
        for name, height, half, radius in (("hand", 0.033, 0.085, 0.047), ("fingers", 0.0855, 0.056, 0.031)):
            hand.add_geom(
                name=name,
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=[0.0, -half, height, 0.0, half, height],
                size=[radius, 0.0, 0.0],
            )
        return spec


def resolve(name: str, folder: Path) -> Path:
    """Return the path of a URDF or mesh: relative to `folder`, or `package://PACKAGE/...`.

    A package is looked for among the installed Python packages (example-robot-data), in the ROS 2 installation
    (AMENT_PREFIX_PATH), and in and above `folder`.
    """
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
    from llm_planner.robots.arm_file import load_arm  # imports pydantic, which takes a while

    return load_arm(robot_folder(name))


def fixed_arm(name: str) -> ArmModel:
    """Return the arm called `name` as `arm_model` does; raise InputError for one on a mobile base."""
    arm = arm_model(name)
    if arm.mount is not None:
        raise InputError(
            f"{name!r} is an arm on a mobile base, which drives in one process only (llm-planner run --world "
            "two_tables); choose an arm that stands fixed"
        )
    return arm


def default_arm() -> ArmModel:
    """Return the arm that is meant where none is named."""
    return arm_model(DEFAULT)


def arm_shape(name: str) -> ArmShape:
    """Return the shape of an arm by its name or folder; raises InputError for an unknown one."""
    return arm_model(name).shape
