"""Data of a gripper: what it opens and pulls, and its shape, from which its simulation, grasps and solids follow.

The frame of a gripper has z out of the arm and the closing axis along y. Its origin is the grip point: between the
fingertips, or the middle of the lip of a suction cup. Heights are measured from it towards the arm, as seen when the
hand points straight down. Lengths are in metres.

`hand_xml` makes an MJCF of it. Its body `hand` has the origin at the mounting and the site `gripper` at the grip point.
The actuator `gripper` takes the wanted width [m] of a jaw, and the share of its pull of a suction cup, which acts on
what touches it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from llm_planner.errors import InputError

FINGER_ROOM = 0.006  # [m] opening that remains at the widest object
PALM_ROOM = 0.002  # [m] between the palm and the top of the tallest object between the fingers
SWITCH = 0.01  # [m] width of a suction gripper that is switched off; at less than half it holds

Part = tuple[float, float, float]


@dataclass(frozen=True)
class Gripper:
    """Gripper of an arm.

    A suction gripper is commanded as fingers are: a width of 0 switches it on, `SWITCH` switches it off.

    Attributes:
        name: Name for messages.
        is_suction: Whether a cup holds a flat face, instead of two fingers that close on the object.
        length: Distance from the mounting, on the tool link of the arm, to the grip point [m].
        opening: Least and largest distance between the fingertips [m].
        speed: Largest speed of that distance [m/s].
        force: Force between the fingertips, or largest pull of the cup [N].
        fingers: Parts of each finger, from its end up: thickness outwards from the inner face, half breadth, and height
            of the lower end above the grip point [m]. A suction gripper has one, the middle of which is the grip point:
            the cup and its stem.
        palm: Half extents along x and along the closing axis, and height of the lower end above the grip point [m]. It
            reaches up to the mounting.
        mass: Mass [kg].
        file: File that describes it; the safety filter reads it by itself. None for the default hand.
    """

    name: str
    is_suction: bool
    length: float
    opening: tuple[float, float]
    speed: float
    force: float
    fingers: tuple[Part, ...]
    palm: Part
    mass: float = 0.7
    file: Path | None = None

    def __post_init__(self) -> None:
        heights = [begins for _, _, begins in self.fingers] + [self.palm[2], self.length]
        if not self.fingers or any(low >= high for low, high in pairwise(heights)):
            raise InputError(
                f"the parts of the gripper {self.name} begin at {heights[:-1]} m, and it is {self.length:g} m long; "
                "list the parts of a finger from its end up, and let the palm begin above them and below the length"
            )
        if self.fingers[0][2] > 0.0:
            raise InputError(
                f"the fingers of the gripper {self.name} end {self.fingers[0][2]:g} m above the grip point; "
                "they reach down to it or below, so the first height is 0 or negative"
            )
        if not 0.0 <= self.opening[0] < self.opening[1]:
            raise InputError(f"the gripper {self.name} opens from {self.opening[0]:g} to {self.opening[1]:g} m")

    @property
    def holder(self) -> str:
        """What holds an object, for messages."""
        return "the suction cup" if self.is_suction else "the fingers"

    @property
    def summary(self) -> str:
        """What it holds, and where, for people."""
        if self.is_suction:
            holds = f"suction cup of {200 * self.cup:g} cm that pulls {self.force:g} N"
        else:
            least, most = (100 * width for width in self.opening)
            holds = f"fingers that open {least:g} to {most:g} cm and close with {self.force:g} N"
        return f"{self.name}: {holds}, {100 * self.length:g} cm in front of the tool"

    @property
    def tip(self) -> float:
        """Distance from the grip point down to the ends of the fingertips [m]."""
        return -self.fingers[0][2]

    @property
    def widest(self) -> float:
        """Largest distance between the fingertips [m]."""
        return self.opening[1]

    @property
    def widest_object(self) -> float:
        """Thickness of the widest object that fits between the fingers [m]; 0 for suction."""
        return 0.0 if self.is_suction else self.opening[1] - FINGER_ROOM

    @property
    def depth(self) -> float:
        """Height above the grip point of an object that fits under the palm [m]."""
        return round(self.palm[2] - PALM_ROOM, 6)

    @property
    def reach(self) -> float:
        """Distance from the axis of the hand to its farthest point, to the next millimetre [m]."""
        fingers = (math.hypot(self.widest / 2 + thick, half) for thick, half, _ in self.fingers)
        return math.ceil(1000 * max(math.hypot(*self.palm[:2]), *fingers)) / 1000

    @property
    def boxes(self) -> tuple[tuple[float, float, float, float], ...]:
        """Palm and range of the fingers: half x, half y, least and largest distance from the mounting [m]."""
        palm = self.length - self.palm[2]
        thick, half = (max(part[k] for part in self.fingers) for k in (0, 1))
        across = self.cup if self.is_suction else self.widest / 2 + thick
        return (*self.palm[:2], 0.0, palm), (half, across, palm, self.length + self.tip)

    @property
    def joints(self) -> int:
        """Number of finger joints."""
        return 0 if self.is_suction else 2

    @property
    def cup(self) -> float:
        """Radius of the cup of a suction gripper [m]."""
        return self.fingers[0][1]


DEFAULT_HAND = Gripper(
    "default_hand",
    is_suction=False,
    length=0.1034,
    opening=(0.0, 0.08),
    speed=0.2,
    force=40.0,
    fingers=((0.0152, 0.00875, -0.0095), (0.020, 0.00875, 0.009), (0.026, 0.010, 0.024)),
    palm=(0.030, 0.100, 0.037),
    mass=0.73,
)


SOLID = {"contype": "1", "conaffinity": "0", "condim": "3", "group": "3", "rgba": "0.86 0.87 0.89 1"}
GRIPPING = {  # stiff and of high friction, as rubber that hardly yields
    **SOLID, "condim": "4", "friction": "1.2 0.02 0.0001", "priority": "1", "solref": "0.003 2",
    "solimp": "0.95 0.99 0.001", "rgba": "0.25 0.26 0.28 1",
}  # fmt: skip
STIFFNESS, DAMPING = 4000.0, 100.0  # [N/m], [Ns/m] of the drive of a jaw
BACK = 0.001  # [m] of a finger's upper parts behind its fingertip, which alone touches a flat object
LIP = 0.003  # [m] distance over which the soft lip of a cup still seals
FINGER_MASS = 0.015  # [kg]


def hand_xml(gripper: Gripper) -> Element:
    """Return an MJCF document with the body `hand` and what drives it."""
    root = Element("mujoco")
    hand = _element(SubElement(root, "worldbody"), "body", name="hand", gravcomp=1)
    middle = (gripper.length - gripper.palm[2]) / 2  # of the palm, from the mounting
    sides = [2 * gripper.palm[0], 2 * gripper.palm[1], 2 * middle]
    inertia = [gripper.mass * (sides[k - 1] ** 2 + sides[k - 2] ** 2) / 12 for k in range(3)]
    _element(hand, "inertial", pos=(0, 0, middle), mass=gripper.mass, diaginertia=inertia)
    _element(hand, "geom", name="hand", type="box", pos=(0, 0, middle), size=(*gripper.palm[:2], middle), **SOLID)
    _element(hand, "site", name="gripper", pos=(0, 0, gripper.length), group=4)
    (_cup if gripper.is_suction else _jaw)(root, hand, gripper)
    return root


def _cup(root: Element, hand: Element, gripper: Gripper) -> None:
    """Add the cup; a box, because a cylinder would touch a face in too few points to hold it level."""
    body = _element(hand, "body", name="cup", gravcomp=1)
    _element(body, "inertial", pos=(0, 0, gripper.length), mass=FINGER_MASS, diaginertia=(2e-6, 2e-6, 2e-6))
    half = gripper.palm[2] / 2
    size, pos = (gripper.cup, gripper.cup, half), (0, 0, gripper.length - half)
    _element(body, "geom", name="cup", type="box", pos=pos, size=size, gap=LIP, **GRIPPING)
    actuator = SubElement(root, "actuator")
    _element(actuator, "adhesion", name="gripper", body="cup", ctrlrange=(0, 1), gain=gripper.force)


def _jaw(root: Element, hand: Element, gripper: Gripper) -> None:
    names = "finger_joint1", "finger_joint2"
    for side, name, joint in ((1, "left", names[0]), (-1, "right", names[1])):
        finger = _element(hand, "body", name=f"{name}finger", gravcomp=1)
        _element(
            finger, "inertial", pos=(0, side * 0.01, gripper.length), mass=FINGER_MASS, diaginertia=(2e-6, 2e-6, 1e-6)
        )
        _element(
            finger, "joint", name=joint, type="slide", axis=(0, side, 0), limited="true", armature=0.1, damping=5,
            range=[width / 2 for width in gripper.opening], actuatorfrclimited="true",
            actuatorfrcrange=(-2 * gripper.force, 2 * gripper.force),
        )  # fmt: skip
        ends = [*(begins for _, _, begins in gripper.fingers[1:]), gripper.palm[2]]
        for part, ((thickness, half, begins), end) in enumerate(zip(gripper.fingers, ends, strict=True)):
            inner = BACK if part else 0.0
            _element(
                finger, "geom", name=f"{name}_pad" if not part else f"{name}_finger{part}", type="box",
                pos=(0, side * (inner + thickness) / 2, gripper.length - (begins + end) / 2),
                size=(half, (thickness - inner) / 2, (end - begins) / 2), **GRIPPING,
            )  # fmt: skip
    tendon = _element(SubElement(root, "tendon"), "fixed", name="gripper_width")
    for joint in names:
        _element(tendon, "joint", joint=joint, coef=1)
    _element(
        SubElement(root, "equality"), "joint", name="fingers", joint1=names[0], joint2=names[1], solref=(0.004, 1),
        solimp=(0.95, 0.99, 0.001),
    )  # fmt: skip
    _element(
        SubElement(root, "actuator"), "general", name="gripper", tendon="gripper_width", biastype="affine",
        gainprm=STIFFNESS, biasprm=(0, -STIFFNESS, -DAMPING), forcelimited="true",
        forcerange=(-gripper.force, gripper.force),
    )  # fmt: skip


def _element(parent: Element, tag: str, **values: object) -> Element:
    """Add an element; numbers and lists of numbers become text."""
    words = {
        key: " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for key, value in values.items()
    }
    return SubElement(parent, tag, words)
