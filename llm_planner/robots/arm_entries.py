"""Models of a `robot.yaml`, which `arm_file` reads. Their descriptions are in the JSON Schema and the reference."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from llm_planner.robots.arm_model import ON_TABLE
from llm_planner.robots.controllers_file import ControllersEntry, TopicsEntry
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.gripper_file import GripperEntry
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Vector3
from llm_planner.strict_yaml import FileModel, Interval, LocatedError, Positive, Text

LARGE = (WORKSPACE.x_min, WORKSPACE.x_max), (WORKSPACE.y_min, WORKSPACE.y_max)
FINGERS = ("finger_joint1", "finger_joint2")

Base = Annotated[
    Text, Field(description="link that stands on the table, x forward and z up; its frame is the base frame of scenes")
]
Fingers = Annotated[
    tuple[str, ...], Field(description="names of the two finger joints in joint states; [] if these lack them")
]
Rows = Annotated[
    tuple[tuple[float, float, float], ...],
    Field(
        description="rows of height, least and largest distance from the base axis [m] between which the hand points "
        "straight down; the lowest first, linear in between"
    ),
]


class LimitEntry(FileModel):
    """Limits of a joint."""

    range: Interval = Field(description="least and largest position [rad]")
    velocity: Positive = Field(description="largest velocity [rad/s]")
    acceleration: Positive = Field(description="largest acceleration [rad/s^2]")


class JointEntry(LimitEntry):
    """Joint of an arm: its limits and its place at home."""

    torque: Positive = Field(description="largest torque [Nm]")
    home: float = Field(description="position at rest [rad], within the range")
    posture: float = Field(
        default=0.0, description="weight with which inverse kinematics keeps the joint at home; 0 leaves it"
    )

    @model_validator(mode="after")
    def _is_within(self) -> JointEntry:
        check_home(self.home, self)
        return self


class HandEntry(FileModel):
    """How the gripper is mounted on the tool."""

    turn: float = Field(default=0.0, description="rotation about the z axis of the tool [rad]")
    offset: float = Field(default=0.0, description="shift along the z axis of the tool [m]")
    shift: tuple[float, float] = Field(default=(0.0, 0.0), description="shift along its x and y axes [m]")
    replaces: tuple[str, ...] = Field(
        default=(), description="links of the URDF that lose their solids, because the gripper is in their place"
    )
    neutral: float = Field(
        default=0.0,
        description="direction of the gripper's x axis, from that of the arm, in the middle of the last joint's "
        "range [rad]",
    )


class MountingEntry(FileModel):
    """Where the base stands, in the frame of the table (see `Mounting`)."""

    position: Vector3 = Field(default=ON_TABLE.position, description="x, y, z of the base [m]")
    rpy: Vector3 = Field(default=ON_TABLE.rpy, description="roll, pitch and yaw of the base [rad]")


class AdaptationEntry(FileModel):
    """What adaptation may make up for."""

    payload: Positive = Field(description="largest payload [kg]")


class MeshEntry(FileModel):
    """Mesh of a body."""

    file: Text = Field(description="COLLADA file in the folder")
    scale: tuple[float, float, float] = Field(
        default=(1.0, 1.0, 1.0), description="metres for each unit of the file, x, y, z"
    )


class LooksEntry(FileModel):
    """Meshes that pictures show if the folder is there."""

    folder: Text = Field(description="folder, relative to this file, or package://PACKAGE/...")
    meshes: dict[str, MeshEntry] = Field(description="mesh of each body")


class ArmEntry(FileModel):
    """Content of a `robot.yaml`."""

    description: Text = Field(description="URDF or MJCF, relative to this file, or package://PACKAGE/...")
    safety: Text | None = Field(
        default=None, description="file that the safety filter reads instead of the URDF, for an MJCF"
    )
    base: Base
    frame: str = Field(default="", description="name of the base frame of scenes; that of the base link if left out")
    stand: Vector3 = Field(default=(0.0, 0.0, 0.0), description="x, y, z of the base link in that frame [m]")
    tool: Text | None = Field(default=None, description="link of the URDF that takes the hand, z out of the arm")
    joints: dict[str, JointEntry] = Field(description="the joints that turn, from the base to the tool, by name")
    fingers: Fingers = FINGERS
    reach: Rows
    rest: tuple[float, float, float] = Field(description="x, y, z of the gripper at home in the base frame [m]")
    workspace: tuple[Interval, Interval] = Field(
        default=LARGE, description="x and y of the part of the table on which the arm puts things [m]"
    )
    hand: HandEntry = Field(default=HandEntry(), description="how the gripper is mounted on the tool of a URDF")
    gripper: GripperEntry | str = Field(
        default=DEFAULT_HAND.name, description="a name of config/grippers, or the data of a gripper"
    )
    mounting: MountingEntry = Field(
        default=MountingEntry(), description="where the base stands, in the frame of the table; upright at its origin"
    )
    controllers: ControllersEntry = Field(default=ControllersEntry(), description="controllers of the real robot")
    topics: TopicsEntry = Field(default=TopicsEntry(), description="topics of the real robot's states")
    adaptation: AdaptationEntry | None = Field(
        default=None, description="the drives are known, so that adaptation may estimate a payload and their faults"
    )
    looks: LooksEntry | None = Field(default=None, description="meshes for pictures; the solids are shown without")

    @model_validator(mode="after")
    def _names_frame(self) -> ArmEntry:
        if any(self.stand) and not self.frame:
            raise LocatedError("is not 0, so the base frame needs a name of its own: give the key frame", "stand")
        return self


class LikeEntry(FileModel):
    """Content of a `robot.yaml` of an arm with the links, the hand and the home position of another."""

    like: str = Field(description="name of an arm that ships")
    base: Base
    joints: dict[str, LimitEntry] = Field(description="limits of the joints, from the base, by name")
    fingers: Fingers = FINGERS
    reach: Rows | None = Field(
        default=None, description="the same as in other files; that of the other arm if left out"
    )
    adaptation: AdaptationEntry | None = Field(default=None, description="the drives are known; the largest payload")
    controllers: ControllersEntry = Field(default=ControllersEntry(), description="controllers of the real robot")
    topics: TopicsEntry = Field(default=TopicsEntry(), description="topics of the real robot's states")


class MobileEntry(FileModel):
    """Content of a `robot.yaml` of an arm on a mobile base."""

    arm: Text = Field(description="name or folder of the arm, which stands upright at the origin without the base")
    mounting: MountingEntry = Field(
        description="where the arm's base stands, upright, from the middle of the mobile base on the floor; the tables "
        "are as high"
    )
    home: dict[str, float] = Field(description="position of each joint when the arm is tucked [rad], by name")
    rest: Vector3 = Field(description="x, y, z of the gripper then, in the frame of the arm's base [m]")

    @model_validator(mode="after")
    def _stands_upright(self) -> MobileEntry:
        _, y, z = self.mounting.position
        if y or z <= 0.0 or any(self.mounting.rpy):
            raise LocatedError("must be above the floor, upright, on the x axis: {position: [x, 0, z]}", "mounting")
        return self


def check_home(home: float, limits: LimitEntry) -> None:
    """Raise LocatedError if a joint's home position [rad] lies outside of its range."""
    low, high = limits.range
    if not low < home < high:
        raise LocatedError(f"has its home position {home:g} outside of its range [{low:g}, {high:g}]")
