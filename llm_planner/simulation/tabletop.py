"""Builds the MuJoCo model of the world `tabletop`: the table, the robot, and the objects asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llm_planner.share import share_folder
from llm_planner.simulation.looks import object_color
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.shapes import Box, ObjectKind
from llm_planner.world.predicates import STAIN

if TYPE_CHECKING:
    import mujoco

# Collision bits, see tabletop.xml. Objects meet robot, objects and table.
OBJECT_CONTYPE = 2
OBJECT_CONAFFINITY = 7
TRAY_MASS, TRAY_FRICTION, TRAY_DAMPING = 0.3, 2.0, 4.0  # [kg], [N], [Ns/m]
CAP_MASS, CAP_SPRING, CAP_DAMPING = 0.03, 400.0, 4.0  # [kg], [N/m], [Ns/m]
CAP_PRELOAD = 0.003  # [m] that its spring is shorter while nobody presses


def tabletop_spec(objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
    """The world with each object as a body called by its name, all at the origin until they are placed.

    What stands for good is a body that is told where it is, with its sliding part on a joint; the rest is free.
    """
    import mujoco

    spec = mujoco.MjSpec.from_file(str(share_folder("sim") / "worlds" / "tabletop.xml"))
    for item in objects:
        if item.shape.fixed:
            _add_furniture(spec, item)
        else:
            _add_object(spec, item)
    return spec


def _add_object(spec: mujoco.MjSpec, item: ObjectSpec) -> None:
    """A free body with the shapes of its kind, at the origin."""
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
    """What the body is called that slides in a piece of furniture."""
    return f"{item.name} part"


def add_parts(body: mujoco.MjsBody, item: ObjectSpec, state: float = 0.0) -> None:
    """The shapes of a thing in that state, in the frame of `body`."""
    kind = item.shape
    _add_boxes(body, item, kind.parts_at(state), _density(kind))


def _density(kind: ObjectKind) -> float:
    volume = sum(8 * part.half[0] * part.half[1] * part.half[2] for part in kind.parts)
    return kind.mass / volume


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
