"""What a joint servo answers with when a joint is not where it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.control.formulation import StartState
from llm_planner.control.reference import Array, JointState
from llm_planner.errors import InputError

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class Servo:
    """A position servo with feed-forward in every joint: `stiffness` [Nm/rad] and `damping` [Nm s/rad], each (nq,).

    It pushes with what its model says that the motion takes, and with the corrective torque below on top.
    """

    stiffness: Array
    damping: Array

    def __post_init__(self) -> None:
        if np.shape(self.stiffness) != np.shape(self.damping) or np.ndim(self.stiffness) != 1:
            raise InputError(
                "a servo needs one stiffness and one damping a joint, "
                f"not the shapes {np.shape(self.stiffness)} and {np.shape(self.damping)}"
            )
        if not (np.all(self.stiffness > 0) and np.all(self.damping >= 0)):
            raise InputError("a servo's stiffness must be above 0 and its damping 0 or more, for every joint")

    def corrective_torque(self, commanded: StartState, measured: JointState) -> Array:
        """What the servo adds to its feed-forward (nq,) [Nm], `commanded` being of the time of `measured`."""
        torque: Array = self.stiffness * (commanded.qpos - measured.qpos)
        return torque + self.damping * (commanded.qvel - measured.qvel)


def servo_of(model: mujoco.MjModel) -> Servo:
    """The servos of a MuJoCo model whose actuators are position servos, one a joint."""
    return Servo(model.actuator_gainprm[:, 0].copy(), -model.actuator_biasprm[:, 2].copy())
