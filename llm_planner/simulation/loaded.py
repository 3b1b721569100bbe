"""Simulated arm with a payload that its servos' model does not know.

The physics includes the payload. The servos' feed-forward and gravity compensation do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.robots.motion import Array
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world

if TYPE_CHECKING:
    import mujoco

RADIUS = 0.03  # [m] of the payload, a ball that does not collide


class LoadedWorld(World):
    """World `tabletop` with a payload [kg] at the gripper point."""

    def __init__(
        self, payload: float, seed: int, objects: Sequence[ObjectSpec] | None = None, arm: ArmModel | None = None
    ) -> None:
        import mujoco

        if not payload >= 0.0:
            raise InputError(f"a payload must weigh 0 kg or more, not {payload}")
        arm = arm or default_arm()
        self._payload = payload
        self.believed = arm.fixed_fingers_spec().compile()  # the servos' model
        self._believed_data = mujoco.MjData(self.believed)
        super().__init__(seed, objects, arm=arm)

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """Return the model with the payload."""
        spec, mass = super().spec(objects), self._payload
        if mass:
            hand = spec.body(self.arm.hand)
            body = hand.add_body(name="payload", pos=spec.site("gripper").pos)
            body.mass, body.ipos, body.inertia = mass, np.zeros(3), np.full(3, 0.4 * mass * RADIUS**2)
            body.explicitinertial = True
        return spec

    def feed_forward(self, qvel: Array, qacc: Array) -> Array:
        """Compute the torques (n, nq) [Nm] of the servos' model, which has no payload and no friction."""
        import mujoco

        model, data, nq = self.believed, self._believed_data, self.arm.nq
        data.qpos[:], data.qvel[:] = self.data.qpos[:nq], self.data.qvel[:nq]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        inertia = np.zeros((nq, nq))
        mujoco.mj_fullM(model, data, inertia)
        torque: Array = qacc @ inertia + data.qfrc_bias - data.qfrc_gravcomp
        return torque


def open_loaded(
    name: str, payload: float, seed: int, objects: Sequence[ObjectSpec] | None, robot: str = ""
) -> World | RoomsWorld:  # fmt: skip
    """Open a world with an unmodelled `payload` [kg] on the gripper; see `open_world`.

    Raises:
        InputError: As in `open_world`, or a payload is given for a world without an arm.
    """
    if payload == 0.0:
        return open_world(name, seed, objects, robot=robot)
    if name != World.name:
        raise InputError(
            f"a payload of {payload:g} kg hangs from an arm, and the world {name!r} has none; leave the payload out or "
            f"choose the world {World.name!r}"
        )
    return LoadedWorld(payload, seed, objects, arm_model(robot or Scene.arm))
