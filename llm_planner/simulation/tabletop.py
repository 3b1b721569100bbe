"""Builds the MuJoCo model of the world `tabletop`: the table, the robot, and the objects asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llm_planner.share import share_folder
from llm_planner.simulation.looks import object_color
from llm_planner.simulation.objects import ObjectSpec, object_kind

if TYPE_CHECKING:
    import mujoco

# Collision bits, see tabletop.xml. Objects meet robot, objects and table.
OBJECT_CONTYPE = 2
OBJECT_CONAFFINITY = 7


def tabletop_spec(objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
    """The world with each object as a free body called by its name, all at the origin until they are placed."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(share_folder("sim") / "worlds" / "tabletop.xml"))
    for item in objects:
        _add_object(spec, item)
    return spec


def _add_object(spec: mujoco.MjSpec, item: ObjectSpec) -> None:
    """A free body with the shapes of its kind, at the origin."""
    body = spec.worldbody.add_body(name=item.name)
    body.add_freejoint(name=item.name)
    add_parts(body, item)


def add_parts(body: mujoco.MjsBody, item: ObjectSpec) -> None:
    """The shapes of a thing, in the frame of `body`."""
    import mujoco

    kind = object_kind(item.kind)
    volume = sum(8 * part.half[0] * part.half[1] * part.half[2] for part in kind.parts)
    for part in kind.parts:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=part.center,
            quat=part.quaternion(),
            size=part.half,
            density=kind.mass / volume,
            rgba=[*object_color(item), 1.0],
            contype=OBJECT_CONTYPE,
            conaffinity=OBJECT_CONAFFINITY,
            condim=4,
            friction=[0.5, 0.005, 0.0001],
            solref=[0.02, 1.0],
            solimp=[0.95, 0.99, 0.001, 0.5, 2.0],
            group=1,
        )
