"""MJCF of a gripper, generated from its data: a jaw with two sliding fingers, or a suction cup.

The body `hand` has its origin at the mounting and the site `gripper` at the grip point. The actuator `gripper` takes
the wanted width [m] of a jaw, and the share of its pull of a suction cup, which acts on what touches it.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from llm_planner.robots.gripper import Gripper

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
