"""Models of a `robot.yaml`, which `arm_file` reads. Their descriptions are in the JSON Schema and the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from llm_planner.robots.arm_model import Looks, Mounting
from llm_planner.robots.controllers import Controllers, RobotTopics
from llm_planner.robots.gripper import DEFAULT_HAND, SWITCH, Gripper
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Vector3
from llm_planner.share import share_folder
from llm_planner.strict_yaml import FileModel, Interval, LocatedError, Positive, Text, at, no_choice, read_file

SUFFIXES = (".yaml", ".yml")
WIDEST_OPENING = 0.3  # [m] beyond which an opening is in another unit, or no gripper's
JAW = ("opening", "speed", "fingers")  # keys of a parallel gripper alone


class GripperEntry(FileModel):
    """Gripper as in a file: the key `gripper` of a `robot.yaml`, or a file of `config/grippers`; see `Gripper`.

        kind: parallel
        length: 0.1493                # from the mounting to the grip point [m]
        opening: [0.0, 0.085]         # between the fingertips [m]
        speed: 0.15                   # of the opening [m/s]
        force: 40                     # [N]
        fingers: [[0.012, 0.011, -0.011], [0.022, 0.0135, 0.018]]
        palm: [0.0375, 0.0375, 0.055]

    A suction gripper has a `cup`, the radius [m], and neither opening, speed nor fingers.
    """

    kind: Literal["parallel", "suction"] = Field(description="what it holds with")
    length: Positive = Field(description="from the mounting on the tool to the grip point [m]")
    force: Positive = Field(description="between the fingertips, or pull of the cup [N]")
    palm: tuple[Positive, Positive, Positive] = Field(
        description="half extents along x and the closing axis, height of the lower end above the grip point [m]"
    )
    mass: Positive = Field(default=0.7, description="[kg]")
    opening: Interval | None = Field(
        default=None, description="least and largest distance between the fingertips [m]; parallel only"
    )
    speed: Positive | None = Field(default=None, description="of the opening [m/s]; parallel only")
    fingers: tuple[tuple[Positive, Positive, float], ...] = Field(
        default=(),
        description="parts of a finger from its end up: thickness outwards from the inner face, half breadth, height "
        "of the lower end above the grip point [m]; parallel only",
    )
    cup: Positive | None = Field(default=None, description="radius of the cup [m]; suction only")

    @model_validator(mode="after")
    def _is_complete(self) -> GripperEntry:
        wanted = JAW if self.kind == "parallel" else ("cup",)
        for key in (*JAW, "cup"):
            given = getattr(self, key) not in (None, ())
            if given and key not in wanted:
                raise LocatedError(f"does not belong to a {self.kind} gripper; leave it out", key)
            if key in wanted and not given:
                raise LocatedError(f"has no key {key!r}; a {self.kind} gripper needs: {', '.join(wanted)}")
        if self.opening is not None and self.opening[1] > WIDEST_OPENING:
            told = f"goes up to {self.opening[1]:g} m, and {WIDEST_OPENING:g} m is the most; give it in metres"
            raise LocatedError(told, "opening")
        return self

    def build(self, name: str, file: Path) -> Gripper:
        """Return the gripper; raises InputError if its parts do not fit together."""
        fingers = self.fingers if self.cup is None else ((2 * self.cup, self.cup, 0.0),)  # the cup and its stem
        opening, speed = self.opening or (0.0, SWITCH), self.speed or 1.0
        return Gripper(
            name, self.cup is not None, self.length, opening, speed, self.force, fingers, self.palm, self.mass, file
        )


def read_gripper(given: GripperEntry | str, robot: Path) -> Gripper:
    """Return the gripper of the file `robot`; raises InputError for an unknown name or parts that do not fit.

    `given` is its data, a name of `config/grippers`, or a file with such data, relative to `robot`.
    """
    with at("gripper"):
        if isinstance(given, GripperEntry):
            return given.build("in robot.yaml", robot)
    if given == DEFAULT_HAND.name:
        return DEFAULT_HAND
    path = robot.parent / given if given.endswith(SUFFIXES) else shipped_gripper(given)
    return read_file(path, GripperEntry, lambda entry: entry.build(path.stem, path))


def shipped_gripper(name: str) -> Path:
    """Return the file of a gripper of `config/grippers`; raises InputError that lists them for an unknown name."""
    folder = share_folder("config") / "grippers"
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        error = no_choice(repr(name), (DEFAULT_HAND.name, *names), "gripper")
        raise LocatedError(f"{error}; a file of your own ends in .yaml", "gripper")
    return folder / f"{name}.yaml"


LARGE = (WORKSPACE.x_min, WORKSPACE.x_max), (WORKSPACE.y_min, WORKSPACE.y_max)
FINGERS = ("finger_joint1", "finger_joint2")

Base = Annotated[
    Text, Field(description="link that stands on the table, x forward and z up; scenes are in its frame if not mounted")
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


class AdaptationEntry(FileModel):
    """What adaptation may make up for."""

    payload: Positive = Field(description="largest payload [kg]")


class ArmEntry(FileModel):
    """Content of a `robot.yaml`."""

    description: Text = Field(description="URDF or MJCF, relative to this file, or package://PACKAGE/...")
    safety: Text | None = Field(
        default=None, description="file that the safety filter reads instead of the URDF, for an MJCF"
    )
    base: Base
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
    mounting: Mounting = Field(
        default=Mounting(), description="where the base stands, in the frame of the table; upright at its origin"
    )
    controllers: Controllers = Field(default=Controllers(), description="controllers of the real robot")
    topics: RobotTopics = Field(default=RobotTopics(), description="topics of the real robot's states")
    adaptation: AdaptationEntry | None = Field(
        default=None, description="the drives are known, so that adaptation may estimate a payload and their faults"
    )
    looks: Looks | None = Field(default=None, description="meshes for pictures; the solids are shown without")


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
    controllers: Controllers = Field(default=Controllers(), description="controllers of the real robot")
    topics: RobotTopics = Field(default=RobotTopics(), description="topics of the real robot's states")


class MobileEntry(FileModel):
    """Content of a `robot.yaml` of an arm on a mobile base."""

    arm: Text = Field(description="name or folder of the arm, which stands upright at the origin without the base")
    mounting: Mounting = Field(
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
