"""Simulated arm that differs from its servos' model: payload, joint friction, weak drives, other masses.

The physics includes the disturbance. The servos' feed-forward and gravity compensation do not know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model, default_arm
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import Array, World
from llm_planner.simulation.worlds import open_world

if TYPE_CHECKING:
    import mujoco


RADIUS = 0.03  # [m] of the payload, a ball that does not collide


@dataclass(frozen=True)
class Disturbance:
    """Deviation of an arm from its model; the defaults are no deviation.

    Attributes:
        payload: Mass that hangs from the gripper [kg].
        payload_at: Its position in the gripper's frame (z out of the hand) [m].
        viscous: Viscous friction of each joint, (nq,), or of all [Nm s/rad].
        coulomb: Coulomb friction of each joint, (nq,), or of all [Nm].
        gain: Each drive gives 1 + gain times the commanded torque, (nq,), or all.
        masses: Scale of the mass of every link.
    """

    payload: float = 0.0
    payload_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    viscous: Array | float = 0.0
    coulomb: Array | float = 0.0
    gain: Array | float = 0.0
    masses: float = 1.0

    def __post_init__(self) -> None:
        if not self.payload >= 0.0:
            raise InputError(f"a payload must weigh 0 kg or more, not {self.payload}")
        if not self.masses > 0.0:
            raise InputError(f"the arm's masses must be scaled by more than 0, not {self.masses}")
        for name, lowest in (("viscous", 0.0), ("coulomb", 0.0), ("gain", -0.9)):
            values = getattr(self, name)
            if np.ndim(values) > 1 or not np.min(values, initial=np.inf) >= lowest:
                raise InputError(f"{name} needs numbers of {lowest} or more, one a joint or one for all, not {values}")


class DisturbedWorld(World):
    """World `tabletop` with a disturbed arm; None is the default one."""

    def __init__(
        self,
        disturbance: Disturbance,
        seed: int,
        objects: Sequence[ObjectSpec] | None = None,
        arm: ArmModel | None = None,
    ) -> None:
        import mujoco

        arm = arm or default_arm()
        self._disturbance = disturbance
        self._viscous, self._coulomb, self._gain = (
            _each(name, getattr(disturbance, name), arm.nq) for name in ("viscous", "coulomb", "gain")
        )
        self._believed = arm.fixed_fingers_spec().compile()
        self._believed_data = mujoco.MjData(self._believed)
        super().__init__(seed, objects, arm=arm)

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """Return the undisturbed model with payload, joint friction, drive gains and scaled masses."""
        spec, disturbance = super().spec(objects), self._disturbance
        if disturbance.masses != 1.0:
            _scale_masses(spec, disturbance.masses)
        if disturbance.payload:
            self._hang(spec, disturbance.payload, disturbance.payload_at)
        for index, drive in enumerate(spec.actuators[: self.arm.nq]):
            joint, gain = spec.joint(drive.target), 1.0 + self._gain[index]
            joint.damping[0], joint.frictionloss = self._viscous[index], self._coulomb[index]
            drive.gainprm, drive.biasprm = gain * drive.gainprm, gain * drive.biasprm
        return spec

    def _hang(self, spec: mujoco.MjSpec, mass: float, place: tuple[float, float, float]) -> None:
        hand = spec.body(self.arm.hand)
        body = hand.add_body(name="payload", pos=spec.site("gripper").pos + np.array(place))
        body.mass, body.ipos, body.inertia = mass, np.zeros(3), np.full(3, 0.4 * mass * RADIUS**2)
        body.explicitinertial = True

    def feed_forward(self, qvel: Array, qacc: Array) -> Array:
        """Compute the torques (n, nq) [Nm] of the servos' model, which is undisturbed and has no friction."""
        import mujoco

        model, data = self._believed, self._believed_data
        nq = self.arm.nq
        data.qpos[:], data.qvel[:] = self.data.qpos[:nq], self.data.qvel[:nq]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        inertia = np.zeros((nq, nq))
        mujoco.mj_fullM(model, data, inertia)
        torque: Array = qacc @ inertia + data.qfrc_bias - data.qfrc_gravcomp
        torque += self._gravity_lost(data.qfrc_gravcomp)
        return torque

    def effort(self) -> Array:
        """Return the torques commanded to the drives, not those they give, (nq,) [Nm]."""
        told: Array = super().effort() - self._gravity_lost(self._gravcomp)
        return told

    def _gravity_lost(self, gravcomp: Array) -> Array:
        """Return the part of gravity compensation lost to the drives' gain, which MuJoCo does not apply to it."""
        lost: Array = gravcomp * self._gain / (1.0 + self._gain)
        return lost

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        super()._build(objects)
        self._kp = self._believed.actuator_gainprm[:, 0].copy()  # the servos' model
        self._kv = -self._believed.actuator_biasprm[:, 2].copy()


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
    return DisturbedWorld(Disturbance(payload=payload), seed, objects, arm_model(robot or Scene.arm))


def _each(name: str, values: Array | float, nq: int) -> Array:
    """Return one value a joint."""
    if np.ndim(values) and np.shape(values) != (nq,):
        raise InputError(f"{name} needs {nq} numbers, one a joint of this arm, or one for all, not {values}")
    return np.broadcast_to(values, nq)


def _scale_masses(spec: mujoco.MjSpec, scale: float) -> None:
    """Scale the links' masses while gravity stays compensated exactly."""
    for body in spec.bodies:
        if body.gravcomp:
            body.mass, body.gravcomp = scale * body.mass, body.gravcomp / scale
            body.inertia, body.fullinertia = scale * body.inertia, scale * body.fullinertia
