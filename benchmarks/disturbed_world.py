"""A simulated arm that differs from its servos' model: payload, joint friction, weak drives, other masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, default_arm
from llm_planner.robots.motion import Array
from llm_planner.simulation.loaded import LoadedWorld
from llm_planner.simulation.objects import ObjectSpec


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
        if not self.masses > 0.0:
            raise InputError(f"the arm's masses must be scaled by more than 0, not {self.masses}")
        for name, lowest in (("viscous", 0.0), ("coulomb", 0.0), ("gain", -0.9)):
            values = getattr(self, name)
            if np.ndim(values) > 1 or not np.min(values, initial=np.inf) >= lowest:
                raise InputError(f"{name} needs numbers of {lowest} or more, one a joint or one for all, not {values}")


class DisturbedWorld(LoadedWorld):
    """World `tabletop` with a disturbed arm; None is the default one."""

    def __init__(
        self,
        disturbance: Disturbance,
        seed: int,
        objects: Sequence[ObjectSpec] | None = None,
        arm: ArmModel | None = None,
    ) -> None:
        arm = arm or default_arm()
        self._disturbance = disturbance
        self._friction = _each("viscous", disturbance.viscous, arm.nq), _each("coulomb", disturbance.coulomb, arm.nq)
        self._gain = _each("gain", disturbance.gain, arm.nq)
        super().__init__(disturbance.payload, seed, objects, arm)

    def spec(self, objects: Sequence[ObjectSpec]) -> mujoco.MjSpec:
        """Return the undisturbed model with payload, joint friction, drive gains and scaled masses."""
        spec, masses = super().spec(objects), self._disturbance.masses
        for body in spec.bodies:
            if body.gravcomp and masses != 1.0:  # gravity stays compensated exactly
                body.mass, body.gravcomp = masses * body.mass, body.gravcomp / masses
                body.inertia, body.fullinertia = masses * body.inertia, masses * body.fullinertia
        if self._disturbance.payload:
            spec.body("payload").pos = spec.body("payload").pos + np.array(self._disturbance.payload_at)
        for drive, gain, *friction in zip(spec.actuators, 1.0 + self._gain, *self._friction, strict=False):
            joint = spec.joint(drive.target)
            joint.damping[0], joint.frictionloss = friction
            drive.gainprm, drive.biasprm = gain * drive.gainprm, gain * drive.biasprm
        return spec

    def feed_forward(self, qvel: Array, qacc: Array) -> Array:
        """Compute the torques (n, nq) [Nm] of the servos' model, which is undisturbed and has no friction."""
        return super().feed_forward(qvel, qacc) + self._gravity_lost(self._believed_data.qfrc_gravcomp)

    def effort(self) -> Array:
        """Return the torques commanded to the drives, not those they give, (nq,) [Nm]."""
        return super().effort() - self._gravity_lost(self._gravcomp)

    def _gravity_lost(self, gravcomp: Array) -> Array:
        """Return the part of gravity compensation lost to the drives' gain, which MuJoCo does not apply to it."""
        return gravcomp * self._gain / (1.0 + self._gain)

    def _build(self, objects: tuple[ObjectSpec, ...]) -> None:
        super()._build(objects)
        self._kp = self.believed.actuator_gainprm[:, 0].copy()  # the servos' model
        self._kv = -self.believed.actuator_biasprm[:, 2].copy()


def _each(name: str, values: Array | float, nq: int) -> Array:
    """Return one value a joint."""
    if np.ndim(values) and np.shape(values) != (nq,):
        raise InputError(f"{name} needs {nq} numbers, one a joint of this arm, or one for all, not {values}")
    return np.broadcast_to(values, nq)
