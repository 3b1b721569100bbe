"""Builds the MuJoCo model of the world `rooms`: walls, the base, and what is in the building."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.base import (
    BASE_HEIGHT,
    BASE_JOINTS,
    BASE_LIMITS,
    BASE_MASS,
    BASE_RADIUS,
    MOTOR_LAG,
)
from llm_planner.simulation.rooms.things import thing_kind
from llm_planner.simulation.rooms.walls import Wall, walls
from llm_planner.world.building import Building

if TYPE_CHECKING:
    import mujoco

TIMESTEP = 0.01  # [s]: a base on wheels has no faster motion than its motors' lag
WALL_THICKNESS = 0.12  # [m], as the next
WALL_HEIGHT = 0.7  # low enough to look over
BASE = "base"
COLLISION_GROUP = 3  # of shapes that are not drawn where the model is dressed


def rooms_spec(building: Building, things: Sequence[ObjectSpec]) -> mujoco.MjSpec:
    """The world with the base at (0, 0), and each thing as a mocap body called by its name: it is where it is put."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.modelname = "rooms"
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, 0.0]  # everything rolls or stands on the floor
    for wall in walls(building):
        _add_wall(spec, wall)
    _add_base(spec)
    for item in things:
        _add_thing(spec, item)
    return spec


def _add_wall(spec: mujoco.MjSpec, wall: Wall) -> None:
    import mujoco

    half = [WALL_THICKNESS / 2, WALL_THICKNESS / 2, WALL_HEIGHT / 2]
    half[wall.axis] = wall.half_length + WALL_THICKNESS / 2 * 0.999  # the corners are filled
    spec.worldbody.add_geom(
        name=f"wall {len(spec.worldbody.geoms)}",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[*wall.center, WALL_HEIGHT / 2],
        size=half,
        friction=[0.1, 0.005, 0.0001],
        rgba=[0.93, 0.92, 0.90, 1.0],
    )


def add_base_body(
    spec: mujoco.MjSpec, name: str, drive: Callable[[mujoco.MjsActuator, float], object]
) -> mujoco.MjsBody:
    """Its mass on two slides and a hinge; each has a motor of limited force, which `drive` sets up for its mass."""
    import mujoco

    body = spec.worldbody.add_body(name=name)
    inertia = BASE_MASS * BASE_RADIUS**2 / 2
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ((slide, [1, 0, 0], BASE_MASS), (slide, [0, 1, 0], BASE_MASS), (hinge, [0, 0, 1], inertia))
    for joint, (kind, axis, mass), acceleration in zip(BASE_JOINTS, axes, BASE_LIMITS.qacc_max, strict=True):
        body.add_joint(name=joint, type=kind, axis=axis)
        motor = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive(motor, mass)
        motor.forcelimited, motor.forcerange = 1, [-mass * acceleration, mass * acceleration]
    body.mass, body.inertia, body.explicitinertial = BASE_MASS, [inertia, inertia, inertia], True
    return body


def _add_base(spec: mujoco.MjSpec) -> None:
    """Its motors track a velocity: a damped double integrator."""
    import mujoco

    body = add_base_body(spec, BASE, lambda motor, mass: motor.set_to_velocity(kv=mass / MOTOR_LAG))
    body.ipos = [0.0, 0.0, BASE_HEIGHT / 2]
    body.add_geom(
        name=BASE,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[0.0, 0.0, BASE_HEIGHT / 2],
        size=[BASE_RADIUS, BASE_HEIGHT / 2, 0.0],
        friction=[0.1, 0.005, 0.0001],
        rgba=[0.16, 0.20, 0.27, 1.0],
    )


def _add_thing(spec: mujoco.MjSpec, item: ObjectSpec) -> None:
    import mujoco

    kind = thing_kind(item.kind)
    body = spec.worldbody.add_body(name=item.name, mocap=True)
    body.add_geom(
        name=item.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[side / 2 for side in kind.size],
        group=COLLISION_GROUP,
    )
