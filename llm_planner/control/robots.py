"""The robots that the controller plans for, as chains of joints that carry capsules and spheres."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_planner.simulation.panda import FINGER_JOINTS, panda_spec

if TYPE_CHECKING:
    import mujoco


def arm_spec() -> mujoco.MjSpec:
    """The Panda's seven joints; capsules around its links, its hand, and its fingers however wide they are open."""
    import mujoco

    spec = panda_spec()
    spec.delete(spec.actuator("gripper"))
    spec.delete(spec.equality("fingers"))
    spec.delete(spec.tendon("gripper_width"))
    for name in FINGER_JOINTS:
        spec.delete(spec.joint(name))
    for geom in list(spec.geoms):
        if geom.type != mujoco.mjtGeom.mjGEOM_CAPSULE:
            spec.delete(geom)
    hand = spec.body("panda_hand")
    for name, height, half, radius in (("hand", 0.033, 0.085, 0.047), ("fingers", 0.0855, 0.056, 0.031)):
        hand.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0.0, -half, height, 0.0, half, height],
            size=[radius, 0.0, 0.0],
        )
    return spec
